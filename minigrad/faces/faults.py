"""Say in PyTorch's words what NumPy or Python refused inside a function, and of which type it is.

A written function looks here only when its body has failed: ordinary calls pay nothing for it.
Errors that this package raises on purpose, and those of the user's own code (hooks, `__index__`),
go on as they are.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
from collections.abc import Callable
from opcode import opmap
from typing import Any

import numpy as np

from minigrad.autograd.messages import type_name, wrong_type
from minigrad.core.tensor import Tensor
from minigrad.creation import dtypes
from minigrad.faces.signature import KINDS

# What arguments of these names are in every function; it is asked for only where one has failed.
_NAMED = {
    "str": "UPLO approximate driver indexing",
    "bool": "align_corners copy is_causal non_blocking " + KINDS["bool"],
    "float": "label_smoothing momentum scale std " + KINDS["float"],
    "int": "num_classes num_groups num_samples " + KINDS["int"],
    "Number": KINDS["Number"],
    "tuple of ints": "axis axis0 axis1 dim dim0 dim1 dim2 dimension end_dim kernel_size"
    " normalized_shape output_size shape size sizes split_sizes start_dim",
}
# except where there may be something else in the place
_OTHERS = {("max", "dim"), ("min", "dim"), ("normal", "std"), ("interpolate", "size")}
_OTHERS |= {("affine_grid", "size"), *(("local_response_norm", n) for n in ("alpha", "beta", "k"))}
_EXPECTED = {name: kind for kind, names in _NAMED.items() for name in names.split()}

_INSIDE = tuple(os.path.dirname(each) + os.sep for each in (os.path.dirname(__file__), np.__file__))


def explained(error: BaseException, name: str, given: dict[str, Any], expected: str) -> None:
    """Raise another error in the place of one from the inside of a function.

    No frame keeps an error here: what its traceback holds, such as arrays, would live as long.

    Args:
        error: What its body raised.
        name: What it is called.
        given: Its arguments, by name.
        expected: Its signature.

    Raises:
        Exception: If nobody raised it on purpose: one that tells what the arguments have to be.
    """
    if not _is_on_purpose(error, name, given):
        raise _named(error, name, given, expected) from None


def _is_on_purpose(error: BaseException, name: str, given: dict[str, Any]) -> bool:
    """Tell whether an error says by itself what was wrong, or is one of the user's own code."""
    if re.search(r"\(\) (takes|missing \d|got (an unexp|multiple))", str(error)) and not any(
        isinstance(each, type) for each in given.values()
    ):
        return True  # a function was called with too many arguments, or too few: mostly a hook
    if isinstance(error, Warning) or (isinstance(error, AttributeError) and error.name == name):
        return True  # what is no tensor has no method of a function's name: PyTorch says so, too
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
        file = last.tb_frame.f_code.co_filename
        if not file.startswith((*_INSIDE, "numpy/", "<minigrad", "<__array_function__")):
            return True  # the user's own code
    if last is not None:
        code = last.tb_frame.f_code
        ours = not code.co_filename.startswith(_INSIDE[1])
        if ours and code.co_code[last.tb_lasti] == opmap["RAISE_VARARGS"]:
            kept = isinstance(error, (TypeError, NotImplementedError))
            return kept or _misfit(name, given) is None
    return False


