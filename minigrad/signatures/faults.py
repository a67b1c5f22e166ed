"""Say which function could not go on, and why, where NumPy or Python refused inside of it.

This is the one place that checks shapes: an operation need not look at what NumPy refuses anyway.
A written function looks here only when its body has failed: ordinary calls pay nothing for it.
Errors that this package raises on purpose, and those of the user's own code (hooks, `__index__`),
go on as they are.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from opcode import opmap
from typing import Any

import numpy as np

from minigrad.autograd.messages import type_name, wrong_type
from minigrad.core.tensor import Tensor
from minigrad.creation import dtypes

_OURS = os.path.dirname(os.path.dirname(__file__)) + os.sep
_MISCALLED = ("takes", "missing", "got")
_INSIDE = (_OURS, os.path.dirname(np.__file__) + os.sep, "numpy/", "<minigrad", "<__array_function")


def explained(error: BaseException, name: str, given: dict[str, Any]) -> None:
    """Replace an error from the inside of a function by another one.

    Its type is PyTorch's usual one: IndexError where a position does not exist, TypeError where an
    argument is of a type that does not belong there, NotImplementedError where the entries are,
    and RuntimeError where shapes or values do not fit. No frame keeps an error here: what its
    traceback holds, such as arrays, would live as long.

    Args:
        error: What its body raised.
        name: What it is called.
        given: Its arguments, by name.

    Raises:
        Exception: If nobody raised it on purpose: one that names the function, what it was given,
            and NumPy's reason.
    """
    if _is_on_purpose(error, name):
        return
    listed = ", ".join(f"{key}={_told(value)}" for key, value in given.items() if value is not None)
    tensors = [each._array for each in given.values() if isinstance(each, Tensor)]
    kind: type[Exception] = RuntimeError
    if isinstance(error, LookupError):
        kind = IndexError
    elif "read-only" in str(error):
        kind = ValueError
    elif not all(map(_is_usual, given.values())):
        kind = TypeError
    elif isinstance(error, (TypeError, AttributeError)):
        unusual = any(each.dtype.kind in "cbiuO" for each in tensors)
        kind = NotImplementedError if unusual else TypeError
    raise kind(f"{name}() can't be computed of ({listed}): {error}") from None


def _is_on_purpose(error: BaseException, name: str) -> bool:
    """Tell whether an error says by itself what was wrong, or is one of the user's own code."""
    if isinstance(error, Warning) or (isinstance(error, AttributeError) and error.name == name):
        return True  # what is no tensor has no method of a function's name: PyTorch says so, too
    if isinstance(error, TypeError) and any(f"() {word}" in str(error) for word in _MISCALLED):
        return True  # a function was called with too many arguments, or too few: mostly a hook
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
        if not last.tb_frame.f_code.co_filename.startswith(_INSIDE):
            return True  # the user's own code
    if last is None:
        return False
    code = last.tb_frame.f_code
    ours = code.co_filename.startswith((_OURS, "<minigrad"))
    return ours and code.co_code[last.tb_lasti] == opmap["RAISE_VARARGS"]


def _is_usual(value: Any) -> bool:
    """Tell whether a value is of a type that PyTorch's functions often take."""
    if isinstance(value, (tuple, list)):
        return all(isinstance(each, Tensor) or type(each) is int for each in value)
    return value is None or isinstance(value, (Tensor, bool, int, float, str, dtypes.dtype))


def _told(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"Tensor of size {list(value._array.shape)}"
    return repr(value)[:40] if _is_usual(value) else type_name(value)


def explains(function: Callable[..., Any], name: str = "", method: bool = False) -> Any:
    """Let a function that isn't a variant of an operation say what was wrong when its inside fails.

    Args:
        function: The function.
        name: What it is called, if not as it is written.
        method: Whether it is one of a tensor, and of nothing else.
    """
    called = name or function.__name__

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            if method and arguments and not isinstance(arguments[0], Tensor):
                raise wrong_type(called, "self", "Tensor", arguments[0])
            return function(*arguments, **named)
        except Exception as error:
            explained_call(error, called, function, arguments, named)
            raise

    call.__name__ = call.__qualname__ = function.__qualname__ = called
    return call


def explained_call(
    error: BaseException, name: str, function: Any, arguments: Any, named: dict[str, Any]
) -> None:
    """Do what `explained` does, for a function that was called with certain arguments."""
    try:
        given = inspect.signature(function).bind_partial(*arguments, **named).arguments
    except TypeError as misfit:
        raise TypeError(f"{name}() {misfit}") from None
    flat = {key: value for key, value in given.items() if key not in ("args", "kwargs")}
    explained(error, name, flat)
