"""See derivatives of derivatives through custom Functions, and once_differentiable."""

from __future__ import annotations

from .custom_function import define
from .tools import Family, graph, leaf

family = Family()


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
def through_saved_inputs(torch, log):
    """The inputs come back as the objects they are, so derivatives go on."""

    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x * x * w

    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        log("mode", torch.is_grad_enabled(), grad.requires_grad)
        return grad * 2 * x * w, grad * x * x

    mine = define(torch, forward, backward)
    x, w = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
    y = mine.apply(x, w)
    (first, _) = torch.autograd.grad(y.sum(), (x, w), create_graph=True)
    log("graph", graph(first))
    derivatives(torch, log, mine.apply(x, w), x, w)
    derivatives(torch, log, mine.apply(mine.apply(x, w), x), x, w, times=2)


@family
def through_saved_outputs(torch, log):
    """A saved output has the Function as its grad_fn, so derivatives go through it again."""

    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    def backward(ctx, grad):
        (result,) = ctx.saved_tensors
        return grad * result

    mine = define(torch, forward, backward, name="Exp")
    x = leaf(torch, (2,), 3)
    (first,) = torch.autograd.grad(mine.apply(x).sum(), x, create_graph=True)
    log("graph", graph(first))
    derivatives(torch, log, mine.apply(x), x, times=4)


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
def backward_as_a_function(torch, log):
    """A backward that itself applies a Function."""

    def square(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    def square_backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return inner.apply(grad, x)

    def twice(ctx, grad, x):
        ctx.save_for_backward(grad, x)
        return grad * 2 * x

    def twice_backward(ctx, upper):
        grad, x = ctx.saved_tensors
        return upper * 2 * x, upper * 2 * grad

    inner = define(torch, twice, twice_backward, name="SquareBackward")
    outer = define(torch, square, square_backward, name="Square")
    x = leaf(torch, (2,), 5)
    (first,) = torch.autograd.grad(outer.apply(x).sum(), x, create_graph=True)
    log("graph", graph(first))
    derivatives(torch, log, outer.apply(x), x, times=3)


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
def once_differentiable_in_a_chain(torch, log):
    """Ordinary operations around it: the second derivative raises only if it goes through."""

    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        return grad * 2

    double = define(torch, lambda ctx, x: x * 2, backward)
    x, w = leaf(torch, (2,), 8), leaf(torch, (2,), 9)
    y = double.apply(x * x) * w
    (grad_x, grad_w) = torch.autograd.grad(y.sum(), (x, w), create_graph=True)
    log("first", grad_x, grad_w)
    log("around", torch.autograd.grad(grad_w.sum(), x, retain_graph=True))
    log.raises("through", lambda: torch.autograd.grad(grad_x.sum(), x))
    log("one output", repr(grad_x))


@family
def reentrant(torch, log):
    """backward inside the backward of a Function, with and without grad mode."""

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        log("mode", torch.is_grad_enabled())
        log.raises("no graph", lambda: (x.detach().requires_grad_() * 2).sum().backward())
        with torch.enable_grad():
            inner = x.detach().requires_grad_()
            (inner * inner).sum().backward()
            log("inside", inner.grad, torch.is_grad_enabled())
        log("after", torch.is_grad_enabled())
        return grad * inner.grad

    mine = define(torch, forward, backward)
    x = leaf(torch, (2,), 10)
    mine.apply(mine.apply(x)).sum().backward()
    log("gradient", x.grad)
    (first,) = torch.autograd.grad(mine.apply(x).sum(), x, create_graph=True)
    log("recorded", first)


@family
def a_node_that_runs_its_own_graph_again(torch, log):
    """A backward that starts a pass over the very graph it belongs to."""

    def forward(ctx, x):
        ctx.depth = 0
        return x * 2

    def backward(ctx, grad):
        ctx.depth += 1
        if ctx.depth < 3:
            (again,) = torch.autograd.grad(y, x, grad * 10, retain_graph=True)
            log("again", ctx.depth, again)
        return grad * 2

    x = leaf(torch, (2,), 11)
    y = define(torch, forward, backward).apply(x)
    y.sum().backward()
    log("gradient", x.grad)


@family
def saved_and_changed(torch, log):
    """Saved tensors that were changed in place since: inputs, outputs, intermediates, views."""
    places = {
        "input": lambda x, y, middle: x,
        "output": lambda x, y, middle: y,
        "intermediate": lambda x, y, middle: middle[0],
        "other": lambda x, y, middle: middle[1],
    }
    for name, choose in places.items():
        middle = []

        def forward(ctx, x, middle=middle):
            middle += [x + 1, x.sum()]
            y = x * 2
            ctx.save_for_backward(x, y, *middle)
            return y

        def backward(ctx, grad):
            log("saved", *ctx.saved_tensors)
            return grad * 2

        x = leaf(torch, (2, 3), 12)
        inner = x * 1
        y = define(torch, forward, backward).apply(inner)
        z = y * 3
        with torch.no_grad():
            changed = choose(inner, y, middle)
            changed.view(-1)[0].add_(1)
            changed.mul_(2)
        log.raises(name, lambda z=z: z.sum().backward())


@family
def outputs_in_further_operations(torch, log):
    """In place on the new tensor that a Function returned: history goes through the Function."""

    def forward(ctx, x):
        y = x * 2
        ctx.save_for_backward(x)
        return y

    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        log("got", grad)
        return grad * 2 + x * 0

    mine = define(torch, forward, backward)
    x = leaf(torch, (2, 3), 13)
    y = mine.apply(x)
    row = y[0]
    y.mul_(3)
    row.add_(x[1])
    y[1, 1:] = 0
    log("graph", y.grad_fn.name(), row.grad_fn.name(), y._version, y)
    (y * y).sum().backward()
    log("gradient", x.grad)
    derivatives(torch, log, mine.apply(x).exp_(), x, times=2)
