"""Full backward hooks: what they see and replace, and all shapes of inputs and results."""

from __future__ import annotations

from collections import namedtuple

from .tools import Family, graph, linear

family = Family()


def net_of_the_worked_example(torch):
    """Make f0 (weight 0.3, bias 0.1) and f1, a module that squares its Linear (0.4, 0.2)."""

    class Square(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.f = linear(torch, [[0.4]], [0.2])

        def forward(self, x):
            return self.f(x) ** 2

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.f0 = linear(torch, [[0.3]], [0.1])
            self.f1 = Square()

        def forward(self, x):
            return self.f1(self.f0(x))

    return Net()


def run_worked_example(torch, log, net):
    """Run the worked example once and write down every gradient."""
    x = torch.tensor([0.3], requires_grad=True)
    y = net(x)
    loss = (y - 1) ** 2
    log("y", y, "loss", loss, graph(loss))
    loss.backward()
    log("x.grad", x.grad)
    for name, parameter in net.named_parameters():
        log(name, parameter.grad)


@family
def worked_example_watched(torch, log):
    """The worked example with a full hook and a pre-hook on f1 that only look."""
    net = net_of_the_worked_example(torch)
    net.f1.register_full_backward_hook(log.module_hook("hook"))
    net.f1.register_full_backward_pre_hook(log.module_hook("pre-hook"))
    run_worked_example(torch, log, net)


@family
def worked_example_unhooked(torch, log):
    """The unhooked twin of the worked example."""
    run_worked_example(torch, log, net_of_the_worked_example(torch))


@family
def worked_example_doubled(torch, log):
    """Doubling grad_input changes what lies upstream (x, f0) and leaves f1's own
    gradients alone.
    """
    net = net_of_the_worked_example(torch)
    net.f1.register_full_backward_hook(log.module_hook("hook", lambda m, gi, go: (gi[0] * 2,)))
    run_worked_example(torch, log, net)


@family
def pre_hook_doubles_grad_output(torch, log):
    """Doubling grad_output in a pre-hook changes everything in the module too, and the full hook
    sees it.
    """
    net = net_of_the_worked_example(torch)
    net.f1.register_full_backward_hook(log.module_hook("hook"))
    net.f1.register_full_backward_pre_hook(log.module_hook("pre-hook", lambda m, go: (go[0] * 2,)))
    run_worked_example(torch, log, net)


@family
def hooks_on_every_module(torch, log):
    """Hooks on every module of the worked example: the order in which modules are left by the
    backward.
    """
    net = net_of_the_worked_example(torch)
    for name, module in net.named_modules():
        module.register_full_backward_hook(log.module_hook(f"hook {name!r}"))
        module.register_full_backward_pre_hook(log.module_hook(f"pre-hook {name!r}"))
    run_worked_example(torch, log, net)


@family
def a_tensor_instead_of_a_tuple(torch, log):
    """A full hook's result is indexed like a tuple, also if it is a tensor; a pre-hook's tensor is
    wrapped.
    """
    layer = linear(torch, [[0.5, -1.0]], [0.25])
    x = torch.tensor([[1.0, 2.0]], requires_grad=True)
    with layer.register_full_backward_hook(lambda m, gi, go: gi[0] * 3):
        log.raises("one row", lambda: layer(x).sum().backward())
        two = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        log.raises("two rows", lambda: layer(two).sum().backward())
    with layer.register_full_backward_hook(lambda m, gi, go: (gi[0] * 3)[None]):
        log.raises("with one axis more", lambda: layer(x).sum().backward())
    with layer.register_full_backward_pre_hook(lambda m, go: go[0] * 10):
        log.raises("pre-hook", lambda: layer(x).sum().backward())
    log("x.grad", x.grad)


@family
def order_and_prepend(torch, log):
    """Order of registration, prepend in front, each seeing what the one before returned."""
    layer = linear(torch, [[0.5, -1.0]], [0.25])
    x = torch.tensor([[1.0, 2.0]], requires_grad=True)
    layer.register_full_backward_hook(log.module_hook("1", lambda m, gi, go: (gi[0] * 2,)))
    layer.register_full_backward_hook(log.module_hook("2"))
    layer.register_full_backward_hook(
        log.module_hook("in front", lambda m, gi, go: (gi[0] + 1,)), prepend=True
    )
    layer.register_full_backward_pre_hook(log.module_hook("pre 1", lambda m, go: (go[0] * 4,)))
    layer.register_full_backward_pre_hook(log.module_hook("pre 2"))
    layer.register_full_backward_pre_hook(log.module_hook("pre in front"), prepend=True)
    layer(x).backward(torch.tensor([[0.5]]))
    log("grads", x.grad, layer.weight.grad, layer.bias.grad)


@family
def moment_of_the_full_hook(torch, log):
    """When the full hook runs a Linear's parameters have their gradients already, x has not."""
    layer = linear(torch, [[0.5, -1.0]], [0.25])
    x = torch.tensor([[1.0, 2.0]], requires_grad=True)
    layer.register_full_backward_pre_hook(
        lambda m, go: log("pre", layer.weight.grad, layer.bias.grad, x.grad)
    )
    layer.register_full_backward_hook(
        lambda m, gi, go: log("hook", layer.weight.grad, layer.bias.grad, x.grad)
    )
    layer.weight.register_hook(log.hook("weight"))
    layer.bias.register_hook(log.hook("bias"))
    x.register_hook(log.hook("x"))
    layer(x).sum().backward()


@family
def no_input_requires_grad(torch, log):
    """With no input that requires grad the hook runs on the outputs, warns, sees None and comes
    before parameters.
    """
    layer = linear(torch, [[0.5, -1.0]], [0.25])
    layer.register_full_backward_hook(lambda m, gi, go: log("hook", gi, go, layer.weight.grad))
    out = layer(torch.tensor([[1.0, 2.0]]))
    log("out", out, graph(out))
    out.sum().backward()
    log("weight.grad", layer.weight.grad)


@family
def no_input_requires_grad_and_a_result(torch, log):
    """With no input that requires grad a hook must return None, or a tuple of None."""
    layer = linear(torch, [[0.5, -1.0]], [0.25])
    x = torch.tensor([[1.0, 2.0]])
    with layer.register_full_backward_hook(lambda m, gi, go: (None,)):
        log.raises("(None,)", lambda: layer(x).sum().backward())
    with layer.register_full_backward_hook(lambda m, gi, go: (x,)):
        log.raises("a tensor", lambda: layer(x).sum().backward())


@family
def wrong_results(torch, log):
    """The number of gradients returned must be right; the message names the hook."""
    layer = linear(torch, [[0.5, -1.0]], [0.25])
    x = torch.tensor([[1.0, 2.0]], requires_grad=True)

    def two(module, grad_input, grad_output):
        return grad_input[0], None

    def none_at_all(module, grad_input, grad_output):
        return ()

    def two_before(module, grad_output):
        return grad_output[0], grad_output[0]

    def wrong_shape(module, grad_input, grad_output):
        return (torch.tensor([1.0]),)

    def a_number(module, grad_input, grad_output):
        return 3.0

    def a_number_inside(module, grad_input, grad_output):
        return (3.0,)

    for hook in (two, none_at_all, wrong_shape, a_number, a_number_inside):
        with layer.register_full_backward_hook(hook):
            log.raises(hook.__name__, lambda: layer(x).sum().backward())
    with layer.register_full_backward_pre_hook(two_before):
        log.raises("two_before", lambda: layer(x).sum().backward())


@family
def module_used_twice(torch, log):
    """A module called twice runs its hook once per call."""
    layer = linear(torch, [[0.5]], [0.25])
    layer.register_full_backward_hook(log.module_hook("hook"))
    x = torch.tensor([[3.0]], requires_grad=True)
    (layer(layer(x)) * 2).backward()
    log("grads", x.grad, layer.weight.grad)


@family
def several_backward_calls(torch, log):
    """The hook runs in every backward through the module; not for autograd.grad that stops before
    it.
    """
    layer = linear(torch, [[0.5]], [0.25])
    layer.register_full_backward_hook(log.module_hook("hook"))
    x = torch.tensor([[3.0]], requires_grad=True)
    y = layer(x)
    y.backward(torch.tensor([[2.0]]), retain_graph=True)
    y.backward(torch.tensor([[-3.0]]), retain_graph=True)
    log("x.grad", x.grad)
    log("grad for x", torch.autograd.grad(y, x, retain_graph=True))
    log("grad for weight", torch.autograd.grad(y, layer.weight))


@family
def double_backward(torch, log):
    """Under create_graph the hook sees gradients with a graph; a second derivative does not run it
    again.
    """

    class Cube(torch.nn.Module):
        def forward(self, x):
            return x * x * x

    cube = Cube()
    cube.register_full_backward_hook(log.module_hook("hook"))
    x = torch.tensor([2.0, -1.0], requires_grad=True)
    (g,) = torch.autograd.grad(cube(x).sum(), x, create_graph=True)
    log("first", g, graph(g))
    (h,) = torch.autograd.grad(g.sum(), x)
    log("second", h)


@family
def removal(torch, log):
    """Removal between forward and backward, in its own hook, and twice."""
    layer = linear(torch, [[0.5]], [0.25])
    x = torch.tensor([[3.0]], requires_grad=True)
    first = layer.register_full_backward_hook(log.module_hook("removed after forward"))
    y = layer(x)
    first.remove()
    y.backward()
    log("no hook any more", layer(x))

    def once(module, grad_input, grad_output):
        log("once", grad_input)
        handle.remove()

    handle = layer.register_full_backward_hook(once)
    layer.register_full_backward_hook(log.module_hook("stays"))
    layer(x).backward()
    layer(x).backward()
    handle.remove()


@family
def registered_after_forward(torch, log):
    """A hook registered after forward has no node to sit on."""
    layer = linear(torch, [[0.5]], [0.25])
    x = torch.tensor([[3.0]], requires_grad=True)
    y = layer(x)
    layer.register_full_backward_hook(log.module_hook("late"))
    y.backward()
    log("x.grad", x.grad)


Pair = namedtuple("Pair", ["first", "second"])


def module_of(torch, function):
    """Make a module out of a function."""

    class Wrap(torch.nn.Module):
        def forward(self, *args, **kwargs):
            return function(*args, **kwargs)

    return Wrap()


def leaves(torch):
    """Make two leaves that require grad."""
    return (
        torch.tensor([1.0, -2.0], requires_grad=True),
        torch.tensor([0.5, 3.0], requires_grad=True),
    )


@family
def non_tensors_and_no_grad_inputs(torch, log):
    """Inputs that are no tensors, or need no gradient, are None at their position."""
    a, b = leaves(torch)
    seen = []

    def function(x, factor, y, name):
        seen.append((x.requires_grad, y.requires_grad))
        return x * factor * y, name

    module = module_of(torch, function)
    module.register_full_backward_hook(log.module_hook("hook"))
    out = module(a, 3, b.detach(), "name")
    log("out", out, seen)
    out[0].sum().backward()
    log("grads", a.grad)


@family
def a_list_as_input(torch, log):
    """Tensors inside a list are no inputs of their own."""
    a, b = leaves(torch)
    module = module_of(torch, lambda items: items[0] * items[1])
    module.register_full_backward_hook(log.module_hook("hook"))
    log.raises("running", lambda: module([a, b]).sum().backward())
    log("grads", a.grad, b.grad)


@family
def output_containers(torch, log):
    """Tuples and named tuples keep their type; a list and a dict come with a warning and run no
    backward hook.
    """
    a, _ = leaves(torch)
    for name, function in (
        ("tuple", lambda x: (x * 2, x * 3)),
        ("named tuple", lambda x: Pair(x * 2, x * 3)),
        ("list", lambda x: [x * 2, x * 3]),
        ("dict", lambda x: {"out": x * 2, "other": 3}),
    ):
        module = module_of(torch, function)
        module.register_full_backward_hook(log.module_hook(f"{name} hook"))
        module.register_forward_hook(log.module_hook(f"{name} forward"))
        out = module(a)
        log(name, type(out).__name__, out)
        first = out["out"] if isinstance(out, dict) else out[0]
        first.sum().backward()
    log("a.grad", a.grad)


@family
def output_none_and_number(torch, log):
    """A module that returns no tensor at all."""
    a, _ = leaves(torch)
    for name, result in (("None", None), ("number", 3.0)):
        module = module_of(torch, lambda x, result=result: result)
        module.register_full_backward_hook(log.module_hook("hook"))
        log.raises(name, lambda module=module: module(a))


@family
def in_place_on_the_output(torch, log):
    """Changing a hooked module's output in place is an error."""
    a, _ = leaves(torch)
    module = module_of(torch, lambda x: x * 2)
    module.register_full_backward_hook(lambda m, gi, go: None)
    out = module(a)
    log.raises("mul_", lambda: out.mul_(2))
    log.raises("+=", lambda: out.__iadd__(1))
    with torch.no_grad():
        log.raises("no_grad", lambda: out.add_(1).tolist())


@family
def in_place_on_the_input(torch, log):
    """A hooked module that changes its input in place is an error."""
    a, _ = leaves(torch)
    module = module_of(torch, lambda x: x.mul_(2))
    module.register_full_backward_hook(lambda m, gi, go: None)
    b = a * 1
    log.raises("module", lambda: module(b))
    relu = torch.nn.ReLU(inplace=True)
    relu.register_full_backward_hook(lambda m, gi, go: None)
    log.raises("ReLU", lambda: relu(a * 1))


@family
def in_place_on_the_base(torch, log):
    """Using the view after its base was changed in place is an error too."""
    a, _ = leaves(torch)
    base = a * 1

    def function(x):
        base.mul_(2)
        return x + 1

    module = module_of(torch, function)
    module.register_full_backward_hook(lambda m, gi, go: None)
    log.raises("module", lambda: module(base))
