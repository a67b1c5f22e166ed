"""The engine: order, accumulation, passes within passes, callbacks, and errors."""

from __future__ import annotations

from .tools import Family, graph, leaf

family = Family()


def watch(log, **tensors):
    """Write down the moment each tensor's gradient is complete."""
    for name, tensor in tensors.items():
        tensor.register_hook(log.hook(name))


@family
def accumulation(torch, log):
    """Gradients add up in .grad over backward calls, in place: an earlier reference shows
    the sum.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * 3).sum().backward()
    earlier = x.grad
    (x * x).sum().backward()
    log("x.grad", x.grad, earlier is x.grad, earlier)
    x.grad.zero_()
    (x * 5).sum().backward()
    log("after zero_", x.grad)
    x.grad = None
    (x * 7).sum().backward()
    log("after None", x.grad, earlier)


@family
def accumulation_under_create_graph(torch, log):
    """Under create_graph the sum is a new tensor: an earlier reference keeps its value. backward
    warns.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * 3).sum().backward()
    earlier = x.grad
    (x * x).sum().backward(create_graph=True)
    log("x.grad", x.grad, earlier)


@family
def gradient_given_to_backward(torch, log):
    """A gradient that reaches a leaf as a view of the one given shares its memory: later sums
    change it too.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    given = torch.tensor([5.0, 6.0])
    x.view_as(x).backward(given)
    log("x.grad", x.grad, x.grad is given)
    x.view_as(x).backward(given)
    log("x.grad", x.grad, given)


@family
def retain_graph(torch, log):
    """With retain_graph a second backward adds the same again: 12, then 24."""
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x * x
    y.backward(retain_graph=True)
    log("once", x.grad)
    y.backward()
    log("twice", x.grad)
    log.raises("thrice", lambda: y.backward())
    log("x.grad", x.grad)


@family
def second_backward_without_saved_values(torch, log):
    """A second backward is no error where the graph saved nothing."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for name, y in (
        ("add", (x + 1).sum()),
        ("view", x.view(2, 1).sum()),
        ("neg and sub", (-x - x).sum()),
        ("mul by a number", (x * 3).sum()),
        ("div by a number", (x / 2).sum()),
        ("mean", x.mean()),
        ("transpose", x.reshape(1, 2).t().sum()),
    ):
        y.backward()
        log.raises(name, lambda y=y: y.backward())
    log("x.grad", x.grad)


@family
def second_backward_with_saved_values(torch, log):
    """A second backward is an error where a saved value was freed."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for name, y in (
        ("mul", (x * x).sum()),
        ("exp", x.exp().sum()),
        ("pow", (x**2).sum()),
        ("matmul", x.reshape(1, 2) @ x.reshape(2, 1)),
        ("relu", x.relu().sum()),
        ("sqrt", x.sqrt().sum()),
    ):
        y.backward()
        log.raises(name, lambda y=y: y.backward())


@family
def parts_shared_by_two_losses(torch, log):
    """Two losses over one shared part: the first backward frees the shared part's saved values."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    shared = x.exp()
    first, second = (shared * 2).sum(), (shared * 3).sum()
    first.backward()
    log.raises("second", lambda: second.backward())
    log("x.grad", x.grad)
    plain = x * 2
    first, second = plain.sum(), (plain * 5).sum()
    first.backward()
    log.raises("nothing saved in the shared part", lambda: second.backward())


