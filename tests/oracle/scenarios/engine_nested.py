"""See backward passes that start within others: from every kind of hook, many levels, errors."""

from __future__ import annotations

from .tools import Family, leaf

family = Family()


def inner_pass(torch, log, w, label="inner"):
    """Run a backward pass over a graph of its own."""
    before = torch.is_grad_enabled()
    with torch.enable_grad():
        y = (w * w).sin()
        y.register_hook(log.hook(f"{label} hook"))
        y.sum().backward()
    log(label, w.grad, before, torch.is_grad_enabled())


@family
def from_every_hook(torch, log):
    """An inner pass runs to its end where it is started; then the outer one goes on."""
    x, w = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
    y = x * 2
    z = y.exp()
    node, end = y.grad_fn, y.grad_fn.next_functions[0][0]
    for name, register in (
        ("tensor", y.register_hook),
        ("retained", z.register_hook),
        ("pre", node.register_prehook),
        ("node", node.register_hook),
        ("leaf", x.register_hook),
        ("accumulate pre", end.register_prehook),
        ("post-accumulate", x.register_post_accumulate_grad_hook),
        ("accumulate", end.register_hook),
    ):
        register(lambda *arguments, name=name: log(name) or inner_pass(torch, log, w, name))
    z.sum().backward()
    log("grads", x.grad, w.grad)


