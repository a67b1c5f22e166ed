"""See what a custom Function's backward gets and may return, and the errors where it does not
fit.
"""

from __future__ import annotations

import gc
import weakref

from .custom_function import define
from .tools import Family, graph, leaf

family = Family()


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
def none_means_no_gradient(torch, log):
    """None from backward: nothing accumulates, hooks upstream see None."""
    function = define(torch, lambda ctx, x, w: x * w, lambda ctx, grad: (None, grad))
    x, w = leaf(torch, (2,), 3), leaf(torch, (2,), 4)
    inner = x.exp()
    inner.register_hook(log.hook("inner"))
    inner.grad_fn.register_hook(lambda inner, outer: log("exp", inner, outer))
    x.register_hook(log.hook("x"))
    y = function.apply(inner, w)
    y.sum().backward(retain_graph=True)
    log("gradients", x.grad, w.grad)
    log.raises("grad", lambda: torch.autograd.grad(y.sum(), x, retain_graph=True))
    log("unused", torch.autograd.grad(y.sum(), x, retain_graph=True, allow_unused=True))
    (y + inner).sum().backward()
    log("beside another way", x.grad)


@family
def none_reaches_a_leaf(torch, log):
    """All hooks of a leaf are called even if no gradient arrives."""
    stop = define(torch, lambda ctx, x: x * 1, lambda ctx, grad: None, name="Stop")
    x = leaf(torch, (2,), 16)
    x.register_hook(log.hook("x"))
    x.register_post_accumulate_grad_hook(lambda x: log("accumulated", x.grad))
    y = stop.apply(x)
    node = y.grad_fn.next_functions[0][0]
    node.register_prehook(lambda gradients: log("before", gradients))
    node.register_hook(lambda inner, outer: log("after", inner, outer))
    y.sum().backward()
    (stop.apply(x) + x).sum().backward()
    log("gradient", x.grad)


@family
def none_into_a_function(torch, log):
    """A Function upstream of None: zeros if it materializes, None if not."""

    def backward(ctx, grad):
        log("upstream", grad)
        return grad

    stop = define(torch, lambda ctx, x: x * 1, lambda ctx, grad: None, name="Stop")
    for materialize in (True, False):

        def forward(ctx, x, materialize=materialize):
            ctx.set_materialize_grads(materialize)
            return x * 2

        x = leaf(torch, (2,), 5)
        stop.apply(define(torch, forward, backward).apply(x)).sum().backward()
        log("gradient", x.grad)


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
def more_than_asked_for(torch, log):
    """Nones behind the gradients of all inputs are let go."""
    x = leaf(torch, (2,), 4)

    def forward(ctx, x, save):
        if save:
            ctx.save_for_backward(x)
        return x * 2

    def rule(ctx, grad):
        log("kept", ctx.saved_tensors)
        return grad * 2, None, None, None

    for save in (True, False):
        log.raises("run", define(torch, forward, rule).apply(x, save).sum().backward)
    log("gradient", x.grad)


@family
def nothing_for_a_graph_that_was_released(torch, log):
    """A node that needs what was released raises also where no gradient arrives."""
    inner = leaf(torch, (2,), 5).exp()
    y = define(torch, lambda ctx, x: x * 1, lambda ctx, grad: None).apply(inner)
    inner.sum().backward()
    log.raises("again", y.sum().backward)


@family
def modes(torch, log):
    """Under no_grad, and without an input that needs a gradient, forward runs as usual."""
    seen = []

    def forward(ctx, x):
        seen.append(weakref.ref(ctx))
        ctx.save_for_backward(x)
        log("needs", ctx.needs_input_grad, torch.is_grad_enabled())
        with torch.enable_grad():
            log("enabled", x * 2)
        return x * 2

    mine = define(torch, forward, lambda ctx, grad: grad * 2)
    x, w = leaf(torch, (2,), 12), leaf(torch, (2,), 13, requires_grad=False)
    with torch.no_grad():
        y = mine.apply(x)
    log("no_grad", y, seen[-1]() is None)
    y = mine.apply(w)
    log("no gradient needed", y, seen[-1]() is None)
    y = mine.apply(x)
    log("recorded", y, seen[-1]() is y.grad_fn)
    log("integers", mine.apply(torch.tensor([1, 2])))


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


@family
def life_time(torch, log):
    """Reference counts alone free ctx, its output and what it saved."""

    class Marker:
        pass

    def forward(ctx, x):
        ctx.marker = Marker()
        result, middle = x.exp(), x * 2
        ctx.save_for_backward(x, result, middle)
        return result

    def backward(ctx, grad):
        _, result, _ = ctx.saved_tensors
        return grad * result

    mine = define(torch, forward, backward)
    gc.collect()
    gc.disable()
    try:
        x = leaf(torch, (2,), 15)
        y = mine.apply(x)
        marker, result = weakref.ref(y.grad_fn.marker), weakref.ref(y)
        (grad,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        log("alive", marker() is not None, result() is not None)
        del y
        log("output gone", result() is None, marker() is not None)
        del grad
        log("ctx gone", marker() is None)
        y = mine.apply(x)
        y.sum().backward()
        marker = weakref.ref(y.grad_fn.marker)
        del y
        log("after backward", marker() is None)
    finally:
        gc.enable()
