"""Read and write parts of a tensor with `x[...]`, by the operations that PyTorch would record."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

from minigrad.autograd.messages import type_name as name_of_type
from minigrad.autograd.own_nodes import watched
from minigrad.autograd.views import check_inplace
from minigrad.core.modes import modes
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.creation.construction import array_of, entry
from minigrad.faces import attach
from minigrad.faces.arguments import as_tensor, dimension, whole
from minigrad.faces.out import refuse_overlap, repeats, warn_of_repeats
from minigrad.ops import parts, shape
from minigrad.ops.inplace import broadcasts, copy_, fill_, write


def getitem(tensor: Tensor, key: Any) -> Tensor:
    """Give the part of a tensor that a key selects.

    Integers, slices, None and `...` give views; lists, arrays, masks and tensors give copies.

    Raises:
        IndexError: If the key does not fit the tensor.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        >>> x[1, 0]
        tensor(3., grad_fn=<SelectBackward0>)
        >>> x[[0, 0]]
        tensor([[1., 2.],
                [1., 2.]], grad_fn=<IndexBackward0>)
    """
    part, indices = _view_of(tensor, key)
    if indices is not None:
        try:
            return watched(parts.index(part, indices), *_tensors_of(key))
        except IndexError as error:
            raise IndexError(_explain(error, part._array, indices)) from None
    return shape.alias(part) if part is tensor else part


def _tensors_of(key: Any) -> list[Tensor]:
    """Give the tensors in a key, which must not change before the rule runs."""
    return [k for k in (key if isinstance(key, (tuple, list)) else (key,)) if isinstance(k, Tensor)]


def setitem(tensor: Tensor, key: Any, value: Any) -> None:
    """Write values into the part of a tensor that a key selects, in place.

    Raises:
        IndexError: If the key does not fit the tensor.
        RuntimeError: If the value does not broadcast to the part, or the tensor is a leaf that
            requires a gradient.
    """
    if not isinstance(value, Tensor):
        value = _as_tensor(value, tensor)
    if key is True or key is False:
        part, indices = shape.unsqueeze(tensor, 0), None
        if not key:
            return
    else:
        part, indices = _view_of(tensor, key, writing=True)
    sizes = part._array.shape
    if indices is None:
        if value._array.shape == sizes:
            copy_(part, value)
        elif not value._array.ndim:
            fill_(part, value)
        else:
            value = shape.view(value, _without_leading_ones(value._array.shape))
            sizes = shape.expanded_sizes(value._array, sizes)
            copy_(part, value if value._array.shape == sizes else shape.expand(value, sizes))
        return
    try:
        size = part._array[indices].shape
    except IndexError as error:
        raise IndexError(_explain(error, part._array, indices)) from None
    have = _without_leading_ones(value._array.shape)
    if have != value._array.shape:
        value = shape.view(value, have)
    if modes.recording:
        check_inplace(part, recording=part.requires_grad or value.requires_grad)
    if not broadcasts(have, size):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(have)} cannot be broadcast to indexing "
            f"result of shape {list(size)}"
        )
    arrays = [i for i in indices if not isinstance(i, slice)]
    masked = len(arrays) == 1 and arrays[0].dtype.kind == "b"
    if masked and value.numel() == 1 and getattr(key, "dtype", None) in _OLD_BOOLEANS:
        raise RuntimeError(
            "masked_fill_ only supports boolean masks, but got mask with dtype unsigned char"
        )
    one_number = masked and value._array.size == 1
    repeated = repeats(part._array)
    if repeated:
        warn_of_repeats("index_put_", "tensor[indices] = tensor")
    if value._array.dtype != part._array.dtype and not one_number:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{part.dtype.tensor_type} for the destination and {value.dtype.tensor_type} for the "
            "source. Convert the source with .to(dtype)."
        )
    refuse_overlap(part._array, value._array, ("partial", "full"))
    if repeated and one_number:
        warn_of_repeats("masked_fill_", "tensor[mask] = scalar")
    keys = _tensors_of(key)
    put = (lambda *given: watched(parts.index_put(*given), *keys)) if keys else parts.index_put
    write(put, part, value, indices, checked=True)
    if repeated:  # some of what was not written has the same place
        part._array[indices] = value._array


def _as_tensor(value: Any, part: Tensor) -> Tensor:
    """Make a tensor of a number that is to be written to a part of a tensor."""
    if not isinstance(value, (int, float, complex, np.integer, np.bool_)):
        raise TypeError(
            f"can't assign a {name_of_type(value)} to a {part.type()}. Make a tensor of it first."
        )
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError("Overflow when unpacking long long")
    return wrap(entry(value, part._array.dtype))


def _without_leading_ones(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Leave out the dimensions of size 1 at the front."""
    return sizes[next((i for i, size in enumerate(sizes) if size != 1), len(sizes)) :]


