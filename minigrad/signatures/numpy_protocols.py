"""Let NumPy's own functions and operators take tensors, and record what they compute."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minigrad.autograd.rules import attach
from minigrad.core.tensor import Tensor

# The operation for each of NumPy's universal functions, and of its other functions that take
# tensors; what is loaded late adds its own.
ufuncs: dict[Any, Callable[..., Any]] = {}
functions: dict[Any, Callable[..., Any]] = {}


@attach(Tensor)
class NumpyProtocols(Tensor):
    """What NumPy asks a tensor that is among the arguments of its functions."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Record what NumPy was asked to compute with tensors."""
        operation = ufuncs.get(ufunc)
        if operation is not None and not options and method == "__call__":
            return operation(*inputs)
        return self._computed_by_numpy(ufunc, method, inputs, options)

    def __array_function__(
        self, function: Any, types: Sequence[Any], inputs: Any, options: Any
    ) -> Any:
        """Record what NumPy was asked to compute with tensors."""
        operation = functions.get(function)
        if operation is not None:
            return operation(*inputs, **options)
        return self._computed_by_numpy(function, None, inputs, options)
