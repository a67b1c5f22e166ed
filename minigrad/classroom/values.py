"""Write values as text, the same on every machine; say in words what they are, and compare them."""

from __future__ import annotations

import dis
import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
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

    def to_output(message: Any, category: Any, *_: Any, **__: Any) -> None:
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
        plain = _listed(value)
        trusted = _TRUSTED_DIGITS.get(str(value.dtype).rpartition(".")[2], 12)
        numbers = np.asarray(plain).dtype.kind in "biuf"  # and not strings or objects
        sizes = np.abs(np.asarray(plain, float)) if numbers else np.zeros(0)
        largest = float(sizes[np.isfinite(sizes)].max(initial=0.0))
        # An entry this much smaller than its neighbors is rounding noise, not a value.
        return _written(plain, digits, zero, trusted, largest * 10.0**-trusted)
    if isinstance(value, float):
        return _float(value, digits, max(zero, scale), trusted)
    if not isinstance(value, Mapping | list | tuple):
        return without_addresses(str(value))

    def inner(entry: Any) -> str:
        return _written(entry, digits, zero, trusted, scale)

    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {inner(entry)}" for key, entry in value.items()) + "}"
    text = ", ".join(repr(each) if isinstance(each, str) else inner(each) for each in value)
    if isinstance(value, list):
        return f"[{text}]"
    return f"({text},)" if len(value) == 1 else f"({text})"


def _listed(array: Any) -> Any:
    """Turn a tensor or an array into nested lists."""
    return array.detach().tolist() if hasattr(array, "detach") else array.tolist()


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


