"""Call the distances of rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.dtypes import scalar_name
from minigrad.ops import contraction, factors, shape
from minigrad.ops.calling.matrices import check_argument
from minigrad.ops.meeting import broadcast_error
from minigrad.tensor import Tensor, wrap

__all__ = ["cdist"]

_MODES = (
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)


def cdist(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
) -> Tensor:
    r"""Give the distances of each row of one tensor to each row of another.

    Args:
        x1: Of shape (..., n, k).
        x2: Of shape (..., m, k).
        p: The order of the norm, from 0 to infinity.
        compute_mode: Whether Euclidean distances may be computed by a product of matrices, which
            is quick and less exact: if there are more than 25 rows (the default), always
            ("use_mm_for_euclid_dist"), or never ("donot_use_mm_for_euclid_dist").

    Returns:
        Of shape (..., n, m). Where a distance is 0 its gradient is 0.

    Example:
        >>> import minigrad as torch
        >>> torch.cdist(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
        tensor([[5., 0.]])
    """
    check_argument("cdist", x1, "x1")
    check_argument("cdist", x2, "x2", 2)
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    a, b = x1._array, x2._array
    for name, array in (("X1", a), ("X2", b)):
        if array.ndim < 2:
            raise RuntimeError(
                f"cdist only supports at least 2D tensors, {name} got: {array.ndim}D"
            )
    if a.shape[-1] != b.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {a.shape[-1]} X2: {b.shape[-1]}"
        )
    for name, array in (("X1", a), ("X2", b)):
        if array.dtype.kind in "iub":
            raise RuntimeError(
                f"cdist only supports floating-point dtypes, {name} got: {scalar_name(array)}"
            )
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    try:
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise broadcast_error(a.shape[:-2], b.shape[:-2]) from None
    if factors.differ(a, b):
        raise RuntimeError(f"expected scalar type {scalar_name(a)} but found {scalar_name(b)}")
    if a.dtype.kind == "f" and a.dtype.itemsize == 2:
        raise NotImplementedError("\"cdist\" not implemented for 'Half'")
    n, m, k = a.shape[-2], b.shape[-2], a.shape[-1]
    by_product = compute_mode == _MODES[1] or (compute_mode == _MODES[0] and max(n, m) > 25)
    if p == 2 and by_product and min(n, m, k) and math.prod(batch):
        first, second = _spread(x1, (*batch, n, k)), _spread(x2, (*batch, m, k))
        return shape.view(contraction.euclidean_dist(first, second), (*batch, n, m))  # type: ignore[no-any-return]
    if not k or not math.prod((*batch, n, m)):
        return wrap(np.zeros((*batch, n, m), a.dtype))
    return contraction.cdist(x1, x2, float(p))  # type: ignore[no-any-return]


def _spread(tensor: Tensor, sizes: tuple[int, ...]) -> Tensor:
    if tensor._array.shape == sizes:
        return tensor
    return shape.expand(tensor, sizes)  # type: ignore[no-any-return]


methods: dict[str, Any] = {}
