"""See what is seldom done with graphs: inputs by name, nested blocks, views of changed memory."""

from __future__ import annotations

import contextlib
import warnings

from .tools import Family, graph, leaf

family = Family()


@family
def inputs_by_name(torch, log):
    """A dict of inputs gives a dict of gradients; backward accumulates into its tensors alone."""
    x, y = leaf(torch, (3,), 1), leaf(torch, (3,), 2)
    found = torch.autograd.grad((x * y).sum(), {"x": x, "y": y})
    log("by name", type(found).__name__, list(found), *found.values())
    (x * y).sum().backward(inputs={"y": y})
    log("one of them", x.grad, y.grad)


@family
def arguments(torch, log):
    """What does not fit, and what is out of use."""
    x = leaf(torch, (3,), 1)
    grad = torch.autograd.grad
    log.raises("number", lambda: grad([1.0], x))


@family
def blocks_of_a_stack(torch, log):
    """A stack of blocks asks the class how a block is left."""
    x = leaf(torch, (3,), 1)
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        log("no_grad", (x * 2).requires_grad)
        stack.enter_context(torch.enable_grad())
        log("enable_grad", (x * 2).requires_grad)
    log("after", (x * 2).requires_grad, torch.is_grad_enabled())


@family
def anomalies_beside_hooks(torch, log):
    """A block that ends leaves those around it as they are."""
    detect, packed = torch.autograd.set_detect_anomaly, []
    hooks = torch.autograd.graph.saved_tensors_hooks
    x = torch.tensor([-1.0, 4.0], requires_grad=True)
    with hooks(lambda t: packed.append(tuple(t.shape)) or t, lambda t: t):
        with detect(True):
            x.exp()
        x.exp()
    x.exp()
    log("packed", packed)
    with detect(True):
        with detect(False):
            torch.autograd.grad(x.sqrt().sum(), x)
        with hooks(lambda t: t, lambda t: t):
            x.exp()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it tells the line
            log.raises("inner", lambda: torch.autograd.grad(x.sqrt().sum(), x))
    log("after", *torch.autograd.grad(x.sqrt().sum(), x))


@family
def functions(torch, log):
    """Saving by an attribute, Nones too many, and results of which one is None."""

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x, None

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, grad, _):
            (x,) = ctx.saved_tensors
            return 2 * x * grad, None, None

    x = leaf(torch, (3,), 1)
    (first,) = torch.autograd.grad(Square.apply(x)[0].sum(), x, create_graph=True)
    log("first", first.detach(), graph(first))
    log.raises("second", lambda: torch.autograd.grad(first.sum(), x))

    class Added(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.mark_dirty(x)
            return x.add_(y)

        @staticmethod
        def backward(ctx, grad):
            return grad, grad, torch.zeros(2)

    changed = torch.ones(3)
    changed.grad = torch.ones(3)
    result = Added.apply(changed, x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is no leaf any more
        log("changed", result is changed, changed.requires_grad, graph(changed), changed.grad)
    log.raises("too many", lambda: torch.autograd.grad(result.sum(), x))


@family
def views_of_changed_memory(torch, log):
    """A view of what was changed in place after it was made goes by its strides from then on."""
    views = {
        "windows": lambda y: y.unfold(1, 2, 1),
        "windows of a part": lambda y: y[1:].unfold(1, 2, 2),
        "repeated": lambda y: y[:, None, :1].expand(3, 2, 4),
        "one row": lambda y: y[2:].expand(3, 4)[None],
        "diagonal": lambda y: y.diagonal(1),
        "turned": lambda y: y.t()[::2],
        "nothing": lambda y: y[:, 4:],
    }
    for turned in (False, True):
        for name, look in views.items():
            x = leaf(torch, (4, 3), 1).t() if turned else leaf(torch, (3, 4), 1)
            x = x.detach().requires_grad_()
            y = x * 1
            view = look(y)
            y.mul_(x)
            log(name, view.grad_fn is view.grad_fn, graph(view))
            weights = torch.arange(view.numel() * 1.0).view(view.shape)
            (first,) = torch.autograd.grad((view * weights).sum(), x, create_graph=True)
            squares = (first * first).sum()
            log("gradients", first.detach(), *torch.autograd.grad(squares, x, allow_unused=True))
    memory, x = torch.zeros(4), leaf(torch, (2,), 1)
    memory[:2].add_(x)
    log("fresh memory", graph(memory), *torch.autograd.grad(memory.sum(), x))


@family
def own_results(torch, log):
    """What a hook leaves as it is, changed in place before the backward pass."""
    x = leaf(torch, (3,), 1)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = x.exp()
    y.mul_(2)
    log("version", y._version)
    try:
        log("gradient", *torch.autograd.grad(y.sum(), x))
    except RuntimeError as error:
        log.error("gradient", error)


@family
def data_of_inference_tensors(torch, log):
    """The data of an inference tensor is one, that of a normal tensor is not."""
    x = leaf(torch, (2, 3), 1)
    with torch.inference_mode():
        inner = torch.ones(2)
    log("data", inner.data.is_inference(), x.data.is_inference())


@family
def edges_by_hand(torch, log):
    """Edges put together of a node with several outputs."""
    x = leaf(torch, (2, 3), 1)
    node = x.unbind()[0].grad_fn
    edge = torch.autograd.graph.GradientEdge(node, 1)
    log("given", *torch.autograd.grad(edge, x, torch.arange(3.0)))
    log.raises("shape", lambda: torch.autograd.grad(edge, x, torch.arange(2.0)))
    log.raises("not given", lambda: torch.autograd.grad(edge, x))
