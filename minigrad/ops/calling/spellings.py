"""Accept NumPy's spellings of arguments, `axis` and `keepdims`, as PyTorch's functions do."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from minigrad.ops.calling.arguments import dimension
from minigrad.ops.calling.out import shows
from minigrad.tensor import Tensor


def numpy_spellings(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function take `axis` for `dim` and `keepdims` for `keepdim`.

    Args:
        function: A function with the arguments `dim` and perhaps `keepdim`.

    Example:
        >>> import minigrad as torch
        >>> torch.tensor([[1.0, 2.0], [3.0, 4.0]]).prod(axis=1, keepdims=True)
        tensor([[ 2.],
                [12.]])
    """

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        if options:
            if "axis" in options:
                options["dim"] = options.pop("axis")
            if "keepdims" in options:
                options["keepdim"] = options.pop("keepdims")
        return function(*arguments, **options)

    code = inspect.unwrap(function).__code__  # quicker to read than its signature
    taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    both = (("dim", "axis"), ("keepdim", "keepdims"))
    return shows(call, *(numpys for name, numpys in both if name in taken))  # type: ignore[no-any-return]


def one_dimension(name: str, dim: Any, input: Tensor) -> int:
    """Bring the number of one dimension into the range from 0 on.

    Args:
        name: The function that asks, for the error.
        dim: A number.
        input: The tensor whose dimension is meant.

    Raises:
        TypeError: If it is no whole number.
        IndexError: If there is no such dimension.
    """
    if isinstance(dim, bool) or not hasattr(dim, "__index__"):
        raise TypeError(
            f"{name}(): argument 'dim' (position 2) must be int, not {type(dim).__name__}"
        )
    return dimension(dim.__index__(), input.ndim)


def refuse_empty(name: str, input: Tensor, dim: int) -> None:
    """Raise if there are no entries along a dimension to choose one from.

    The error names the dimension as it is given here: by its number, or counted from the end.
    """
    if input.ndim and not input._array.shape[dim]:
        raise IndexError(f"{name}(): Expected reduction dim {dim} to have non-zero size.")
