"""Custom Functions whose outputs are views, or inputs changed in place."""

from __future__ import annotations

from .custom_function import define
from .tools import Family, graph, leaf

family = Family()


def report(log, label, output, *sources):
    """Log how an output is related to its sources."""
    log(
        label,
        output,
        [output is source for source in sources],
        output._is_view(),
        [output._base is source for source in sources],
        output.is_leaf,
        output.output_nr,
        output._version,
    )


@family
def inputs_returned_as_they_are(torch, log):
    """A leaf, an inner tensor, a view and a tensor without gradient, returned as they are."""
    same = define(torch, lambda ctx, x: x, lambda ctx, grad: grad * 7, name="Same")
    x = leaf(torch, (2, 2), 1)
    inner, constant = x * 2, leaf(torch, (2, 2), 2, requires_grad=False)
    for name, source in (("leaf", x), ("inner", inner), ("view", inner[0]), ("const", constant)):
        y = same.apply(source)
        report(log, name, y, source, source._base)
        log("graph", graph(y) if y.grad_fn else None)
    same.apply(same.apply(x)).sum().backward()
    log("gradient", x.grad)
    with torch.no_grad():
        report(log, "no_grad", same.apply(x), x)
        report(log, "no_grad, constant", same.apply(constant), constant)


@family
def writing_into_outputs(torch, log):
    """In place on what a Function returned: refused for views, fine for new tensors."""

    def refused(name, mine, source, *, part=None):
        outputs = mine.apply(source)
        output = outputs if torch.is_tensor(outputs) else outputs[0]
        target = output if part is None else part(output)
        log.raises(name, lambda: target.mul_(2))
        log("after", output._version, source._version)

    def rule(ctx, *gradients):
        return gradients[0] * 2

    x = leaf(torch, (2, 2), 9)
    inner = x * 2
    same = define(torch, lambda ctx, x: x, rule, name="Same")
    row = define(torch, lambda ctx, x: x[0], rule, name="Row")
    fresh = define(torch, lambda ctx, x: x * 2, rule, name="Fresh")
    both = define(torch, lambda ctx, x: (x, x * 2), rule, name="Both")
    view_of_fresh = define(torch, lambda ctx, x: (x * 2).view(-1), rule, name="ViewOfFresh")
    refused("same", same, inner)
    refused("same of a leaf", same, x)
    refused("row", row, inner)
    refused("part of row", row, inner, part=lambda y: y[0])
    refused("both", both, inner)
    refused("view of a result", view_of_fresh, inner)
    refused("part of a new tensor", fresh, inner, part=lambda y: y[0])
    constant = leaf(torch, (2, 2), 10, requires_grad=False)
    refused("constant", same, constant)
    refused("row of a constant", row, constant)
    y = same.apply(constant)
    log.raises("constant times x", lambda: y.mul_(x))
    y = fresh.apply(x)
    y.mul_(x)
    log("in place", y, graph(y), y._version)
    y.sum().backward()
    log("gradient", x.grad)


@family
def writing_into_the_base_of_an_output(torch, log):
    """The input changes in place after it was returned as it is: the output is used no more."""
    same = define(torch, lambda ctx, x: x, lambda ctx, g: g * 2, name="Same")
    x = leaf(torch, (2,), 11)
    inner = x * 2
    y = same.apply(inner)
    part = y[0]
    inner.mul_(3)
    log.raises("grad_fn", lambda: y.grad_fn)
    log.raises("use", lambda: y * 2)
    log("print", repr(y), repr(part))
    log.raises("part", lambda: part.grad_fn)
    log.raises("requires_grad", lambda: y.requires_grad)
    log("the input", inner, graph(inner))


@family
def saving_an_input_that_is_returned(torch, log):
    """Saved and returned: fine from forward, refused from setup_context."""

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x

    def setup(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        log("saved", x)
        return grad * x

    x = leaf(torch, (2,), 20)
    y = define(torch, forward, backward).apply(x)
    log("identical", y.grad_fn.saved_tensors[0] is x)
    y.sum().backward()
    log("gradient", x.grad)
    refused = define(torch, lambda x: x, backward, setup_context=setup)
    log.raises("setup_context", lambda: refused.apply(x))
    log.raises("constant", lambda: refused.apply(x.detach()))
    allowed = define(torch, lambda x: x.view_as(x), backward, setup_context=setup)
    log.raises("a view", lambda: allowed.apply(x))


@family
def outputs_of_every_kind(torch, log):
    """Lists, dicts, nested tuples, None: only tensors in a flat tuple are recorded."""
    kinds = {
        "one": lambda x: x * 2,
        "tuple of one": lambda x: (x * 2,),
        "list": lambda x: [x * 2, x * 3],
        "nested": lambda x: (x * 2, [x * 3], (x * 4, None)),
        "dict": lambda x: {"a": x * 2},
        "nothing": lambda x: None,
        "empty": lambda x: (),
        "not contiguous": lambda x: (x * 2).t(),
        "integers": lambda x: (x * 2).long(),
        "bool and float": lambda x: (x > 0, x.double()),
    }
    x = leaf(torch, (2, 2), 21)
    for name, make in kinds.items():
        log(name, define(torch, lambda ctx, x, make=make: make(x)).apply(x))


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
def dirty_and_a_view_of_it(torch, log):
    """A dirty input together with a view of it; marking alone makes older views ask again."""

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
    log("asked again", view, view._version)


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
