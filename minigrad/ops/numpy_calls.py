"""Do what NumPy is asked to do with tensors where no operation of the tables stands for it.

NumPy gives operators and functions with a tensor among their arguments to the tensor. Where an
operation of minigrad stands for the function, it is called and recorded, also for `ufunc.outer` and
with arguments that change nothing. For the rest PyTorch's way remains: NumPy computes with the
tensors' memory, and a tensor that requires a gradient is refused, because nothing would be
recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.grad_mode import no_grad
from minigrad.autograd.views import check_inplace, mark_views_stale
from minigrad.core.modes import is_grad_enabled
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.faces import lazy_loading, numpy_protocols
from minigrad.faces.out import refuse_gradient
from minigrad.ops.numpy_functions import arrays_of, by_numpy, functions, ufuncs

# Options of a ufunc with the values that change nothing.
_DEFAULTS: dict[str, Any] = {
    "casting": "same_kind",
    "dtype": None,
    "keepdims": False,
    "order": "K",
    "signature": None,
    "sig": None,
    "subok": True,
    "where": True,
}
# Functions that change their first argument.
_CHANGING = {np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask}


# What rooms have entered already counts more.
numpy_protocols.ufuncs.update(ufuncs | numpy_protocols.ufuncs)
numpy_protocols.functions.update(functions | numpy_protocols.functions)


def compute(function: Any, method: str | None, inputs: Any, options: dict[str, Any]) -> Any:
    """Compute what NumPy was asked for.

    Args:
        function: NumPy's function.
        method: What of a ufunc was called, such as "reduce" or "__call__"; None for a function
            that is no ufunc.
        inputs: The arguments by position.
        options: The arguments by name.

    Raises:
        RuntimeError: If it cannot be recorded and a tensor requires a gradient.
        TypeError: If it cannot be computed with symbols.
    """
    if method is None:
        return _function(function, inputs, options)
    options = {
        name: value
        for name, value in options.items()
        if not (name in _DEFAULTS and _is_default(value, _DEFAULTS[name]))
    }
    out = options.get("out")
    if method == "at":
        return _changed(function.at, function.__name__, inputs[0], inputs, {})
    if out is not None and any(place is not None for place in out):
        return _written(function, method, inputs, options)
    options.pop("out", None)
    if method == "__call__" and set(options) == {"dtype"}:
        recorded = _operation(function)
        if recorded is not None:
            dtype = np.dtype(options["dtype"])
            return recorded(*(_in_type(value, dtype) for value in inputs))
    if not options or method == "reduce":
        key = function if method == "__call__" else (function, method)
        recorded = _operation(key)
        if recorded is not None and not set(options) - {"axis", "keepdims"}:
            return recorded(*inputs, **options)
        recorded = _operation(function)
        if method == "outer" and recorded is not None:
            return _outer(recorded, *inputs)
    called = function if method == "__call__" else getattr(function, method)
    result = called(*arrays_of(inputs, function.__name__), **arrays_of(options, function.__name__))
    return _tensors(result)


def _is_default(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, str) and value == default)


def _operation(key: Any) -> Callable[..., Any] | None:
    """Look up what stands for a function of NumPy's; at a miss once more, with all loaded."""
    tables = numpy_protocols
    table = tables.ufuncs if isinstance(key, (np.ufunc, tuple)) else tables.functions
    found = table.get(key)
    if found is None:
        lazy_loading.load_all()
        found = table.get(key)
    return found


def _function(function: Any, inputs: Any, options: dict[str, Any]) -> Any:
    name = function.__name__
    recorded = _operation(function)
    if recorded is not None:
        return recorded(*inputs, **options)
    out = options.get("out")
    changed = inputs[0] if function in _CHANGING and inputs else out
    if isinstance(changed, Tensor):
        result = _changed(function, name, changed, inputs, options)
        return out if changed is out else result
    return by_numpy(function, *inputs, **options)


def _tensors(result: Any) -> Any:
    """Put tensors in the place of the arrays that a ufunc gave."""
    if isinstance(result, tuple):
        return tuple(map(_tensors, result))
    return wrap(result) if isinstance(result, (np.ndarray, np.generic)) else result


def _in_type(value: Any, dtype: np.dtype[Any]) -> Any:
    wanted = dtypes.of_array(np.empty(0, dtype))
    return value.to(wanted) if isinstance(value, Tensor) else wrap(np.asarray(value, dtype))


def _outer(operation: Any, a: Any, b: Any) -> Any:
    """Combine each entry of one tensor with each entry of another."""
    first = a if isinstance(a, Tensor) else wrap(np.asarray(a))
    second = b if isinstance(b, Tensor) else wrap(np.asarray(b))
    return operation(first.reshape((*first.shape, *(1 for _ in second.shape))), second)


def _changed(function: Any, name: str, tensor: Any, inputs: Any, options: dict[str, Any]) -> Any:
    """Let NumPy change a tensor's memory, and count it as a change."""
    given = [value for value in (*inputs, *options.values()) if isinstance(value, Tensor)]
    if not isinstance(tensor, Tensor):
        return by_numpy(function, *inputs, **options)
    if is_grad_enabled() and any(each.requires_grad for each in given):
        raise RuntimeError(
            f"NumPy's {name} changes a tensor, and a tensor that requires grad is among its "
            "arguments: nothing would be recorded. Use minigrad's own operation, or no_grad()."
        )
    check_inplace(tensor, recording=False)
    with no_grad():
        result = function(*arrays_of(inputs, name), **arrays_of(options, name))
    tensor._bump_version()
    mark_views_stale(tensor)
    return result


def _written(function: Any, method: str, inputs: Any, options: dict[str, Any]) -> Any:
    """Compute a ufunc whose results go into arrays or tensors that are there already."""
    name, places = function.__name__, options["out"]
    tensors = [place for place in places if isinstance(place, Tensor)]
    if is_grad_enabled():
        refuse_gradient(name, *tensors)
    for place in tensors:
        check_inplace(place, recording=False)
    called = function if method == "__call__" else getattr(function, method)
    arrays = tuple(p._array if isinstance(p, Tensor) else p for p in places)
    rest = {key: value for key, value in options.items() if key != "out"}
    result = called(*arrays_of(inputs, name), **arrays_of(rest, name), out=arrays)
    for place in tensors:
        place._bump_version()
        mark_views_stale(place)
    if len(places) == 1:
        return places[0]
    return tuple(
        _tensors(got) if place is None else place for place, got in zip(places, result, strict=True)
    )