@family
def a_diamond(torch, log):
    """Paths that part and meet again: a node runs once, after all that lead to it."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    top = x * 2
    left = top * 3
    right = top.exp()
    bottom = left * right
    watch(log, x=x, top=top, left=left, right=right, bottom=bottom)
    log("graph", graph(bottom))
    bottom.sum().backward()
    log("x.grad", x.grad)


@family
def order_by_age(torch, log):
    """Among nodes that are ready the youngest runs first, whatever the order of the inputs."""
    x = torch.tensor(1.0, requires_grad=True)
    a = x * 2
    b = x * 3
    c = x * 5
    watch(log, x=x, a=a, b=b, c=c)
    (b + a + c).backward(retain_graph=True)
    log("other way round")
    (c + (a + b)).backward()


@family
def order_with_long_and_short_paths(torch, log):
    """A short path made late runs before a long path made early."""
    x = torch.tensor(1.0, requires_grad=True)
    long1 = x * 2
    long2 = long1 * 2
    long3 = long2 * 2
    short = x * 7
    end = long3 * short
    watch(log, x=x, long1=long1, long2=long2, long3=long3, short=short, end=end)
    end.backward()
    log("x.grad", x.grad)


@family
def leaves_are_served_first(torch, log):
    """A leaf that is ready accumulates before any other node that is ready runs."""
    w = torch.tensor(3.0, requires_grad=True)
    x = torch.tensor(1.0, requires_grad=True)
    b = torch.tensor(0.5, requires_grad=True)
    hidden = x * 2
    out = hidden * w + b
    watch(log, w=w, x=x, b=b, hidden=hidden, out=out)
    out.backward()


@family
def sequence_numbers(torch, log):
    """Nodes are numbered as they are made; accumulate nodes have the largest number there is."""
    x = torch.tensor(1.0, requires_grad=True)
    a = x * 2
    b = a + 1
    first, second = a.grad_fn._sequence_nr(), b.grad_fn._sequence_nr()
    leaf = a.grad_fn.next_functions[0][0]
    log("numbers", second - first, leaf._sequence_nr() == 2**64 - 1)


@family
def several_roots(torch, log):
    """autograd.backward and autograd.grad from several roots, one of them twice."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y, z = x * 2, x * x
    torch.autograd.backward([y, z.sum()], [torch.tensor([1.0, 10.0]), None], retain_graph=True)
    log("x.grad", x.grad)
    one = torch.tensor([1.0, 1.0])
    log(
        "grad",
        torch.autograd.grad([y, z, y], x, grad_outputs=[one, one * 3, one * 5], retain_graph=True),
    )
    log("grad of scalars", torch.autograd.grad([y.sum(), z.sum()], [x]))


@family
def what_does_not_run(torch, log):
    """grad for one input leaves the branches alone that do not lead to it."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    a, b = x.exp(), w.exp()
    watch(log, x=x, w=w, a=a, b=b)
    y = (a * b).sum()
    log("for w", torch.autograd.grad(y, w, retain_graph=True))
    log("for a", torch.autograd.grad(y, a))


@family
def unreached_leaves_keep_none(torch, log):
    """A leaf that takes no part keeps None; one multiplied by zero gets zeros."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    u = torch.tensor([3.0, 4.0], requires_grad=True)
    (x * w * 0 + x).sum().backward()
    log("grads", x.grad, w.grad, u.grad)


@family
def detach(torch, log):
    """A detached tensor is a constant: same values, shared memory, no graph."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    d = y.detach()
    log("detached", d, d.requires_grad, d.is_leaf, d.grad_fn is None)
    (d * x).sum().backward()
    log("x.grad", x.grad)
    with torch.no_grad():
        d[0] = 100.0
    log("shared memory", y, y._version, d._version)
    z = x * 2
    log("detach_", z.detach_() is z, z, z.is_leaf)


@family
def leaf_rules(torch, log):
    """What is a leaf and what requires grad."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    c = torch.tensor([1.0, 2.0])
    y = x * c
    for name, tensor in (
        ("x", x),
        ("c", c),
        ("y", y),
        ("c * 2", c * 2),
        ("y.detach()", y.detach()),
    ):
        log(
            name,
            tensor.is_leaf,
            tensor.requires_grad,
            None if tensor.grad_fn is None else tensor.grad_fn.name(),
        )
    c.requires_grad_()
    log("c", c.requires_grad, (c * 2).requires_grad)
    c.requires_grad = False
    log("c", c.requires_grad)
    p = torch.nn.Parameter(torch.tensor([1.0]))
    log(
        "parameter",
        p.is_leaf,
        p.requires_grad,
        torch.nn.Parameter(c, requires_grad=False).requires_grad,
    )


