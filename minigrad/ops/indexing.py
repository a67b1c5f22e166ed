"""Read and write parts of a tensor with `x[...]`, by the operations that PyTorch would record."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops import shape
from minigrad.ops.inplace import copy_, write
from minigrad.tensor import Tensor, wrap


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
            return shape.index(part, indices)  # type: ignore[no-any-return]
        except IndexError as error:
            raise IndexError(_explain(error, part._array, indices)) from None
    return shape.alias(part) if part is tensor else part  # type: ignore[no-any-return]


def setitem(tensor: Tensor, key: Any, value: Any) -> None:
    """Write values into the part of a tensor that a key selects, in place.

    Raises:
        IndexError: If the key does not fit the tensor.
        RuntimeError: If the value does not broadcast to the part, or the tensor is a leaf that
            requires a gradient.
    """
    part, indices = _view_of(tensor, key)
    if not isinstance(value, Tensor):
        value = wrap(np.asarray(value, dtype=part._array.dtype))
    if indices is None:
        copy_(part, value)
        return
    try:
        size = part._array[indices].shape
    except IndexError as error:
        raise IndexError(_explain(error, part._array, indices)) from None
    try:
        np.broadcast_shapes(size, value._array.shape)
    except ValueError:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(value._array.shape)} cannot be broadcast "
            f"to indexing result of shape {list(size)}"
        ) from None
    if value._array.dtype != part._array.dtype:
        value = value.to(part.dtype)
    write(shape.index_put, part, value, indices)


def _view_of(tensor: Tensor, key: Any) -> tuple[Tensor, tuple[Any, ...] | None]:
    """Apply the parts of a key that give views, one after the other.

    Returns:
        The view, and what is left to index it with: arrays and full slices, or None.
    """
    keys = key if isinstance(key, tuple) else (key,)
    taken = sum(_dimensions_taken(k) for k in keys)
    ndim = tensor._array.ndim
    if taken > ndim:
        if ndim == 0:
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
                "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
            )
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    part, dim = tensor, 0
    arrays: dict[int, Any] = {}
    for k in keys:
        if k is None:
            part, dim = shape.unsqueeze(part, dim), dim + 1
        elif k is Ellipsis:
            dim += ndim - taken
        elif isinstance(k, slice):
            part, dim = _sliced(part, dim, k, alone=not isinstance(key, tuple)), dim + 1
        elif _is_integer(k):
            part = shape.select(part, dim, _checked(int(k), dim, part._array.shape[dim]))
        else:
            array = _index_array(k)
            arrays[dim] = array
            dim += array.ndim if array.dtype == bool else 1
    if not arrays:
        return part, None
    return part, _index_tuple(arrays)


def _index_tuple(arrays: dict[int, Any]) -> tuple[Any, ...]:
    indices: list[Any] = []
    for dim, array in arrays.items():
        indices += [slice(None)] * (dim - _span(indices))
        indices.append(array)
    return tuple(indices)


def _span(indices: list[Any]) -> int:
    return sum(1 if isinstance(i, slice) or i.dtype != bool else i.ndim for i in indices)


def _dimensions_taken(key: Any) -> int:
    if key is None or key is Ellipsis:
        return 0
    if isinstance(key, slice) or _is_integer(key):
        return 1
    array = _index_array(key)
    return array.ndim if array.dtype == bool else 1


def _is_integer(key: Any) -> bool:
    if isinstance(key, (bool, np.bool_)):
        return False
    if isinstance(key, (int, np.integer)):
        return True
    return isinstance(key, Tensor) and key._array.ndim == 0 and key._array.dtype.kind in "iu"


def _index_array(key: Any) -> Any:
    array = np.asarray(key._array if isinstance(key, Tensor) else key)
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(np.int64)
    if array.dtype.kind not in "iub":
        raise IndexError(
            "tensors used as indices must be long, int, byte or bool tensors. The index has "
            f"entries of type {array.dtype}."
        )
    return array


def _checked(index: int, dim: int, size: int) -> int:
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of bounds for dimension {dim} with size {size}")
    return index + size if index < 0 else index


def _sliced(part: Tensor, dim: int, key: slice, *, alone: bool) -> Tensor:
    size = part._array.shape[dim]
    if key.step is not None and int(key.step) <= 0:
        raise ValueError("step must be greater than zero. Use flip() to reverse a dimension.")
    start, stop, step = slice(
        *(None if k is None else int(k) for k in (key.start, key.stop, key.step))
    ).indices(size)
    if (start, stop, step) == (0, size, 1) and not alone:
        return part
    return shape.slice_dim(part, dim, start, max(start, stop), step)  # type: ignore[no-any-return]


def _explain(error: IndexError, array: Any, indices: Any) -> str:
    for position, index in enumerate(indices):
        if isinstance(index, np.ndarray) and index.dtype == bool:
            shapes = list(index.shape), list(array.shape[position : position + index.ndim])
            for back, (given, size) in enumerate(zip(*shapes, strict=False)):
                if given != size:
                    return (
                        f"The shape of the mask {shapes[0]} at index {back} does not match the "
                        f"shape of the indexed tensor {list(array.shape)} at index {back}"
                    )
    return str(error)
