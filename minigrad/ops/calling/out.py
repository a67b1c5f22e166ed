"""Write a result into a tensor that is there already: the argument `out` of many functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from minigrad import dtypes
from minigrad.autograd.modes import is_grad_enabled, no_grad
from minigrad.ops.inplace import copy_
from minigrad.tensor import Tensor


def with_out(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function take the argument `out`, as PyTorch's has it.

    Args:
        function: A function that gives a tensor, or a tuple of tensors.

    Example:
        >>> import minigrad as torch
        >>> place = torch.zeros(2)
        >>> with_out(torch.exp)(torch.zeros(2), out=place) is place
        True
        >>> place
        tensor([1., 1.])
    """

    @functools.wraps(function)
    def call(*arguments: Any, out: Any = None, **options: Any) -> Any:
        if out is None:
            return function(*arguments, **options)
        return _written(function, out, arguments, options)

    return call


def _written(function: Callable[..., Any], out: Any, arguments: Any, options: Any) -> Any:
    places = out if isinstance(out, (tuple, list)) else (out,)
    given = [*arguments, *options.values(), *places]
    if is_grad_enabled() and any(isinstance(one, Tensor) and one.requires_grad for one in given):
        raise RuntimeError(
            f"{function.__name__}(): functions with out=... arguments don't support automatic "
            "differentiation, but one of the arguments requires grad."
        )
    with no_grad():
        result = function(*arguments, **options)
        values = result if isinstance(result, tuple) else (result,)
        for place, value in zip(places, values, strict=True):
            _write(place, value)
    return type(result)(*out) if isinstance(result, tuple) else out


def _write(place: Tensor, value: Tensor) -> None:
    if dtypes.kind_of(value._array.dtype) > dtypes.kind_of(place._array.dtype):
        raise RuntimeError(
            f"result type {value.dtype.tensor_type} can't be cast to the desired output type "
            f"{place.dtype.tensor_type}"
        )
    copy_(place, value)
