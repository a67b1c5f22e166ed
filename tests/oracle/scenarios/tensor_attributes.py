"""Attributes of tensors, assigned and deleted, and memory that tensors share."""

from __future__ import annotations

import numpy as np

from .tools import Family, leaf

family = Family()


def tensors(torch):
    """Make one tensor of each kind: leaf, constant, result, view."""
    x = leaf(torch, (2, 2), 1)
    return {
        "leaf": x,
        "constant": leaf(torch, (2, 2), 2, requires_grad=False),
        "result": x * 2,
        "view": (x * 2)[0],
        "view of a leaf": x[0],
        "integers": torch.tensor([1, 2]),
    }


def assigning(name, value):
    """Give a function that assigns to an attribute of a tensor."""
    return lambda tensor: setattr(tensor, name, value)


@family
def assigning_grad(torch, log):
    """x.grad = ...: dtype, shape and type are checked; None is fine; of results too."""
    for name, x in tensors(torch).items():
        shape = tuple(x.shape)
        for what, value in {
            "same": torch.ones(shape),
            "None": None,
            "double": torch.ones(shape, dtype=torch.float64),
            "long": torch.ones(shape, dtype=torch.int64),
            "shape": torch.ones(3),
            "column": torch.ones(*shape, 1),
            "self": x,
            "number": 5.0,
            "list": [1.0, 1.0],
            "array": np.ones(shape),
            "graph": leaf(torch, shape, 10) * 3,
        }.items():
            log.raises(f"{name} {what}", lambda v=value, x=x: assigning("grad", v)(x))
        log(name, x.grad)
    x = leaf(torch, (2,), 11)
    mine = torch.ones(2)
    x.grad = mine
    (x * 3).sum().backward()
    log("accumulated into mine", x.grad is mine, mine, mine._version)


@family
def assigning_requires_grad(torch, log):
    """requires_grad = ... and requires_grad_(...) on each kind, with bools, ints and None."""
    for name in tensors(torch):
        for value in (True, False, 1, 0, None, "yes"):
            x = tensors(torch)[name]
            assign = assigning("requires_grad", value)
            log.raises(f"{name} = {value}", lambda assign=assign, x=x: assign(x))
            log("then", x.requires_grad, x.is_leaf)
            if not isinstance(value, bool):
                continue
            x = tensors(torch)[name]
            try:
                log(f"{name} {value}", x.requires_grad_(value) is x, x.requires_grad)
            except RuntimeError as error:
                log.error(f"{name} {value}", error)
    x = torch.ones(2)
    log("default", x.requires_grad_().requires_grad, x.requires_grad_(requires_grad=False))


@family
def retaining_grad(torch, log):
    """retain_grad on each kind, twice, and what .grad says before backward."""
    for name, x in tensors(torch).items():
        for time in ("first", "second"):
            log.raises(f"{name} {time}", lambda x=x: x.retain_grad())
            log("retains", x.retains_grad)
    x = leaf(torch, (2,), 16)
    y = x * 2
    log("before", y.grad)
    y.retain_grad()
    log("retained, before", y.grad)
    (y * y).sum().backward(retain_graph=True)
    log("once", y.grad)
    y.sum().backward()
    log("twice", y.grad, x.grad)
    with torch.no_grad():
        log.raises("no_grad", lambda: (x * 2).retain_grad())


@family
def hook_tables(torch, log):
    """_backward_hooks and _post_accumulate_grad_hooks are live tables, which may be assigned."""
    x = leaf(torch, (2,), 24)
    y = x * 2
    for tensor in (x, y):
        handle = tensor.register_hook(lambda grad: grad * 10)
        table = tensor._backward_hooks
        log("table", type(table).__name__, len(table), handle.id in table)
        handle.remove()
        log("removed", len(table), len(tensor._backward_hooks))
    x._backward_hooks = {5: lambda grad: grad * 3}
    y.sum().backward(retain_graph=True)
    log("assigned", x.grad)
    x._backward_hooks = None
    x.grad = None
    y.sum().backward()
    log("none", x.grad, x._backward_hooks)
    x.register_post_accumulate_grad_hook(lambda x: log("accumulated", x.grad))
    log("post", len(x._post_accumulate_grad_hooks))


@family
def data_of_other_kinds(torch, log):
    """x.data = ... of a result and of a view; what was saved keeps the old value."""
    x = leaf(torch, (2,), 9)
    y = x * 2
    z = y * y
    y.data = torch.tensor([10.0, 20.0])
    log("result", y, y._version)
    z.sum().backward(retain_graph=True)
    log("gradient", x.grad)
    (y * y).sum().backward()
    log("after", x.grad)
    y = x * 2
    part, z = y[0], y * y
    y.data = torch.tensor([10.0, 20.0])
    z.sum().backward()
    log("with a version counter", x.grad, part)
    y = x.exp()
    z = y * 1
    y.data = torch.tensor([10.0, 20.0])
    z.sum().backward()
    log("saved result", x.grad)
    base = torch.zeros(2, 2)
    view = base[0]
    view.data = torch.ones(2)
    log("view", view, base, view._is_view())
    view.mul_(5)
    log("written", view, base)


@family
def detaching_in_place(torch, log):
    """detach_ on each kind; hooks and retain_grad afterwards."""
    for name, x in tensors(torch).items():
        try:
            log(name, x.detach_() is x, x, x.is_leaf, x._version)
        except RuntimeError as error:
            log.error(name, error)
    x = leaf(torch, (2,), 12)
    y = x * 2
    z = y * 3
    y.retain_grad()
    y.detach_()
    z.sum().backward()
    log("graph before", x.grad, y.requires_grad, y.retains_grad, y.grad)
    y = x * 2
    y.register_hook(log.hook("waiting"))
    y.detach_().requires_grad_()
    (y * 3).sum().backward()
    log("a leaf again", y.grad)
    base = x * 2
    part = base[0]
    base.detach_()
    log("view of it", part.requires_grad, base.requires_grad)
    base = torch.ones(2)
    part = base[0]
    base.mul_(x)
    log("view of what was written to", part.requires_grad)
    base.detach_()
    log("and taken out", part.requires_grad, (part * 2).requires_grad)


@family
def saved_and_detached_in_place(torch, log):
    """detach_ of a tensor that was saved: refused if it had a history, fine for leaves."""
    x, w = leaf(torch, (2,), 23), leaf(torch, (2,), 24)
    y = x * 2
    z = y * w
    y.detach_()
    log.raises("result", lambda: z.sum().backward(retain_graph=True))
    log("no gradients", x.grad, w.grad)
    z = x * w
    x.detach_()
    z.sum().backward()
    log("leaf", x.grad, w.grad)
    x.requires_grad_()
    y = x.exp()
    z = y * 3
    y.detach_()
    z.sum().backward()
    log("own result", x.grad)
    y = x * 1
    other = y.detach()
    z = other * w
    other.detach_()
    y.detach_()
    z.sum().backward()
    log("detached before", w.grad)
    y = x * 2
    y.detach_()
    (y * w).sum().backward()
    log("saved afterwards", w.grad)
    y = x * 2
    z = y * w
    y.detach_()
    y.requires_grad_()
    log.raises("a leaf again", lambda: z.sum().backward())
