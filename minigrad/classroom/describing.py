"""Say in words what a learner handed in, and read numbers out of it."""

from __future__ import annotations

import dis
import math
from collections.abc import Callable, Iterator
from typing import Any

from minigrad.classroom.showing import rounded, without_addresses

_LONGEST = 160
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


def plain(value: Any) -> Any:
    """Turn tensors and arrays, also inside lists, tuples and dicts, into plain Python values.

    Example:
        >>> import numpy as np
        >>> plain((np.array([1.0, 2.0]), None))
        ([1.0, 2.0], None)
    """
    if is_tensor(value):
        return value.detach().tolist() if hasattr(value, "detach") else value.tolist()
    if isinstance(value, tuple | list):
        entries = [plain(entry) for entry in value]
        return tuple(entries) if isinstance(value, tuple) else entries
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    return value


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Walk through nested values and give each single value with the index path that leads to it.

    Example:
        >>> list(leaves([1, (2, None)]))
        [((0,), 1), ((1, 0), 2), ((1, 1), None)]
    """
    value = plain(value)
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from leaves(entry, (*path, key))
    elif isinstance(value, list | tuple):
        for index, entry in enumerate(value):
            yield from leaves(entry, (*path, index))
    else:
        yield path, value


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
    if a is not None and b is not None:
        return agrees(a, b, digits)
    if a is not None or b is not None:
        return False
    return bool(answer == expected)


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
    returned = [step.argval for step in steps if step.opname in {"LOAD_CONST", "RETURN_CONST"}]
    return {step.opname for step in steps} <= _EMPTY_BODY and all(
        constant is None or constant is ... for constant in returned
    )


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


def describe(value: Any, digits: int = 5) -> str:
    """Say in words what a value is.

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
    if is_tensor(value):
        shape = tuple(int(size) for size in value.shape)
        kind = "an array" if type(value).__module__.startswith("numpy") else "a tensor"
        return f"{kind} of shape {shape}: {shortened(rounded(value, digits))}"
    if isinstance(value, tuple | list):
        kind = "a tuple" if isinstance(value, tuple) else "a list"
        return f"{kind}: {shortened(rounded(value, digits))}"
    if isinstance(value, dict):
        return f"a dict: {shortened(rounded(value, digits))}"
    if as_number(value) is not None:
        number = rounded(value, digits) if isinstance(value, float | int) else str(value)
        return f"the number {shortened(number)}"
    if callable(value) and hasattr(value, "__name__"):
        name = value.__name__
        return "a function without a name" if name == "<lambda>" else f"a function, {name}"
    return f"a {type(value).__name__}: {shortened(without_addresses(str(value)))}"


def shortened(text: str) -> str:
    """Cut a long text and bring it onto one line.

    Example:
        >>> len(shortened("word " * 1000))
        160
    """
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 4] + " ..."