# What the body of a function that only says `...` or `pass` compiles to, in Python 3.11 to 3.14.
_EMPTY_BODY = {"RESUME", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST", "NOP"}


def is_tensor(value: object) -> bool:
    """Tell whether a value is a tensor or an array, by what it can do.

    Example:
        >>> import numpy as np
        >>> is_tensor(np.zeros(2)), is_tensor([0, 0])
        (True, False)
    """
    return hasattr(value, "tolist") and hasattr(value, "shape") and hasattr(value, "dtype")


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Walk through nested values and give each single value with the index path that leads to it.

    A container with nothing in it counts as a single value, whatever its type.

    Example:
        >>> list(leaves([1, (2, None), []]))
        [((0,), 1), ((1, 0), 2), ((1, 1), None), ((2,), ())]
    """
    if is_tensor(value):
        value = _listed(value)
    if not isinstance(value, dict | list | tuple) or not value:
        yield path, () if isinstance(value, dict | list) else value
        return
    for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
        yield from leaves(entry, (*path, key))


def as_number(value: Any) -> float | None:
    """Read one real number out of an int, a float, a fraction, a SymPy number or a small tensor.

    Returns:
        The number, or None where the value is not one number.

    Example:
        >>> from fractions import Fraction
        >>> as_number(Fraction(1, 4)), as_number([0.5]), as_number("0.5"), as_number(True)
        (0.25, None, None, None)
    """
    if is_tensor(value):
        entries = [entry for _, entry in leaves(value)]
        return as_number(entries[0]) if len(entries) == 1 else None
    if isinstance(value, bool | str | bytes | complex) or value is None:
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def agrees(answer: float, expected: float, digits: int) -> bool:
    """Tell whether a number, rounded or cut off after so many digits, is the expected one.

    Example:
        >>> agrees(0.0762, 0.076176, digits=3), agrees(0.08, 0.076176, digits=3)
        (True, False)
    """
    if math.isnan(expected) or math.isinf(expected):
        return answer == expected or (math.isnan(answer) and math.isnan(expected))
    if expected == 0:
        return abs(answer) <= 10.0**-digits
    # One unit in the last digit asked for: so both rounding and cutting off are accepted.
    unit = 10.0 ** (math.floor(math.log10(abs(expected))) - digits + 1)
    return abs(answer - expected) <= unit * (1 + 1e-9)


def as_printed(answer: float, expected: float) -> bool:
    """Tell whether a number is the expected one as a printed tensor shows it, to four decimals.

    Only where three digits or more are left of it.

    Example:
        >>> as_printed(0.0762, 0.076176), as_printed(0.076, 0.076176), as_printed(0.0012, 0.00123)
        (True, False, False)
    """
    if not 0.01 <= abs(expected) < math.inf or math.isnan(answer):
        return False
    return abs(answer - round(expected, 4)) <= 1e-9


def same(answer: Any, expected: Any, digits: int) -> bool:
    """Compare two single values: numbers to so many digits, everything else by equality.

    Example:
        >>> same(0.3333, 1 / 3, digits=4), same(None, 0.0, digits=4), same("a", "a", digits=4)
        (True, False, True)
    """
    a, b = as_number(answer), as_number(expected)
    if a is None and b is None:
        return bool(answer == expected)
    return a is not None and b is not None and agrees(a, b, digits)


def alike(answer: Any, expected: Any, digits: int = 5) -> bool:
    """Compare nested values entry by entry, as `same` does.

    Example:
        >>> alike([0.5, (None, 1)], [0.5, (None, 1.0)]), alike([1, 2], [[1, 2]])
        (True, False)
        >>> alike([[1], []], [[1]]), alike([[], ()], [(), []])
        (False, True)
    """
    have, want = dict(leaves(answer)), dict(leaves(expected))
    return have.keys() == want.keys() and all(same(have[at], want[at], digits) for at in want)


def said_of_factor(
    answers: Iterable[Any], expected: Iterable[Any], said: Mapping[float, str], digits: int
) -> str | None:
    """Give what is said of the factor by which all numbers are off; None where it is none of these.

    Example:
        >>> said_of_factor([2, -4], [-1, 2], {2.0: "twice", -2.0: "turned round"}, digits=4)
        'turned round'
    """
    pairs = [(as_number(a), as_number(b)) for a, b in zip(answers, expected, strict=True)]
    numbers = [(a, b) for a, b in pairs if a is not None and b is not None]
    for factor, text in said.items() if len(numbers) == len(pairs) else ():
        if all(agrees(a / b if b else a, factor * bool(b), digits) for a, b in numbers):
            return text
    return None


def is_stub(function: Callable[..., Any]) -> bool:
    """Tell whether a function has nothing in its body but `...`, `pass` or a docstring.

    Example:
        >>> def later(x): ...
        >>> is_stub(later), is_stub(lambda x: 2 * x)
        (True, False)
    """
    code = getattr(function, "__code__", None)
    if code is None:
        return False
    steps = list(dis.get_instructions(code))
    returned = {step.argval for step in steps if step.opname in {"LOAD_CONST", "RETURN_CONST"}}
    return {step.opname for step in steps} <= _EMPTY_BODY and returned <= {None, ...}


def is_unattempted(answer: Any) -> bool:
    """Tell whether an answer is still the placeholder that the lesson came with.

    Example:
        >>> is_unattempted(...), is_unattempted((..., ...)), is_unattempted(0)
        (True, True, False)
    """
    if answer is ...:
        return True
    if isinstance(answer, str):
        return answer.strip(" .") == ""
    if isinstance(answer, tuple | list) and answer:
        # None may be meant, as an entry of a hook's grad_input; ... never is.
        blank = [isinstance(entry, str) and entry.strip(" .") == "" for entry in answer]
        return all(blank) or any(entry is ... for entry in answer)
    return callable(answer) and is_stub(answer)


def describe(value: Any, digits: int = 5, zero: float = 1e-12) -> str:
    """Say in words what a value is.

    Args:
        value: of any kind.
        digits: significant digits of each float.
        zero: floats of at most this size are written as 0.0.

    Example:
        >>> describe(0.1 + 0.2), describe("b"), describe([1.0])
        ('the number 0.3', "the text 'b'", 'a list: [1.0]')
        >>> describe(len)
        'a function, len'
    """
    if value is None:
        return "None"
    if isinstance(value, bool):
        return f"the truth value {value}"
    if isinstance(value, str):
        return f"the text {shortened(repr(value))}"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    kind = ""
    if is_tensor(value):
        kind = "an array" if type(value).__module__.startswith("numpy") else "a tensor"
        kind += f" of shape {tuple(int(size) for size in value.shape)}:"
    elif isinstance(value, tuple | list | dict):
        kinds = (each.__name__ for each in (tuple, list, dict) if isinstance(value, each))
        kind = f"a {next(kinds)}:"
    elif as_number(value) is not None:
        if not isinstance(value, float | int):
            return f"the number {shortened(str(value))}"
        kind = "the number"
    if kind:
        return f"{kind} {shortened(rounded(value, digits, zero))}"
    if callable(value) and hasattr(value, "__name__"):
        name = value.__name__
        return "a function without a name" if name == "<lambda>" else f"a function, {name}"
    return f"a {type(value).__name__}: {shortened(without_addresses(str(value)))}"


def shortened(text: str, longest: int = 160) -> str:
    """Cut a long text and bring it onto one line.

    Example:
        >>> len(shortened("word " * 1000))
        160
    """
    text = " ".join(text.split())
    return text if len(text) <= longest else text[: longest - 4] + " ..."
