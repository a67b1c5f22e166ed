"""Custom Functions: ctx, classes, gradients, derivatives of derivatives."""

from __future__ import annotations

from .tools import Family, graph, leaf

family = Family()


def define(torch, forward=None, backward=None, name="Mine", base=None, **more):
    """Make a custom Function of functions, which become static methods, and of class attributes."""
    methods = {"forward": forward, "backward": backward, **more}
    body = {
        key: staticmethod(value) if callable(value) and not isinstance(value, type) else value
        for key, value in methods.items()
        if value is not None
    }
    return type(name, (base or torch.autograd.Function,), body)


@family
def setup_context(torch, log):
    """forward without ctx; defaults and keywords are filled in for setup_context."""

    def forward(x, w, exponent=2, *, factor=10.0):
        log("forward", exponent, factor, torch.is_grad_enabled())
        return x**exponent * w * factor

    def setup(ctx, inputs, output):
        log("setup", type(inputs).__name__, len(inputs), output, torch.is_grad_enabled())
        x, w, ctx.exponent = inputs
        ctx.save_for_backward(x, w)

    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        n = ctx.exponent
        log("needs", ctx.needs_input_grad)
        return grad * n * x ** (n - 1) * w * 10, grad * x**n * 10, None

    x, w = leaf(torch, (2,), 10), leaf(torch, (2,), 11)
    plain = define(torch, lambda x, w, e=2: forward(x, w, e), backward, setup_context=setup)
    for call in (
        lambda: plain.apply(x, w),
        lambda: plain.apply(x, w, 3),
        lambda: plain.apply(x, w=w),
        lambda: plain.apply(e=3, w=w, x=x),
    ):
        y = call()
        y.sum().backward()
        log("gradients", y, x.grad, w.grad)
    starred = define(torch, forward, backward, setup_context=setup)
    log.raises("keyword only", lambda: starred.apply(x, w))
    log.raises("missing", lambda: plain.apply(x))
    log.raises("too many", lambda: plain.apply(x, w, 2, 3))
    log.raises("unknown", lambda: plain.apply(x, w, other=3))


@family
def keywords_to_apply(torch, log):
    """Keywords given to apply of a Function whose forward takes ctx."""

    def forward(ctx, x, factor=2.0, power=1):
        ctx.factor = factor
        log("needs", ctx.needs_input_grad, factor, power)
        return x**power * factor

    mine = define(torch, forward, lambda ctx, grad: (grad * ctx.factor, None))
    x = leaf(torch, (2,), 12)
    for name, call in {
        "positional": lambda: mine.apply(x, 3.0),
        "default": lambda: mine.apply(x),
        "keyword": lambda: mine.apply(x, factor=3.0),
        "all": lambda: mine.apply(x=x, factor=5.0),
        "too many": lambda: mine.apply(x, 1.0, 2, 3),
        "none": lambda: mine.apply(),
    }.items():
        log.raises(name, call)


@family
def misuse_of_the_class(torch, log):
    """Instances, methods that are not static, missing methods."""

    class NotStatic(torch.autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, grad):
            return grad * 2

    NotStatic.__module__ = "somewhere"  # the warning names it
    x = leaf(torch, (2,), 10)
    y = NotStatic.apply(x)
    y.sum().backward()
    log("not static", y, x.grad)
    log.raises("instance", lambda: NotStatic().__class__.__name__)
    log.raises("called", lambda: NotStatic()(x))
    log.raises("arguments", lambda: NotStatic(3, name=4)(x))
    log.raises("no forward", lambda: type("E", (torch.autograd.Function,), {}).apply(x))
    log.raises("base", lambda: torch.autograd.Function.apply(x))
    only_forward = define(torch, lambda ctx, x: x * 2)
    log.raises("no backward", lambda: only_forward.apply(x).sum().backward())
    log("value without backward", only_forward.apply(x))


