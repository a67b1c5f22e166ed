"""See callbacks at the end of a backward pass, and hooks on nodes in all combinations."""

from __future__ import annotations

from .tools import Family, leaf

family = Family()


def queue(torch, callback):
    """Queue a callback for the end of the pass that runs."""
    torch.autograd.Variable._execution_engine.queue_callback(callback)


@family
def callbacks_in_order(torch, log):
    """Callbacks run at the end, in the order queued, and may queue more."""
    x = leaf(torch, (2,), 1)

    def first():
        log("first", x.grad, torch.is_grad_enabled())
        queue(torch, lambda: log("queued by the first"))

    def hook(grad):
        log("hook")
        queue(torch, first)
        queue(torch, lambda: log("second"))

    y = x * 2
    y.register_hook(hook)
    x.register_hook(lambda grad: queue(torch, lambda: log("from the leaf")))
    x.register_post_accumulate_grad_hook(lambda x: queue(torch, lambda: log("from accumulation")))
    y.grad_fn.register_hook(lambda gi, go: queue(torch, lambda: log("from a node hook")))
    y.grad_fn.register_prehook(lambda go: queue(torch, lambda: log("from a node pre-hook")))
    y.sum().backward(retain_graph=True)
    log("after")
    torch.autograd.grad(y.sum(), x)


@family
def callback_outside(torch, log):
    """Outside of a pass there is nothing to queue for."""
    log.raises("outside", lambda: queue(torch, lambda: None))
    x = leaf(torch, (2,), 1)
    x.register_hook(lambda grad: queue(torch, lambda: log("callback")))
    x.sum().backward()
    log.raises("outside again", lambda: queue(torch, lambda: None))


@family
def a_callback_that_fails(torch, log):
    """What a callback raises comes out of backward; gradients are in place; the next pass works."""
    x = leaf(torch, (2,), 1)

    def fail():
        raise ValueError("at the end")

    def hook(grad):
        queue(torch, fail)
        queue(torch, lambda: log("next"))

    handle = x.register_hook(hook)
    log.raises("fails", lambda: (x * 2).sum().backward())
    log("x.grad", x.grad)
    handle.remove()
    (x * 2).sum().backward()
    log("x.grad", x.grad)


@family
def a_pass_that_fails(torch, log):
    """The callbacks of a pass that failed are not run, neither then nor later."""
    x = leaf(torch, (2,), 1)
    y = x * 2

    def fail(grad):
        raise ValueError("in the pass")

    y.register_hook(lambda grad: queue(torch, lambda: log("callback")))
    handle = x.register_hook(fail)
    log.raises("fails", lambda: y.sum().backward())
    handle.remove()
    (x * 2).sum().backward()
    log("x.grad", x.grad)


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


@family
def callbacks_of_nested_passes(torch, log):
    """A callback queued in an inner pass runs when that one ends."""
    x, w = leaf(torch, (2,), 1), leaf(torch, (2,), 2)

    def inner(grad):
        log("inner hook")
        queue(torch, lambda: log("inner callback"))

    def outer(grad):
        queue(torch, lambda: log("outer callback"))
        with torch.enable_grad():
            y = w * 2
            y.register_hook(inner)
            y.sum().backward()
        log("outer goes on")

    x.register_hook(outer)
    (x * 2).sum().backward()


@family
def all_hooks_of_a_node(torch, log):
    """Tensor hooks, retained gradient, node pre-hooks, node hooks: in this order, however made."""
    x = leaf(torch, (2,), 1)
    y = x * x
    node = y.grad_fn
    node.register_hook(lambda gi, go: log("node hook 1", gi, go))
    node.register_prehook(lambda go: log("pre-hook 1", go) or (go[0] * 2,))
    y.register_hook(lambda g: log("tensor hook 1", g) or g * 3)
    y.retain_grad()
    node.register_prehook(lambda go: log("pre-hook 2", go))
    y.register_hook(lambda g: log("tensor hook 2", g) or g * 5)
    node.register_hook(lambda gi, go: log("node hook 2", gi, go) or (gi[0] * 7, gi[1]))
    node.register_hook(lambda gi, go: log("node hook 3", gi, go))
    y.backward(torch.tensor([1.0, 10.0]), retain_graph=True)
    log("grads", y.grad, x.grad)
    log("grad", torch.autograd.grad(y, x, torch.tensor([1.0, 10.0]), retain_graph=True))
    log("own", torch.autograd.grad(y, y, torch.tensor([1.0, 10.0]), retain_graph=True))
    log("both", torch.autograd.grad(y, (y, x), torch.tensor([1.0, 10.0])))


