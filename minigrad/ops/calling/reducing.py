"""Call the operations that make fewer entries of many, as functions and methods."""

from __future__ import annotations

import builtins
from typing import Any, NamedTuple

import numpy as np

from minigrad import dtypes
from minigrad.ops import choices, reduction
from minigrad.ops.calling.arguments import cast, dimension, dimensions
from minigrad.tensor import Tensor, wrap

__all__ = [
    "amax",
    "amin",
    "log_softmax",
    "logsumexp",
    "max",
    "mean",
    "min",
    "norm",
    "softmax",
    "sum",
]


def sum(
    input: Tensor,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    """Add up all entries, or those along dimensions. Integers add up in int64."""
    if dtype is not None and _computes_in_another(input, dtype):
        if dim is None and not keepdim:
            return reduction.sum_all_as(input, dtype.numpy)  # type: ignore[no-any-return]
        dims = _reduced(dim, input)
        return reduction.sum_dim_as(input, dims, keepdim, dtype.numpy)  # type: ignore[no-any-return]
    if dtype is not None:
        input = input.to(dtype)
    elif input._array.dtype.kind in "iub":
        input = cast(input, np.dtype("int64"))
    if dim is None and not keepdim:
        return reduction.sum_all(input)  # type: ignore[no-any-return]
    return reduction.sum_dim(input, _reduced(dim, input), keepdim)  # type: ignore[no-any-return]


def _computes_in_another(input: Tensor, dtype: Any) -> bool:
    """Tell whether floats are to be reduced in another floating-point type."""
    own = input._array.dtype
    return bool(dtype.is_floating_point and own.kind == "f" and dtype.numpy != own)


def _reduced(dim: Any, input: Tensor) -> tuple[int, ...]:
    """Give the numbers of the dimensions to reduce; none means all."""
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return tuple(range(input.ndim))
    return dimensions(dim, input.ndim)


def mean(
    input: Tensor,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    """Average all entries, or those along dimensions.

    Raises:
        RuntimeError: If the entries are integers.
    """
    if dtype is not None and _computes_in_another(input, dtype):
        if dim is None and not keepdim:
            return reduction.mean_all_as(input, dtype.numpy)  # type: ignore[no-any-return]
        dims = _reduced(dim, input)
        return reduction.mean_dim_as(input, dims, keepdim, dtype.numpy)  # type: ignore[no-any-return]
    if dtype is not None:
        input = input.to(dtype)
    if input._array.dtype.kind in "iub":
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or "
            f"complex dtype. Got: {input.dtype.tensor_type}"
        )
    if dim is None and not keepdim:
        return reduction.mean_all(input)  # type: ignore[no-any-return]
    return reduction.mean_dim(input, _reduced(dim, input), keepdim)  # type: ignore[no-any-return]


def amax(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """Give the largest entry, of all or along dimensions. Equal ones share the gradient."""
    _refuse_empty("amax", input, dim)
    return reduction.amax(input, dimensions(dim, input.ndim), keepdim)  # type: ignore[no-any-return]


def amin(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """Give the smallest entry, of all or along dimensions. Equal ones share the gradient."""
    _refuse_empty("amin", input, dim)
    return reduction.amin(input, dimensions(dim, input.ndim), keepdim)  # type: ignore[no-any-return]


def _refuse_empty(name: str, input: Tensor, dim: Any) -> None:
    if input._array.size:
        return
    if dim is None or dim == ():
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify "
            "the reduction dim with the 'dim' argument."
        )
    numbers = dimensions(dim, input.ndim)
    if name in ("max", "min"):
        dim = numbers
    for number in dim if isinstance(dim, (tuple, list)) else (dim,):
        if input.ndim and not input._array.shape[number]:
            raise IndexError(f"{name}(): Expected reduction dim {number} to have non-zero size.")


class _Extremes(NamedTuple):
    """The extreme entries along a dimension, and where they were; prints as PyTorch prints it."""

    values: Tensor
    indices: Tensor

    def __repr__(self) -> str:
        return (
            f"torch.return_types.{type(self).__name__}(\n"
            f"values={self.values!r},\nindices={self.indices!r})"
        )


def _extreme(name: str, argument: Any, of_all: Any, along: Any, of_two: Any) -> Any:
    """Make `max` or `min` from their three meanings."""
    kind = type(name, (_Extremes,), {"__slots__": (), "__doc__": _Extremes.__doc__})

    def extreme(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
        if isinstance(dim, Tensor) or other is not None:
            return of_two(input, dim if other is None else other)
        _refuse_empty(name, input, dim)
        if dim is None:
            return of_all(input)
        number = dimension(dim, input.ndim)
        array = input._array
        positions = argument(array, number, keepdims=True) if array.ndim else np.asarray(0)
        values = along(input, number, keepdim, positions)
        return kind(values, wrap(positions.reshape(values._array.shape)))

    extreme.__name__ = name
    extreme.__doc__ = f"""Give the {name}imum of all entries, along a dimension, or of two tensors.

    Args:
        input: The tensor.
        dim: Nothing for the {name}imum of all entries; a dimension; or another tensor, to compare
            with entry by entry.
        keepdim: Keep the dimension, with size 1.
        other: The other tensor, by name.

    Returns:
        A tensor; along a dimension a named tuple of the `values` and their `indices`.

    Raises:
        RuntimeError: If there are no entries and no dimension is given.
        IndexError: If there is no such dimension, or its size is 0.

    Example:
        >>> import minigrad as torch
        >>> torch.{name}(torch.tensor([[1.0, 5.0], [7.0, 0.0]]), dim=1)
        torch.return_types.{name}(
        values=tensor([{"5., 7." if name == "max" else "1., 0."}]),
        indices=tensor([{"1, 0" if name == "max" else "0, 1"}]))
    """
    return extreme


max = _extreme("max", np.argmax, reduction.max_all, reduction.max_dim, choices.maximum)
min = _extreme("min", np.argmin, reduction.min_all, reduction.min_dim, choices.minimum)


def norm(
    input: Tensor,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    dtype: Any = None,
) -> Tensor:
    """Give the p-norm of all entries, or along dimensions. `p="fro"` means 2."""
    if input._array.dtype.kind in "iub":
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            f"{input.dtype.tensor_type}. Convert it with float()."
        )
    if isinstance(p, str) and p != "fro":
        raise NotImplementedError(f"norm has no p={p!r} here. Give a number, or 'fro'.")
    another = dtype is not None and _computes_in_another(input, dtype)
    if another and dtype.itemsize < input._array.itemsize:
        raise RuntimeError(
            f"linalg.vector_norm: the dtype of the input ({input.dtype.tensor_type}) should be "
            f"convertible without narrowing to the specified dtype ({dtype.tensor_type})"
        )
    order = 2 if p in (None, "fro") else p
    if isinstance(order, complex):
        raise RuntimeError(
            "linalg.vector_norm: Expected a non-complex scalar as the order of norm."
        )
    dims = None if dim is None else dimensions(dim, input.ndim)
    if another:
        norm_as = reduction.vector_norm_as
        return norm_as(input, order, dims, keepdim, dtype.numpy)  # type: ignore[no-any-return]
    input = input if dtype is None else input.to(dtype)
    return reduction.vector_norm(input, order, dims, keepdim)  # type: ignore[no-any-return]


def softmax(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Turn scores along a dimension into probabilities that add up to 1."""
    input = input if dtype is None else input.to(dtype)
    _refuse_integers("softmax", input, dim)
    return reduction.softmax(input, dimension(dim, input.ndim))  # type: ignore[no-any-return]


def log_softmax(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Give the logarithm of the softmax, without the loss of precision of two steps."""
    input = input if dtype is None else input.to(dtype)
    _refuse_integers("log_softmax", input, dim)
    return reduction.log_softmax(input, dimension(dim, input.ndim))  # type: ignore[no-any-return]


def _refuse_integers(name: str, input: Tensor, dim: int) -> None:
    if input._array.dtype.kind in "iub" and input._array.size:
        last = dimension(dim, input.ndim) == builtins.max(input.ndim - 1, 0)
        kernel = f"{name}_{'lastdim_' if last else ''}kernel_impl"
        raise NotImplementedError(
            f"\"{kernel}\" not implemented for '{input.dtype.tensor_type}'. Convert to float first."
        )


def logsumexp(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """Give the logarithm of the sum of exponentials along dimensions."""
    if input._array.dtype.kind in "iub":
        input = cast(input, dtypes.get_default_dtype().numpy)
    return reduction.logsumexp(input, dimensions(dim, input.ndim), keepdim)  # type: ignore[no-any-return]