def _named(error: BaseException, name: str, given: dict[str, Any], expected: str) -> BaseException:
    """Make an error that tells what a function was given that it can do nothing with."""
    if "read-only" in str(error):
        return ValueError(
            f"{name}(): the memory is read-only: it is that of a NumPy array that must not be "
            "written to. Make a copy first, with clone()."
        )
    misfit = _misfit(name, given)
    if misfit:
        return misfit
    if "truth value of an" in str(error):
        return ValueError(f"{name}(): the truth value of an array is ambiguous: say True or False")
    told = ", ".join(f"{key}={_kind(value)}" for key, value in given.items() if value is not None)
    tensors = [value for value in given.values() if isinstance(value, Tensor)]
    kinds = {each._array.dtype.kind for each in tensors}
    if isinstance(error, MemoryError) or "Maximum allowed" in str(error) or "too big" in str(error):
        return RuntimeError(
            f"{name}(): can't allocate memory for a result of this size, got ({told}). Ask for "
            "fewer entries."
        )
    if isinstance(error, OverflowError) and "int" in str(error):
        return RuntimeError(
            f"{name}(): value cannot be converted to type int64_t without overflow, got ({told})"
        )
    strange = [value for value in given.values() if not _is_usual(value)]
    if not strange and isinstance(error, TypeError) and kinds & set("cbiuO"):
        wrong = next(each for each in tensors if each._array.dtype.kind in "cbiuO")
        return NotImplementedError(
            f"\"{name}\" not implemented for '{dtypes.scalar_name(wrong._array)}'"
        )
    if strange or isinstance(error, (TypeError, AttributeError)):
        return TypeError(
            f"{name}() received an invalid combination of arguments - got ({told}), but "
            f"expected {expected}"
        )
    sizes = ", ".join(f"{key}={_size(value)}" for key, value in given.items() if value is not None)
    kind = IndexError if isinstance(error, LookupError) else RuntimeError
    return kind(f"{name}(): sizes or values do not go together, got ({sizes})")


def _misfit(name: str, given: dict[str, Any]) -> TypeError | None:
    """Find the argument that is of another kind than those of its name are everywhere."""
    for key, value in given.items():
        wanted = _EXPECTED.get(key) if (name, key) not in _OTHERS else None
        if wanted and value is not None and not _fits(value, wanted):
            return wrong_type(name, key, wanted, value)
    return None


def _fits(value: Any, wanted: str) -> bool:
    """Tell whether a value can be taken for what is wanted."""
    if isinstance(value, (str, bool)) or wanted in ("str", "bool"):
        fits = {"str": str, "bool": bool, "float": bool, "Number": bool}.get(wanted)
        return fits is not None and isinstance(value, fits)
    if isinstance(value, (tuple, list)):
        value = value[0] if len(value) == 1 and isinstance(value[0], (tuple, list)) else value
        return wanted == "tuple of ints" and all(_fits(each, "int") for each in value)
    array = value._array if isinstance(value, Tensor) else value
    if isinstance(array, (np.ndarray, np.generic)):
        kinds = "iu" if "int" in wanted else "iufb" if wanted == "float" else "iufbc"
        kinds += "bc"[wanted == "float"] * (array is not value)  # what is in a tensor may count
        return array.dtype.kind in kinds and array.size == 1
    if "int" in wanted:
        return hasattr(value, "__index__") and not isinstance(value, type)
    numbers = (int, float) if wanted == "float" else (int, float, complex)
    return isinstance(value, numbers) or hasattr(value, "free_symbols")


def _is_usual(value: Any) -> bool:
    """Tell whether a value is of a type that PyTorch's functions often take."""
    if isinstance(value, (tuple, list)):
        return all(isinstance(each, Tensor) or type(each) is int for each in value)
    return value is None or isinstance(value, (Tensor, bool, int, float, dtypes.dtype))


def _kind(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return f"{type_name(value)} of ({', '.join(dict.fromkeys(map(type_name, value)))})"
    return type_name(value)


def _size(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"Tensor of size {list(value._array.shape)}"
    return _kind(value) if isinstance(value, (tuple, list)) else repr(value)[:40]


def explains(function: Callable[..., Any], name: str = "", method: bool = False) -> Any:
    """Let a function that no face writes say what was wrong when its inside fails.

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
    shown = inspect.signature(function)
    try:
        given = shown.bind_partial(*arguments, **named).arguments
    except TypeError as misfit:
        raise TypeError(f"{name}() {misfit}, but expected {name}{shown}") from None
    flat = {key: value for key, value in given.items() if key not in ("args", "kwargs")}
    explained(error, name, flat, f"{name}{shown.replace(return_annotation=shown.empty)}")