@family
def removal_during_the_pass(torch, log):
    """A hook may remove itself, or those that are yet to come; a hook added meanwhile waits."""
    x = leaf(torch, (2,), 1)
    y = x * 2
    node = y.grad_fn
    handles = {}

    def named(name, removes, register):
        def hook(*arguments):
            log(name)
            for each in removes:
                handles[each].remove()

        handles[name] = register(hook)

    named("tensor 1", ["tensor 1", "tensor 2", "pre 2"], y.register_hook)
    named("tensor 2", [], y.register_hook)
    named("tensor 3", ["post 2"], y.register_hook)
    named("pre 1", ["pre 1"], node.register_prehook)
    named("pre 2", [], node.register_prehook)
    named("pre 3", [], node.register_prehook)
    named("post 1", ["post 3"], node.register_hook)
    named("post 2", [], node.register_hook)
    named("post 3", [], node.register_hook)
    y.sum().backward(retain_graph=True)
    log("again")
    y.sum().backward(retain_graph=True)
    added = [y.register_hook(lambda g: log("adds") or added.append(y.register_hook(late)))]

    def late(grad):
        log("added late")

    log("with one that adds")
    y.sum().backward(retain_graph=True)
    log("again")
    y.sum().backward()


@family
def wrong_returns(torch, log):
    """What node hooks must not return."""
    x = leaf(torch, (2,), 1)
    w = torch.tensor([1.0, 2.0])

    def run(register):
        y = x * w
        register(y.grad_fn)
        y.sum().backward()
        return x.grad

    one = torch.ones(2)
    for name, result in (
        ("a tensor", one),
        ("a list", [one]),
        ("an empty tuple", ()),
        ("too many", (one, one, one)),
        ("a number", (3.0,)),
        ("wrong shape", (torch.ones(3),)),
        ("wrong dtype", (one.double(),)),
        ("None", (None,)),
    ):

        def pre(grad_outputs, result=result):
            return result

        log.raises(f"pre-hook: {name}", lambda: run(lambda node, h=pre: node.register_prehook(h)))
        x.grad = None
    for name, result in (
        ("a tensor", one),
        ("a list", [one, one]),
        ("one", (one,)),
        ("a number", (3.0, None)),
        ("for None", (one, one)),
        ("wrong shape", (torch.ones(3), None)),
        ("wrong dtype", (one.double(), None)),
        ("None", (None, None)),
    ):

        def post(grad_inputs, grad_outputs, result=result):
            return result

        log.raises(f"hook: {name}", lambda: run(lambda node, h=post: node.register_hook(h)))
        x.grad = None
    log.raises("no callable", lambda: run(lambda node: node.register_hook(3)))
    log.raises("no callable", lambda: run(lambda node: node.register_prehook(3)))


@family
def hooks_of_custom_functions(torch, log):
    """On the node of a custom Function all hooks work as on others."""

    class Pair(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, number):
            return x * 2, number, x * 3

        @staticmethod
        def backward(ctx, first, nothing, second):
            log("backward", first, nothing, second)
            return first * 2 + second * 3, None

    x = leaf(torch, (2,), 1)
    a, _, b = Pair.apply(x, 5)
    node = a.grad_fn
    log("same", b.grad_fn is node, a.output_nr, b.output_nr, node.name())
    node.register_prehook(lambda go: log("pre-hook", go))
    node.register_hook(lambda gi, go: log("node hook", gi, go))
    a.register_hook(log.hook("a"))
    b.register_hook(log.hook("b"))
    (a * b).sum().backward(retain_graph=True)
    log("one output")
    a.sum().backward(retain_graph=True)
    node.register_prehook(lambda go: (go[0], None, None))
    log("replaced")
    (a * b).sum().backward()
    log("x.grad", x.grad)


@family
def an_error_in_each_hook(torch, log):
    """Whatever hook raises, the pass stops there; what was accumulated stays; the next works."""

    def fail(*arguments):
        raise ValueError("no")

    def register(name, early, w):
        if name in ("tensor", "leaf"):
            return (early if name == "tensor" else w).register_hook(fail)
        if name == "post-accumulate":
            return w.register_post_accumulate_grad_hook(fail)
        if name == "accumulate":
            return early.grad_fn.next_functions[0][0].register_hook(fail)
        node = early.grad_fn
        return node.register_prehook(fail) if name == "pre" else node.register_hook(fail)

    for name in ("tensor", "leaf", "node", "pre", "accumulate", "post-accumulate"):
        x, w = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
        early = w * 3
        y = (x * early).exp()
        handle = register(name, early, w)
        log.raises(name, lambda y=y: y.sum().backward(retain_graph=True))
        log("so far", x.grad, w.grad, torch.is_grad_enabled())
        handle.remove()
        y.sum().backward()
        log("next", x.grad, w.grad)
