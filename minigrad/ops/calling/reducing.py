"""Call the operations that make fewer entries of many, as functions and methods."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.autograd.watched import watched
from minigrad.ops import choices, reduction
from minigrad.ops.calling import results
from minigrad.ops.calling.arguments import cast, check_tensor, dimensions
from minigrad.ops.calling.out import with_out
from minigrad.ops.calling.results import with_named_out
from minigrad.ops.calling.spellings import numpy_spellings, one_dimension, refuse_empty
from minigrad.tensor import Tensor, wrap

__all__ = [
    "amax",
    "amin",
    "log_softmax",
    "logsumexp",
    "max",
    "mean",
    "min",
    "softmax",
    "sum",
]


def sum(
    input: Tensor,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: bool = False,
) -> Tensor:
    """Add up all entries, or those along dimensions. Integers add up in int64.

    Args:
        input: The tensor.
        dim: A dimension or several; all if it is left out.
        keepdim: Keep the dimensions, with size 1.
        dtype: The type to add up in.
        out: A tensor to write the sum into.
        axis: NumPy's word for `dim`.
        keepdims: NumPy's word for `keepdim`.

    Example:
        >>> import minigrad as torch
        >>> torch.sum(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=0)
        tensor([4., 6.])
    """
    if out is not None or axis is not None or keepdims:
        dim, keepdim = dim if axis is None else axis, keepdim or keepdims
        return with_out(sum)(input, dim, keepdim, dtype=dtype, out=out)  # type: ignore[no-any-return]
    try:
        letter = input._array.dtype.kind
    except AttributeError:
        check_tensor("sum", input)
        raise
    if dtype is not None and computes_in_another(input, dtype):
        if dim is None and not keepdim:
            return reduction.sum_all_as(input, dtype.numpy)  # type: ignore[no-any-return]
        dims = _reduced(dim, input)
        return reduction.sum_dim_as(input, dims, keepdim, dtype.numpy)  # type: ignore[no-any-return]
    if dtype is not None:
        input = input.to(dtype)
    elif letter in "iub":
        input = cast(input, np.dtype("int64"))
    if dim is None and not keepdim:
        return reduction.sum_all(input)  # type: ignore[no-any-return]
    return reduction.sum_dim(input, _reduced(dim, input), keepdim)  # type: ignore[no-any-return]


def computes_in_another(input: Tensor, dtype: Any) -> bool:
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
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: bool = False,
) -> Tensor:
    """Average all entries, or those along dimensions; for the arguments see `sum`.

    Raises:
        RuntimeError: If the entries are integers.

    Example:
        >>> import minigrad as torch
        >>> torch.mean(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=0)
        tensor([2., 3.])
    """
    if out is not None or axis is not None or keepdims:
        dim, keepdim = dim if axis is None else axis, keepdim or keepdims
        return with_out(mean)(input, dim, keepdim, dtype=dtype, out=out)  # type: ignore[no-any-return]
    try:
        letter = input._array.dtype.kind
    except AttributeError:
        check_tensor("mean", input)
        raise
    if dtype is not None and computes_in_another(input, dtype):
        if dim is None and not keepdim:
            return reduction.mean_all_as(input, dtype.numpy)  # type: ignore[no-any-return]
        dims = _reduced(dim, input)
        return reduction.mean_dim_as(input, dims, keepdim, dtype.numpy)  # type: ignore[no-any-return]
    if dtype is not None:
        input = input.to(dtype)
        letter = input._array.dtype.kind
    if letter in "iub":
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or "
            f"complex dtype. Got: {input.dtype.tensor_type}"
        )
    if dim is None and not keepdim:
        return reduction.mean_all(input)  # type: ignore[no-any-return]
    return reduction.mean_dim(input, _reduced(dim, input), keepdim)  # type: ignore[no-any-return]


@with_out
@numpy_spellings
def amax(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """Give the largest entry, of all or along dimensions. Equal ones share the gradient.

    Example:
        >>> import minigrad as torch
        >>> torch.amax(torch.tensor([[1.0, 5.0], [7.0, 0.0]]), dim=1)
        tensor([5., 7.])
    """
    check_tensor("amax", input)
    given = dim if isinstance(dim, (tuple, list)) else () if dim is None else (dim,)
    dims = dimensions(given, input.ndim)
    _refuse_empty("amax", input, given)
    if input._array.dtype.kind == "c":
        name = dtypes.scalar_name(input._array)
        raise NotImplementedError(f"\"max_values_cpu\" not implemented for '{name}'")
    return reduction.amax(input, dims, keepdim)  # type: ignore[no-any-return]


@with_out
@numpy_spellings
def amin(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """Give the smallest entry, of all or along dimensions. Equal ones share the gradient.

    Example:
        >>> import minigrad as torch
        >>> torch.amin(torch.tensor([[1.0, 5.0], [7.0, 0.0]]), dim=1)
        tensor([1., 0.])
    """
    check_tensor("amin", input)
    given = dim if isinstance(dim, (tuple, list)) else () if dim is None else (dim,)
    dims = dimensions(given, input.ndim)
    _refuse_empty("amin", input, given)
    if input._array.dtype.kind == "c":
        name = dtypes.scalar_name(input._array)
        raise NotImplementedError(f"\"min_values_cpu\" not implemented for '{name}'")
    return reduction.amin(input, dims, keepdim)  # type: ignore[no-any-return]


def _refuse_empty(name: str, input: Tensor, dims: Any) -> None:
    """Raise if there is no entry to choose: of all, or along one of some dimensions."""
    if input._array.size:
        return
    if not dims:
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify "
            "the reduction dim with the 'dim' argument."
        )
    for number in dims:
        refuse_empty(name, input, number)


def _extreme(name: str, argument: Any, of_all: Any, along: Any, of_two: Any) -> Any:
    """Make `max` or `min` from their three meanings."""
    kind = getattr(results, name)

    def extreme(
        input: Tensor,
        dim: Any = None,
        keepdim: bool = False,
        *,
        other: Any = None,
        out: Any = None,
        axis: Any = None,
        keepdims: bool = False,
    ) -> Any:
        if out is not None or axis is not None or keepdims:
            dim, keepdim = dim if axis is None else axis, keepdim or keepdims
            writes = (with_out if dim is None or isinstance(dim, Tensor) else with_named_out)(
                extreme
            )
            return writes(input, dim, keepdim, other=other, out=out)
        if isinstance(dim, Tensor) or other is not None:
            return of_two(input, dim if other is None else other)
        check_tensor(name, input)
        array = input._array
        if dim is None:
            if keepdim:
                raise TypeError(f"{name}() takes keepdim only together with dim")
            _refuse_empty(name, input, ())
            if array.dtype.kind == "c":
                raise NotImplementedError(
                    f"\"{name}_all\" not implemented for '{dtypes.scalar_name(array)}'"
                )
            return of_all(input)
        number = one_dimension(name, dim, input)
        refuse_empty(name, input, number)
        if array.dtype.kind == "c":
            raise RuntimeError(f"{name}(): does not support complex input")
        positions = argument(array, number, keepdims=True) if array.ndim else np.asarray(0)
        values = along(input, number, keepdim, positions)
        indices = wrap(positions.reshape(values._array.shape))
        return kind(watched(values, indices), indices)

    extreme.__name__ = name
    extreme.__doc__ = f"""Give the {name}imum of all entries, along a dimension, or of two tensors.

    Args:
        input: The tensor.
        dim: Nothing for the {name}imum of all entries; a dimension; or another tensor, to compare
            with entry by entry.
        keepdim: Keep the dimension, with size 1.
        other: The other tensor, by name.
        out: A tensor to write the result into; along a dimension a tuple of two.
        axis: NumPy's word for `dim`.
        keepdims: NumPy's word for `keepdim`.

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