@family
def a_hook_that_runs_backward(torch, log):
    """A hook may run a backward of another graph and assign .grad."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    other = torch.tensor([3.0], requires_grad=True)

    def inner(grad):
        log("outer", grad)
        with torch.enable_grad():
            (other * other * grad.sum()).backward()
        log("other.grad", other.grad)

    y = x * 2
    y.register_hook(inner)
    (y * torch.tensor([1.0, -4.0])).sum().backward()
    log("x.grad", x.grad)


@family
def a_long_chain(torch, log):
    """A chain of 20,000 operations runs without recursion."""
    x = torch.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(10000):
        y = y * 1.0 + 0.0
    y.backward()
    log("x.grad", x.grad)


@family
def nothing_requires_grad(torch, log):
    """Backward on a constant."""
    c = torch.tensor([1.0])
    log.raises("leaf", lambda: c.backward())
    log.raises("result", lambda: (c * 2).backward())
    x = torch.tensor([1.0], requires_grad=True)
    log.raises("grad of a constant", lambda: torch.autograd.grad(c, x))
    log.raises("grad for a constant", lambda: torch.autograd.grad(x * 2, c))
    with torch.no_grad():
        y = x * 2
    log.raises("under no_grad", lambda: y.backward())


@family
def unused_inputs(torch, log):
    """An input that takes no part is an error, unless unused inputs are allowed or made zeros."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([[3.0]], requires_grad=True)
    y = (x * 2).sum()
    log.raises("unused", lambda: torch.autograd.grad(y, [x, u]))
    y = (x * 2).sum()
    log("allowed", torch.autograd.grad(y, [x, u], allow_unused=True))
    y = (x * 2).sum()
    log("zeros", torch.autograd.grad(y, [x, u], materialize_grads=True))
    log.raises(
        "contradiction",
        lambda: torch.autograd.grad(y, u, allow_unused=False, materialize_grads=True),
    )
    log.raises("no inputs", lambda: y.backward(inputs=[]))


@family
def stale_saved_values(torch, log):
    """A saved value that was changed in place since: the full text, for outputs and for inputs of
    nodes.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)

    def attempt(label, build, spoil):
        inner = x * 2
        result = build(inner)
        spoil(inner, result)
        log.raises(label, lambda: result.sum().backward())

    attempt("input of mul", lambda y: y * y, lambda y, r: y.add_(1))
    attempt("twice changed", lambda y: y * y, lambda y, r: y.add_(1).mul_(2))
    attempt("output of exp", lambda y: y.exp(), lambda y, r: r.mul_(2))
    attempt("output of sigmoid", lambda y: y.sigmoid(), lambda y, r: r.add_(1))
    attempt("output of relu", lambda y: y.relu(), lambda y, r: r.sub_(1))
    attempt("input of pow", lambda y: y**2, lambda y, r: y.zero_())
    attempt("input of log", lambda y: y.log(), lambda y, r: y.div_(2))
    attempt("assignment", lambda y: y * y, lambda y, r: y.__setitem__(0, 5.0))
    attempt("harmless: add saves nothing", lambda y: y + 1, lambda y, r: y.mul_(2))
    attempt("harmless: output of mul", lambda y: y * y, lambda y, r: r.mul_(2))
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


def queue(torch, callback):
    """Queue a callback for the end of the pass that runs."""
    torch.autograd.Variable._execution_engine.queue_callback(callback)


@family
def callback_outside(torch, log):
    """Outside of a pass there is nothing to queue for."""
    log.raises("outside", lambda: queue(torch, lambda: None))
    x = leaf(torch, (2,), 1)
    x.register_hook(lambda grad: queue(torch, lambda: log("callback")))
    x.sum().backward()
    log.raises("outside again", lambda: queue(torch, lambda: None))


@family
def a_callback_that_starts_a_pass(torch, log):
    """A callback may run backward; that pass has callbacks of its own."""
    x, w = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
    w.register_hook(lambda grad: log("inner", grad) or queue(torch, lambda: log("inner callback")))

    def callback():
        log("outer callback", x.grad)
        with torch.enable_grad():
            (w * w).sum().backward()
        log("after inner", w.grad)

    x.register_hook(lambda grad: queue(torch, callback))
    (x * 2).sum().backward()
    log("after")
