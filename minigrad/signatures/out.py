"""Write a result into a tensor that is there already: the argument `out` of many functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from minigrad.autograd.grad_mode import no_grad
from minigrad.autograd.messages import SHARED, warn, wrong_type
from minigrad.autograd.views import repeated_dims
from minigrad.core.modes import is_grad_enabled
from minigrad.core.tensor import Tensor
from minigrad.creation import dtypes


class Shown:
    """Tells `inspect` a signature when it is asked for: importing stays quick.

    Args:
        tell: Gives the signature.
    """

    def __init__(self, tell: Callable[[], inspect.Signature]) -> None:
        self._tell = tell

    @property
    def __signature__(self) -> inspect.Signature:
        return self._tell()


def shows(call: Any, more: dict[str, Any], **renamed: str) -> Any:
    """Let the signature of a wrapped function show what the wrapper takes by name, beside it.

    `inspect.signature` goes from a wrapper to what it wraps, until something tells its signature.

    Args:
        call: The wrapper.
        more: What the wrapper takes by name, with the defaults.
        **renamed: How arguments of the function are called in the wrapper; "" if the wrapper fills
            them in itself.
    """
    wrapped = call.__wrapped__

    def tell() -> inspect.Signature:
        found = inspect.signature(wrapped)
        names = [(renamed.get(each, each), each) for each in found.parameters]
        own = [found.parameters[old].replace(name=new) for new, old in names if new]
        by_name = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
            for name, default in more.items()
            if name not in found.parameters
        ]
        return found.replace(parameters=sorted([*own, *by_name], key=lambda each: each.kind))

    call.__wrapped__ = Shown(tell)
    return call


def write_result(
    function: Callable[..., Any], out: Any, conversion: str, *arguments: Any, **options: Any
) -> Any:
    """Call a function, and write its result into a tensor, or several.

    Args:
        function: A function that gives a tensor, or a tuple of tensors.
        out: The tensor, or a tuple of as many.
        conversion: "any" if `out` may have any dtype, as for sums; otherwise it must not be of a
            lower kind than the result: no float is written into integers.
        *arguments: What the function gets.
        **options: What the function gets by name.

    Returns:
        What was given as `out`.

    Raises:
        TypeError: If `out` is no tensor, or not as many as there are results.
        RuntimeError: If a gradient would get lost, memory overlaps, or the dtype does not fit.
    """
    name, several = function.__name__, isinstance(out, (tuple, list))
    outs = tuple(out) if several else (out,)
    given = [*_tensors(arguments), *_tensors(options.values())]
    if not all(isinstance(into, Tensor) for into in outs):
        raise wrong_type(name, "out", "Tensor", out)
    if conversion == "any" and "dtype" in options:  # computed in the type that is written
        options["dtype"] = options["dtype"] or outs[0].dtype
    with no_grad():
        result: Any = function(*arguments, **options)
    values = result if isinstance(result, tuple) else (result,)
    if isinstance(result, tuple) != several or len(values) != len(outs):
        raise wrong_type(name, "out", f"as many Tensors as results ({len(values)})", out)
    if is_grad_enabled() and any(each.requires_grad for each in (*given, *outs)):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic "
            "differentiation, but one of the arguments requires grad."
        )
    for into, value in zip(outs, values, strict=True):
        own, new = into._array.dtype, value._array.dtype
        if conversion != "any" and dtypes.kind_of(new) > dtypes.kind_of(own):
            raise RuntimeError(f"{name}(): the result is {new}, and can't be cast to out, {own}")
        refuse_repeats(into._array)
        for read in given:
            refuse_overlap(into._array, read._array)
        if into._array.shape != value._array.shape:
            if into._array.size:
                warn(f"{name}(): out gets another shape, which is deprecated: give an empty tensor")
            into._array = np.empty(value._array.shape, own)
        with no_grad(), np.errstate(all="ignore"):
            into.copy_(value)
    return type(result)(*outs) if hasattr(result, "_fields") else outs if several else out


def _tensors(arguments: Any) -> list[Tensor]:
    """List the tensors among arguments, and in sequences among them."""
    several = (each if isinstance(each, (tuple, list)) else (each,) for each in arguments)
    return [one for one in chain.from_iterable(several) if isinstance(one, Tensor)]


# ------------------------------------------------------------------ shared memory


def repeats(array: Any) -> bool:
    """Tell whether entries of an array share memory, as those of an expanded tensor do."""
    return array.size > 0 and bool(repeated_dims(array))


def refuse_repeats(written: Any) -> None:
    """Raise if entries of an array that is about to be written to share memory."""
    if not written.flags.writeable:
        raise ValueError("the memory is read-only. Write to a copy, made by clone().")
    if 0 in written.strides and repeats(written):
        raise RuntimeError(SHARED.format("more than one element of the written-to tensor", "s"))


def refuse_overlap(written: Any, read: Any, refused: tuple[str, ...] = ("partial",)) -> None:
    """Raise if an array that is about to be written to overlaps one that is read."""
    if overlap(written, read) in refused:
        raise RuntimeError(
            SHARED.format("some elements of the input tensor and the written-to tensor", "")
        )


def overlap(a: Any, b: Any) -> str:
    """Tell how two arrays share memory: "no", "full", "partial", or "unknown" if there are gaps."""
    if a is b:
        return "full"
    if (a.base is None and b.base is None) or not np.may_share_memory(a, b):
        return "no"
    if not (_is_dense(a) and _is_dense(b)):
        return "unknown"
    same = byte_bounds(a) == byte_bounds(b)
    return "full" if same and a.strides == b.strides else "partial"


def _is_dense(array: Any) -> bool:
    """Tell whether the entries fill a piece of memory, in whatever order."""
    expected = array.itemsize
    for step, size in sorted(zip(array.strides, array.shape, strict=True)):
        if size != 1 and step != expected:
            return False
        expected *= size
    return True
