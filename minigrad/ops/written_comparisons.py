"""The derivatives of comparisons whose truth values are written into a tensor of numbers.

They are zeros, as truth values do not change with what is compared. Only comparisons in place,
such as `x.lt_(y)`, are recorded at all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.tape import Array, differentiable


def _zeros(grad: Any) -> Any:
    return np.zeros_like(grad)


def _with_tensor(name: str, ufunc: Any) -> Any:
    """Declare the comparison with another tensor."""

    def compare(self: Array, other: Array) -> Array:
        return ufunc(self, other).astype(self.dtype)

    compare.__name__ = f"{name}_tensor"
    compare.__doc__ = f"Comparison `{name}` with a tensor, as numbers 1 and 0: no gradient passes."
    node = f"{name.capitalize()}Backward1"
    return differentiable(node, arithmetic=True, self=_zeros, other=_zeros)(compare)


def _with_number(name: str, ufunc: Any) -> Any:
    """Declare the comparison with a number."""

    def compare(self: Array, other: Any) -> Array:
        return ufunc(self, other).astype(self.dtype)

    compare.__name__ = f"{name}_number"
    compare.__doc__ = f"Comparison `{name}` with a number, as numbers 1 and 0: no gradient passes."
    return differentiable(f"{name.capitalize()}Backward0", self=_zeros)(compare)


_COMPARISONS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}

with_tensor = {name: _with_tensor(name, ufunc) for name, ufunc in _COMPARISONS.items()}
with_number = {name: _with_number(name, ufunc) for name, ufunc in _COMPARISONS.items()}