@family
def from_a_function(torch, log):
    """The backward of a Function may differentiate by itself."""

    class Nested(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            with torch.enable_grad():
                ctx.x = x.detach().requires_grad_()
                ctx.y = (ctx.x**3).sum()
            return ctx.y.detach()

        @staticmethod
        def backward(ctx, grad):
            log("mode", torch.is_grad_enabled())
            with torch.enable_grad():
                ctx.y.backward()
            log("inner", ctx.x.grad)
            return ctx.x.grad * grad

    x = leaf(torch, (2,), 1)
    (Nested.apply(x * 2) * 5).backward()
    log("x.grad", x.grad)


@family
def over_the_same_leaf(torch, log):
    """Both passes add to the same .grad."""
    x = leaf(torch, (2,), 1)
    y = x * x
    depth = [0]

    def again(grad):
        depth[0] += 1
        log("hook", depth[0], x.grad)
        if depth[0] < 4:
            with torch.enable_grad():
                z = x * x
                z.register_hook(again)
                z.sum().backward()
            log("back", depth[0], x.grad)

    y.register_hook(again)
    y.sum().backward()
    log("x.grad", x.grad)


@family
def over_the_same_graph(torch, log):
    """A hook may run another pass over the graph that is being run."""
    x = leaf(torch, (2,), 1)
    y = x * x
    total = (y * y).sum()
    first = [True]

    def again(grad):
        log("hook", grad, x.grad)
        if first:
            first.pop()
            total.backward(retain_graph=True)
            log("grad", torch.autograd.grad(total, x, retain_graph=True))

    y.register_hook(again)
    total.backward(retain_graph=True)
    log("x.grad", x.grad)


@family
def waiting_nodes_of_the_outer_pass(torch, log):
    """Nodes of the inner pass come before those of the outer one that wait."""
    x, w = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
    inner = (w * 3).exp()
    inner.register_hook(log.hook("inner"))
    inner = inner.sum()
    a, b, c = x * 2, x * 3, x * 4
    for name, tensor in (("a", a), ("b", b), ("c", c), ("x", x), ("w", w)):
        tensor.register_hook(log.hook(name))
    c.register_hook(lambda grad: inner.backward())
    (a + b + c).sum().backward()


@family
def errors_through_levels(torch, log):
    """An error passes through all levels; the grad mode is restored, the engine usable."""
    x = leaf(torch, (2,), 1)

    class Mine(Exception):
        pass

    def level(number):
        y = x * 1.0

        def deeper(grad):
            if number == 5:
                raise Mine("at the bottom")
            with torch.enable_grad():
                level(number + 1)
            log("not reached")

        y.register_hook(deeper)
        y.sum().backward()

    log.raises("error", lambda: level(1))
    log("mode", torch.is_grad_enabled(), x.grad)
    (x * 2).sum().backward()
    log("x.grad", x.grad)
    log.raises("again", lambda: level(4))
    with torch.no_grad():
        log.raises("under no_grad", lambda: level(1))
        log("mode", torch.is_grad_enabled())


@family
def an_error_caught_inside(torch, log):
    """A hook may catch what its inner pass raised; the outer one goes on."""
    x, w = leaf(torch, (2,), 1), leaf(torch, (2,), 2)

    def fail(grad):
        raise ValueError("inner")

    w.register_hook(fail)

    def hook(grad):
        with torch.enable_grad():
            log.raises("inner", lambda: (w * 2).sum().backward())
        return grad * 2

    y = x * 3
    y.register_hook(hook)
    y.sum().backward()
    log("grads", x.grad, w.grad, torch.is_grad_enabled())


@family
def grad_mode_follows_create_graph(torch, log):
    """In hooks the grad mode is create_graph's, whatever it was around, and is restored."""
    x = leaf(torch, (2,), 1)
    y = x * x
    y.register_hook(lambda grad: log("hook", torch.is_grad_enabled(), (grad * 2).requires_grad))
    y.grad_fn.register_hook(lambda gi, go: log("node hook", torch.is_grad_enabled()))
    x.register_post_accumulate_grad_hook(lambda x: log("accumulated", torch.is_grad_enabled()))
    for create_graph in (False, True):
        for mode in (False, True):
            with torch.set_grad_enabled(mode):
                torch.autograd.grad(
                    y.sum() if mode else y,
                    x,
                    torch.ones(2) if not mode else None,
                    create_graph=create_graph,
                    retain_graph=True,
                )
                log("outside", torch.is_grad_enabled())

    def change_mode(grad):
        torch.set_grad_enabled(True)
        log("changed", torch.is_grad_enabled())

    handle = y.register_hook(change_mode)
    y.sum().backward(retain_graph=True)
    handle.remove()
    log("outside", torch.is_grad_enabled())
    with torch.no_grad():
        y.sum().requires_grad_(False)
        y.backward(torch.ones(2))
        log("outside", torch.is_grad_enabled())


@family
def inner_modes(torch, log):
    """An inner pass with create_graph inside an outer one without, and the reverse."""
    x, w = leaf(torch, (2,), 1), leaf(torch, (2,), 2)

    def nested(create_graph):
        def hook(grad):
            with torch.enable_grad():
                y = w**3
                (found,) = torch.autograd.grad(y.sum(), w, create_graph=create_graph)
            log("found", found, torch.is_grad_enabled())

        return hook

    for outer in (False, True):
        for inner in (False, True):
            y = x * x
            y.register_hook(nested(inner))
            log("outer", torch.autograd.grad(y.sum(), x, create_graph=outer))


@family
def two_thousand_levels(torch, log):
    """2,001 levels of passes inside passes."""
    x = leaf(torch, (2,), 1)
    finished = []

    class Reenter(torch.autograd.Function):
        @staticmethod
        def forward(ctx, data):
            with torch.enable_grad():
                ctx.x = torch.tensor([float(data.detach()[0]) - 1.0], requires_grad=True)
                ctx.y = ctx.x * 1
            return ctx.y.detach()

        @staticmethod
        def backward(ctx, grad):
            if ctx.x[0] < 0:
                return grad
            with torch.enable_grad():
                Reenter.apply(ctx.x).sum().backward()
            finished.append(1)
            return grad * 2

    start = torch.tensor([2000.0], requires_grad=True)
    Reenter.apply(start).sum().backward()
    log("levels", len(finished), start.grad)
    (x * 2).sum().backward()
    log("x.grad", x.grad)


@family
def an_error_below_many_levels(torch, log):
    """An error from a level far below arrives, with its type."""

    class Reenter(torch.autograd.Function):
        @staticmethod
        def forward(ctx, data):
            with torch.enable_grad():
                ctx.x = torch.tensor([float(data.detach()[0]) - 1.0], requires_grad=True)
            return data * 1

        @staticmethod
        def backward(ctx, grad):
            if ctx.x[0] < 0:
                raise KeyError("bottom")
            with torch.enable_grad():
                Reenter.apply(ctx.x).sum().backward()
            return grad

    start = torch.tensor([300.0], requires_grad=True)
    log.raises("error", lambda: Reenter.apply(start).sum().backward())
    log("mode", torch.is_grad_enabled(), start.grad)
