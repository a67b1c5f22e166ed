"""Write a result into a tensor that is there already: the argument `out` of many functions."""

from __future__ import annotations

import functools
import inspect
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.autograd.modes import is_grad_enabled, no_grad
from minigrad.autograd.type_name import type_name
from minigrad.ops.inplace import copy_
from minigrad.ops.overlap import refuse_overlap
from minigrad.tensor import Tensor


def with_out(
    function: Callable[..., Any] | None = None, *, conversion: str = "kind", name: str = ""
) -> Callable[..., Any]:
    """Let a function take the argument `out`, as PyTorch's has it.

    Args:
        function: A function that gives a tensor, or a tuple of tensors.
        conversion: Which dtypes `out` may have for a result: "kind", any that is not of a lower
            kind, as PyTorch's functions entry by entry have it; "none", only that of the result,
            as most others do (and all with several results); "any", as its sums do; or "limits",
            as limiting has it: that of the result, unless the limits are tensors.
        name: What the error about gradients calls the function, if not by its name.

    Example:
        >>> import minigrad as torch
        >>> place = torch.zeros(2)
        >>> with_out(torch.exp)(torch.zeros(2), out=place) is place
        True
        >>> place
        tensor([1., 1.])
    """
    if function is None:
        return functools.partial(with_out, conversion=conversion, name=name)
    called = function

    @functools.wraps(called)
    def call(*arguments: Any, out: Any = None, **options: Any) -> Any:
        if out is None:
            return called(*arguments, **options)
        return _written(called, out, arguments, options, conversion, name)

    return shows(call, "out")


class _Shown:
    """Tells the signature of a wrapped function when it is asked for: importing stays quick."""

    def __init__(self, wrapped: Any, names: tuple[str, ...]) -> None:
        self.__wrapped__, self.names = wrapped, names

    @property
    def __signature__(self) -> inspect.Signature:
        told = inspect.signature(self.__wrapped__)
        own = told.parameters.values()
        more = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
            for name in self.names
            if name not in told.parameters
        ]
        last = [each for each in own if each.kind is each.VAR_KEYWORD]
        return told.replace(parameters=[*(each for each in own if each not in last), *more, *last])


def shows(call: Any, *names: str) -> Any:
    """Let the signature of a wrapped function show what the wrapper takes by name, beside it.

    `inspect.signature` goes from a wrapper to what it wraps, until something tells its signature.
    """
    call.__wrapped__ = _Shown(call.__wrapped__, names)
    return call


def _written(
    function: Callable[..., Any], out: Any, arguments: Any, options: Any, conversion: str, name: str
) -> Any:
    several = isinstance(out, (tuple, list))
    places = tuple(out) if several else (out,)
    for position, place in enumerate(places):
        if not isinstance(place, Tensor):
            raise TypeError(
                f"expected Tensor as element {position} in argument 'out', but got "
                f"{type_name(place)}"
                if several
                else f"{function.__name__}(): argument 'out' must be Tensor, not {type_name(place)}"
            )
    given = [*_tensors(arguments), *_tensors(options.values())]
    if is_grad_enabled():
        refuse_gradient(name or function.__name__, *given, *places)
    if conversion == "limits" and len(given) > 1:
        conversion = "kind"
    with no_grad():
        result = function(*arguments, **options)
        if isinstance(result, tuple) != several or (several and len(result) != len(places)):
            wanted = f"a tuple of {len(result)} Tensors" if isinstance(result, tuple) else "Tensor"
            raise TypeError(
                f"{function.__name__}(): argument 'out' must be {wanted}, not {type_name(out)}"
            )
        values = result if isinstance(result, tuple) else (result,)
        for place, value in zip(places, values, strict=True):
            _check_dtype(place, value, "none" if several else conversion)
        for place, value in zip(places, values, strict=True):
            for read in given:
                refuse_overlap(place._array, read._array)
            _fit(place, value._array.shape)
            with np.errstate(all="ignore"):
                copy_(place, value)
    if not several:
        return out
    kind: Any = type(result)
    return places if kind is tuple else _with_name(kind)(*places)


