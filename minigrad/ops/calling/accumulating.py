"""Call running sums, products and extremes, and differences of neighbors."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.autograd.watched import watched
from minigrad.ops import cumulative, elementwise, parts, shape
from minigrad.ops.calling import results, shaping
from minigrad.ops.calling.arguments import cast, check_tensor
from minigrad.ops.calling.out import with_out
from minigrad.ops.calling.results import with_named_out
from minigrad.ops.calling.spellings import numpy_spellings, one_dimension
from minigrad.ops.comparison import ne
from minigrad.ops.inplace import in_place
from minigrad.tensor import Tensor, wrap

__all__ = [
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "diff",
    "logcumsumexp",
]


def _running(name: str, operation: Any, what: str, example: str) -> Any:
    def function(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
        check_tensor(name, input)
        number = one_dimension(name, dim, input)
        own = input._array.dtype
        wanted = None if dtype is None else dtype.numpy
        if wanted is not None and wanted.kind == "b":
            raise NotImplementedError(f"\"{name}_out_cpu\" not implemented for 'Bool'")
        if wanted is None:
            input = cast(input, np.dtype("int64")) if own.kind in "iub" else input
        elif own.kind == wanted.kind == "f":
            return operation(input, number, None if own == wanted else wanted)  # type: ignore[no-any-return]
        else:
            input = cast(input, wanted)
        return operation(input, number, None)  # type: ignore[no-any-return]

    function.__name__ = name
    function.__doc__ = f"""Give the running {what} along a dimension. Integers use int64.

    Args:
        input: The tensor.
        dim: The dimension.
        dtype: The type to compute in.

    Example:
        >>> import minigrad as torch
        >>> torch.{name}(torch.tensor([1.0, 2.0, 3.0]), dim=0)
        tensor({example})
    """
    return with_out(numpy_spellings(function))


cumsum = _running("cumsum", cumulative.cumsum, "sum", "[1., 3., 6.]")
cumprod = _running("cumprod", cumulative.cumprod, "product", "[1., 2., 6.]")


def _in_place(function: Any) -> Any:
    name, writes = function.__name__, in_place(function)

    def method(tensor: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
        own = tensor.dtype
        if dtype is not None and dtype != own:
            names = [dtypes.c_name(np.empty(0, each.numpy)) for each in (own, dtype)]
            raise RuntimeError(
                f"Bad in-place call: input tensor dtype {names[0]} and output tensor dtype "
                f"{names[1]} should match"
            )
        return writes(tensor, dim, dtype=own)  # type: ignore[no-any-return]

    method.__name__ = f"{name}_"
    method.__doc__ = f"Do what `{name}` does, in place."
    return method


def _positions(array: Any, dim: int, extreme: Any) -> Any:
    """Give for each place the last position of the extreme so far; NaN is one."""
    if not array.ndim:
        return np.zeros((), np.int64)
    reached = (array == extreme.accumulate(array, axis=dim)) | np.isnan(array)
    numbers = np.arange(array.shape[dim]).reshape(
        [-1 if d == dim else 1 for d in range(array.ndim)]
    )
    return np.maximum.accumulate(np.where(reached, numbers, 0), axis=dim)


def _extreme(name: str, operation: Any, ufunc: Any, what: str, example: tuple[str, str]) -> Any:
    kind = getattr(results, name)

    def function(input: Tensor, dim: int) -> Any:
        check_tensor(name, input)
        number = one_dimension(name, dim, input)
        if input._array.dtype.kind == "c":
            raise NotImplementedError(
                f"\"{name}_cpu\" not implemented for '{input.dtype.tensor_type}'"
            )
        positions = _positions(input._array, number, ufunc)
        indices = wrap(positions)
        return kind(watched(operation(input, number, positions), indices), indices)

    function.__name__ = name
    function.__doc__ = f"""Give the {what} entry so far, along a dimension.

    Returns:
        A named tuple of the `values` and the `indices` where they were; of equal ones the last.

    Example:
        >>> import minigrad as torch
        >>> torch.{name}(torch.tensor([2, 1, 3]), dim=0)
        torch.return_types.{name}(
        values=tensor({example[0]}),
        indices=tensor({example[1]}))
    """
    return with_named_out(numpy_spellings(function))


cummax = _extreme("cummax", cumulative.cummax, np.maximum, "largest", ("[2, 2, 3]", "[0, 0, 2]"))
cummin = _extreme("cummin", cumulative.cummin, np.minimum, "smallest", ("[2, 1, 1]", "[0, 1, 1]"))


@with_out
@numpy_spellings
def logcumsumexp(input: Tensor, dim: int) -> Tensor:
    """Give the logarithm of the running sum of exponentials along a dimension.

    Raises:
        NotImplementedError: If the entries are integers.

    Example:
        >>> import minigrad as torch
        >>> torch.logcumsumexp(torch.tensor([0.0, 0.0, 0.0]), dim=0)
        tensor([0.0000, 0.6931, 1.0986])
    """
    check_tensor("logcumsumexp", input)
    number = one_dimension("logcumsumexp", dim, input)
    if input._array.dtype.kind in "iub":
        raise NotImplementedError(
            f"\"logcumsumexp_out_cpu\" not implemented for '{input.dtype.tensor_type}'"
        )
    return cumulative.logcumsumexp(input, number)  # type: ignore[no-any-return]


# ---------------------------------------------------------------------- differences


def _check_joined(input: Tensor, joined: Tensor, dim: int) -> None:
    if joined.ndim != input.ndim:
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for d, (size, other) in enumerate(zip(input.shape, joined.shape, strict=True)):
        if d != dim and size != other:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input "
                f"except along the differencing dimension; input.size({d}) = {size}, but got "
                f"tensor.size({d}) = {other}"
            )


@with_out
@numpy_spellings
def diff(
    input: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Give the differences between neighbors along a dimension.

    Args:
        input: The tensor.
        n: How many times to take differences.
        dim: The dimension; the last unless said otherwise.
        prepend: What to put before the tensor along the dimension.
        append: What to put behind it.

    Example:
        >>> import minigrad as torch
        >>> torch.diff(torch.tensor([1, 3, 2]))
        tensor([ 2, -1])
    """
    check_tensor("diff", input)
    if not input.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    number = one_dimension("diff", dim, input)
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    for joined in (prepend, append):
        if joined is not None:
            _check_joined(input, joined, number)
    if n and (prepend is not None or append is not None):
        input = shaping.cat([t for t in (prepend, input, append) if t is not None], number)
    if n == 0:
        return shape.clone(input)
    for _ in range(min(n, input._array.shape[number])):
        size = input._array.shape[number]
        earlier = range_of(input, number, 0, size - 1)  # the first of the two, as in PyTorch
        later = range_of(input, number, 1, size)
        if input._array.dtype.kind == "b":
            input = ne(later, earlier)
        else:
            input = elementwise.sub(later, earlier)
    return input


def range_of(tensor: Tensor, dim: int, start: int, end: int) -> Tensor:
    """Give a range of entries along a dimension."""
    return parts.slice_dim(tensor, dim, start, max(start, end), 1)  # type: ignore[no-any-return]


methods: dict[str, Any] = {name: globals()[name] for name in __all__}
methods |= {"cumsum_": _in_place(cumsum), "cumprod_": _in_place(cumprod)}


def _of_numpy(function: Any) -> Any:
    def running(a: Tensor, axis: Any = None, dtype: Any = None, **others: Any) -> Tensor:
        return function(shaping.reshape(a, (-1,)), 0) if axis is None else function(a, axis)  # type: ignore[no-any-return]

    return running


functions: dict[Any, Any] = {
    np.cumsum: _of_numpy(cumsum),
    np.cumprod: _of_numpy(cumprod),
    np.diff: lambda a, n=1, axis=-1: diff(a, n, axis),
}
