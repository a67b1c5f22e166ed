"""Cases for operations entry by entry: trigonometry, logarithms, special functions, rounding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .cases import Case, V, case, two

_UP = {"positive": True}
_erf, _erfc = map(np.vectorize, (math.erf, math.erfc))


def scaled(reference: Any, scale: float, shift: float = 0.0, then: Any = (), **more: Any) -> Case:
    """Make a case whose input is brought into the function's domain first."""
    return Case(
        (V,),
        lambda x: reference(x * scale + shift),
        lambda op, x: op(x * scale + shift, *then),
        **more,
    )


def three(reference: Any, *then: Any) -> list[Case]:
    shapes = ((2, 3), (3,), (2, 1)), ((4,), (4,), (4,)), ((), (3,), (3,))
    return [case(reference, *each, then=then) for each in shapes]


def _lerp(a: Any, b: Any, w: Any) -> Any:
    return a + w * (b - a)


CASES: dict[str, list[Case]] = {
    "tan": [scaled(np.tan, 0.7)],
    "asin": [scaled(np.arcsin, 0.5)],
    "acos": [scaled(np.arccos, 0.5)],
    "atan": [case(np.arctan, V)],
    "sinh": [case(np.sinh, V)],
    "cosh": [case(np.cosh, V)],
    "asinh": [case(np.arcsinh, V)],
    "acosh": [scaled(np.arccosh, 1.0, 1.0, positive=True)],
    "atanh": [scaled(np.arctanh, 0.5)],
    "deg2rad": [case(np.deg2rad, V)],
    "rad2deg": [case(np.rad2deg, V)],
    "exp2": [case(lambda x: 2**x, V)],
    "log2": [case(np.log2, V, positive=True)],
    "log10": [case(np.log10, V, positive=True)],
    "xlogy": two(lambda a, b: a * np.log(b), positive=True),
    "logit": [
        scaled(lambda x: np.log(x / (1 - x)), 0.5, 0.05, then=(None,), positive=True),
        scaled(
            lambda x: np.log(np.clip(x, 0.3, 0.7) / (1 - np.clip(x, 0.3, 0.7))),
            0.5,
            then=(0.3,),
            positive=True,
        ),
    ],
    "erf": [case(_erf, V)],
    "erfc": [case(_erfc, V)],
    "floor": [case(np.floor, V)],
    "ceil": [case(np.ceil, V)],
    "trunc": [case(np.trunc, V)],
    "round": [
        scaled(np.round, 2.3, then=(0,)),
        scaled(lambda x: np.round(x, 1), 2.317, then=(1,)),
        scaled(lambda x: np.round(x, -1), 23.17, then=(-1,)),
    ],
    "frac": [case(lambda x: x - np.trunc(x), V)],
    "div_floor": [
        Case((V, V), lambda a, b: np.floor(3.1 * a / b), lambda op, a, b: op(a * 3.1, b))
    ],
    "div_trunc": [
        Case((V, V), lambda a, b: np.trunc(3.1 * a / b), lambda op, a, b: op(a * 3.1, b))
    ],
    "remainder": two(lambda a, b: a - b * np.floor(a / b)),
    "nan_to_num": [case(np.copy, V, then=(0.0, 1.0, -1.0))],
    "lerp_number": [
        *two(lambda a, b: _lerp(a, b, 0.3), 0.3),
        *two(lambda a, b: _lerp(a, b, 1.7), 1.7),
    ],
    "lerp": three(_lerp),
    "clamp_from_number": [case(lambda x: np.maximum(x, 0.1), (8,), then=(0.1,))],
    "clamp_to_number": [case(lambda x: np.minimum(x, 0.1), (8,), then=(0.1,))],
}
