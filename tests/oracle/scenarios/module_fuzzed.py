"""What random programs of modules with hooks brought to light, each in a few lines."""

from __future__ import annotations

from .tools import Family, graph, leaf, linear

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
def a_post_accumulate_hook_runs_without_a_gradient(torch, log):
    """Where a Function gives no gradient, the leaf's hooks are called all the same."""

    class First(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a * b

        @staticmethod
        def backward(ctx, grad):
            return grad, None

    x, y = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
    y.register_post_accumulate_grad_hook(lambda tensor: log("after", tensor, tensor.grad))
    First.apply(x, y).sum().backward()
    log("gradients", x.grad, y.grad)


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
def a_linear_layer_on_vectors_transposes_its_weight_last(torch, log):
    """The weight's gradient is accumulated before the input's."""
    layer = linear(torch, [[1.0, 2.0], [0.5, -1.0]], [0.25, 0.5])
    x = leaf(torch, (2, 1, 2), 3)
    x.register_hook(log.hook("input"))
    layer.weight.register_hook(log.hook("weight"))
    layer(x).sum().backward()


@family
def the_derivative_of_cat_is_a_slice(torch, log):
    """Also where only one tensor was joined."""
    x = leaf(torch, (1, 2), 3)
    (first,) = torch.autograd.grad((torch.cat([x * x]) ** 2).sum(), x, create_graph=True)
    log("graph", graph(first))


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
def a_forward_hook_removed_by_the_one_before(torch, log):
    """It is still called: the module's own without the keyword arguments, a global one with."""
    handles = []
    module = torch.nn.Identity()
    module.register_forward_hook(lambda *_: handles[0].remove())
    handles.append(module.register_forward_hook(log.module_hook("own"), with_kwargs=True))
    module(input=leaf(torch, (2,), 1))
    module(input=leaf(torch, (2,), 1))

    register = torch.nn.modules.module.register_module_forward_hook
    first = register(lambda *_: handles[1].remove())
    handles.append(register(log.module_hook("global"), with_kwargs=True))
    torch.nn.Identity()(input=leaf(torch, (2,), 1))
    first.remove()


@family
def a_hook_always_called_that_removes_itself_after_an_error(torch, log):
    """The table of hooks has changed while they were called, and that is the error in the end."""

    class Failing(torch.nn.Module):
        def forward(self, x):
            raise ValueError("from forward")

    module = Failing()
    handle = module.register_forward_hook(lambda *_: handle.remove(), always_call=True)
    module.register_forward_hook(log.module_hook("other"), always_call=True)
    log.raises("call", lambda: module(leaf(torch, (2,), 1)))
    log.raises("again", lambda: module(leaf(torch, (2,), 1)))


@family
def layers_given_something_else_than_a_tensor(torch, log):
    """The error names the function."""
    nn = torch.nn
    layers = [nn.Linear(2, 2), nn.ReLU(), nn.Tanh(), nn.Sigmoid()]
    for layer in [*layers, nn.ELU(), nn.SiLU(), nn.LeakyReLU(), nn.Softplus()]:
        log.raises(type(layer).__name__, lambda layer=layer: layer(None))
        log.raises(type(layer).__name__, lambda layer=layer: layer((1, 2)))


@family
def the_order_of_complaints_about_inputs(torch, log):
    """Empty inputs come first, then roots, then inputs that cannot retain their gradient."""
    x, y = leaf(torch, (), 1), leaf(torch, (), 2, requires_grad=False)
    log.raises("grad of nothing", lambda: torch.autograd.grad(y, []))
    log.raises("backward of nothing", lambda: torch.autograd.backward(y, inputs=[]))
    log.raises("grad", lambda: torch.autograd.grad(x * 2, y))
    log.raises("backward", lambda: torch.autograd.backward(x * 2, inputs=[y]))


@family
def tensors_without_dimensions(torch, log):
    """What can be done with them, and what not."""
    x = leaf(torch, (), 1)
    log("transposed", x.transpose(0, -1))
    log.raises("chunk", lambda: x.chunk(2))
    for key in (0, (0, 0), (None, 0), (Ellipsis, 0), (slice(None),)):
        try:
            log(str(key), x[key])
        except IndexError:
            log(str(key), "no such entry")
