"""Apply an operation that normalizes, in the dtype of the input."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.dtypes import scalar_name
from minigrad.ops.convolution import ABSENT
from minigrad.ops.normalization import Layout, Statistics
from minigrad.tensor import Tensor

MIXED = (
    "mixed dtype (CPU): all inputs must share same datatype. Convert the input or the layer with "
    ".to(dtype)."
)


def array_of(tensor: Tensor | None) -> Any:
    """Give the array of a tensor that may be missing."""
    return None if tensor is None else tensor._array


def normalized(
    operation: Any,
    name: str,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    layout: Layout,
    eps: float,
    statistics: Statistics,
) -> Tensor:
    """Normalize, in the dtype of the input; weights of float16 inputs may be of float32."""
    array = input._array
    if array.dtype.kind in "iub":
        raise NotImplementedError(f"\"{name}\" not implemented for '{scalar_name(array)}'")
    others = [each for each in (weight, bias) if each is not None]
    kinds = {each._array.dtype for each in others}
    weight, bias = ABSENT if weight is None else weight, ABSENT if bias is None else bias
    if kinds - {array.dtype}:
        if array.dtype != np.float16 or kinds != {np.dtype(np.float32)}:
            raise RuntimeError(MIXED)
        wide = operation(input.float(), weight, bias, layout, eps, statistics)
        return wide.half()  # type: ignore[no-any-return]
    return operation(input, weight, bias, layout, eps, statistics)  # type: ignore[no-any-return]
