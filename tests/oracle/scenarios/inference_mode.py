"""Inference mode: views, passes, functions and modules inside, and what comes out of it."""

from __future__ import annotations

import copy
import pickle

from .tools import Family, leaf, linear, numbers

family = Family()


def facts(tensor):
    """Tell what a tensor says of itself, in words."""

    def ask(question):
        try:
            return question()
        except RuntimeError as error:
            return str(error)[:60]

    return {
        "inference": tensor.is_inference(),
        "requires_grad": tensor.requires_grad,
        "leaf": ask(lambda: tensor.is_leaf),
        "grad_fn": ask(lambda: None if tensor.grad_fn is None else tensor.grad_fn.name()),
        "version": ask(lambda: tensor._version),
        "view": tensor._is_view(),
        "base": tensor._base is not None,
    }


def tensors(torch):
    """Give a leaf, a result, a tensor without gradient and two inference tensors, by name."""
    x = leaf(torch, (3,), 1)
    with torch.inference_mode():
        made = torch.tensor(numbers((3,), 2))
        requiring = torch.tensor(numbers((3,), 3), requires_grad=True)
    return {
        "leaf": x,
        "result": x * 2,
        "plain": torch.tensor(numbers((3,), 4)),
        "inference": made,
        "inference leaf": requiring,
    }


def made(torch, *, requires_grad=False):
    """Give an inference tensor."""
    with torch.inference_mode():
        return torch.tensor(numbers((3,), 5), requires_grad=requires_grad)


@family
def results_and_views(torch, log):
    """Results of operations are inference tensors; views are what they are views of."""
    actions = {
        "itself": lambda t: t,
        "times 2": lambda t: t * 2,
        "plus itself": lambda t: t + t,
        "exp": lambda t: t.exp(),
        "sum": lambda t: t.sum(),
        "view": lambda t: t.view(3, 1),
        "entry": lambda t: t[0],
        "slice": lambda t: t[1:],
        "view of a view": lambda t: t.view(3, 1)[0],
        "transposed": lambda t: t.view(3, 1).t(),
        "reshaped": lambda t: t.reshape(3, 1),
        "expanded": lambda t: t.expand(2, 3),
        "one of several": lambda t: t.unbind(0)[1],
        "picked": lambda t: t[[0, 2]],
        "detached": lambda t: t.detach(),
        "data": lambda t: t.data,
        "cloned": lambda t: t.clone(),
        "contiguous": lambda t: t.contiguous(),
        "same type": lambda t: t.float(),
        "other type": lambda t: t.double(),
        "flag set": lambda t: t.detach().requires_grad_(),
        "clone's flag set": lambda t: t.clone().requires_grad_(),
    }
    for kind, tensor in tensors(torch).items():
        with torch.inference_mode():
            for name, action in actions.items():
                log(kind, name, facts(action(tensor)))


@family
def parameters_and_modules(torch, log):
    """Parameters and modules that are made in the mode, used and changed outside."""
    with torch.inference_mode():
        log("of an inference tensor", facts(torch.nn.Parameter(torch.ones(2))))
        layer = linear(torch, [[1.0, 2.0]], [3.0])
        log("in the mode", facts(layer.weight), layer(torch.ones(1, 2)))
    plain = torch.ones(2)
    with torch.inference_mode():
        log("of a plain tensor", facts(torch.nn.Parameter(plain)))
    log("weight", facts(layer.weight))
    log.raises("used outside", lambda: layer(torch.ones(1, 2, requires_grad=True)))
    log.raises("changed outside", lambda: torch.nn.init.zeros_(layer.weight))
    log.raises("a parameter outside", lambda: torch.nn.Parameter(made(torch)))
    still = torch.nn.Parameter(made(torch), requires_grad=False)
    log("without gradient", still.is_inference(), still.requires_grad)
    copied = copy.deepcopy(layer)
    log("copied", copied.weight.is_inference(), copied.weight.requires_grad)
    copied(torch.ones(1, 2)).backward()
    log("trained", copied.weight.grad)


@family
def copies_and_pickles(torch, log):
    """Copies and pickles are what the mode makes of them when they are made."""
    plain = torch.ones(2, requires_grad=True)
    inference = made(torch)
    with torch.inference_mode():
        log("in the mode", [facts(each(plain))["inference"] for each in (_copied, _pickled)])
        log("a copy's flag", _copied(plain).requires_grad, _pickled(plain).requires_grad)
    log("outside", [facts(each(inference))["inference"] for each in (_copied, _pickled)])
    log("usable", (_pickled(inference) * plain.sum()).requires_grad)


