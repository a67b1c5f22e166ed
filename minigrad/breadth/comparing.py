"""Say whether two results agree, and how far apart they are, as `torch.testing.assert_close`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from minigrad.autograd.messages import wrong_type
from minigrad.core.tensor import Tensor
from minigrad.faces.arguments import number

_TOLERANCES = {"f2": (1e-3, 1e-5), "f4": (1.3e-6, 1e-5), "f8": (1e-7, 1e-7)}
_TOLERANCES |= {"c8": (1.3e-6, 1e-5), "c16": (1e-7, 1e-7)}
_WHERE = "\n\nThe failure occurred for item "
_NUMBERS = (bool, int, float, complex, np.number)


def _assert(condition: Any, message: Any) -> None:
    """Raise AssertionError with a message unless a condition holds."""
    if not condition:
        raise AssertionError(message)


def _check(cond: bool, message: Callable[[], Any] | None = None) -> None:
    """Raise RuntimeError unless a condition holds; a function gives the message.

    Raises:
        TypeError: If the condition is no truth value, or what gives the message no function.
        RuntimeError: If it does not hold.
    """
    if not isinstance(cond, bool):
        raise TypeError(
            f"cond must be a bool, but got {'a Tensor' if isinstance(cond, Tensor) else type(cond)}"
        )
    if cond:
        return
    if message is None:
        raise RuntimeError("Expected cond to be True, but got False.")
    if not callable(message):
        raise TypeError("message must be a callable")
    raise RuntimeError(str(message()))


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    r"""Raise unless tensors, numbers, sequences or mappings agree: $|a - e| \le t_a + t_r |e|$.

    Args:
        actual: What came.
        expected: What should come, of the same kinds, shapes and dtypes.
        allow_subclasses: Whether one may be of a class made of the other's.
        rtol: The tolerance $t_r$ in proportion to what is expected; by default that of the dtype.
        atol: The tolerance $t_a$ that is added. Give both or none.
        equal_nan: Whether two NaN agree.
        check_device: Without effect: all is on the CPU.
        check_dtype: Whether dtypes have to be the same.
        check_layout: Without effect.
        check_stride: Whether strides have to be the same.
        msg: What to say instead, or a function of what would be said.

    Raises:
        AssertionError: If they do not agree.
        ValueError: If one tolerance is given.
        TypeError: If they cannot be compared.

    Example:
        >>> import minigrad as torch
        >>> torch.testing.assert_close(torch.ones(2), torch.ones(2) + 1e-7)
    """
    if (rtol is None) != (atol is None):
        raise ValueError(
            "Both 'rtol' and 'atol' must be either specified or omitted, but got no "
            f"{'rtol' if rtol is None else 'atol'}."
        )
    told = _difference(actual, expected, (rtol, atol), equal_nan, check_dtype, check_stride)
    if told:
        raise AssertionError((msg(told) if callable(msg) else msg) if msg else told)


def _difference(a: Any, b: Any, given: Any, nan: bool, dtypes: bool, strides: bool) -> str:
    """Say where two things differ first; nothing where they agree."""
    for kind in (Mapping, Sequence):
        if not (isinstance(a, kind) and isinstance(b, kind)) or isinstance(a, str):
            continue
        if kind is Mapping and set(a) != set(b):
            return (
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {sorted(set(b) - set(a))}\n"
                f"Additional keys in the actual mapping: {sorted(set(a) - set(b))}"
            )
        if len(a) != len(b):
            return f"The length of the sequences mismatch: {len(a)} != {len(b)}"
        for key in sorted(a, key=str) if kind is Mapping else range(len(a)):
            told = _difference(a[key], b[key], given, nan, dtypes, strides)
            if told:
                what, _, place = told.partition(_WHERE)
                return f"{what}{_WHERE}[{key!r}]{place}"
        return ""
    if a is None and b is None:
        return ""
    if isinstance(a, bool) and isinstance(b, bool):
        return "" if a is b else f"Booleans mismatch: {a} is not {b}"
    arrays = isinstance(a, (Tensor, np.ndarray)), isinstance(b, (Tensor, np.ndarray))
    if arrays != (True, True) and not (isinstance(a, _NUMBERS) and isinstance(b, _NUMBERS)):
        raise TypeError(
            f"No comparison pair was able to handle inputs of type {type(a)} and {type(b)}."
        )
    x, y = (v.detach()._array if isinstance(v, Tensor) else np.asarray(v) for v in (a, b))
    if x.shape != y.shape:
        return f"The values for attribute 'shape' do not match: {a.shape} != {b.shape}."
    if dtypes and arrays[0] and x.dtype != y.dtype:
        return f"The values for attribute 'dtype' do not match: {a.dtype} != {b.dtype}."
    if strides and isinstance(a, Tensor) and a.stride() != b.stride():
        return f"The values for attribute 'stride()' do not match: {a.stride()} != {b.stride()}."
    return _apart(x, y, given, nan, arrays[0])


def _apart(x: Any, y: Any, given: Any, nan: bool, arrays: bool) -> str:
    usual = [_TOLERANCES.get(each.dtype.str[1:], (0.0, 0.0)) for each in (x, y)]
    rtol, atol = given if given[0] is not None else map(max, *usual)
    rtol, atol = (number(each, "assert_close", "rtol", 0, "float") for each in (rtol, atol))
    if nan.__class__ is not bool:
        raise wrong_type("assert_close", "equal_nan", "bool", nan)
    wide: Any = np.result_type(x, y)
    x, y = (each.astype(np.int64 if wide.kind in "bu" else wide) for each in (x, y))
    with np.errstate(all="ignore"):
        apart = abs(x - y)
        off = ~np.isclose(x, y, rtol, atol, nan)
        relative = np.where(off, apart / abs(y), 0)
    if not off.any():
        return ""
    exact = rtol == atol == 0
    apart = np.where(off, apart, 0)
    allowed = ["" if exact else f" (up to {each} allowed)" for each in (atol, rtol)]
    head = "are not equal" if exact else "are not close"
    if not arrays or x.ndim == 0:
        return (
            f"Scalars {head}!\n\nExpected {y.item()} but got {x.item()}.\n"
            f"Absolute difference: {apart.item()}{allowed[0]}\n"
            f"Relative difference: {relative.item()}{allowed[1]}"
        )
    lines = [f"Tensor-likes {head}!\n"]
    lines.append(f"Mismatched elements: {off.sum()} / {off.size} ({off.mean():.1%})")
    for name, each, limit in zip(("absolute", "relative"), (apart, relative), allowed, strict=True):
        place = tuple(map(int, np.unravel_index(np.argmax(each), each.shape)))
        lines.append(f"Greatest {name} difference: {each[place].item()} at index {place}{limit}")
    return "\n".join(lines)
