"""See one hook for the gradients of several tensors: when it is called, with what, how often."""

from __future__ import annotations

from .tools import Family, leaf

family = Family()


def registered(torch, log, tensors, name="all", mode="all"):
    """Register a hook that writes down what it gets."""

    def hook(gradients):
        log(name, gradients)

    return torch.autograd.graph.register_multi_grad_hook(tensors, hook, mode=mode)


@family
def all_of_them(torch, log):
    """Called once all have arrived, with the gradients in the order of the tensors."""
    x, y, z = leaf(torch, (2,), 1), leaf(torch, (2,), 2), leaf(torch, (2,), 3)
    handle = registered(torch, log, [x, y, z])
    (x * y + z).sum().backward()
    log("after", x.grad, y.grad, z.grad)
    handle.remove()
    (x * y + z).sum().backward()
    log("removed", type(handle).__name__)


@family
def some_get_none(torch, log):
    """A tensor that this pass does not reach has None; the hook waits for the others alone."""
    x, y, z, w = (leaf(torch, (2,), seed) for seed in (1, 2, 3, 4))
    registered(torch, log, (x, y, z, w))
    (x * y).sum().backward()
    (z * 2).sum().backward()
    (x * y * z * w).sum().backward()
    torch.exp(leaf(torch, (2,), 5)).sum().backward()
    log("done")


@family
def inner_tensors(torch, log):
    """Leaves and inner tensors together; the hook comes with the last of them."""
    x, w = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
    a = x * w
    b = a.exp()
    c = b + w
    for name, tensor in (("x", x), ("w", w), ("a", a), ("b", b)):
        tensor.register_hook(log.hook(name))
    registered(torch, log, [a, b])
    registered(torch, log, [x, c], name="x and c")
    c.sum().backward()


@family
def several_passes(torch, log):
    """Each pass counts for itself."""
    x, y = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
    a, b = x * 2, y * 3
    total, part = (a * b).sum(), (a * a).sum()
    registered(torch, log, [a, b])
    registered(torch, log, [a, b], name="any", mode="any")
    total.backward(retain_graph=True)
    part.backward(retain_graph=True)
    total.backward(retain_graph=True)
    torch.autograd.grad(total, a, retain_graph=True)
    torch.autograd.grad(total, b)


@family
def restricted_to_inputs(torch, log):
    """With inputs only those that are asked for, or lie on the way, count."""
    x, y = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
    a, b = x * 2, y * 3
    c = a * b
    total = c.sum()
    registered(torch, log, [a, b])
    registered(torch, log, [b, c], name="b and c")
    registered(torch, log, [x, y], name="leaves")
    total.backward(inputs=[x], retain_graph=True)
    log("next")
    total.backward(inputs=[a, y], retain_graph=True)
    log("next")
    total.backward(inputs=[x, y], retain_graph=True)
    log("next")
    torch.autograd.grad(total, [a], retain_graph=True)
    log("next")
    torch.autograd.grad(total, [a, b], retain_graph=True)
    log("next")
    torch.autograd.grad(total, [c], retain_graph=True)
    log("next")
    log.raises("a leaf", lambda: torch.autograd.grad(total, [x], retain_graph=True))
    log.raises("leaves", lambda: torch.autograd.grad(total, [x, y]))


@family
def any_of_them(torch, log):
    """Mode any: the first gradient of a pass alone."""
    x, y = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
    a, b = x * 2, y * 3
    c = a * b
    constant = torch.tensor([1.0, 2.0])
    handle = registered(torch, log, (a, b, constant), name="any", mode="any")
    registered(torch, log, (x, c), name="x or c", mode="any")
    for name, tensor in (("x", x), ("y", y), ("a", a), ("b", b), ("c", c)):
        tensor.register_hook(log.hook(name))
    c.sum().backward(retain_graph=True)
    log("next")
    c.sum().backward(inputs=[x], retain_graph=True)
    handle.remove()
    log("removed")
    c.sum().backward()


@family
def refused(torch, log):
    """Other modes, and tensors that require no gradient."""
    x, c = leaf(torch, (2,), 1), torch.tensor([1.0, 2.0])
    register = torch.autograd.graph.register_multi_grad_hook
    log.raises("mode", lambda: register([x], print, mode="some"))
    log.raises("constant", lambda: register([c], print))
    log.raises("mixed", lambda: register([x, c], print))
    log.raises("any constant", lambda: type(register([c], print, mode="any")).__name__)
    log.raises("positional", lambda: register([x], print, "all"))
    log.raises("none", lambda: type(register([], print)).__name__)
    log.raises("a single tensor", lambda: type(register(x, print)).__name__)


