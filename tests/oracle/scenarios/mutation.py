"""See saved tensors that may be changed: allow_mutation_on_saved_tensors, increment_version."""

from __future__ import annotations

from .tools import Family, leaf

family = Family()


def allowed(torch):
    """Enter the block."""
    return torch.autograd.graph.allow_mutation_on_saved_tensors()


@family
def changed_after_it_was_saved(torch, log):
    """The gradient is that of the old value; without the block it is an error."""

    def run(x):
        a = x * 1
        b = a * a
        a.sin_()
        c = a.exp()
        a.mul_(3)
        a.zero_()
        return (b + c).sum(), a

    x = leaf(torch, (3,), 1)
    log.raises("outside", lambda: run(x)[0].backward())
    with allowed(torch):
        total, a = run(x)
        total.backward()
    log("x.grad", x.grad, a)


@family
def what_is_kept(torch, log):
    """One entry for each tensor and version; a copy once it is changed."""
    x = leaf(torch, (3,), 1)
    with allowed(torch) as kept:

        def count():
            return len(kept.original), len(kept.cloned)

        log("before", count())
        a = x.clone()
        log("nothing saved", count())
        b = a * a
        log("saved twice", count())
        c = a.sin()
        log("and again", count())
        a.add_(1)
        log("changed", count())
        d = a.cos()
        log("saved anew", count())
        a.add_(1)
        log("changed", count())
        a.add_(1)
        log("changed", count())
        d.sum().backward()
        log("freed", count())
        (b + c).sum().backward()
        log("freed", count(), x.grad)
        e = a.sin()
        log("one more", count())
        del e
        log("let go", count())
        e = a.sin()
        a.add_(1)
        log("two more", count(), (a * e).shape)
    log("behind the block", count())


@family
def results(torch, log):
    """A result that was saved may be changed as well."""
    x = leaf(torch, (3,), 1)
    with allowed(torch):
        y = x.exp()
        z = y.tanh()
        y.mul_(2)
        z.zero_()
        (y.sum() + z.sum()).backward()
        log("x.grad", x.grad)


@family
def views(torch, log):
    """Changes through views, of views, of the base."""
    for name, function in (
        ("save the base, change a view", lambda a: (a.sin(), a[:1].mul_(2))[0]),
        ("save a view, change the base", lambda a: (a[:2].sin(), a.mul_(2))[0]),
        ("save a view, change it", lambda a: [v := a[:2], v.sin(), v.mul_(2)][1]),
        ("through detach", lambda a: (a.sin(), a.detach().mul_(2))[0]),
        ("through an index", lambda a: (a.sin(), a.__setitem__(0, 5.0))[0]),
        ("a transpose", lambda a: (a.view(3, 1).t().sin(), a.zero_())[0]),
    ):
        x = leaf(torch, (3,), 1)
        with allowed(torch):
            a = x.clone()
            b = function(a)
            b.sum().backward()
            a.sum().backward()
        log(name, b, a, x.grad)


@family
def constants_and_leaves(torch, log):
    """Tensors that require no gradient may be changed, leaves still not."""
    x, c = leaf(torch, (3,), 1), torch.tensor([1.0, 2.0, 3.0])
    with allowed(torch):
        y = x * c
        c.zero_()
        y.sum().backward()
        log("x.grad", x.grad, c)
        z = x * x
        log.raises("a leaf", lambda: x.add_(1))
        z.sum().backward()
    log("x.grad", x.grad)


@family
def custom_functions(torch, log):
    """What a Function saved may be changed as well."""

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * x * 2

    x = leaf(torch, (3,), 1)
    with allowed(torch):
        a = x * 1
        b = Square.apply(a)
        a.zero_()
        b.sum().backward()
    log("x.grad", x.grad)


@family
def outside_of_the_block(torch, log):
    """The pass must run within the same block."""
    x = leaf(torch, (3,), 1)
    with allowed(torch):
        a = x * 1
        b = a * a
        a.zero_()
    log.raises("outside", lambda: b.sum().backward())
    with allowed(torch):
        log.raises("in another", lambda: b.sum().backward())
        c = (x * x).sum()
        c.backward()
    log("x.grad", x.grad)


