"""See when hooks on tensors run, what they are given, and what their results do."""

from __future__ import annotations

from .tools import Family, graph

family = Family()


@family
def order_is_registration_order(torch, log):
    """Hooks run in the order in which they were registered, each seeing what the one before
    returned.
    """
    x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
    x.register_hook(log.hook("first"))
    x.register_hook(log.hook("second doubles", lambda g: g * 2))
    x.register_hook(log.hook("third adds", lambda g: g + torch.tensor([1.0, 0.0, -1.0])))
    x.register_hook(log.hook("fourth"))
    (x * torch.tensor([0.5, 0.25, -1.0])).sum().backward()
    log("x.grad", x.grad)


@family
def none_keeps_a_tensor_replaces(torch, log):
    """A hook on an inner tensor that returns a tensor changes everything upstream, one that returns
    None nothing.
    """
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    y = x * torch.tensor([3.0, -1.0])
    z = y * y
    y.register_hook(log.hook("y keeps"))
    y.register_hook(log.hook("y replaces", lambda g: g * -0.5))
    z.register_hook(log.hook("z"))
    x.register_hook(log.hook("x"))
    z.backward(torch.tensor([0.5, 2.0]))
    log("x.grad", x.grad)


@family
def hook_sees_the_sum_over_all_uses(torch, log):
    """A tensor used three times calls its hook once, with the complete sum; leaf and
    inner alike.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(log.hook("x"))
    y = x * 3
    y.register_hook(log.hook("y"))
    out = (y * y).sum() + (y * torch.tensor([1.0, -4.0])).sum() + x.sum() + (x * x).sum()
    out.backward()
    log("x.grad", x.grad)


@family
def leaf_hook_runs_before_accumulation(torch, log):
    """A leaf's hook sees this backward's gradient, and .grad as it was before; the sum
    comes after.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: log("hook", g, "x.grad", x.grad))
    (x * 2).sum().backward()
    log("x.grad", x.grad)
    (x * torch.tensor([5.0, -1.0])).sum().backward()
    log("x.grad", x.grad)


@family
def removal_before_backward(torch, log):
    """A removed hook does not run; removing twice is allowed; the others stay."""
    x = torch.tensor([1.0], requires_grad=True)
    first = x.register_hook(log.hook("first"))
    second = x.register_hook(log.hook("second", lambda g: g * 10))
    x.register_hook(log.hook("third"))
    second.remove()
    second.remove()
    (x * 4).backward()
    first.remove()
    (x * 4).backward()
    log("x.grad", x.grad)


@family
def removal_in_its_own_hook(torch, log):
    """A hook that removes itself runs this once and still has its say; the next backward is without
    it.
    """
    x = torch.tensor([1.0], requires_grad=True)

    def once(grad):
        log("once", grad)
        handle.remove()
        return grad * 7

    handle = x.register_hook(once)
    x.register_hook(log.hook("after"))
    (x * 2).backward()
    (x * 2).backward()
    log("x.grad", x.grad)


@family
def removal_of_an_upstream_hook_during_backward(torch, log):
    """A hook further downstream that removes one further upstream keeps it from running."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = y * 3
    upstream = y.register_hook(log.hook("y"))

    def remove(grad):
        log("z", grad)
        upstream.remove()

    z.register_hook(remove)
    z.sum().backward()
    log("x.grad", x.grad)


@family
def removal_of_a_later_hook_on_the_same_tensor(torch, log):
    """A hook removed by an earlier one on the same tensor still runs this once."""
    x = torch.tensor([1.0], requires_grad=True)
    y = x * 2

    def remove(grad):
        log("first", grad)
        later.remove()

    y.register_hook(remove)
    later = y.register_hook(log.hook("later"))
    y.backward(retain_graph=True)
    log("once more")
    y.backward()


@family
def registering_in_a_hook(torch, log):
    """A hook registered on an upstream tensor while backward runs is in time."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = y * 3

    def register(grad):
        log("z", grad)
        y.register_hook(log.hook("y, registered late", lambda g: g * 2))

    z.register_hook(register)
    z.sum().backward()
    log("x.grad", x.grad)


@family
def handle_is_a_context_manager(torch, log):
    """A handle used in a with statement removes its hook at the end."""
    x = torch.tensor([1.0], requires_grad=True)
    with x.register_hook(log.hook("inside")) as handle:
        (x * 2).backward()
        log("type", type(handle).__name__, isinstance(handle.id, int))
    (x * 2).backward()
    log("x.grad", x.grad)


