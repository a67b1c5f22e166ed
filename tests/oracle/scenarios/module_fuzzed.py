"""What random programs of modules with hooks brought to light, each in a few lines."""

from __future__ import annotations

from .tools import Family, leaf, linear

family = Family()


@family
def a_tensor_from_a_post_accumulate_hook_goes_to_the_next(torch, log):
    """The error that it should return None comes after all hooks were called."""
    x = leaf(torch, (2,), 1)
    x.register_post_accumulate_grad_hook(lambda tensor: tensor * 2)
    x.register_post_accumulate_grad_hook(log.hook("next"))
    log.raises("backward", (x * x).sum().backward)
    x.register_post_accumulate_grad_hook(lambda tensor: 3)
    log.raises("a number", (x * x).sum().backward)


@family
def a_hook_registered_by_a_hook_after_accumulation(torch, log):
    """A node hook that comes while the node runs is called, but sees no gradients."""
    x = leaf(torch, (2,), 1)
    node = x.view_as(x).grad_fn.next_functions[0][0]

    def register(tensor):
        node.register_hook(lambda grad_inputs, grad_outputs: log("new", grad_inputs, grad_outputs))

    x.register_post_accumulate_grad_hook(register)
    (x * x).sum().backward()
    (x * x).sum().backward()


@family
def a_node_hook_sees_only_what_was_asked_for(torch, log):
    """With inputs given, the other gradients of a node are not computed; those of cat are."""
    x, y = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
    for operation in (torch.mul, lambda a, b: torch.cat([a, b]), lambda a, b: torch.stack([a, b])):
        result = operation(x, y)
        result.grad_fn.register_hook(lambda given, _: log("hook", given))
        result.sum().backward(inputs=[x], retain_graph=True)
        log("grad", torch.autograd.grad(result.sum(), [y], retain_graph=True))
        result.sum().backward(inputs=[result])


@family
def a_bias_alone_needs_nothing_saved(torch, log):
    """A layer with a frozen weight, on data, goes backward twice."""
    layer = linear(torch, [[1.0, 2.0]], [0.25])
    layer.weight.requires_grad_(False)
    result = layer(leaf(torch, (2, 2), 3, requires_grad=False))
    result.grad_fn.register_hook(lambda given, _: log("hook", given))
    result.sum().backward(inputs=[layer.bias])
    log("first", layer.bias.grad)
    result.sum().backward()
    log("second", layer.bias.grad)


@family
def the_order_of_complaints_about_inputs(torch, log):
    """Empty inputs come first, then roots, then inputs that cannot retain their gradient."""
    x, y = leaf(torch, (), 1), leaf(torch, (), 2, requires_grad=False)
    log.raises("grad of nothing", lambda: torch.autograd.grad(y, []))
    log.raises("backward of nothing", lambda: torch.autograd.backward(y, inputs=[]))
    log.raises("grad", lambda: torch.autograd.grad(x * 2, y))
    log.raises("backward", lambda: torch.autograd.backward(x * 2, inputs=[y]))
