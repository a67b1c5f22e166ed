"""Checkpointing, recorded and reentrant: gradients, hooks, recomputation that differs."""

from __future__ import annotations

import importlib

from .tools import Family, graph, leaf, linear

family = Family()


def module(torch):
    """Give the package's `utils.checkpoint`."""
    return importlib.import_module(f"{torch.__name__}.utils.checkpoint")


def observed(torch, log, name="part"):
    """Make a function of one tensor that writes down each time it is called."""

    def function(x):
        log(f"{name} runs", torch.is_grad_enabled(), x.requires_grad, x.is_leaf)
        y = x.sin() * x
        z = y.exp()
        log(f"{name} ends", z.requires_grad)
        return z * y

    return function


def for_both(family):
    """Make a decorator that adds a scenario for each of the two variants of a checkpoint."""

    def decorate(scenario):
        for reentrant in (False, True):

            def run(torch, log, reentrant=reentrant):
                scenario(torch, log, reentrant)

            kind = "reentrant" if reentrant else "recorded"
            run.__doc__ = f"{scenario.__doc__.rstrip('.')} ({kind})."
            family.add(f"{scenario.__name__}_{kind}", run)
        return scenario

    return decorate


@for_both(family)
def values_and_moments(torch, log, reentrant):
    """The function runs in forward and again in backward, and the gradient is the plain one."""
    x = leaf(torch, (3,), 1)
    observed(torch, log, "plain")(x).sum().backward()
    log("plain gradient", x.grad)
    x.grad = None
    y = module(torch).checkpoint(observed(torch, log), x, use_reentrant=reentrant)
    log("result", y, graph(y))
    y.sum().backward()
    log("gradient", x.grad)


@for_both(family)
def hooks_inside(torch, log, reentrant):
    """Tensor hooks registered by the function fire for the graph that backward runs through."""

    def function(x):
        y = x * x
        if y.requires_grad:
            y.register_hook(log.hook("y", lambda g: g * 2))
        return y.exp()

    x = leaf(torch, (2,), 3)
    y = module(torch).checkpoint(function, x, use_reentrant=reentrant)
    y.sum().backward()
    log("gradient", x.grad)


@for_both(family)
def module_hooks_inside(torch, log, reentrant):
    """Forward hooks run twice; full backward hooks of a module inside run once."""
    layer = linear(torch, [[0.5, -1.0], [2.0, 0.25]], [0.5, -0.5])
    layer.register_forward_pre_hook(lambda m, args: log("forward pre", torch.is_grad_enabled()))
    layer.register_forward_hook(lambda m, args, out: log("forward", out.requires_grad))
    layer.register_full_backward_pre_hook(log.module_hook("backward pre"))
    layer.register_full_backward_hook(
        log.module_hook("backward", lambda m, grads, _: (grads[0] * 2,))
    )
    x = leaf(torch, (3, 2), 4)
    y = module(torch).checkpoint(lambda x: torch.tanh(layer(x)), x, use_reentrant=reentrant)
    (y * torch.tensor([[1.0, 2.0], [-1.0, 0.5], [0.25, 3.0]])).sum().backward()
    log("gradients", x.grad, layer.weight.grad, layer.bias.grad)


@for_both(family)
def a_detached_output(torch, log, reentrant):
    """All outputs are detached inside."""
    x = leaf(torch, (2,), 12)
    y = module(torch).checkpoint(lambda x: (x * x).detach(), x, use_reentrant=reentrant)
    log("result", y.requires_grad)
    log.raises("backward", lambda: y.sum().backward())


@for_both(family)
def gradients_of_some_tensors(torch, log, reentrant):
    """`grad` and `backward(inputs=...)` are for the recorded variant only."""
    x, z = leaf(torch, (2,), 15), leaf(torch, (2,), 16)
    y = module(torch).checkpoint(lambda x, z: x * z.exp(), x, z, use_reentrant=reentrant)
    log.raises("grad", lambda: torch.autograd.grad(y.sum(), x, retain_graph=True))
    log.raises("inputs", lambda: y.sum().backward(inputs=(z,), retain_graph=True))
    log("kept", x.grad, z.grad)
    y.sum().backward()
    log("all", x.grad, z.grad)


@for_both(family)
def second_derivative(torch, log, reentrant):
    """Differentiate a checkpointed computation twice."""
    x = leaf(torch, (2,), 19)
    y = module(torch).checkpoint(lambda x: (x * x).exp(), x, use_reentrant=reentrant)

    def twice():
        (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), x)
        return first, second

    log.raises("derivatives", twice)


@for_both(family)
def nested(torch, log, reentrant):
    """A checkpoint within a checkpoint: the inner function runs three times or more."""
    checkpoint = module(torch).checkpoint

    def inner(x):
        log("inner runs", torch.is_grad_enabled())
        return x.tanh() * x

    def outer(x):
        log("outer runs", torch.is_grad_enabled())
        y = checkpoint(inner, x * 2, use_reentrant=reentrant)
        return checkpoint(inner, y * y, use_reentrant=reentrant) * y

    x = leaf(torch, (2,), 20)
    checkpoint(outer, x, use_reentrant=reentrant).sum().backward()
    log("gradient", x.grad)
    plain = x.detach().requires_grad_()
    y = (plain * 2).tanh() * (plain * 2)
    ((y * y).tanh() * (y * y) * y).sum().backward()
    log("plain gradient", plain.grad)


def message_of(torch, log, action):
    """Write down an error up to the part of its text that is about debugging and torch.compile."""
    try:
        action()
    except RuntimeError as error:
        text = str(error).split("\nTip:")[0].split("\nIf this error occurs")[0]
        log("refused", type(error).__name__, text.rstrip())
        log("kind", isinstance(error, module(torch).CheckpointError))
    else:
        log("passes")


def recompute_differently(name, first, second, **options):
    """Add a scenario in which the second run of a function does something else."""

    def scenario(torch, log):
        calls = []

        def function(x):
            calls.append(x)
            return first(torch, x) if len(calls) == 1 else second(torch, x)

        x = leaf(torch, (3,), 35)
        y = module(torch).checkpoint(function, x, use_reentrant=False, **options)
        message_of(torch, log, lambda: y.sum().backward())
        log("gradient", x.grad)

    scenario.__doc__ = f"The two runs differ: {name.replace('_', ' ')}."
    family.add(f"differing_{name}", scenario)


recompute_differently("fewer", lambda torch, x: x.sin().exp(), lambda torch, x: x.sin())


recompute_differently("more", lambda torch, x: x.sin(), lambda torch, x: x.sin().exp())


recompute_differently(
    "more_to_the_end", lambda torch, x: x.sin(), lambda torch, x: x.sin().exp(), early_stop=False
)


recompute_differently("none", lambda torch, x: x.sin().exp(), lambda torch, x: x + 1)


recompute_differently(
    "shape", lambda torch, x: x.sin().exp(), lambda torch, x: x[:1].sin().exp().exp()
)


recompute_differently(
    "dtype",
    lambda torch, x: x.sin().exp(),
    lambda torch, x: x.to(torch.float64).sin().exp(),
    early_stop=False,
)


recompute_differently("values", lambda torch, x: x.sin().exp(), lambda torch, x: x.cos().exp())
