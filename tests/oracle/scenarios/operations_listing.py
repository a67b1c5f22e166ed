"""See the operations on entries whose places are listed: taking, adding, writing."""

from __future__ import annotations

from .tools import graph, leaf
from .tools_operations import add_all, operation

M, P, S = (2, 3), (2, 2), ()
SOME = ("float64", "float16", "int64", "uint8", "bool")


def at(torch, *places):
    return torch.tensor(list(places))


def row(call, *shapes, dtypes=(), **wrong):
    return operation(call, *shapes, dtypes=dtypes, wrong=wrong)


TABLE = {
    "index_select": row(
        lambda t, x: t.index_select(x, 1, at(t, 0, 2, 2)),
        M,
        dtypes=SOME,
        outside=lambda t, x: x.index_select(0, at(t, 2)),
        negative=lambda t, x: x.index_select(0, at(t, -1)),
        floats=lambda t, x: x.index_select(0, at(t, 0.0)),
        matrix=lambda t, x: x.index_select(0, at(t, [0])),
        dim=lambda t, x: x.index_select(2, at(t, 0)),
    ),
    "index_select at one place": row(lambda t, x: x.index_select(0, t.tensor(1)), M),
    "index_add": row(
        lambda t, x, y: t.index_add(x, 1, at(t, 0, 0), y),
        M,
        P,
        dtypes=SOME,
        count=lambda t, x, y: x.index_add(1, at(t, 0), y),
        outside=lambda t, x, y: x.index_add(1, at(t, 0, 3), y),
        shape=lambda t, x, y: x.index_add(0, at(t, 0, 1), y),
        types=lambda t, x, y: x.index_add(1, at(t, 0, 1), y.double()),
        floats=lambda t, x, y: x.index_add(1, at(t, 0.0, 1.0), y),
    ),
    "index_add with alpha": row(lambda t, x, y: x.index_add(1, at(t, 0, 2), y, alpha=2), M, P),
    "scatter": row(
        lambda t, x, y: t.scatter(x, 1, t.tensor([[0], [2]]), y),
        M,
        (2, 1),
        dtypes=SOME,
        dims=lambda t, x, y: x.scatter(1, at(t, 0), y),
        outside=lambda t, x, y: x.scatter(1, t.tensor([[3]]), y),
        negative=lambda t, x, y: x.scatter(1, t.tensor([[-1]]), y),
        large=lambda t, x, y: x.scatter(1, t.tensor([[0], [0], [0]]), y),
        types=lambda t, x, y: x.scatter(1, t.tensor([[0]]), y.double()),
        floats=lambda t, x, y: x.scatter(1, y, y),
    ),
    "scatter of a number": row(
        lambda t, x: x.scatter(1, t.tensor([[0], [2]]), 5.0),
        M,
        dtypes=("float64", "int64"),
        overflow=lambda t, x: x.byte().scatter(1, t.tensor([[0]]), 300),
    ),
    "scatter_add": row(
        lambda t, x, y: t.scatter_add(x, 1, t.tensor([[0, 0], [2, 1]]), y),
        M,
        P,
        dtypes=SOME,
        types=lambda t, x, y: x.scatter_add(1, t.tensor([[0]]), y.double()),
        outside=lambda t, x, y: x.scatter_add(0, t.tensor([[2]]), y),
        number=lambda t, x, y: t.scatter_add(x, 1, t.tensor([[0]]), 1.0),
    ),
}

family = add_all(TABLE)


def changes(torch):
    """In-place operations, each with the tensor it changes and another one."""
    zero = torch.tensor([0])
    place = torch.tensor([[0, 1]])
    return {
        "index_add_": lambda a, b: a.index_add_(0, zero, b[:1]),
        "index_add_ by names": lambda a, b: a.index_add_(dim=0, index=zero, source=b[:1], alpha=2),
        "scatter_": lambda a, b: a.scatter_(0, place, b[:1, :2]),
        "scatter_ of a number": lambda a, b: a.scatter_(0, place, 1.0),
        "scatter_ by name": lambda a, b: a.scatter_(0, place, value=1.5),
        "scatter_add_": lambda a, b: a.scatter_add_(0, place, b[:1, :2]),
    }


@family
def in_place(torch, log):
    """Each changes the tensor itself, its version and its place in the graph; not a leaf."""
    for name, change in changes(torch).items():
        x, w = leaf(torch, M, 1), leaf(torch, M, 2)
        y = x * 1
        log(name, change(y, w) is y, y, y._version, graph(y))
        weights = leaf(torch, M, 5, requires_grad=False)
        log("gradients", *torch.autograd.grad((y * weights).sum(), (x, w), allow_unused=True))
        log.raises("leaf", lambda change=change, x=x, w=w: change(x, w))


@family
def in_place_through_views(torch, log):
    """Changing a view changes its base, and its place in the graph."""
    for name, change in changes(torch).items():
        x, w = leaf(torch, (3, 3), 1), leaf(torch, M, 2)
        y = x * 1
        part = y[1:]
        change(part, w)
        log(name, y, graph(y), graph(part))
        weights = leaf(torch, (3, 3), 5, requires_grad=False)
        log("gradients", *torch.autograd.grad((y * weights).sum(), (x, w), allow_unused=True))


@family
def written_elsewhere(torch, log):
    """The argument out."""
    x, places = leaf(torch, M, 1, requires_grad=False), torch.tensor([0, 1])
    place = torch.zeros(2, 3)
    log("index_select", torch.index_select(x, 0, places, out=place) is place, place)
    log("index_add", torch.index_add(x, 0, places, x, out=place), place._version)
    log("scatter", torch.scatter(x, 0, places[None], 1.0, out=place))
    log("scatter_add", torch.scatter_add(x, 0, places[None], x, out=place))
