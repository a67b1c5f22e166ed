"""See products, variances, medians, quantiles, distances and covariances."""

from __future__ import annotations

from .tools import leaf
from .tools_operations import add_all, operation

V, M, T = (4,), (2, 3), (2, 3, 2)
FLOATS = ("float16", "float32", "float64")
OTHERS = ("uint8", "int64", "bool")
FEW = ("float32", "int64", "bool")


TABLE = {
    "prod": operation(lambda t, x: x.prod(), M),
    "prod over 1": operation(
        lambda t, x: t.prod(x, 1), M, wrong={"axis": lambda t, x: x.prod(2)}, dtypes=FEW
    ),
    "prod keepdim": operation(lambda t, x: x.prod(-1, keepdim=True), T, dtypes=()),
    "prod of a scalar": operation(lambda t, x: x.prod(), (), dtypes=()),
    "prod over 0 of a scalar": operation(lambda t, x: x.prod(0), (), dtypes=()),
    "prod by axis": operation(lambda t, x: x.prod(axis=1, keepdims=True), M, dtypes=()),
    "var": operation(lambda t, x: x.var(), M),
    "var over 1": operation(
        lambda t, x: t.var(x, 1),
        M,
        dtypes=(),
        wrong={"axis": lambda t, x: x.var(2), "twice": lambda t, x: x.var((0, 0))},
    ),
    "var over two axes": operation(lambda t, x: x.var((0, -1), keepdim=True), T, dtypes=()),
    "var of a row": operation(lambda t, x: x.var(0), V, dtypes=()),
    "var biased": operation(lambda t, x: x.var(unbiased=False), M, dtypes=()),
    "var with correction": operation(lambda t, x: x.var(1, correction=2), M, dtypes=()),
    "std": operation(lambda t, x: x.std(), M),
    "std biased": operation(lambda t, x: x.std(False), M, dtypes=()),
    "std over 0": operation(lambda t, x: t.std(x, 0, False, True), M, dtypes=()),
    "std with correction": operation(lambda t, x: x.std(dim=1, correction=0), M, dtypes=()),
    "median": operation(lambda t, x: x.median(), V),
    "median over 1": operation(
        lambda t, x: t.median(x, 1).values,
        M,
        dtypes=FEW,
        wrong={"axis": lambda t, x: x.median(2)},
    ),
    "median keepdim": operation(lambda t, x: x.median(0, keepdim=True).values, M, dtypes=()),
    "dist": operation(
        lambda t, x, y: t.dist(x, y), M, M, dtypes=("float16", "float64"), composed=True
    ),
    "dist p=1": operation(lambda t, x, y: x.dist(y, 1), M, (3,), dtypes=(), composed=True),
    "dist p=3": operation(lambda t, x, y: x.dist(y, p=3), M, M, dtypes=(), composed=True),
    "dist p=inf": operation(
        lambda t, x, y: x.dist(y, float("inf")),
        M,
        M,
        dtypes=(),
        wrong={"shapes": lambda t, x, y: x.dist(t.zeros(4))},
        composed=True,
    ),
    "norm": operation(lambda t, x: x.norm(), M),
    "norm p=1 over 0": operation(lambda t, x: x.norm(1, 0), M, dtypes=()),
    "norm p=3 keepdim": operation(lambda t, x: t.norm(x, 3, 1, True), M, dtypes=()),
    "norm fro": operation(lambda t, x: x.norm("fro", (0, 1)), M, dtypes=()),
    "norm p=-inf": operation(
        lambda t, x: x.norm(float("-inf"), 1),
        M,
        dtypes=(),
        wrong={
            "order": lambda t, x: x.norm("foo"),
            "axis": lambda t, x: x.norm(2, 5),
        },
    ),
}

family = add_all(TABLE)
NAN = float("nan")


@family
def products_with_zeros(torch, log):
    """Where an entry is 0 the gradient of a product is found without dividing."""
    for row in ([2.0, 0.0, 3.0], [0.0, 0.0, 3.0], [0.0], [1.0, 2.0, 4.0]):
        for name, product in (
            ("all", lambda x: x.prod()),
            ("axis", lambda x: x.prod(0)),
            ("running", lambda x: (x.cumprod(0) * torch.arange(1.0, len(x) + 1)).sum()),
        ):
            x = torch.tensor(row, requires_grad=True)
            (grad,) = torch.autograd.grad(product(x), x, create_graph=True)
            weights = torch.arange(1.0, len(row) + 1)
            log(name, grad.detach())
            if grad.requires_grad:
                log("second", torch.autograd.grad((grad * weights).sum(), x, allow_unused=True))


@family
def named_results(torch, log):
    """Results have names, and print under the name of their function."""
    x = leaf(torch, M, 3)
    for result in (x.median(1),):
        log(type(result).__name__, repr(result), len(result), isinstance(result, tuple))
    log("fields", x.median(0).values, x.median(0).indices)
    values, indices = torch.zeros(2), torch.zeros(2, dtype=torch.int64)
    log("out", *torch.median(x.detach(), 1, out=(values, indices)), values, indices)


@family
def medians_of_equal_numbers_and_nan(torch, log):
    """What the median of equal entries is, and what NaN does."""
    rows = torch.tensor(
        [[2.0, 1.0, 2.0, 2.0, 1.0], [1.0] * 5, [3.0, NAN, 1.0, 2.0, NAN], [NAN] * 5]
    )
    for name in ("median",):
        log(name, getattr(rows, name)(1).values)
    log("all", rows.median(), rows[1].median())
    y = torch.tensor([1.0, NAN, NAN, 3.0], requires_grad=True)
    log("of nan", torch.autograd.grad(y.median(), y))


@family
def correction(torch, log):
    """Corrections of variances, and what nothing left gives."""
    x = torch.tensor([[1.0, 5.0, 3.0], [7.0, -1.0, 0.5]])
    for each in (0, 1, 2, 1.5, -1):
        log(str(each), x.var(1, correction=each), x.std(correction=each))
    log("nan", torch.tensor([1.0, NAN]).var(), torch.tensor([1.0, float("inf")]).std())
    constant = torch.ones(3, requires_grad=True)
    log("constant", torch.autograd.grad(constant.std(), constant))
