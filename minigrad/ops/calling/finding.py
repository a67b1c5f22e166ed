"""Ask where entries are, and whether there are any: argmax, any, nonzero, argwhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.calling.arguments import check_tensor, dimensions
from minigrad.ops.calling.out import with_out
from minigrad.ops.calling.spellings import numpy_spellings, one_dimension, refuse_empty
from minigrad.tensor import Tensor, wrap

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "argwhere",
    "count_nonzero",
    "nonzero",
]


def _asked(name: str, reduce: Any, what: str, example: str) -> Any:
    def function(
        input: Tensor, dim: Any = None, keepdim: bool = False, *, out: Any = None
    ) -> Tensor:
        check_tensor(name, input)
        array = input._array
        if isinstance(dim, (tuple, list)) and not dim:
            axes: Any = ()  # as in PyTorch: each entry by itself
        else:
            axes = None if dim is None else dimensions(dim, input.ndim)
        answer = np.asarray(reduce(array.astype(bool), axis=axes, keepdims=keepdim))
        if out is not None:
            if out._array.dtype.kind != "b" and out._array.dtype != np.uint8:
                raise RuntimeError(
                    f"{name} only supports bool tensor for result, got: {out.dtype.tensor_type}"
                )
            return out.copy_(wrap(answer))  # type: ignore[no-any-return]
        return wrap(answer.astype(np.uint8) if array.dtype == np.uint8 else answer)

    function.__name__ = name
    function.__doc__ = f"""Tell whether {what} true, that is not 0, or along dimensions.

    Args:
        input: The tensor.
        dim: A dimension or several; all if it is left out.
        keepdim: Keep the dimensions, with size 1.
        out: A tensor of booleans to write the answer into.

    Returns:
        Booleans; of uint8, as in PyTorch, numbers of uint8.

    Example:
        >>> import minigrad as torch
        >>> torch.{name}(torch.tensor([[True, False], [True, True]]), dim=0)
        tensor({example})
    """
    return numpy_spellings(function)


all = _asked("all", np.logical_and.reduce, "all entries are", "[ True, False]")
any = _asked("any", np.logical_or.reduce, "any entry is", "[True, True]")


def _position(name: str, find: Any, what: str, example: str) -> Any:
    def function(
        input: Tensor,
        dim: int | None = None,
        keepdim: bool = False,
        *,
        out: Tensor | None = None,
        axis: int | None = None,
        keepdims: bool = False,
    ) -> Tensor:
        if out is not None or axis is not None or keepdims:
            dim, keepdim = dim if axis is None else axis, keepdim or keepdims
            return with_out(function)(input, dim, keepdim, out=out)  # type: ignore[no-any-return]
        check_tensor(name, input)
        array = input._array
        if array.dtype.kind in "bc":
            kind = "bool" if array.dtype.kind == "b" else "complex"
            raise RuntimeError(f"{name}(): does not support {kind} input")
        number = None
        if dim is not None:
            number = one_dimension(name, dim, input)
            refuse_empty(name, input, number)
        elif not array.size:
            raise IndexError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0."
            )
        if not array.ndim:
            return wrap(np.zeros((), np.int64))
        return wrap(find(array, axis=number, keepdims=keepdim))

    function.__name__ = name
    function.__doc__ = f"""Give the position of the {what} entry, among all or along a dimension.

    Of equal ones it is the first; NaN is found before all numbers.

    Args:
        input: The tensor.
        dim: The dimension; all entries, one after the other, if it is left out.
        keepdim: Keep the dimension, with size 1.
        out: A tensor to write the position into.
        axis: NumPy's word for `dim`.
        keepdims: NumPy's word for `keepdim`.

    Example:
        >>> import minigrad as torch
        >>> torch.{name}(torch.tensor([[1.0, 3.0], [4.0, 2.0]]), dim=1)
        tensor({example})
    """
    return function


argmax = _position("argmax", np.argmax, "largest", "[1, 0]")
argmin = _position("argmin", np.argmin, "smallest", "[0, 1]")


@numpy_spellings
def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """Count the entries that are not 0, all or along dimensions.

    Example:
        >>> import minigrad as torch
        >>> torch.count_nonzero(torch.tensor([[1, 0], [2, 3]]), dim=0)
        tensor([2, 1])
    """
    check_tensor("count_nonzero", input)
    axes = None if dim is None else dimensions(dim, input.ndim)
    return wrap(np.asarray(np.count_nonzero(input._array, axis=axes), np.int64))


# ---------------------------------------------------------------------- where entries are


def nonzero(input: Tensor, *, out: Any = None, as_tuple: bool = False) -> Any:
    """Give the positions of the entries that are not 0.

    Args:
        input: The tensor.
        out: A tensor of the right size to write the positions into.
        as_tuple: Give a tuple with a tensor for each dimension, to index with.

    Returns:
        A matrix with a row for each entry that is not 0; or a tuple.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([[1, 0], [0, 2]])
        >>> torch.nonzero(x)
        tensor([[0, 0],
                [1, 1]])
        >>> x[x.nonzero(as_tuple=True)]
        tensor([1, 2])
    """
    check_tensor("nonzero", input)
    array = input._array
    if as_tuple:
        if out is not None:
            raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
        return tuple(map(wrap, np.nonzero(array if array.ndim else array.reshape(1))))
    found = np.argwhere(array)
    return wrap(found) if out is None else out.copy_(wrap(found))


def argwhere(input: Tensor) -> Tensor:
    """Give the positions of the entries that are not 0, one in each row.

    Example:
        >>> import minigrad as torch
        >>> torch.argwhere(torch.tensor([0, 5, 6]))
        tensor([[1],
                [2]])
    """
    check_tensor("argwhere", input)
    return nonzero(input)  # type: ignore[no-any-return]


methods: dict[str, Any] = {name: globals()[name] for name in __all__}


def _by_axes(function: Any) -> Any:
    def ask(a: Tensor, axis: Any = None, keepdims: bool = False) -> Any:
        return function(a, axis, keepdims)

    return ask


functions: dict[Any, Any] = {
    np.all: _by_axes(all),
    np.any: _by_axes(any),
    np.argmax: lambda a, axis=None, keepdims=False: argmax(a, axis, keepdims),
    np.argmin: lambda a, axis=None, keepdims=False: argmin(a, axis, keepdims),
    np.count_nonzero: lambda a, axis=None: count_nonzero(a, axis),
    np.nonzero: lambda a: nonzero(a, as_tuple=True),
    np.argwhere: argwhere,
}
