"""See custom Functions return inputs, views and changed inputs."""

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
def several_inputs_returned(torch, log):
    """Several inputs returned, in another order, one of them twice, with and without gradient."""

    def forward(ctx, x, w, c):
        return w, x, w, c

    def backward(ctx, *gradients):
        log("got", *gradients)
        return gradients[1] * 2, gradients[0] * 3 + gradients[2] * 5, None

    mine = define(torch, forward, backward)
    x, w = leaf(torch, (2,), 3), leaf(torch, (2,), 4)
    c = leaf(torch, (2,), 5, requires_grad=False)
    outputs = mine.apply(x, w, c)
    for output in outputs:
        report(log, "output", output, x, w, c)
    log("different", outputs[0] is outputs[2], outputs[0].grad_fn is outputs[3].grad_fn)
    (outputs[0] * 10 + outputs[2] * 100 + outputs[3]).sum().backward()
    log("gradients", x.grad, w.grad, c.grad)


@family
def one_result_returned_twice(torch, log):
    """A new tensor returned twice is one object."""

    def forward(ctx, x):
        y = x * 2
        return y, y, x * 3

    x = leaf(torch, (2,), 6)
    a, b, c = define(torch, forward, lambda ctx, *g: sum(g)).apply(x)
    log("one", a is b, a.output_nr, b.output_nr, c.output_nr)
    (a * 2 + b * 3).sum().backward()
    log("gradient", x.grad)


@family
def views_of_inputs(torch, log):
    """A view of an input, of a constant, and of an inner result, returned."""
    x = leaf(torch, (2, 2), 7)
    inner, constant = x * 2, leaf(torch, (2, 2), 8, requires_grad=False)
    row = define(torch, lambda ctx, x, c: x[0], lambda ctx, g: (torch.stack([g, -g]), None))
    for name, source in (("leaf", x), ("inner", inner), ("view", inner.t())):
        y = row.apply(source, constant)
        report(log, name, y, source, source._base)
        (y * y).sum().backward(retain_graph=True)
        log("gradient", x.grad)
    of_result = define(torch, lambda ctx, x, c: (x * 3)[0], lambda ctx, g: (torch.stack([g, g]), 0))
    report(log, "of a result", of_result.apply(x, constant), x)
    of_constant = define(torch, lambda ctx, x, c: c[0], lambda ctx, g: (None, None))
    report(log, "of the constant", of_constant.apply(x, constant), constant)
    with torch.no_grad():
        report(log, "no_grad", row.apply(x, constant), x)


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
