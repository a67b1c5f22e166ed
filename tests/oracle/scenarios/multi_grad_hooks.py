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