@family
def dirty_but_no_input(torch, log):
    """A marked tensor that isn't an input: a warning, and an error if it is a view."""
    makers = {
        "result": lambda x, y: x * 1,
        "detached": lambda x, y: x.detach(),
        "view of a result": lambda x, y: x.clone().view_as(x),
        "view of a constant": lambda x, y: y.view_as(y),
    }
    for name, make in makers.items():
        for count in (1, 2):
            for requires_grad in (True, False):

                def forward(ctx, x, y, make=make, count=count):
                    result = make(x, y)
                    ctx.mark_dirty(result)
                    return result if count == 1 else (result, x * 2)

                mine = define(torch, forward, lambda ctx, *g: (g[0], None))
                x = leaf(torch, (2,), 1, requires_grad=requires_grad)
                y = leaf(torch, (2,), 2, requires_grad=False)

                def run(mine=mine, x=x, y=y):
                    result = mine.apply(x.clone(), y)
                    result = result[0] if isinstance(result, tuple) else result
                    return graph(result) if result.requires_grad else "no graph"

                log.raises(f"{name}, {count}, {requires_grad}", run)


@family
def dirty_views_that_must_not_change(torch, log):
    """A view of a leaf, and one of several views: both refuse to be marked."""

    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.add_(1)

    mine = define(torch, forward, lambda ctx, g: g)
    x = leaf(torch, (2,), 1)
    log.raises("view of a leaf", lambda: mine.apply(x.view_as(x)))
    log.raises("one of several", lambda: mine.apply((x * 2).unbind()[0]))
    log.raises("split", lambda: mine.apply((x * 2).split([1, 1])[1]))
    log("left", x)


def derivatives(torch, log, output, *inputs, times=3):
    """Log the first derivatives of a sum, those of their sum, and so on."""
    for order in range(1, times + 1):
        grads = torch.autograd.grad(output.sum(), inputs, create_graph=True, allow_unused=True)
        log(f"order {order}", *grads)
        output = sum((grad * grad for grad in grads if grad is not None), torch.zeros(()))
        if not output.requires_grad:
            log("no more")
            return


@family
def through_intermediates(torch, log):
    """A saved intermediate is a constant: the second derivative misses its part. As an output it is
    seen.
    """

    def hidden(ctx, x):
        square = x * x
        ctx.save_for_backward(square)
        return square * x

    def shown(ctx, x):
        square = x * x
        ctx.save_for_backward(x, square)
        return square * x, square

    def rule_of_shown(ctx, grad, grad_square):
        x, square = ctx.saved_tensors
        log("square", square, grad_square)
        return grad * 3 * square + grad_square * 2 * x

    x = leaf(torch, (2,), 4)
    mine = define(torch, hidden, lambda ctx, grad: grad * 3 * ctx.saved_tensors[0])
    derivatives(torch, log, mine.apply(x), x, times=2)
    derivatives(torch, log, define(torch, shown, rule_of_shown).apply(x)[0], x, times=2)


@family
def once_differentiable(torch, log):
    """Runs with grad mode off; its results have the node Error, which raises when it is used."""

    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x * w

    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        log("in backward", torch.is_grad_enabled(), grad, x, backward.__name__)
        return grad * w, None if only_first else grad * x

    mine = define(torch, forward, backward)
    x, w = leaf(torch, (2,), 6), leaf(torch, (2,), 7)
    for only_first in (False, True):
        y = mine.apply(x, w)
        y.sum().backward(retain_graph=True)
        log("first", x.grad, w.grad)
        log("no graph needed", torch.autograd.grad(y.sum(), x, create_graph=True))
        inputs = x if only_first else (x, w)
        grads = torch.autograd.grad((y * y).sum(), inputs, create_graph=True)
        log("recorded", *grads)
        node = grads[0].grad_fn
        log("node", node.name(), type(node).__name__, [g.output_nr for g in grads], graph(node))
        log.raises("second", lambda g=grads: torch.autograd.grad(g[0].sum(), x, retain_graph=True))
        log.raises("backward", lambda g=grads: g[-1].sum().backward())
        log("beside it", torch.autograd.grad((x * x + grads[0].detach()).sum(), x))
        x.grad = w.grad = None


@family
def missing_gradients_become_zeros(torch, log):
    """A missing gradient arrives as zeros of the output's shape and dtype; or None if not
    materialized.
    """
    for materialize in (None, True, False):

        def forward(ctx, x, materialize=materialize):
            if materialize is not None:
                ctx.set_materialize_grads(materialize)
            plain = x * 5
            ctx.mark_non_differentiable(plain)
            return x * 2, x.sum(), x.double().view(2, 1), plain, x.argmax(), "text", None

        def backward(ctx, *gradients):
            log("got", *gradients)
            return gradients[0] * 2

        x = leaf(torch, (2,), 1)
        outputs = define(torch, forward, backward).apply(x)
        log("outputs", *outputs)
        outputs[0].sum().backward()
        log("gradient", x.grad)


