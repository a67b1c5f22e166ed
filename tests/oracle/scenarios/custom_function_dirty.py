"""See custom Functions that change their inputs in place, and marks that do not fit."""

from __future__ import annotations

from .custom_function import define
from .custom_function_views import report
from .tools import Family, graph, leaf

family = Family()


@family
def dirty_inputs(torch, log):
    """An inner tensor changed in place and returned: the same object, a new history."""

    def forward(ctx, x, w):
        ctx.mark_dirty(x)
        log("marked", ctx.dirty_tensors is not None)
        x.mul_(w)
        ctx.save_for_backward(w)
        return x

    def backward(ctx, grad):
        (w,) = ctx.saved_tensors
        return grad * w, None

    mine = define(torch, forward, backward)
    x, w = leaf(torch, (2, 2), 12), leaf(torch, (2, 2), 13, requires_grad=False)
    inner = x * 2
    inner.register_hook(log.hook("old"))
    inner.retain_grad()
    y = mine.apply(inner, w)
    report(log, "dirty", y, inner)
    y.register_hook(log.hook("new"))
    log("graph", graph(y))
    (y * y).sum().backward()
    log("gradients", x.grad, inner.grad)
    constant = leaf(torch, (2, 2), 14, requires_grad=False)
    report(log, "constant", mine.apply(constant, w), constant)
    with torch.no_grad():
        report(log, "no_grad", mine.apply(inner.detach(), w), inner)
        report(log, "no_grad, leaf", mine.apply(x, w), x)
    log.raises("leaf", lambda: mine.apply(x, w))
    log("version", x._version)


@family
def dirty_views(torch, log):
    """A view changed in place: the base gets CopySlices; only as the single output."""
    for outputs in (1, 2):

        def forward(ctx, x, outputs=outputs):
            ctx.mark_dirty(x)
            x.mul_(3)
            return x if outputs == 1 else (x, x * 2)

        mine = define(torch, forward, lambda ctx, *g: g[0] * 3, name="Triple")
        x = leaf(torch, (2, 2), 15)
        base = x * 2
        view = base[0]
        try:
            y = mine.apply(view)
        except RuntimeError as error:
            log.error("refused", error)
            continue
        report(log, "view", y, view, base)
        log("graphs", graph(base), y.grad_fn.name(), base._version)
        (base * base).sum().backward()
        log("gradient", x.grad)
    view_of_leaf = leaf(torch, (2, 2), 16)[0]
    log.raises("view of a leaf", lambda: mine.apply(view_of_leaf))


@family
def dirty_among_several(torch, log):
    """A dirty input as second output, as both outputs, together with another."""

    def backward(ctx, *gradients):
        log("got", *gradients)
        return gradients[0] + gradients[1] * 3, None

    x = leaf(torch, (2,), 17)
    for name, arrange in {
        "second": lambda x, other: (other, x),
        "twice": lambda x, other: (x, x),
        "first": lambda x, other: (x, other),
    }.items():

        def forward(ctx, x, w, arrange=arrange):
            ctx.mark_dirty(x)
            return arrange(x.mul_(3), w * 2)

        inner = x * 2
        w = leaf(torch, (2,), 18)
        outputs = define(torch, forward, backward).apply(inner, w)
        for output in outputs:
            report(log, name, output, inner)
        (outputs[0] + outputs[1] * 10).sum().backward()
        log("gradients", x.grad, w.grad)


@family
def dirty_and_a_view_of_it(torch, log):
    """A dirty input together with a view of it; marking alone makes older views ask anew."""

    def forward(ctx, x):
        part = x[:1]
        ctx.mark_dirty(x)
        ctx.save_for_backward(part, x)
        return part, x.mul_(3)

    def backward(ctx, grad_part, grad):
        log("saved", *ctx.saved_tensors)
        return grad * 3 + grad_part.sum()

    x = leaf(torch, (2, 2), 22)
    for source in (x * 2, x.detach() * 2):
        older = source[1]
        part, whole = define(torch, forward, backward).apply(source)
        report(log, "part", part, source)
        report(log, "whole", whole, source)
        log("older", older, older._version)
        log.raises("write", lambda part=part: part.mul_(2))
        if whole.requires_grad:
            (whole * whole).sum().backward()
        log("gradient", x.grad)
    view = (x * 2).view(4)[1:]
    unused = define(torch, lambda ctx, x: ctx.mark_dirty(x), lambda ctx, grad: grad)
    log.raises("not returned", lambda: unused.apply(view))
    log("asked anew", view, view._version)


@family
def marks_that_do_not_fit(torch, log):
    """Dirty and not returned, dirty and no input, dirty and not differentiable."""

    def apply(change, source):
        def forward(ctx, x):
            return change(ctx, x)

        return define(torch, forward, lambda ctx, g: g).apply(source)

    def not_returned(ctx, x):
        ctx.mark_dirty(x)
        return x * 2

    def not_an_input(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y

    def not_differentiable(ctx, x):
        ctx.mark_dirty(x)
        ctx.mark_non_differentiable(x)
        return x

    def input_not_differentiable(ctx, x):
        ctx.mark_non_differentiable(x)
        return x

    def input_and_another(ctx, x):
        y = x * 2
        ctx.mark_non_differentiable(x, y)
        return x, y, x * 3

    def view_not_differentiable(ctx, x):
        y = x[:1]
        ctx.mark_non_differentiable(y)
        return y

    for change in (
        not_returned,
        not_an_input,
        not_differentiable,
        input_not_differentiable,
        input_and_another,
        view_not_differentiable,
    ):
        x = leaf(torch, (2,), 19)
        for source in (x, x * 1, x.detach()):
            log.raises(change.__name__, lambda c=change, s=source: apply(c, s))
            log("source", source, source._version)
