"""Cases for the operations on entries whose places are listed: take, add, write, reduce."""

from __future__ import annotations

import numpy as np

from .cases import PLACES, Case, M, add_along, added, case, put

LISTED = np.array([0, 2])
SAME = np.array([1, 1])
IN_ROW = np.array([[0, 5], [-2, 3]])
REPEATED = np.array([[0, 0], [2, 1]])
REDUCERS = {
    "sum": np.add, "prod": np.multiply, "mean": np.add, "amax": np.maximum, "amin": np.minimum,
}  # fmt: skip


def filled(x, value):
    return put(x, (slice(None), LISTED), value)


def in_row(x, values, add=False):
    row = x.reshape(-1).copy()
    (np.add.at if add else np.put)(row, IN_ROW, values)
    return row.reshape(x.shape)


def reduced(x, source, key, reduce, include_self):
    """Reduce entry by entry."""
    places = np.broadcast_to(np.arange(x.size).reshape(x.shape)[key], source.shape)
    result = x.reshape(-1).copy()
    for place in np.unique(places):
        values = list(source[places == place]) + [result[place]] * include_self
        result[place] = REDUCERS[reduce].reduce(values)
        if reduce == "mean":
            result[place] /= len(values)
    return result.reshape(x.shape)


def reductions(names, key, positions, shape):
    return [
        Case(
            (M, shape),
            lambda x, y, r=r, own=own: reduced(x, y, key, r, own),
            lambda op, x, y, r=r, own=own: op(x, y, 1, positions, r, own),
        )
        for r in names
        for own in (True, False)
    ]


CASES: dict[str, list[Case]] = {
    "index_select": [case(lambda x: x[:, [0, 2, 2]], M, then=(1, np.array([0, 2, 2])))],
    "index_add_dim": [
        case(lambda x, y: added(x, (slice(None), SAME), y), M, (2, 2), then=(1, SAME, 1)),
        case(lambda x, y: added(x, (slice(None), LISTED), 3 * y), M, (2, 2), then=(1, LISTED, 3)),
        case(lambda x, y: x + y.sum(), (), (1,), then=(0, np.array([0]), 1)),
    ],
    "index_fill_number": [case(lambda x: filled(x, 7.0), M, then=(1, LISTED, 7.0))],
    "take": [case(lambda x: x.reshape(-1)[IN_ROW], M, then=(IN_ROW,))],
    "put_add": [case(lambda x, y: in_row(x, y, add=True), M, (2, 2), then=(IN_ROW,))],
    "scatter_reduce": [
        *reductions(REDUCERS, (np.array([[0], [1]]), REPEATED), REPEATED, (2, 2)),
        Case(
            (M, (2, 2)),
            lambda x, y: add_along(x, PLACES, 1, y),
            lambda op, x, y: op(x, y, 1, PLACES, "sum", True),
        ),
    ],
    "index_reduce": reductions(
        [r for r in REDUCERS if r != "sum"], (slice(None), SAME), SAME, (2, 2)
    ),
}
