"""See what `ctx` offers to a custom Function: saved tensors, marks, setup_context, gradients."""

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
def the_ctx_is_the_node(torch, log):
    """What forward put on ctx is on grad_fn; it has the members of a node."""

    def forward(ctx, x, number, w):
        ctx.number = number
        log("in forward", torch.is_grad_enabled(), ctx.needs_input_grad, ctx.name())
        log("not yet", ctx.saved_tensors, ctx.dirty_tensors, ctx.non_differentiable)
        return x * number * w

    def backward(ctx, grad):
        log("in backward", torch.is_grad_enabled(), ctx.number, ctx is y.grad_fn)
        return grad * ctx.number, None, None

    mine = define(torch, forward, backward)
    x, w = leaf(torch, (2,), 1), leaf(torch, (2,), 2, requires_grad=False)
    y = mine.apply(x, 3.0, w)
    node = y.grad_fn
    log("node", node.name(), type(node).__name__, node.number, graph(y))
    log("next", [(n is None, i) for n, i in node.next_functions], node.requires_grad)
    log("metadata", node.metadata)
    node.metadata["note"] = 5
    log("metadata kept", y.grad_fn.metadata)
    log("is a node", isinstance(node, torch.autograd.graph.Node))
    log("class", mine._backward_cls is type(node), type(node)._forward_cls is mine)
    kinds = torch.autograd.function
    log("ctx", isinstance(node, kinds.FunctionCtx))
    log("meta", type(mine) is kinds.FunctionMeta, issubclass(mine, kinds.FunctionCtx))
    log("sequence", node._sequence_nr() < (y * 2).grad_fn._sequence_nr())
    y.sum().backward()
    log("gradient", x.grad, w.grad)


@family
def hooks_of_the_node(torch, log):
    """Pre-hooks and hooks on the node of a Function, and tensor hooks on its outputs."""
    mine = define(torch, lambda ctx, x: (x * 2, x * 3), lambda ctx, a, b: a * 2 + b * 3)
    x = leaf(torch, (2,), 3)
    a, b = mine.apply(x)
    a.register_hook(log.hook("a", lambda grad: grad * 10))
    b.register_hook(log.hook("b"))
    node = a.grad_fn
    node.register_prehook(lambda gradients: log("before", gradients))
    node.register_prehook(lambda gradients: tuple(None if g is None else -g for g in gradients))
    node.register_hook(lambda inner, outer: log("after", inner, outer))
    node.register_hook(lambda inner, outer: (inner[0] * 100,))
    (a * a).sum().backward(retain_graph=True)
    log("first", x.grad)
    torch.autograd.backward([a, b], [torch.ones(2), torch.tensor([2.0, 3.0])])
    log("both", x.grad)


@family
def saving_twice_keeps_the_last(torch, log):
    """The second call of save_for_backward replaces the first; None is allowed."""

    def forward(ctx, x, w):
        ctx.save_for_backward(x)
        ctx.save_for_backward(w, None, x)
        return x * w

    def backward(ctx, grad):
        log("saved", ctx.saved_tensors)
        w, _, x = ctx.saved_tensors
        return grad * w, grad * x

    x, w = leaf(torch, (2,), 4), leaf(torch, (2,), 5)
    y = define(torch, forward, backward).apply(x, w)
    log("the inputs", y.grad_fn.saved_tensors[0] is w, y.grad_fn.saved_tensors[2] is x)
    y.sum().backward()
    log("gradients", x.grad, w.grad)
    log.raises("released", lambda: y.grad_fn.saved_tensors)


@family
def saved_inputs_outputs_and_intermediates(torch, log):
    """Which object saved_tensors gives back, with which place in the graph."""

    def forward(ctx, x, inner):
        middle = x * inner
        result = middle.exp()
        ctx.save_for_backward(x, inner, middle, result)
        return result

    def backward(ctx, grad):
        x, inner, middle, result = ctx.saved_tensors
        log("saved", x, inner, middle, result)
        return grad * result * inner, grad * result * x

    x, w = leaf(torch, (2,), 6), leaf(torch, (2,), 7)
    inner = w.sin()
    y = define(torch, forward, backward).apply(x, inner)
    saved = y.grad_fn.saved_tensors
    log("identical", [a is b for a, b in zip(saved, (x, inner, y, y), strict=True)])
    log("node", saved[3].grad_fn is y.grad_fn, saved[3].output_nr, saved[3]._version)
    log("again", y.grad_fn.saved_tensors[3] is saved[3], y.grad_fn.saved_tensors[2] is saved[2])
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    log("gradients", x.grad, w.grad)
    log.raises("third", lambda: y.sum().backward())


@family
def saved_output_of_several(torch, log):
    """Saved outputs of a Function with several know which output they are."""

    def forward(ctx, x):
        a, b = x * 2, x.exp()
        ctx.save_for_backward(b, a)
        return a, b

    def backward(ctx, first, second):
        b, a = ctx.saved_tensors
        log("numbers", b.output_nr, a.output_nr, b.grad_fn is a.grad_fn, a, b)
        return first * 2 + second * b

    x = leaf(torch, (2,), 8)
    a, b = define(torch, forward, backward).apply(x)
    (first,) = torch.autograd.grad((a * b).sum(), x, create_graph=True)
    log("first", first, graph(first))
    first.sum().backward()
    log("second", x.grad)


@family
def saved_and_returned_twice(torch, log):
    """One tensor saved twice and returned twice: the last output counts."""

    def forward(ctx, x):
        y = x * 2
        ctx.save_for_backward(y, x, y, x)
        return y, x * 3, y

    def backward(ctx, *gradients):
        saved = ctx.saved_tensors
        log("saved", *saved)
        log("numbers", saved[0].output_nr, saved[2].output_nr, saved[1] is saved[3], *gradients)
        return sum(gradients)

    x = leaf(torch, (2,), 18)
    a, _, c = define(torch, forward, backward).apply(x)
    log("one", a is c, a.output_nr)
    a.sum().backward()
    log("gradient", x.grad)