@functools.cache
def _with_name(kind: Any) -> Any:
    """Give the named tuple that holds results which were written, as PyTorch prints it."""
    return type(f"{kind.__name__}_out", (kind,), {"__slots__": ()})


def _tensors(arguments: Any) -> list[Tensor]:
    """List the tensors among arguments, and in sequences among them."""
    found: list[Tensor] = []
    for argument in arguments:
        if isinstance(argument, Tensor):
            found.append(argument)
        elif isinstance(argument, (tuple, list)):
            found += [one for one in argument if isinstance(one, Tensor)]
    return found


def refuse_gradient(name: str, *tensors: Tensor) -> None:
    """Raise if a tensor requires a gradient that would get lost."""
    if any(tensor.requires_grad for tensor in tensors):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic "
            "differentiation, but one of the arguments requires grad."
        )


def _check_dtype(place: Tensor, value: Tensor, conversion: str) -> None:
    own, new = place._array, value._array
    if conversion == "none" and own.dtype != new.dtype:
        raise RuntimeError(
            f"Expected out tensor to have dtype {dtypes.c_name(new)}, but got {dtypes.c_name(own)} "
            "instead"
        )
    if conversion == "limits" and own.dtype != new.dtype:
        raise RuntimeError(
            f"Found dtype {dtypes.scalar_name(own)} but expected {dtypes.scalar_name(new)}"
        )
    if conversion == "kind" and dtypes.kind_of(new.dtype) > dtypes.kind_of(own.dtype):
        raise RuntimeError(
            f"result type {value.dtype.tensor_type} can't be cast to the desired output type "
            f"{place.dtype.tensor_type}"
        )


def _fit(place: Tensor, sizes: tuple[int, ...], warn: bool = True) -> None:
    """Give a tensor that a result is written to the shape of the result."""
    array = place._array
    if array.shape == sizes:
        return
    if array.size and warn:
        warnings.warn(
            "An output with one or more elements was resized since it had shape "
            f"{list(array.shape)}, which does not match the required output shape {list(sizes)}. "
            "This behavior is deprecated, and in a future PyTorch release outputs will not be "
            "resized unless they have zero elements. You can explicitly reuse an out tensor t by "
            "resizing it, inplace, to zero elements with t.resize_(0).",
            UserWarning,
            stacklevel=5,
        )
    count = math.prod(sizes)
    if array.size >= count and array.flags.c_contiguous:  # the same memory, as far as it reaches
        place._array = array.reshape(-1)[:count].reshape(sizes)
    else:
        place._array = np.zeros(sizes, array.dtype)


def dtype_for(caller: str, out: Any, dtype: Any, default: np.dtype[Any]) -> np.dtype[Any]:
    """Give the dtype in which a new tensor is made that may be written into another.

    Args:
        caller: The name of the function that makes it.
        out: The other tensor, or None.
        dtype: The dtype that was asked for, or None.
        default: The dtype otherwise.

    Raises:
        TypeError: If `out` is no tensor.
        RuntimeError: If `out` requires a gradient, or has another dtype than was asked for.
    """
    wanted = None if dtype is None else dtypes.asked(caller, dtype, dtypes.float32)
    if out is None:
        return default if wanted is None else wanted
    if not isinstance(out, Tensor):
        raise TypeError(f"{caller}(): argument 'out' must be Tensor, not {type_name(out)}")
    own: np.dtype[Any] = out._array.dtype
    if wanted is not None and wanted != own:
        names = [dtypes.of_array(np.empty(0, each)).tensor_type for each in (wanted, own)]
        raise RuntimeError(f"dtype {names[0]} does not match dtype of out parameter ({names[1]})")
    if is_grad_enabled():
        refuse_gradient(f"aten::{caller}", out)
    return own


def write_new(out: Tensor, array: Any) -> Tensor:
    """Write an array that a function like `zeros` made into a tensor, whatever its shape was."""
    with no_grad():
        _fit(out, array.shape, warn=False)
        out._array[...] = array
        out._bump_version()
    return out
