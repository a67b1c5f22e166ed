"""Constants such as the logarithm of 2, as numbers beside numbers and exactly beside symbols."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class Constant:
    """A constant that a formula gives.

    Args:
        formula: Makes it of the number 1, with NumPy's functions.

    Example:
        >>> Constant(lambda one: np.log(2 * one)).beside(np.ones(3))
        0.6931471805599453
    """

    __slots__ = ("formula", "number")

    def __init__(self, formula: Callable[[Any], Any]) -> None:
        self.formula = formula
        self.number = float(formula(1.0))

    def beside(self, entries: Any) -> Any:
        """Give it as a Python number; beside symbols as an exact expression."""
        array = getattr(entries, "_array", entries)
        if array.dtype.kind != "O":
            return self.number
        return self.formula(np.ones_like(array, shape=()))


PI = Constant(lambda one: np.arccos(-one))
LN_2 = Constant(lambda one: np.log(2 * one))
LN_10 = Constant(lambda one: np.log(10 * one))
TWO_OVER_ROOT_PI = Constant(lambda one: 2 / np.sqrt(np.arccos(-one)))
HALF_ROOT_PI = Constant(lambda one: np.sqrt(np.arccos(-one)) / 2)
ROOT_TWO_PI = Constant(lambda one: np.sqrt(2 * np.arccos(-one)))
DEGREE = Constant(lambda one: np.arccos(-one) / 180)
RADIAN = Constant(lambda one: 180 / np.arccos(-one))
