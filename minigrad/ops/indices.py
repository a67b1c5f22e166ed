"""Read the keys of `x[...]`: tell integers, arrays and masks apart, and say what is wrong."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from minigrad.core.tensor import Tensor
from minigrad.creation import dtypes


def stands_for_tuple(key: list[Any]) -> bool:
    """Tell whether PyTorch reads a list as a tuple of indices; it warns that it does."""
    parts_of_keys = (list, tuple, slice, range, str, Tensor, np.ndarray)
    if len(key) >= 32 or not any(
        k is None or k is Ellipsis or isinstance(k, parts_of_keys) for k in key
    ):
        return False
    warnings.warn(
        "Using a non-tuple sequence for multidimensional indexing is deprecated and will be "
        "changed in pytorch 2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be "
        "interpreted as tensor index, x[torch.tensor(seq)], which will result either in an error "
        "or a different result",
        UserWarning,
        stacklevel=4,
    )
    return True


def refuse_without_dimensions(key: Any) -> None:
    """Raise for a number or a range, which no tensor without dimensions can be indexed with."""
    if isinstance(key, slice):
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if is_integer(key) and not isinstance(key, Tensor):
        if key != 0:
            raise IndexError(f"index {int(key)} is out of bounds for dimension 0 with size 0")
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
            "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
        )


def index_tuple(arrays: dict[int, Any]) -> tuple[Any, ...]:
    """Put index arrays in their places between full slices."""
    indices: list[Any] = []
    for dim, array in arrays.items():
        indices += [slice(None)] * (dim - _span(indices))
        indices.append(array)
    return tuple(indices)


def _span(indices: list[Any]) -> int:
    return sum(1 if isinstance(i, slice) or i.dtype != bool else i.ndim for i in indices)


def dimensions_taken(key: Any) -> int:
    """Tell how many dimensions of a tensor a part of a key stands for."""
    if key is None or key is Ellipsis:
        return 0
    if isinstance(key, _ONE_DIMENSION) or is_integer(key):
        return 1
    array = index_array(key)
    return array.ndim if array.dtype == bool else 1


def is_integer(key: Any) -> bool:
    """Tell whether a part of a key is one whole number."""
    if isinstance(key, (bool, np.bool_)):
        return False
    if isinstance(key, (int, np.integer)):
        return True
    array = key._array if isinstance(key, Tensor) else key
    if not isinstance(array, np.ndarray) or array.ndim or array.dtype.kind not in "iu":
        return False
    return array.dtype.num != _BYTES or not isinstance(key, Tensor)  # those are old booleans


_NO_INDICES = (float, complex, dict, set, frozenset)
_ONE_DIMENSION = (slice, *_NO_INDICES)
_BYTES = np.dtype(np.uint8).num


def index_array(key: Any) -> Any:
    """Give a list, an array, a mask or a tensor as the array to index with.

    Raises:
        IndexError: If it holds anything but whole numbers and booleans.
    """
    if isinstance(key, _NO_INDICES):
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are "
            f"valid indices (got {type(key).__name__})"
        )
    if isinstance(key, str):
        raise TypeError("new(): invalid data type 'str'")
    array = np.asarray(key._array if isinstance(key, Tensor) else key)
    if array.dtype.kind == "f" and not isinstance(key, (Tensor, np.ndarray)):
        array = array.astype(np.int64)  # a list of numbers is cut to whole ones
    if array.dtype.num == _BYTES:
        return array.astype(bool)
    if array.dtype.kind not in "iub" or array.dtype.itemsize not in (1, 4, 8):
        raise IndexError(
            "tensors used as indices must be long, int, byte or bool tensors. The index has "
            f"entries of type {array.dtype}."
        )
    return array


OLD_BOOLEANS = (dtypes.uint8, np.dtype(np.uint8))


def warn_of_bytes() -> None:
    """Warn that a tensor of bytes is taken for a mask."""
    warnings.warn(
        "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.",
        UserWarning,
        stacklevel=5,
    )


def explain(error: IndexError, array: Any, indices: Any) -> str:
    """Say in PyTorch's words what is wrong with index arrays."""
    axis = number = 0
    shapes = []
    for index in indices:
        if isinstance(index, slice):
            axis += 1
            continue
        if index.dtype == bool:
            sizes = array.shape[axis : axis + index.ndim]
            for back, (given, size) in enumerate(zip(index.shape, sizes, strict=False)):
                if given != size:
                    return (
                        f"The shape of the mask {list(index.shape)} at index {back} does not match "
                        f"the shape of the indexed tensor {list(array.shape)} at index "
                        f"{axis + back}"
                    )
            axis += index.ndim
        else:
            size = array.shape[axis]
            outside = index[(index < -size) | (index >= size)]
            if not size:
                return "index is out of bounds for dimension with size 0"
            if outside.size:
                return (
                    f"index {outside.flat[0]} is out of bounds for dimension {number} with "
                    f"size {size}"
                )
            shapes.append(str(list(index.shape)))
            axis += 1
        number += 1
    if "broadcast" in str(error):
        return (
            "shape mismatch: indexing tensors could not be broadcast together with shapes "
            f"{', '.join(shapes)}"
        )
    return str(error)
