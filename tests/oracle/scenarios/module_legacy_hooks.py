"""See the legacy register_backward_hook: the node it sits on, what it gets, its four warnings, its
conflicts.
"""

from __future__ import annotations

from .module_full_hooks import leaves, module_of, net_of_the_worked_example, run_worked_example
from .tools import Family, graph, linear

family = Family()


@family
def worked_example_watched(torch, log):
    """The worked example with a legacy hook on f1: it sits on the last operation and sees that
    one's gradients.
    """
    net = net_of_the_worked_example(torch)
    net.f1.register_backward_hook(log.module_hook("legacy"))
    run_worked_example(torch, log, net)


@family
def worked_example_doubled(torch, log):
    """Doubling under a legacy hook doubles f1's own gradients too."""
    net = net_of_the_worked_example(torch)
    net.f1.register_backward_hook(log.module_hook("legacy", lambda m, gi, go: (gi[0] * 2,)))
    run_worked_example(torch, log, net)


@family
def linear_shows_three_entries(torch, log):
    """On a Linear with matrix input a legacy hook sees the bias's, the input's, the transposed
    weight's gradient.
    """
    layer = linear(torch, [[0.5, -1.0], [1.5, 0.25], [2.0, 1.0]], [0.125, -0.5, 0.0])
    layer.register_backward_hook(log.module_hook("legacy"))
    x = torch.tensor([[1.0, 2.0], [-1.0, 0.5]], requires_grad=True)
    out = layer(x)
    log("graph", graph(out))
    out.backward(torch.tensor([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0]]))
    log("grads", x.grad, layer.weight.grad, layer.bias.grad)


@family
def linear_input_without_grad(torch, log):
    """The same with an input that needs no gradient, and without a bias."""
    layer = linear(torch, [[0.5, -1.0]], [0.125])
    layer.register_backward_hook(log.module_hook("with bias"))
    layer(torch.tensor([[1.0, 2.0]])).sum().backward()
    plain = linear(torch, [[0.5, -1.0]], None)
    plain.register_backward_hook(log.module_hook("without bias"))
    plain(torch.tensor([[1.0, 2.0]], requires_grad=True)).sum().backward()


@family
def linear_on_a_vector(torch, log):
    """On a vector the last operation is a view: one entry."""
    layer = linear(torch, [[0.5, -1.0]], [0.125])
    layer.register_backward_hook(log.module_hook("legacy"))
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    layer(x).backward()
    log("grads", x.grad, layer.weight.grad)


@family
def sum_of_three(torch, log):
    """The sum x + y + z under a legacy hook: the last addition's two inputs only."""
    module = module_of(torch, lambda x, y, z: x + y + z)
    module.register_backward_hook(log.module_hook("legacy"))
    full = module_of(torch, lambda x, y, z: x + y + z)
    full.register_full_backward_hook(log.module_hook("full"))
    for chosen in (module, full):
        a, b = leaves(torch)
        c = torch.tensor([7.0, 8.0], requires_grad=True)
        chosen(a, b, c).backward(torch.tensor([1.0, -2.0]))
        log("grads", a.grad, b.grad, c.grad)


@family
def single_operation(torch, log):
    """A module of one operation: leaves as inputs still warn, inner tensors do not."""
    a, b = leaves(torch)
    module = module_of(torch, lambda x, y: x * y)
    module.register_backward_hook(log.module_hook("legacy", lambda m, gi, go: (gi[0] * 10, gi[1])))
    module(a, b).sum().backward()
    log("inner tensors")
    module(a * 2, b.exp()).sum().backward()
    log("one of each")
    module(a * 2, b).sum().backward()
    log("grads", a.grad, b.grad)


@family
def replacing_the_product(torch, log):
    """What a legacy hook on a module that multiplies and adds may replace."""
    a, b = leaves(torch)
    module = module_of(torch, lambda x, y: x * y + 1)
    module.register_backward_hook(log.module_hook("legacy", lambda m, gi, go: (gi[0] * 3, None)))
    module(a, b).sum().backward()
    log("grads", a.grad, b.grad)


@family
def warning_input_container(torch, log):
    """First warning: the input is not a single tensor or tuple of tensors."""
    a, b = leaves(torch)
    module = module_of(torch, lambda x, factor: x * factor)
    module.register_backward_hook(log.module_hook("legacy"))
    module(a, 2.0).sum().backward()
    items = module_of(torch, lambda pair: pair[0] * pair[1])
    items.register_backward_hook(log.module_hook("legacy"))
    items([a, b]).sum().backward()


