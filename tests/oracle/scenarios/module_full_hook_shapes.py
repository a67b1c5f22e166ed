"""See full backward hooks on modules with several, missing, odd or in-place changed inputs and
outputs.
"""

from __future__ import annotations

from collections import namedtuple

from .tools import Family, graph

family = Family()

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
def several_inputs_and_outputs(torch, log):
    """One entry a position, for inputs and for outputs; each may be replaced."""
    a, b = leaves(torch)
    module = module_of(torch, lambda x, y: (x * y, x + 2 * y))
    module.register_full_backward_pre_hook(log.module_hook("pre"))
    module.register_full_backward_hook(
        log.module_hook("hook", lambda m, gi, go: (gi[0] * 10, gi[1] * 100))
    )
    p, q = module(a, b)
    log("outputs", p, q, graph(p))
    (p * torch.tensor([1.0, 2.0]) + q * torch.tensor([-1.0, 0.5])).sum().backward()
    log("grads", a.grad, b.grad)


@family
def one_output_unused(torch, log):
    """An output that takes no part in the loss: what the hooks get for it."""
    a, b = leaves(torch)
    module = module_of(torch, lambda x, y: (x * y, x + 2 * y))
    module.register_full_backward_pre_hook(log.module_hook("pre"))
    module.register_full_backward_hook(log.module_hook("hook"))
    p, _ = module(a, b)
    p.sum().backward()
    log("grads", a.grad, b.grad)


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
def an_input_that_is_not_used(torch, log):
    """An input the module does not use has None in grad_input."""
    a, b = leaves(torch)
    module = module_of(torch, lambda x, y: x * 3)
    module.register_full_backward_hook(log.module_hook("hook"))
    module(a, b).sum().backward()
    log("grads", a.grad, b.grad)


@family
def keyword_arguments_are_ignored(torch, log):
    """Tensors passed by keyword have no entry, but still get their gradients."""
    a, b = leaves(torch)
    module = module_of(torch, lambda x, other: x * other)
    module.register_full_backward_hook(log.module_hook("hook"))
    module(a, other=b).sum().backward()
    log("grads", a.grad, b.grad)
    only = module_of(torch, lambda other: other * 2)
    only.register_full_backward_hook(log.module_hook("keywords only"))
    log.raises("keywords only", lambda: only(other=b).sum().backward())


@family
def the_same_tensor_twice(torch, log):
    """One tensor given for two inputs: an entry each, the sum for the tensor."""
    a, _ = leaves(torch)
    module = module_of(torch, lambda x, y: x * x * y)
    module.register_full_backward_hook(log.module_hook("hook"))
    module(a, a).sum().backward()
    log("a.grad", a.grad)


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
def input_returned_unchanged(torch, log):
    """A module that returns its input: the same object; with a full hook a view."""
    a, _ = leaves(torch)
    module = module_of(torch, lambda x: x)
    log("same without", module(a) is a)
    module.register_full_backward_hook(log.module_hook("hook"))
    out = module(a)
    log("same with", out is a, out, graph(out), out._base is None)
    (out * 3).sum().backward()
    log("a.grad", a.grad)


@family
def identity_module(torch, log):
    """nn.Identity with a hook that doubles."""
    a, _ = leaves(torch)
    module = torch.nn.Identity()
    module.register_full_backward_hook(lambda m, gi, go: (gi[0] * 2,))
    (module(a) * torch.tensor([1.0, 5.0])).sum().backward()
    log("a.grad", a.grad)


@family
def views_inside_and_outside(torch, log):
    """Inputs and outputs are handed on as views of a node's output; forward sees requires_grad
    unchanged.
    """
    a, _ = leaves(torch)

    def function(x):
        log("inside", x is a, x.requires_grad, x.is_leaf, x)
        return x * 2

    module = module_of(torch, function)
    module.register_full_backward_hook(lambda m, gi, go: None)
    out = module(a)
    log("outside", out, graph(out), a._version, out._version)
    module(a.detach())


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


@family
def under_no_grad(torch, log):
    """Under no_grad hooks change nothing and nothing warns."""
    a, _ = leaves(torch)
    module = module_of(torch, lambda x: x * 2)
    module.register_full_backward_hook(log.module_hook("hook"))
    with torch.no_grad():
        log("out", module(a))


@family
def sequential_and_nested(torch, log):
    """Hooks on a Sequential and its children: outer pre-hook, inner ones from the last to the
    first, outer hook.
    """
    net = torch.nn.Sequential(
        module_of(torch, lambda x: x * 3), torch.nn.Sequential(torch.nn.Tanh(), torch.nn.ReLU())
    )
    for name, module in net.named_modules():
        module.register_full_backward_hook(log.module_hook(f"hook {name!r}"))
        module.register_full_backward_pre_hook(log.module_hook(f"pre {name!r}"))
    a, _ = leaves(torch)
    out = net(a)
    log("graph", graph(out))
    out.sum().backward()
    log("a.grad", a.grad)