def _copied(tensor):
    return copy.deepcopy(tensor)


def _pickled(tensor):
    return pickle.loads(pickle.dumps(tensor))


@family
def asked_of_what_is_no_tensor(torch, log):
    """torch.is_inference takes a tensor."""
    log("tensors", torch.is_inference(made(torch)), torch.is_inference(torch.ones(2)))
    log.raises("a number", lambda: torch.is_inference(3))


def state(torch):
    """Tell both modes of this thread."""
    return [torch.is_grad_enabled(), torch.is_inference_mode_enabled()]


@family
def switched_by_a_hook(torch, log):
    """A hook that switches the mode does so for the rest of its node only."""
    x = leaf(torch, (3,), 1)

    def switch(grad):
        log("first", state(torch))
        torch.set_grad_enabled(not torch.is_grad_enabled())

    for create_graph in (False, True):
        x.grad = None
        y = x * 2
        y.register_hook(switch)
        y.register_hook(lambda grad: log("second", state(torch)))
        hook = x.register_hook(lambda grad: log("leaf", state(torch), grad.requires_grad))
        (y * y).sum().backward(create_graph=create_graph)
        log("after", state(torch), x.grad.requires_grad)
        hook.remove()


@family
def counted_by_hand(torch, log):
    """increment_version passes inference tensors by."""
    tensor = made(torch)
    log.raises("outside", lambda: torch.autograd.graph.increment_version(tensor))
    with torch.inference_mode():
        log.raises("inside", lambda: torch.autograd.graph.increment_version([tensor]))


class Recorded:
    """Functions that log what they see."""

    def __init__(self, torch, log):
        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                log("forward", torch.is_grad_enabled(), torch.is_inference_mode_enabled())
                log("needs", ctx.needs_input_grad, facts(x))
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx, grad):
                (x,) = ctx.saved_tensors
                return 2 * x * grad

        class Same(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x

            @staticmethod
            def backward(ctx, grad):
                return grad * 2

        class Viewed(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.view(3, 1)

            @staticmethod
            def backward(ctx, grad):
                return grad.view(3)

        class Changed(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                x.add_(1)
                ctx.mark_dirty(x)
                return x

            @staticmethod
            def backward(ctx, grad):
                return grad

        class Exponential(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                result = x.exp()
                ctx.save_for_backward(result)
                return result

            @staticmethod
            def backward(ctx, grad):
                (result,) = ctx.saved_tensors
                return grad * result

        self.all = (Square, Same, Viewed, Changed, Exponential)


@family
def functions_in_the_mode(torch, log):
    """A custom Function in the mode: nothing is recorded."""
    for function in Recorded(torch, log).all:
        for kind, tensor in tensors(torch).items():
            with torch.inference_mode():
                log(function.__name__, kind, facts(function.apply(tensor)))


@family
def views_used_outside(torch, log):
    """A view made in the mode of a normal tensor: used outside, no gradient reaches its base."""
    for kind, base in list(tensors(torch).items())[:3]:
        with torch.inference_mode():
            view, entry = base.view(3, 1), base[0]
        log(kind, facts(view), facts(entry), view.detach())
        log("used", facts(view * 2), facts(view + base), facts(view[0]))
        log("detached", facts(view.detach()), facts(view.clone()))
        if view.requires_grad:
            (view * view).sum().backward()
            log("gradients", view.grad, base.grad if base.is_leaf else None)


@family
def views_of_views_across_modes(torch, log):
    """Views of views made under no_grad, in inference mode and outside: whose word counts."""
    contexts = {
        "normal": torch.enable_grad,
        "no_grad": torch.no_grad,
        "inference": torch.inference_mode,
    }
    for first, outer in contexts.items():
        for second, inner in contexts.items():
            base = leaf(torch, (3,), 1) * 1
            with outer():
                view = base.view(3, 1)
            with inner():
                further = view[1]
            log(f"{first}, {second}", further.requires_grad)
            log.raises("changed", lambda further=further: further.add_(1))
            base.add_(1)
            log.raises("base changed", lambda further=further: further.grad_fn is None)


@family
def detached_in_place(torch, log):
    """detach_ does nothing in the mode, and nothing to inference tensors."""
    for kind, tensor in tensors(torch).items():
        with torch.inference_mode():
            tensor.detach_()
            tensor.view(3, 1).detach_()
        log(kind, facts(tensor))
    for requires_grad in (False, True):
        log("outside", facts(made(torch, requires_grad=requires_grad).detach_()))