@family
def not_nested(torch, log):
    """The blocks can't be nested."""

    def nest():
        with allowed(torch), allowed(torch):
            pass

    log.raises("nested", nest)
    with allowed(torch):
        log("entered again")
    with torch.autograd.graph.disable_saved_tensors_hooks("not now"):
        log.raises("disabled", nest)


@family
def with_hooks_inside(torch, log):
    """Hooks within the block pack what they see themselves."""
    x = leaf(torch, (3,), 1)
    hooks = torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t)
    with allowed(torch) as kept:
        a = x * 1
        with hooks:
            b = a * a
        log("kept", len(kept.original))
        a.zero_()
        b.sum().backward()
    log("x.grad", x.grad)


@family
def second_derivatives(torch, log):
    """Recorded passes save within the block, too."""
    x = leaf(torch, (3,), 1)
    with allowed(torch):
        a = x * 1
        b = a**3
        (first,) = torch.autograd.grad(b.sum(), a, create_graph=True)
        a.zero_()
        (second,) = torch.autograd.grad(first.sum(), x)
    log("second", second)


@family
def disabling_hooks(torch, log):
    """disable_saved_tensors_hooks: the message, nesting, hooks that are active already."""
    graph = torch.autograd.graph

    def enter():
        with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            return "entered"

    log.raises("allowed", enter)
    with graph.disable_saved_tensors_hooks("outer"):
        log.raises("outer", enter)
        with graph.disable_saved_tensors_hooks("inner"):
            log.raises("inner", enter)
        log.raises("outer again", enter)
    log.raises("allowed", enter)

    def disable_within():
        hooks = graph.saved_tensors_hooks(lambda t: t, lambda t: t)
        with hooks, graph.disable_saved_tensors_hooks("too late"):
            return "entered"

    log.raises("hooks active", disable_within)
    log.raises("allowed", enter)

    @graph.disable_saved_tensors_hooks("decorated")
    def decorated():
        return enter()

    log.raises("as a decorator", decorated)
    log.raises("allowed", enter)
    x = leaf(torch, (2,), 1)
    with graph.disable_saved_tensors_hooks("not now"):
        (x * x).sum().backward()
        node = (x * x).grad_fn
        node._raw_saved_self.register_hooks(lambda t: t, lambda t: t * 2)
        log("on a handle", node._saved_self)
    log("x.grad", x.grad)


@family
def misuse_of_the_context(torch, log):
    """Hooks that enter or leave contexts, contexts left out of order: the stack ends empty."""
    graph = torch.autograd.graph
    x = leaf(torch, (2,), 1)
    hooks = graph.saved_tensors_hooks

    class Mine(hooks):
        def __init__(self):
            super().__init__(lambda t: log("pack") or t.detach(), lambda t: log("unpack") or t)

    with Mine():
        y = x * x
    y.sum().backward()
    entered = hooks(lambda t: log("inner pack") or t.detach(), lambda t: t)

    def enter(tensor):
        log("enters")
        with entered:
            tensor.detach().requires_grad_() * 2
        return tensor.detach()

    with hooks(enter, lambda t: t):
        y = x.exp()
    y.sum().backward()
    log("x.grad", x.grad)
    context = Mine()
    for _ in range(2):
        with context:
            x.exp()
    with context, context:
        x.exp()
    x.exp()
    log("done")


@family
def increment_version(torch, log):
    """Say that a tensor was changed."""
    increment = torch.autograd.graph.increment_version
    x = leaf(torch, (2,), 1)
    a = x * 1
    y = a * a
    increment(a)
    log("version", a._version, a.view(-1)._version, a.detach()._version)
    log.raises("stale", lambda: y.sum().backward())
    b, c = torch.zeros(2), torch.zeros(2)
    increment((b, c, b))
    increment([b])
    increment(iter([c]))
    log("versions", b._version, c._version)
    increment(x)
    log("a leaf", x._version)
    log.raises("empty", lambda: increment([]))
    with torch.inference_mode():
        log.raises("inference", lambda: increment(torch.zeros(2)))
    log("versions", b._version, c._version)
