"""See sums, means and extremes over all entries, over an axis, over several."""

from __future__ import annotations

from .tools_operations import add_all

V, M, T = (3,), (2, 3), (2, 3, 2)

TABLE = {
    "sum": (lambda t, x: x.sum(), M),
    "torch.sum": (lambda t, x: t.sum(x), V),
    "sum of a scalar": (lambda t, x: x.sum(), ()),
    "sum over 0": (lambda t, x: x.sum(0), M),
    "sum over dim=1": (lambda t, x: x.sum(dim=1), M),
    "sum over -1": (lambda t, x: x.sum(-1), T),
    "sum keepdim": (lambda t, x: x.sum(dim=1, keepdim=True), M),
    "sum over two axes": (lambda t, x: x.sum(dim=(0, 2)), T),
    "sum over two axes keepdim": (lambda t, x: x.sum(dim=(-1, 0), keepdim=True), T),
    "sum over a list": (lambda t, x: t.sum(x, [1, 2]), T),
    "sum of squares": (lambda t, x: (x * x).sum(), M),
    "mean": (lambda t, x: x.mean(), M),
    "torch.mean": (lambda t, x: t.mean(x, dim=0), M),
    "mean over 1": (lambda t, x: x.mean(1), M),
    "mean over -1 keepdim": (lambda t, x: x.mean(-1, keepdim=True), T),
    "mean over two axes": (lambda t, x: x.mean(dim=(0, 1)), T),
    "mean of a scalar": (lambda t, x: x.mean(), ()),
    "max": (lambda t, x: x.max(), M),
    "min": (lambda t, x: x.min(), M),
    "max over an axis": (lambda t, x: x.max(dim=1).values, M),
    "centered": (lambda t, x: x - x.mean(), V),
    "variance by hand": (lambda t, x: ((x - x.mean(0)) ** 2).mean(0), M),
    "normalized": (lambda t, x: x / (x * x).sum().sqrt(), V),
}

family = add_all(TABLE)


@family
def max_over_an_axis(torch, log):
    """max over an axis gives values and indices under these names."""
    x = torch.tensor([[1.0, 5.0, 3.0], [7.0, -1.0, 0.5]], requires_grad=True)
    result = x.max(dim=1)
    log("max", result.values, result.indices, type(result).__name__)
    values, indices = x.min(dim=0, keepdim=True)
    log("min", values, indices)
    log("argmax", x.argmax(), x.argmax(dim=1), x.argmin(dim=0))


@family
def ties(torch, log):
    """The gradient of max over all entries is shared among equal ones; along an axis it is not."""
    x = torch.tensor([2.0, 5.0, 5.0], requires_grad=True)
    log("all", torch.autograd.grad(x.max(), x))
    log("axis", torch.autograd.grad(x.max(dim=0).values, x))


@family
def integers_and_booleans(torch, log):
    """Reductions of integers and booleans: result dtypes, and what mean refuses."""
    i = torch.tensor([1, 2, 4])
    b = torch.tensor([True, False, True])
    log("sum", i.sum(), b.sum())
    log("max", i.max(), i.min())
    log("any and all", b.any(), b.all(), (i > 1).all())
    log.raises("mean", lambda: i.mean())
    log.raises("mean of bool", lambda: b.mean())


@family
def errors(torch, log):
    """Axes that are not there or come twice."""
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    log.raises("out of range", lambda: x.sum(2))
    log.raises("negative", lambda: x.sum(-3))
    log.raises("twice", lambda: x.sum(dim=(0, 0)))
    log.raises("mean", lambda: x.mean(5))
    log.raises("scalar", lambda: torch.tensor(1.0).sum(1))
    log.raises("empty max", lambda: torch.tensor([]).max())
    log("empty", torch.tensor([]).sum(), torch.tensor([]).mean())


@family
def halves_whose_squares_are_too_large(torch, log):
    """Squares and sums on the way are float32, where only the result has to fit."""
    x = (torch.tensor([[3.0, -4.0], [1.0, 2.0]]) * 100).half().requires_grad_()
    F = torch.nn.functional
    for name, call in (
        ("norm", lambda: x.norm()),
        ("small", lambda: torch.linalg.vector_norm(x / 1000, 20, 1)),
        ("mean", lambda: (x * 150).mean()),
        ("mean of rows", lambda: (x.abs() * 150).mean(1)),
        ("unit", lambda: F.normalize(x)),
        ("cosine", lambda: F.cosine_similarity(x, x.flip(0))),
        ("attention", lambda: F.scaled_dot_product_attention(x, x, x)),
        ("heads", lambda: F.scaled_dot_product_attention(*[x.view(1, 1, 2, 2)] * 3)),
    ):
        y = call()
        (gradient,) = torch.autograd.grad(y.sum(), x)
        near = [torch.round(each.detach().float(), decimals=1) for each in (y, gradient)]
        log(name, y.dtype, *near)
