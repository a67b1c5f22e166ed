"""Cases for the operations entry by entry: trigonometry, logarithms, special functions, limits."""

from .regions import (
    D,
    E,
    broadcast,
    high,
    low,
    positive,
    stretched,
    vector,
    x,
)

_some = [("x", 2, positive)]
_both = [("x", 2, positive), ("y", positive)]
_three = [("x", 2), ("y", 2), ("z",)]
_divided = [("x", 2, 1), ("y", 3)]

RESERVED: dict[str, str] = {}

CASES = {
    "tan": [(vector, ())],
    "asin": [(vector, ())],
    "acos": [(vector, ())],
    "atan": [(vector, ())],
    "sinh": [(vector, ())],
    "cosh": [(vector, ())],
    "asinh": [(vector, ())],
    "acosh": [([("x", 2)], (), [{x(0): 1 + D, x(1): 1 + E}])],
    "atanh": [(vector, ())],
    "deg2rad": [(vector, ())],
    "rad2deg": [(vector, ())],
    "exp2": [(vector, ())],
    "log2": [(_some, ())],
    "log10": [(_some, ())],
    "xlogy": [(_both, ())],
    "logit": [([("x",)], (None,), [{x(): D / (1 + D)}])],
    "erf": [(vector, ())],
    "erfc": [(vector, ())],
    "lerp_number": [(broadcast, (0.3,)), (stretched, (2,))],
    "lerp": [(_three, ())],
    "clamp_from_number": [([("x",)], (low,), [{low: x() - D}, {low: x() + D}])],
    "clamp_to_number": [([("x",)], (high,), [{high: x() - D}, {high: x() + D}])],
    # Rounded numbers: between two jumps they are constant.
    **{name: [(vector, ()), ([("x",)], ())] for name in ("floor", "ceil", "trunc", "frac")},
    "round": [(vector, (0,)), ([("x",)], (0,)), (vector, (2,)), (vector, (-1,))],
    "div_floor": [(broadcast, ()), (_divided, ())],
    "div_trunc": [(broadcast, ())],
    "remainder": [(broadcast, ()), (_divided, ())],
    "nan_to_num": [(vector, (0.0, 1.0, -1.0))],  # of symbols, which are no infinities
}
