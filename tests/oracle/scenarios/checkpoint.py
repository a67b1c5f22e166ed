"""See `utils.checkpoint`: what runs when, what is saved, what is refused."""

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
def between_other_operations(torch, log, reentrant):
    """A checkpoint in the middle: hooks on both sides see the plain gradients, in order."""
    x = leaf(torch, (3,), 2)
    before = x * 3
    before.register_hook(log.hook("before"))
    y = module(torch).checkpoint(observed(torch, log), before, use_reentrant=reentrant)
    y.register_hook(log.hook("after"))
    x.register_hook(log.hook("leaf"))
    (y * torch.tensor([1.0, -2.0, 0.5])).sum().backward()
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
def a_module_as_function(torch, log, reentrant):
    """A module is the function; its parameters get their gradients, added to what is there."""
    layer = linear(torch, [[0.5, -1.0], [2.0, 0.25]], [0.5, -0.5])
    layer.weight.grad = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    x = leaf(torch, (3, 2), 5)
    y = module(torch).checkpoint(layer, x, use_reentrant=reentrant)
    log("result", y, graph(y))
    (y**2).sum().backward()
    log("gradients", x.grad, layer.weight.grad, layer.bias.grad)


@for_both(family)
def no_input_requires_grad(torch, log, reentrant):
    """Only parameters require a gradient: the reentrant variant warns and has none."""
    layer = linear(torch, [[0.5, -1.0]], [0.5])
    x = leaf(torch, (3, 2), 6, requires_grad=False)
    y = module(torch).checkpoint(layer, x, use_reentrant=reentrant)
    log("result", y)
    log.raises("backward", lambda: y.sum().backward())
    log("gradients", layer.weight.grad)


@for_both(family)
def several_inputs_and_outputs(torch, log, reentrant):
    """Numbers, None and tensors go in; several tensors and a None come out."""

    def function(x, factor, nothing, z, text):
        log("runs", factor, nothing, text, x.requires_grad, z.requires_grad)
        return x * factor, None, x.exp() * z, z.detach()

    x = leaf(torch, (2,), 7)
    z = leaf(torch, (2,), 8, requires_grad=False)
    a, nothing, b, c = module(torch).checkpoint(
        function, x, 3.0, None, z, "text", use_reentrant=reentrant
    )
    log("results", a, nothing, b, c.requires_grad)
    log.raises("backward", lambda: (a * b).sum().backward())
    log("gradient", x.grad, z.grad)


@for_both(family)
def only_one_output_used(torch, log, reentrant):
    """An output that nobody uses sends no gradient, or zeros."""

    def function(x):
        y, z = x.exp(), x.sin()
        if y.requires_grad:
            y.register_hook(log.hook("y"))
            z.register_hook(log.hook("z"))
        return y, z

    x = leaf(torch, (2,), 9)
    _, z = module(torch).checkpoint(function, x, use_reentrant=reentrant)
    (z * z).sum().backward()
    log("gradient", x.grad)


@for_both(family)
def a_tensor_in_a_list(torch, log, reentrant):
    """A tensor inside of a list takes part in the recorded variant only."""
    x, z = leaf(torch, (2,), 10), leaf(torch, (2,), 11)
    y = module(torch).checkpoint(
        lambda x, others: x * others[0] * others[0], x, [z], use_reentrant=reentrant
    )
    y.sum().backward()
    log("gradients", x.grad, z.grad)


@for_both(family)
def a_detached_output(torch, log, reentrant):
    """All outputs are detached inside."""
    x = leaf(torch, (2,), 12)
    y = module(torch).checkpoint(lambda x: (x * x).detach(), x, use_reentrant=reentrant)
    log("result", y.requires_grad)
    log.raises("backward", lambda: y.sum().backward())


@for_both(family)
def under_no_grad(torch, log, reentrant):
    """Without recording, a checkpoint just runs the function."""
    x = leaf(torch, (2,), 13)
    with torch.no_grad():
        y = module(torch).checkpoint(observed(torch, log), x, use_reentrant=reentrant)
    log("result", y)


@for_both(family)
def a_second_backward(torch, log, reentrant):
    """With retain_graph each backward recomputes; without, the second one is refused."""
    x = leaf(torch, (2,), 14)
    y = module(torch).checkpoint(observed(torch, log), x, use_reentrant=reentrant).sum()
    y.backward(retain_graph=True)
    log("first", x.grad)
    y.backward(retain_graph=True)
    log("second", x.grad)
    y.backward()
    log("third", x.grad)
    log.raises("fourth", y.backward)


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
def gradients_within_a_hook(torch, log, reentrant):
    """A hook of an outer `grad` starts a backward through a checkpoint."""
    x, z = leaf(torch, (2,), 17), leaf(torch, (2,), 18)
    inner = module(torch).checkpoint(lambda x: x.exp() * x, x, use_reentrant=reentrant)
    outer = z * z

    def hook(grad):
        log.raises("inner backward", lambda: inner.sum().backward())

    outer.register_hook(hook)
    log("outer", torch.autograd.grad(outer.sum(), z))
    log("inner", x.grad)


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


@for_both(family)
def one_function_twice(torch, log, reentrant):
    """Two checkpoints in a row, recomputed from the last to the first."""
    checkpoint = module(torch).checkpoint
    x = leaf(torch, (2,), 21)
    y = checkpoint(observed(torch, log, "first"), x, use_reentrant=reentrant)
    z = checkpoint(observed(torch, log, "second"), y, use_reentrant=reentrant)
    z.sum().backward()
    log("gradient", x.grad)


@family
def the_default_variant(torch, log):
    """Without use_reentrant there is a warning, and the reentrant variant runs."""
    x = leaf(torch, (2,), 30)
    y = module(torch).checkpoint(observed(torch, log), x)
    y.sum().backward()
    z = module(torch).checkpoint_sequential([torch.exp, torch.sin], 2, x)
    log("results", y, z, x.grad)
