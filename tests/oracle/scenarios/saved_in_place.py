"""See what in-place operations save: on a tensor, on a slice, on a row of another shape."""

from __future__ import annotations

from .saved_packing import logging_hooks
from .tools import Family, leaf

family = Family()

TABLE = {
    "mul_ by a tensor": lambda a, x: a.mul_(x),
    "mul_ by a number": lambda a, x: a.mul_(3),
    "div_": lambda a, x: a.div_(x),
    "pow_": lambda a, x: a.pow_(3),
    "exp_": lambda a, x: a.exp_(),
    "log_": lambda a, x: a.abs_().log_(),
    "sqrt_": lambda a, x: a.abs_().sqrt_(),
    "sin_": lambda a, x: a.sin_(),
    "neg_": lambda a, x: a.neg_(),
    "reciprocal_": lambda a, x: a.reciprocal_(),
    "tanh_": lambda a, x: a.tanh_(),
    "sigmoid_": lambda a, x: a.sigmoid_(),
    "relu_": lambda a, x: a.relu_(),
    "clamp_": lambda a, x: a.clamp_(-1, 1),
    "copy_": lambda a, x: a.copy_(x),
    "zero_": lambda a, x: a.zero_(),
    "masked_fill_": lambda a, x: a.masked_fill_(a.detach() > 0, 2.0),
    "assignment": lambda a, x: a.__setitem__(0, x[1]),
}

PLACES = {
    "a tensor": lambda a: a,
    "a slice": lambda a: a[1:],
    "a row": lambda a: a.view(2, 2)[1],
}


def add(name, change, where, part, second):
    """Add a scenario for one change at one place, with a second derivative or without."""

    def scenario(torch, log):
        x = leaf(torch, (4,), 1)
        with logging_hooks(torch, log):
            a = x * 1.5
            target = part(a)
            change(target, x[: target.shape[0]])
            total = (a * a).sum()
            if second:
                (first,) = torch.autograd.grad(total, x, create_graph=True)
                total = (first * first).sum()
        if total.requires_grad:
            log("gradient", torch.autograd.grad(total, x))

    derivative = "second" if second else "first"
    scenario.__doc__ = f"What {name} on {where} saves, and the {derivative} derivative."
    family.add(f"{name} on {where}{', second derivative' if second else ''}", scenario)


for _name, _change in TABLE.items():
    for _where, _part in PLACES.items():
        for _second in (False, True):
            add(_name, _change, _where, _part, _second)