@family
def same_hook_twice(torch, log):
    """One function registered twice runs twice."""
    x = torch.tensor([1.0], requires_grad=True)
    hook = log.hook("hook", lambda g: g * 3)
    x.register_hook(hook)
    x.register_hook(hook)
    (x * 2).backward()
    log("x.grad", x.grad)


@family
def several_backward_calls(torch, log):
    """Hooks run in every backward over a kept graph, and .grad adds up what they returned."""
    x = torch.tensor([1.0, 3.0], requires_grad=True)
    y = x * x
    y.register_hook(log.hook("y", lambda g: g * 2))
    x.register_hook(log.hook("x"))
    for cotangent in ([1.0, 0.5], [-1.0, 2.0]):
        y.backward(torch.tensor(cotangent), retain_graph=True)
        log("x.grad", x.grad)


@family
def hook_on_a_root(torch, log):
    """A hook on the tensor backward is called on sees the gradient given to it."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.register_hook(log.hook("y", lambda g: g + 1))
    y.backward(torch.tensor([0.5, -0.25]))
    log("x.grad", x.grad)
    s = (x * 3).sum()
    s.register_hook(log.hook("scalar root"))
    s.backward()


@family
def backward_on_a_leaf(torch, log):
    """Backward called on a leaf itself runs its hook and sets .grad."""
    x = torch.tensor(2.0, requires_grad=True)
    x.register_hook(log.hook("x", lambda g: g * 4))
    x.backward()
    x.backward(torch.tensor(-3.0))
    log("x.grad", x.grad)


@family
def with_autograd_grad(torch, log):
    """autograd.grad runs tensor hooks of what it passes and of what is asked for, and leaves .grad
    alone.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([3.0, -1.0], requires_grad=True)
    y = x * w
    z = y * y
    x.register_hook(log.hook("x", lambda g: g * 10))
    w.register_hook(log.hook("w"))
    y.register_hook(log.hook("y"))
    z.register_hook(log.hook("z"))
    log("grad for x", torch.autograd.grad(z.sum(), x, retain_graph=True))
    log("grad for y", torch.autograd.grad(z.sum(), y, retain_graph=True))
    log("grad for both", torch.autograd.grad(z.sum(), (w, x)))
    log(".grad", x.grad, w.grad)


@family
def under_create_graph(torch, log):
    """Under create_graph a hook gets a gradient with a graph, and may differentiate through what it
    returns.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x * x
    y.register_hook(lambda g: log("y", g, g.requires_grad, torch.is_grad_enabled()))
    x.register_hook(log.hook("x", lambda g: g * x))
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    log("first", g, graph(g))
    (h,) = torch.autograd.grad(g.sum(), x)
    log("second", h)


@family
def grad_mode_inside(torch, log):
    """Grad mode is off in a hook of a plain backward, on under create_graph, and restored
    afterwards.
    """
    x = torch.tensor([1.0], requires_grad=True)
    y = x * x
    y.register_hook(lambda g: log("mode", torch.is_grad_enabled(), g.requires_grad))
    y.backward(retain_graph=True)
    torch.autograd.grad(y, x, create_graph=True)
    with torch.no_grad():
        y.backward()
        log("no_grad outside", torch.is_grad_enabled())
    log("outside", torch.is_grad_enabled())


@family
def a_hook_may_read_its_tensor(torch, log):
    """A hook may read the tensor it sits on, as the conditional hook of the seed text does."""

    def by_sign(values):
        x = torch.tensor(values, requires_grad=True)

        def hook(grad):
            if (x > 0).all():
                return grad * 2
            if (x < 0).all():
                return grad * 0.5
            return grad

        x.register_hook(hook)
        (x * 2).sum().backward()
        return x.grad

    log("all positive", by_sign([1.0, 2.0]))
    log("all negative", by_sign([-1.0, -2.0]))
    log("mixed", by_sign([-1.0, 2.0]))


@family
def clipping_a_non_leaf(torch, log):
    """The seed's clipping example: x made by an operation is no leaf, so its .grad is None, with a
    warning.
    """
    base = torch.tensor([[0.3, -1.2], [0.7, 0.1]], requires_grad=True)
    x = base * 10
    z = (x * 2).sum()
    x.register_hook(log.hook("clip", lambda g: torch.clamp(g, -1.0, 1.0)))
    z.backward()
    log("x.grad", x.grad)
    log("base.grad", base.grad)