@family
def what_is_returned_is_ignored(torch, log):
    """A multi-grad hook changes nothing by what it returns."""
    x, y = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
    register = torch.autograd.graph.register_multi_grad_hook
    register([x, y], lambda gradients: [g * 2 for g in gradients])
    register([x, y], lambda gradient: gradient * 2, mode="any")
    (x * y).sum().backward()
    log("grads", x.grad, y.grad, x, y)


@family
def an_error_ends_the_pass(torch, log):
    """A pass that failed before all arrived does not call the hook; the next one does."""

    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            raise RuntimeError("not today")

    x, y = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
    registered(torch, log, [x, y])
    late = Fails.apply(x * 2) + y
    log.raises("fails", lambda: late.sum().backward())
    log("grads", x.grad, y.grad)
    (x * y).sum().backward()
    log("grads", x.grad, y.grad)


@family
def the_hook_itself_fails(torch, log):
    """What the hook raises ends the pass."""
    x, y = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
    fail = [True]

    def hook(gradients):
        log("hook", gradients)
        if fail.pop() if fail else False:
            raise ValueError("no")

    torch.autograd.graph.register_multi_grad_hook([x, y], hook)
    log.raises("first", lambda: (x * y).sum().backward())
    log("grads", x.grad, y.grad)
    log.raises("second", lambda: (x * y).sum().backward())
    log("grads", x.grad, y.grad)


@family
def nested_passes(torch, log):
    """A pass inside a hook of the same tensors counts apart."""
    x, y = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
    inner = [True]

    def nest(grad):
        log("tensor hook", grad)
        if inner:
            inner.pop()
            with torch.enable_grad():
                (x * y * 10).sum().backward()

    registered(torch, log, [x, y])
    registered(torch, log, [x, y], name="any", mode="any")
    a = x * 2
    a.register_hook(nest)
    (a * y).sum().backward()
    log("grads", x.grad, y.grad)


@family
def a_pass_inside_the_hook(torch, log):
    """The hook may start a pass that calls it again."""
    x, y = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
    depth = [0]

    def hook(gradients):
        depth[0] += 1
        log("hook", depth[0], gradients)
        if depth[0] < 3:
            with torch.enable_grad():
                (x * y).sum().backward()

    torch.autograd.graph.register_multi_grad_hook([x, y], hook)
    (x * y).sum().backward()
    log("grads", x.grad, y.grad)


@family
def under_create_graph(torch, log):
    """The gradients are in the graph of the pass."""
    x, y = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
    a, b = x * x, y * y
    registered(torch, log, [a, b])
    torch.autograd.grad((a * b).sum(), [x, y], create_graph=True)


@family
def tensors_twice(torch, log):
    """The same tensor twice in the list, and outputs of one node."""
    x = leaf(torch, (2,), 1)
    a = x * 2
    registered(torch, log, [a, a], name="twice")
    a.sum().backward()
    first, second = (x * 3).unbind(0)
    registered(torch, log, [first, second], name="outputs")
    (first * second).backward(retain_graph=True)
    log("one output")
    first.backward()


@family
def roots_of_the_pass(torch, log):
    """A single root does not count among the tensors that will get a gradient; several do."""
    x = leaf(torch, (2,), 1)
    a = x * 2
    b = a.sum()
    registered(torch, log, [x, b])
    registered(torch, log, [b], name="b alone")
    registered(torch, log, [b], name="any", mode="any")
    b.backward(retain_graph=True)
    log("with inputs")
    b.backward(inputs=[x], retain_graph=True)
    log("two roots")
    torch.autograd.backward([b, (a * a).sum()])


@family
def outside_of_a_pass(torch, log):
    """An accumulated gradient of a leaf comes to the hook before it is in .grad."""
    x, y = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
    register = torch.autograd.graph.register_multi_grad_hook
    register([x, y], lambda gradients: log("hook", gradients, x.grad, y.grad))
    (x * y).sum().backward()
    (x * y).sum().backward()
