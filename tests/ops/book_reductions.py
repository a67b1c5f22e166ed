"""Cases for products, variances, medians, running sums, sorting, and sums that leave out NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad as torch

from .cases import ONES, Case, M, V, case, norm_of


def shifted(reference: Any, shape: tuple[int, ...], places: list[Any], *then: Any) -> Case:
    """Make a case in which entries of the operation's input are exactly 0: it gets a difference."""
    drawn = Case((shape,), reference, reference).inputs()[0]
    zero = np.zeros(shape)
    for place in places:
        zero[place] = drawn[place]

    def call(op: Any, x: Any) -> Any:
        return op(x - torch.tensor(zero, dtype=x.dtype), *then)

    return Case((shape,), lambda x: reference(x - zero), call)


def taken(positions: Any, keepdim: bool) -> Callable[[Any], Any]:
    def reference(x: Any) -> Any:
        entries = np.take_along_axis(x, positions, 1)
        return entries if keepdim else entries[:, 0]

    return reference


def along_rows(positions: Any) -> list[Case]:
    """Make cases for an operation that takes one entry of each row."""
    return [
        case(taken(positions, keepdim), M, then=(1, keepdim, positions))
        for keepdim in (False, True)
    ]


def distance(order: float) -> Callable[[Any, Any], Any]:
    return lambda a, b: norm_of(order)(a - b)


ORDER = np.array([[2, 0, 1], [1, 2, 0]])
FIRST_TWO = ORDER[:, :2]

CASES: dict[str, list[Case]] = {
    "prod_all": [
        case(np.prod, M),
        case(np.prod, ()),
        shifted(np.prod, M, [(0, 1)]),
    ],
    "prod_dim": [
        case(lambda x: x.prod(1), M, then=(1, False)),
        case(lambda x: x.prod(0, keepdims=True), M, then=(0, True)),
        shifted(lambda x: x.prod(1), M, [(0, 1), (1, 0)], 1, False),
        shifted(lambda x: x.prod(0), (1, 2), [(0, 1)], 0, False),
    ],
    "var": [
        case(lambda x: x.var(ddof=1), M, then=(None, 1, False)),
        case(lambda x: x.var(ddof=1), (2,), then=(None, 1, False)),
        case(lambda x: x.var((0, 2)), (2, 2, 2), then=((0, 2), 0, False)),
        case(lambda x: x.var(1, ddof=2, keepdims=True), M, then=((1,), 2, True)),
        case(lambda x: x.var(0, ddof=1), V, then=((0,), 1, False)),
    ],
    "std": [
        case(lambda x: x.std(ddof=1), M, then=(None, 1, False)),
        case(lambda x: x.std(1), M, then=((1,), 0, False)),
        case(lambda x: x.std(0, ddof=0.5, keepdims=True), M, then=((0,), 0.5, True)),
    ],
    "median_all": [case(lambda x: x[1, 0], M, then=(3,))],
    "cumsum": [
        case(lambda x: x.cumsum(1), M, then=(1,)),
        case(np.copy, (), then=(0,)),
        case(np.copy, (1, 2), then=(0,)),
    ],
    "cumprod": [
        case(lambda x: x.cumprod(1), M, then=(1,)),
        case(np.copy, (1, 2), then=(0,)),
        shifted(lambda x: x.cumprod(1), (2, 4), [(0, 1), (0, 3), (1, 0)], 1),
    ],
    "sort": [case(lambda x: np.take_along_axis(x, ORDER, 1), M, then=(1, ORDER))],
    "topk": [case(lambda x: np.take_along_axis(x, FIRST_TWO, 1), M, then=(1, FIRST_TWO))],
    "kthvalue": along_rows(ONES),
    "median_dim": along_rows(ONES),
}
