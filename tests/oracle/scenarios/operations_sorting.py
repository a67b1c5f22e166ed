"""See sorting, ranks, running sums, differences, positions and counts."""

from __future__ import annotations

from .tools import leaf
from .tools_operations import add_all, operation

V, M, T = (4,), (2, 3), (2, 3, 2)
FEW = ("float32", "int64", "bool")

TABLE = {
    "sort": operation(
        lambda t, x: x.sort().values, M, wrong={"axis": lambda t, x: x.sort(2)}, dtypes=FEW
    ),
    "sort over 0, descending": operation(lambda t, x: t.sort(x, 0, True).values, M, dtypes=()),
    "sort of a scalar": operation(lambda t, x: x.sort().values, (), dtypes=()),
    "argsort": operation(
        lambda t, x: x.argsort(0, descending=True), M, differentiable=False, dtypes=FEW
    ),
    "topk": operation(
        lambda t, x: x.topk(2).values,
        M,
        wrong={
            "k": lambda t, x: x.topk(4),
            "negative k": lambda t, x: x.topk(-1),
            "axis": lambda t, x: x.topk(1, 2),
            "scalar": lambda t, x: x[0, 0].topk(2),
        },
    ),
    "topk smallest": operation(lambda t, x: t.topk(x, 1, 0, False).values, M, dtypes=()),
    "kthvalue": operation(
        lambda t, x: x.kthvalue(2).values,
        M,
        wrong={
            "k": lambda t, x: x.kthvalue(0),
            "large k": lambda t, x: x.kthvalue(4),
            "axis": lambda t, x: x.kthvalue(1, 2),
        },
    ),
    "kthvalue keepdim": operation(lambda t, x: t.kthvalue(x, 1, 0, True).values, M, dtypes=()),
    "cumsum": operation(
        lambda t, x: x.cumsum(1),
        M,
        wrong={"axis": lambda t, x: x.cumsum(2)},
    ),
    "cumsum of a scalar": operation(lambda t, x: x.cumsum(0), (), dtypes=()),
    "cumsum of ones": operation(lambda t, x: x.cumsum(1), (2, 1), dtypes=()),
    "cumsum in place": operation(lambda t, x: (x * 1).cumsum_(0), M, dtypes=()),
    "cumprod": operation(
        lambda t, x: t.cumprod(x, -1), M, wrong={"axis": lambda t, x: x.cumprod(2)}
    ),
    "cumprod of a scalar": operation(lambda t, x: x.cumprod(0), (), dtypes=()),
    "cumprod in place": operation(lambda t, x: (x * 1).cumprod_(1), M, dtypes=()),
    "diff": operation(
        lambda t, x: x.diff(),
        M,
        wrong={
            "axis": lambda t, x: x.diff(dim=2),
            "scalar": lambda t, x: x[0, 0].diff(),
            "dimensions": lambda t, x: x.diff(append=t.zeros(2)),
            "shape": lambda t, x: x.diff(prepend=t.zeros(3, 1)),
        },
    ),
    "diff twice": operation(lambda t, x: t.diff(x, 2, 1), M, dtypes=FEW),
    "diff with more": operation(
        lambda t, x, y: x.diff(prepend=y, append=y, dim=0), M, (1, 3), dtypes=()
    ),
    "argmax": operation(
        lambda t, x: x.argmax(1),
        M,
        differentiable=False,
        wrong={
            "axis": lambda t, x: x.argmax(2),
            "empty": lambda t, x: t.zeros(0).argmax(),
            "empty axis": lambda t, x: t.zeros(2, 0).argmax(1),
        },
    ),
    "argmin": operation(
        lambda t, x: t.argmin(x, keepdim=True), M, differentiable=False, dtypes=FEW
    ),
    "all": operation(
        lambda t, x: x.all(1),
        M,
        differentiable=False,
        wrong={"axis": lambda t, x: x.all(2), "twice": lambda t, x: x.all((0, 0))},
    ),
    "any": operation(lambda t, x: t.any(x, (0, 1), True), M, differentiable=False),
    "count_nonzero": operation(
        lambda t, x: x.count_nonzero(0), M, differentiable=False, dtypes=FEW
    ),
    "unique": operation(
        lambda t, x: t.unique(x, return_inverse=True, return_counts=True),
        M,
        differentiable=False,
        wrong={
            "axis": lambda t, x: x.unique(dim=2),
        },
    ),
    "nonzero": operation(
        lambda t, x: x.nonzero(), M, differentiable=False, dtypes=("float32", "bool")
    ),
    "isin": operation(lambda t, x, y: t.isin(x, y), M, (2,), differentiable=False),
    "max": operation(
        lambda t, x: x.max(0).values,
        M,
        dtypes=FEW,
        wrong={
            "axis": lambda t, x: x.max(2),
            "empty": lambda t, x: t.zeros(0).max(),
            "empty axis": lambda t, x: t.zeros(2, 0).max(1),
        },
    ),
    "amax": operation(
        lambda t, x: x.amax((0, 1), keepdim=True),
        M,
        dtypes=FEW,
        wrong={
            "axis": lambda t, x: x.amax(2),
            "empty": lambda t, x: t.zeros(0).amax(),
            "empty axis": lambda t, x: t.zeros(2, 0).amax(1),
        },
    ),
    "softmax": operation(
        lambda t, x: x.softmax(0), (3,), wrong={"axis": lambda t, x: x.softmax(2)}
    ),
    "softmax of a scalar": operation(lambda t, x: x.softmax(0), (), dtypes=()),
    "log_softmax": operation(lambda t, x: t.log_softmax(x, 1), M),
    "log_softmax of a scalar": operation(lambda t, x: x.log_softmax(-1), (), dtypes=()),
    "logsumexp": operation(lambda t, x: x.logsumexp((0, 1), True), M, dtypes=FEW),
}

