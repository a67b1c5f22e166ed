"""Read and write parts of a tensor with `x[...]`, by the operations that PyTorch would record."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from minigrad.autograd.custom_nodes import watched
from minigrad.autograd.messages import type_name as name_of_type
from minigrad.autograd.views import check_inplace
from minigrad.core.modes import modes
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation.construction import entry
from minigrad.ops import parts, shape
from minigrad.ops.inplace import broadcasts, copy_, fill_, write
from minigrad.signatures import attach
from minigrad.signatures.arguments import dimension
from minigrad.signatures.out import refuse_overlap, refuse_repeats


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
        return watched(parts.index(part, indices), *_tensors_of(key))
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
        if not isinstance(value, (int, float, complex, np.integer, np.bool_)):
            raise TypeError(f"can't assign a {name_of_type(value)}. Make a tensor of it first.")
        value = wrap(entry(value, tensor._array.dtype))
    if key is True or key is False:
        part, indices = shape.unsqueeze(tensor, 0), None
        if not key:
            return
    else:
        part, indices = _view_of(tensor, key, writing=True)
    sizes, have = part._array.shape, _without_leading_ones(value._array.shape)
    if indices is None:
        if value._array.shape == sizes:
            copy_(part, value)
        elif not value._array.ndim:
            fill_(part, value)
        else:
            value = shape.view(value, have)
            sizes = shape.expanded_sizes(value._array, sizes)
            copy_(part, value if have == sizes else shape.expand(value, sizes))
        return
    size = part._array[indices].shape
    if have != value._array.shape:
        value = shape.view(value, have)
    if modes.recording:
        check_inplace(part, recording=part.requires_grad or value.requires_grad)
    if not broadcasts(have, size):
        raise RuntimeError(f"shape mismatch: value {list(have)} does not fit index {list(size)}")
    refuse_repeats(part._array)
    arrays = [i for i in indices if not isinstance(i, slice)]
    masked = len(arrays) == 1 and arrays[0].dtype.kind == "b" and value._array.size == 1
    if value._array.dtype != part._array.dtype and not masked:
        raise RuntimeError(f"{value.dtype} doesn't go into a tensor of {part.dtype}: use to(dtype)")
    refuse_overlap(part._array, value._array, ("partial", "full"))
    keys = _tensors_of(key)
    put = (lambda *given: watched(parts.index_put(*given), *keys)) if keys else parts.index_put
    write(put, part, value, indices, checked=True)


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
    if key.__class__ is list and any(isinstance(k, _PARTS_OF_KEYS) for k in key):
        raise IndexError("a list of indices and slices is no key: write x[tuple(key)]")
    keys = key if isinstance(key, tuple) else (key,)
    taken = sum(_dimensions_taken(k) for k in keys)
    ndim = tensor._array.ndim
    if taken > ndim:
        if not ndim:
            raise IndexError("invalid index of a 0-dim tensor: item() gives its number")
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

_PARTS_OF_KEYS = (list, tuple, slice, range, Tensor, np.ndarray, type(None), type(...))


def _dimensions_taken(key: Any) -> int:
    """Tell how many dimensions of a tensor a part of a key stands for."""
    if key is None or key is Ellipsis:
        return 0
    if isinstance(key, slice) or _is_integer(key):
        return 1
    array = _index_array(key)
    return array.ndim if array.dtype == bool else 1


def _is_integer(key: Any) -> bool:
    """Tell whether a part of a key is one whole number."""
    if isinstance(key, (bool, np.bool_)):
        return False
    if isinstance(key, (int, np.integer)):
        return True
    array = key._array if isinstance(key, Tensor) else key
    if isinstance(array, np.ndarray):
        return not array.ndim and array.dtype.kind in "iu"
    return hasattr(key, "__index__") and not isinstance(key, type)


def _index_array(key: Any) -> Any:
    """Give a list, an array, a mask or a tensor as the array to index with.

    Raises:
        IndexError: If it holds anything but whole numbers and booleans.
    """
    if not isinstance(key, (bool, list, tuple, range, Tensor, np.ndarray)):
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and tensors of whole numbers or "
            f"booleans are valid indices (got {type(key).__name__})"
        )
    array = np.asarray(key._array if isinstance(key, Tensor) else key)
    if array.dtype.kind == "f" and not isinstance(key, Tensor):
        array = array.astype(np.int64)  # lists of numbers and arrays are cut to whole ones
    if array.dtype.kind not in "ib" or array.dtype.itemsize not in (1, 4, 8):
        raise IndexError(f"tensors used as indices must be long, int or bool, not {array.dtype}")
    return array


def _deleted(tensor: Tensor, index: Any) -> None:
    """Refuse `del tensor[index]`."""
    raise TypeError("Tensor does not support deleting items")


attach(__name__, {"__getitem__": getitem, "__setitem__": setitem, "__delitem__": _deleted})
