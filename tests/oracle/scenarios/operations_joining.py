"""See the less usual operations that join tensors and take them apart."""

from __future__ import annotations

import warnings

from .tools import graph, leaf
from .tools_operations import add_all, operation

V, M, T, S = (4,), (2, 3), (2, 3, 4), ()
SOME = ("float64", "int64", "bool")


def row(call, *shapes, dtypes=(), composed=False, **wrong):
    return operation(call, *shapes, dtypes=dtypes, composed=composed, wrong=wrong)


def part(call, index, *shapes, dtypes=(), **wrong):
    """Describe an operation with several results, one of which is looked at."""
    return operation(
        call, *shapes, dtypes=dtypes, wrong=wrong, results=lambda results: results[index]
    )


TABLE = {
    "concat": row(lambda t, x, y: t.concat([x, y], 1), M, M, dtypes=SOME),
    "concatenate": row(
        lambda t, x, y: t.concatenate([x, y], axis=1), M, M,
        scalar=lambda t, x, y: t.concatenate([x[0, 0], y[0, 0]]),
        sizes=lambda t, x, y: t.concatenate([x, y[:, :1]]),
        numbers=lambda t, x, y: t.concatenate([1, 2]),
        nothing=lambda t, x, y: t.concat([]),
    ),
    "hstack": row(
        lambda t, x, y: t.hstack([x, y]), M, M,
        nothing=lambda t, x, y: t.hstack([]),
        none=lambda t, x, y: t.hstack(None),
    ),
    "hstack of vectors": row(lambda t, x, y: t.hstack((x, y)), V, V),
    "hstack of numbers": row(lambda t, x, y: t.hstack((x, y)), S, S),
    "vstack": row(
        lambda t, x, y: t.vstack([x, y]), V, V, composed=True,
        nothing=lambda t, x, y: t.vstack([]),
    ),
    "meshgrid": part(
        lambda t, x, y: t.meshgrid(x, y, indexing="ij"), 0, V, (2,), dtypes=SOME,
        indexing=lambda t, x, y: t.meshgrid(x, y, indexing="zz"),
        nothing=lambda t, x, y: t.meshgrid([], indexing="ij"),
    ),
    "meshgrid xy": part(lambda t, x, y: t.meshgrid(x, y, indexing="xy"), 1, V, (2,)),
    "meshgrid of three": part(
        lambda t, x, y, z: t.meshgrid([x, y, z], indexing="xy"), 2, (2,), S, (3,)
    ),
    "split_with_sizes": part(
        lambda t, x: x.split_with_sizes([1, 2], 1), 1, M,
        total=lambda t, x: x.split_with_sizes([1, 1], 1),
        negative=lambda t, x: x.split_with_sizes([4, -1], 1),
    ),
    "split": part(
        lambda t, x: t.split(x, 2, dim=1), 1, M,
        negative=lambda t, x: x.split(-1),
        zero=lambda t, x: x.split(0),
        scalar=lambda t, x: x[0, 0].split(1),
    ),
    "chunk": part(
        lambda t, x: x.chunk(2, -1), 1, M,
        zero=lambda t, x: x.chunk(0), scalar=lambda t, x: x[0, 0].chunk(1),
    ),
}  # fmt: skip

family = add_all(TABLE)


@family
def grids_without_indexing(torch, log):
    """meshgrid warns if nobody says which indexing is meant."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rows, columns = torch.meshgrid(torch.tensor([1, 2]), torch.tensor([3, 4, 5]))
    log("grids", rows, columns)
    log("warned", bool(caught), str(caught[0].message)[:90] if caught else "")


@family
def several_at_once(torch, log):
    """Functions that take several tensors give several; what need not change is given as it is."""
    x, y = leaf(torch, (), 1), leaf(torch, (2, 3), 2)
    log("broadcast", *torch.broadcast_tensors(x, y))
    log("chunks of nothing", [list(part.shape) for part in torch.zeros(0).chunk(3)])


@family
def pieces_and_their_memory(torch, log):
    """Pieces are views of one node, which may not be changed in place."""
    x = leaf(torch, (4,), 3) * 1
    pieces = x.split(2)
    log("split", *pieces, pieces[0]._base is x, x._version)
    log.raises("in place", lambda: pieces[0].mul_(2))
    log("graph", graph(pieces[1]))


@family
def written_elsewhere(torch, log):
    """The argument out."""
    place = torch.zeros(2, 2)
    a, b = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    log("cat", torch.cat([a, b], out=torch.zeros(4)))
    log("stack", torch.stack([a, b], out=place) is place, place)
    log("vstack", torch.vstack([b, a], out=place), place._version)
    log("hstack", torch.hstack([a, b], out=torch.zeros(4, dtype=torch.float64)))
    log.raises("grad", lambda: torch.cat([a.requires_grad_(), b], out=torch.zeros(4)))