@family
def warning_output_container(torch, log):
    """Second warning: the output is not a single tensor or tuple of tensors; a tensor in a dict is
    found.
    """
    a, _ = leaves(torch)
    for name, function in (
        ("list", lambda x: [x * 2]),
        ("dict", lambda x: {"out": x * 2}),
        ("tuple with a number", lambda x: (x * 2, 3.0)),
    ):
        module = module_of(torch, function)
        module.register_backward_hook(log.module_hook(name))
        log.raises(f"{name} called", lambda module=module: first(module(a)).sum().backward())
    log("a.grad", a.grad)


def first(container):
    """Give the first tensor in a container."""
    return container["out"] if isinstance(container, dict) else container[0]


@family
def warning_outputs_of_different_nodes(torch, log):
    """Third warning: outputs made by different nodes."""
    a, _ = leaves(torch)
    module = module_of(torch, lambda x: (x * 2, x.exp()))
    module.register_backward_hook(log.module_hook("legacy"))
    p, q = module(a)
    p.sum().backward()
    q.sum().backward()


@family
def warning_several_nodes(torch, log):
    """Fourth warning: forward made several nodes, so grad_input is missing some."""
    a, _ = leaves(torch)
    module = module_of(torch, lambda x: (x * 2).exp())
    module.register_backward_hook(log.module_hook("legacy"))
    module(a).backward(torch.tensor([1.0, -1.0]))
    module(a).backward(torch.tensor([1.0, -1.0]))


@family
def sequential_of_two(torch, log):
    """On a Sequential the legacy hook sees the last layer's last operation."""
    net = torch.nn.Sequential(linear(torch, [[0.5, -1.0]], [0.25]), torch.nn.Tanh())
    net.register_backward_hook(log.module_hook("legacy"))
    x = torch.tensor([[1.0, 2.0]], requires_grad=True)
    net(x).sum().backward()
    log("x.grad", x.grad)


@family
def input_returned_unchanged(torch, log):
    """A module that returns its input: what the legacy hook sits on."""
    a, _ = leaves(torch)
    module = module_of(torch, lambda x: x)
    module.register_backward_hook(log.module_hook("legacy"))
    log.raises("leaf", lambda: (module(a) * 3).sum().backward())
    log.raises("inner", lambda: (module(a * 2) * 3).sum().backward())
    log("a.grad", a.grad)


@family
def no_gradient_at_all(torch, log):
    """Nothing requires grad: no hook, no error, no warning."""
    module = module_of(torch, lambda x: x * 2)
    module.register_backward_hook(log.module_hook("legacy"))
    log("out", module(torch.tensor([1.0])))


@family
def order_and_removal(torch, log):
    """Two legacy hooks run in order, each with what the first left; a removed one does not run."""
    a, _ = leaves(torch)
    module = module_of(torch, lambda x: x * 2)
    handle = module.register_backward_hook(
        log.module_hook("1", lambda m, gi, go: (gi[0] * 5, None))
    )
    module.register_backward_hook(log.module_hook("2"))
    module(a).sum().backward()
    log("a.grad", a.grad)
    handle.remove()
    module(a).sum().backward()


@family
def wrong_number_of_results(torch, log):
    """A legacy hook must return as many gradients as the node has inputs."""
    a, b = leaves(torch)
    module = module_of(torch, lambda x, y: x * y)
    with module.register_backward_hook(lambda m, gi, go: (gi[0],)):
        log.raises("one of two", lambda: module(a, b).sum().backward())
    with module.register_backward_hook(lambda m, gi, go: gi[0]):
        log.raises("a tensor", lambda: module(a, b).sum().backward())


@family
def both_kinds_on_one_module(torch, log):
    """Full and legacy backward hooks exclude each other on one module."""
    module = module_of(torch, lambda x: x * 2)
    with module.register_full_backward_hook(lambda m, gi, go: None):
        log.raises(
            "legacy after full", lambda: module.register_backward_hook(lambda m, gi, go: None)
        )
    log.raises("still after removal", lambda: module.register_backward_hook(lambda m, gi, go: None))
    other = module_of(torch, lambda x: x * 2)
    with other.register_backward_hook(lambda m, gi, go: None):
        log.raises(
            "full after legacy", lambda: other.register_full_backward_hook(lambda m, gi, go: None)
        )
    both = module_of(torch, lambda x: x * 2)
    both.register_backward_hook(log.module_hook("legacy"))
    log.raises(
        "a full pre-hook",
        lambda: both.register_full_backward_pre_hook(log.module_hook("pre")).id > -1,
    )
    a, _ = leaves(torch)
    both(a).sum().backward()