@family
def materialized_zeros_in_a_recorded_pass(torch, log):
    """Under create_graph the zeros require no gradient."""

    def backward(ctx, a, b):
        log("got", a, b)
        return a * 2 + b * 3

    x = leaf(torch, (2,), 2)
    a, _ = define(torch, lambda ctx, x: (x * 2, x * 3), backward).apply(x)
    (grad,) = torch.autograd.grad((a * a).sum(), x, create_graph=True)
    log("grad", grad, graph(grad))


@family
def gradients_are_fitted(torch, log):
    """Gradients of another shape are summed, of another dtype converted, lists are refused."""
    x = leaf(torch, (2, 3), 6)
    for name, result in {
        "broadcast": torch.ones(4, 2, 3),
        "double": torch.ones(2, 3, dtype=torch.float64),
        "integers": torch.ones(2, 3, dtype=torch.int64),
        "too small": torch.ones(3),
        "scalar": torch.tensor(2.0),
        "column": torch.ones(2, 1),
        "wrong": torch.ones(3, 2),
        "number": 5.0,
        "list": [torch.ones(2, 3)],
        "tuple": (torch.ones(2, 3),),
        "nothing": (),
        "two": (torch.ones(2, 3), torch.ones(2, 3)),
        "nones": (torch.ones(2, 3), None, None),
        "only nones": (None, None),
    }.items():
        x.grad = None
        function = define(torch, lambda ctx, x: x.sum(), lambda ctx, grad, r=result: r)
        log.raises(name, lambda f=function: f.apply(x).backward())
        log(name, x.grad)


@family
def gradients_for_what_needs_none(torch, log):
    """Gradients for inputs that need none are dropped; for no tensors refused."""
    x, w = leaf(torch, (2,), 7), leaf(torch, (2,), 8, requires_grad=False)
    places = torch.tensor([1, 0])
    for name, rule in {
        "for all": lambda ctx, grad: (grad, grad, grad, None),
        "too few": lambda ctx, grad: (grad, grad),
        "for a number": lambda ctx, grad: (grad, grad, grad, grad),
        "zero for a number": lambda ctx, grad: (grad, None, None, 0),
        "wrong shape where unused": lambda ctx, grad: (grad, torch.ones(5), None, None),
        "wrong type where unused": lambda ctx, grad: (grad, "text", None, None),
    }.items():
        x.grad = None
        function = define(torch, lambda ctx, x, w, i, n: x * w * n, rule)
        y = function.apply(x, w, places, 3.0)
        log("edges", [(n is None, i) for n, i in y.grad_fn.next_functions])
        log.raises(name, lambda y=y: y.sum().backward())
        log("gradients", x.grad, w.grad)


@family
def misuse_of_the_ctx(torch, log):
    """What is no tensor among saved, dirty or not differentiable tensors."""
    for name, use in {
        "save": lambda ctx, x: ctx.save_for_backward(x, 3.0),
        "save a list": lambda ctx, x: ctx.save_for_backward([x]),
        "dirty": lambda ctx, x: ctx.mark_dirty(3.0),
        "dirty list": lambda ctx, x: ctx.mark_dirty([x]),
        "not differentiable": lambda ctx, x: ctx.mark_non_differentiable("text"),
        "saved now": lambda ctx, x: ctx.saved_tensors,
    }.items():

        def forward(ctx, x, use=use):
            use(ctx, x)
            return x * 2

        for requires_grad in (True, False):
            x = leaf(torch, (2,), 11, requires_grad=requires_grad)
            log.raises(name, lambda f=forward, x=x: define(torch, f).apply(x))


@family
def a_graph_made_in_forward(torch, log):
    """Under enable_grad a forward may build a graph of its own, and backward may run it."""

    def forward(ctx, x):
        with torch.enable_grad():
            ctx.x = x.detach().requires_grad_()
            ctx.y = ctx.x.sin() * ctx.x
        return ctx.y.detach()

    def backward(ctx, grad):
        with torch.enable_grad():
            ctx.y.backward(grad, retain_graph=True)
        log("mode", torch.is_grad_enabled())
        return ctx.x.grad

    x = leaf(torch, (2,), 14)
    y = define(torch, forward, backward).apply(x)
    (y * y).sum().backward()
    log("reentrant", x.grad)