family = add_all(TABLE)
NAN = float("nan")


@family
def named_results(torch, log):
    """Results have names, and print under the name of their function."""
    x = leaf(torch, M, 3)
    for result in (
        x.sort(),
        x.topk(1),
        x.kthvalue(1),
        x.max(1),
        x.min(0),
    ):
        log(type(result).__name__, repr(result), result.values, result.indices)
    values, indices = torch.zeros(2), torch.zeros(2, dtype=torch.int64)
    y = x.detach()
    log("out", *torch.max(y, 1, out=(values, indices)), values, indices)
    log("out", *torch.kthvalue(y, 1, out=(values, indices)), values)
    log("out", torch.cumsum(y, 0, out=torch.zeros(M)), torch.amax(y, 1, out=values))
    log.raises("gradient", lambda: torch.sort(x, out=(torch.zeros(M), torch.zeros(M).long())))


@family
def equal_entries(torch, log):
    """In which order equal entries come."""
    rows = torch.tensor(
        [[2, 1, 2, 1, 2, 1, 1, 2], [1, 1, 1, 1, 1, 1, 1, 1], [0, 3, 0, 3, 0, 1, 2, 3]]
    )
    log("sort", *rows.sort(stable=True, dim=1), *rows.sort(stable=True, dim=1, descending=True))
    for k in (1, 2, 5, 8):  # where they come from is left open, what they are is not
        log("topk", rows.topk(k).values, rows.topk(k, largest=False).values)
        log("kthvalue", rows.kthvalue(k).values)
    many = torch.arange(200) * 7 % 5
    log("many", many.topk(12).values, many.float().topk(40, largest=False).values)
    log("ranks", many.kthvalue(100).values, many.float().median(0).values)
    log("first", rows.argmax(1), rows.argmin(1), *rows.max(1), *rows.min(1))


@family
def nan(torch, log):
    """NaN is the largest, and comes first where extremes are looked for."""
    x = torch.tensor([[1.0, NAN, 3.0, NAN], [NAN, 2.0, float("inf"), -float("inf")]])
    log("sort", *x.sort(stable=True), *x.sort(stable=True, descending=True))
    log("topk", *x.topk(2), *x.topk(2, largest=False), *x.kthvalue(2))
    log("extremes", *x.max(1), *x.min(1), x.argmax(1), x.argmin(1), x.amax(1), x.amin(1))
    log("running", x.cumsum(1))
    log("tests", x.any(), x.all(1), x.count_nonzero(), x.nonzero())
    log("unique", x.unique())


@family
def arguments(torch, log):
    """The many ways to say which dimension, and nothing to look at."""
    x = torch.tensor([[1.0, 5.0, 3.0], [7.0, -1.0, 0.5]])
    log("axis", x.sum(axis=1), x.mean(axis=0, keepdims=True), x.argmax(axis=0), *x.max(axis=1))
    log("no axes", x.all(dim=None, keepdim=True), x.argmax(None, True))
    log("scalar", torch.tensor(3.0).argmax(0), torch.tensor(3.0).all(0), *torch.tensor(3).max(0))
    empty = torch.zeros(2, 0)
    log("empty", empty.sum(1), empty.prod(1), empty.all(1), empty.any(1), empty.cumsum(1))
    log("empty ranks", *empty.sort(), *empty.max(0), empty.argmax(0), *empty.median(0))
    log("empty sums", empty.logsumexp(1), empty.norm(2, 1), empty.count_nonzero(1))
    log("empty finds", empty.nonzero(), empty.unique(), empty.diff())
    log("out", torch.sum(x, 1, out=torch.zeros(2)), torch.all(x, 1, out=torch.zeros(2) > 0))


@family
def where_entries_are(torch, log):
    """nonzero, argwhere and where with one argument, isin."""
    x = torch.tensor([[1, 0, 3], [0, 5, 0]])
    log("nonzero", x.nonzero(), x.nonzero(as_tuple=True), torch.argwhere(x), torch.where(x > 1))
    log("scalars", torch.tensor(3).nonzero(), torch.tensor(0).nonzero(as_tuple=True))
    s = torch.tensor([1.0, 3.0, 5.0])
    log("isin", torch.isin(x, torch.tensor([0, 5])), torch.isin(x, 3, invert=True))
    log("isin", torch.isin(3, x), torch.isin(s, torch.tensor([])))
    log.raises("isin", lambda: torch.isin(x > 0, x > 0))


@family
def counts(torch, log):
    """Different entries and rows, and histograms."""
    x = torch.tensor([[1, 2], [1, 2], [0, 1]])
    for options in ({}, {"return_inverse": True}, {"return_counts": True, "dim": 0}, {"dim": 1}):
        log(str(sorted(options)), torch.unique(x, **options))
    log("method", x.unique(True, True, True, 0))
    y = torch.tensor([1.0, 2.0, 1.0, 4.0, 2.5])

    for result in (
        torch.histogram(y, 3),
        y.histogram(4, range=(0.0, 5.0)),
        y.histogram(torch.tensor([0.0, 1.0, 3.0]), density=True),
    ):
        log(repr(result), result.hist, result.bin_edges)
    log.raises("bins", lambda: y.histogram(0))
    log.raises("integers", lambda: x.histogram(3))
