"""Print numbers the same on every machine, and warnings where readers see them."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

import numpy as np

_ADDRESS = re.compile(r"\s*(?:object )?at 0x[0-9a-fA-F]+")
# Digits that survive a computation: one fewer than float32 keeps, three fewer than float64 keeps.
_TRUSTED_DIGITS = {"float16": 3, "bfloat16": 2, "float32": 7}


def rounded(value: object, digits: int = 5, zero: float = 1e-12) -> str:
    """Write a value as text, its floats to so many significant digits.

    Floats are first rounded to the digits that computations agree on, then to ``digits``: so the
    last digit does not depend on the machine. Minus zero and leftovers below ``zero`` print as 0.0.

    Args:
        value: a number, a tensor or array, or lists, tuples and dicts of them. Anything else is
            written as ``str`` writes it, without memory addresses.
        digits: significant digits of each float.
        zero: floats of at most this size are written as 0.0.

    Returns:
        The text.

    Example:
        >>> rounded(0.1 + 0.2)
        '0.3'
        >>> rounded((-0.0, 2 / 3, 24.0, 7))
        '(0.0, 0.66667, 24.0, 7)'
    """
    return _written(value, digits, zero, trusted=12, scale=0.0)


def show(
    *values: object, digits: int = 5, zero: float = 1e-12, sep: str = " ", end: str = "\n"
) -> None:
    """Print values as `rounded` writes them: the way lessons print floats.

    Args:
        *values: what to print; strings are printed as they are.
        digits: significant digits of each float.
        zero: floats of at most this size are printed as 0.0.
        sep: text between two values.
        end: text after the last value.

    Example:
        >>> show("loss", (0.076176 - 1) ** 2)
        loss 0.85345
        >>> show([1 / 3, -0.0], digits=3)
        [0.333, 0.0]
    """
    print(*(rounded(value, digits, zero) for value in values), sep=sep, end=end)


@contextmanager
def shown_warnings() -> Iterator[None]:
    """Print warnings as ordinary output, category and text only, for as long as the block runs.

    Python sends warnings to the error stream with a file path and a line number in front, which
    differ from machine to machine. Inside this block they read the same everywhere.

    Example:
        >>> import warnings
        >>> with shown_warnings():
        ...     warnings.warn("this hook is old", FutureWarning)
        FutureWarning: this hook is old
    """

    def to_output(
        message: Warning | str, category: type[Warning], *_: object, **__: object
    ) -> None:
        print(f"{category.__name__}: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = to_output
        yield


def without_addresses(text: str) -> str:
    """Remove memory addresses from a printed form.

    Example:
        >>> without_addresses("<Net object at 0x7f3a12>")
        '<Net>'
    """
    return _ADDRESS.sub("", text)


def _written(value: Any, digits: int, zero: float, trusted: int, scale: float) -> str:
    """Write a value; `trusted` and `scale` tell how far an entry of an array can be believed."""
    if hasattr(value, "tolist") and hasattr(value, "dtype"):
        plain = value.detach().tolist() if hasattr(value, "detach") else value.tolist()
        trusted = _TRUSTED_DIGITS.get(str(value.dtype).rpartition(".")[2], 12)
        sizes = np.abs(np.asarray(plain, dtype=complex)) if _numeric(plain) else np.zeros(0)
        finite = sizes[np.isfinite(sizes)]
        largest = float(finite.max()) if finite.size else 0.0
        # An entry this much smaller than its neighbors is rounding noise, not a value.
        return _written(plain, digits, zero, trusted, largest * 10.0**-trusted)
    if isinstance(value, float):
        return _float(value, digits, max(zero, scale), trusted)
    if isinstance(value, complex):
        sign = "-" if value.imag < 0 else "+"
        real = _float(value.real, digits, max(zero, scale), trusted)
        return f"{real}{sign}{_float(abs(value.imag), digits, max(zero, scale), trusted)}j"
    if isinstance(value, Mapping):
        items = (
            f"{key!r}: {_written(entry, digits, zero, trusted, scale)}"
            for key, entry in value.items()
        )
        return "{" + ", ".join(items) + "}"
    if isinstance(value, list | tuple):
        entries = [
            repr(entry) if isinstance(entry, str) else _written(entry, digits, zero, trusted, scale)
            for entry in value
        ]
        if isinstance(value, list):
            return "[" + ", ".join(entries) + "]"
        return "(" + ", ".join(entries) + ("," if len(entries) == 1 else "") + ")"
    return without_addresses(str(value))


def _numeric(plain: Any) -> bool:
    """Tell whether a nested list holds numbers, and not strings or objects."""
    return np.asarray(plain).dtype.kind in "biufc"


def _float(number: float, digits: int, zero: float, trusted: int) -> str:
    """Write one float to so many significant digits."""
    if math.isnan(number):
        return "nan"
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    if abs(number) <= zero:
        return "0.0"
    believed = Decimal(f"{number:.{max(trusted, digits) - 1}e}")
    exponent = believed.adjusted()
    step = exponent - digits + 1
    if -5 <= exponent < 12:
        step = min(step, 0)  # never write 123460 for 123456
    result = believed.quantize(Decimal(1).scaleb(step), rounding=ROUND_HALF_EVEN).normalize()
    if -5 <= exponent < 12:
        text = f"{result:f}"
        return text if "." in text else text + ".0"
    mantissa = result.scaleb(-result.adjusted()).normalize()
    return f"{mantissa:f}e{result.adjusted():+03d}"