def softmax(input: Tensor, dim: int, dtype: Any = None, *, out: Tensor | None = None) -> Tensor:
    r"""Turn scores along a dimension into probabilities :math:`e^{x_i} / \sum_j e^{x_j}`.

    Args:
        input: The scores.
        dim: The dimension along which they add up to 1.
        dtype: A type to convert the scores to first.
        out: A tensor to write the probabilities into.

    Example:
        >>> import minigrad as torch
        >>> torch.softmax(torch.tensor([0.0, 0.0]), dim=0)
        tensor([0.5000, 0.5000])
    """
    if out is not None:
        return with_out(softmax)(input, dim, dtype, out=out)  # type: ignore[no-any-return]
    input = input if dtype is None else input.to(dtype)
    number = one_dimension("softmax", dim, input)
    _refuse_integers("softmax", input, number)
    return reduction.softmax(input, number)  # type: ignore[no-any-return]


def log_softmax(input: Tensor, dim: int, dtype: Any = None, *, out: Tensor | None = None) -> Tensor:
    """Give the logarithm of the softmax, without the loss of precision of two steps.

    Example:
        >>> import minigrad as torch
        >>> torch.log_softmax(torch.tensor([0.0, 0.0]), dim=0)
        tensor([-0.6931, -0.6931])
    """
    if out is not None:
        return with_out(log_softmax)(input, dim, dtype, out=out)  # type: ignore[no-any-return]
    input = input if dtype is None else input.to(dtype)
    number = one_dimension("log_softmax", dim, input)
    _refuse_integers("log_softmax", input, number)
    return reduction.log_softmax(input, number)  # type: ignore[no-any-return]


def _refuse_integers(name: str, input: Tensor, dim: int) -> None:
    if input._array.dtype.kind in "iubc" and input._array.size:
        last = dim == builtins.max(input.ndim - 1, 0)
        kernel = f"{name}_{'lastdim_' if last else ''}kernel_impl"
        raise NotImplementedError(
            f"\"{kernel}\" not implemented for '{input.dtype.tensor_type}'. Convert to float first."
        )


@with_out
@numpy_spellings
def logsumexp(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """Give the logarithm of the sum of exponentials along dimensions.

    Example:
        >>> import minigrad as torch
        >>> torch.logsumexp(torch.tensor([0.0, 0.0]), dim=0)
        tensor(0.6931)
    """
    check_tensor("logsumexp", input)
    if input._array.dtype.kind in "iub":
        input = cast(input, dtypes.get_default_dtype().numpy)
    if isinstance(dim, (tuple, list)) and not dim and input.ndim and not keepdim:
        raise RuntimeError(
            f"output with shape [] doesn't match the broadcast shape {[1] * input.ndim}. Name the "
            "dimensions."
        )
    return reduction.logsumexp(input, dimensions(dim, input.ndim), keepdim)  # type: ignore[no-any-return]