def _view_of(
    tensor: Tensor, key: Any, writing: bool = False
) -> tuple[Tensor, tuple[Any, ...] | None]:
    """Apply the parts of a key that give views, one after the other.

    Returns:
        The view, and what is left to index it with: arrays and full slices, or None.
    """
    if key.__class__ is list and _stands_for_tuple(key):
        key = tuple(key)
    keys = key if isinstance(key, tuple) else (key,)
    taken = sum(_dimensions_taken(k) for k in keys)
    ndim = tensor._array.ndim
    if taken > ndim:
        if ndim == 0:
            _refuse_without_dimensions(key)
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    part, dim, original = tensor, 0, 0
    indices: list[Any] = []
    reached = 0  # how many dimensions of the view the indices cover
    for k in keys:
        if k is None:
            part, dim = shape.unsqueeze(part, dimension(dim, part._array.ndim + 1)), dim + 1
        elif k is Ellipsis:
            dim, original = dim + ndim - taken, original + ndim - taken
        elif isinstance(k, slice):
            part = _sliced(part, dim, k, alone=not (isinstance(key, tuple) or writing))
            dim, original = dim + 1, original + 1
        elif _is_integer(k):
            part = parts.select(part, dim, _checked(int(k), original, part._array.shape[dim:]))
            original += 1
        else:
            array = _index_array(k)
            if array.ndim and getattr(k, "dtype", None) in _OLD_BOOLEANS:
                warnings.warn(
                    "indexing with dtype torch.uint8 is now deprecated, please use a dtype "
                    "torch.bool instead.",
                    stacklevel=3,
                )
            if array.dtype == bool and not array.ndim:  # all or nothing, along a new dimension
                part, original = shape.unsqueeze(part, dim), original - 1
                array = np.zeros(int(array), np.int64)
            indices += [slice(None)] * (dim - reached)
            indices.append(array)
            span = array.ndim if array.dtype == bool else 1
            dim, original = dim + span, original + span
            reached = dim
    return part, tuple(indices) or None


def _checked(index: int, dim: int, sizes: tuple[int, ...]) -> int:
    size = sizes[0] if sizes else 0  # of a dimension that is not there, after `...` twice
    if not -size <= index < size:
        whole("index", index, "index")
        raise IndexError(f"index {index} is out of bounds for dimension {dim} with size {size}")
    return dimension(index, size) if index < 0 else index  # which remembers that it was negative


def _sliced(part: Tensor, dim: int, key: slice, *, alone: bool) -> Tensor:
    size = part._array.shape[dim]
    start, stop, step = key.indices(size)
    if step < 0:
        raise ValueError("step must be greater than zero. Use flip() to reverse a dimension.")
    if (start, stop, step) == (0, size, 1) and not alone and key.start in (None, 0):
        return part
    end = sys.maxsize if key.stop is None else max(start, stop)  # as PyTorch's node says
    return parts.slice_dim(part, dim, start, end, step)


# ---------------------------------------------------------------------- keys

_NO_INDICES = (float, complex, dict, set, frozenset)
_PARTS_OF_KEYS = (list, tuple, slice, range, str, Tensor, np.ndarray, type(None), type(...))
_ONE_DIMENSION = (slice, *_NO_INDICES)
_BYTES = np.dtype(np.uint8).num
_OLD_BOOLEANS = (dtypes.uint8, np.dtype(np.uint8))


def _stands_for_tuple(key: list[Any]) -> bool:
    """Tell whether PyTorch reads a list as a tuple of indices; it warns that it does."""
    if len(key) >= 32 or not any(isinstance(k, _PARTS_OF_KEYS) for k in key):
        return False
    warnings.warn(
        "Using a non-tuple sequence for multidimensional indexing is deprecated and will be "
        "changed in pytorch 2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be "
        "interpreted as tensor index, x[torch.tensor(seq)], which will result either in an error "
        "or a different result",
        stacklevel=4,
    )
    return True


def _refuse_without_dimensions(key: Any) -> None:
    """Raise for a number or a range, which no tensor without dimensions can be indexed with."""
    if isinstance(key, slice):
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if _is_integer(key) and not isinstance(key, Tensor):
        if key != 0:
            raise IndexError(f"index {int(key)} is out of bounds for dimension 0 with size 0")
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
            "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
        )


def _dimensions_taken(key: Any) -> int:
    """Tell how many dimensions of a tensor a part of a key stands for."""
    if key is None or key is Ellipsis:
        return 0
    if isinstance(key, _ONE_DIMENSION) or _is_integer(key):
        return 1
    if isinstance(key, str) and len(key) > 1:
        return len(key)  # letters count one by one
    array = _index_array(key)
    return array.ndim if array.dtype == bool else 1


def _is_integer(key: Any) -> bool:
    """Tell whether a part of a key is one whole number."""
    if isinstance(key, (bool, np.bool_)):
        return False
    if isinstance(key, (int, np.integer)):
        return True
    array = key._array if isinstance(key, Tensor) else key
    if not isinstance(array, np.ndarray):
        return hasattr(key, "__index__") and not isinstance(key, type)
    if array.ndim or array.dtype.kind not in "iu":
        return False
    return array.dtype.num != _BYTES or not isinstance(key, Tensor)  # those are old booleans


def _index_array(key: Any) -> Any:
    """Give a list, an array, a mask or a tensor as the array to index with.

    Raises:
        IndexError: If it holds anything but whole numbers and booleans.
    """
    if isinstance(key, (*_NO_INDICES, np.generic)):
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are "
            f"valid indices (got {type(key).__name__})"
        )
    if isinstance(key, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(key).__name__}'")
    if isinstance(key, np.ndarray):
        key = as_tensor(key)._array
    try:
        array = np.asarray(key._array if isinstance(key, Tensor) else key)
    except ValueError:
        array = array_of(key, np.dtype(np.int64))
    if array.dtype.kind == "f" and not isinstance(key, Tensor):
        array = array.astype(np.int64)  # lists of numbers and arrays are cut to whole ones
    if array.dtype.num == _BYTES:
        return array.astype(bool)
    if array.dtype.kind not in "iub" or array.dtype.itemsize not in (1, 4, 8):
        raise IndexError(
            "tensors used as indices must be long, int, byte or bool tensors. The index has "
            f"entries of type {array.dtype}."
        )
    return array


def _explain(error: IndexError, array: Any, indices: Any) -> str:
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


def _deleted(tensor: Tensor, index: Any) -> None:
    """Refuse `del tensor[index]`."""
    raise TypeError("Tensor does not support deleting items")


attach(__name__, {"__getitem__": getitem, "__setitem__": setitem, "__delitem__": _deleted})
