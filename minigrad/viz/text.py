"""Turn numbers, shapes and tables into text by one rule, and know how wide a text will be."""

import math
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import groupby
from textwrap import wrap
from typing import Any

WIDE = 100  # columns of a terminal

MONOSPACE = "monospace"
SANS = "sans-serif"

# Advance widths in hundredths of an em for the printable ASCII characters, as DejaVu Sans has them
# (regular, then bold): the widest of the fonts that browsers take for "sans-serif". A label
# measured with them fits in all the narrower ones, so no label is ever cut.
_REGULAR = (
    "32 40 46 84 64 95 78 27 39 39 50 84 32 36 32 34 64 64 64 64 64 64 64 64 64 64 34 34 84 "
    "84 84 53 100 68 69 70 77 63 58 77 75 29 29 66 56 86 75 79 60 79 69 63 61 73 68 99 69 61 "
    "69 39 34 39 84 50 50 61 63 55 63 62 35 63 63 28 28 58 28 97 63 61 63 63 41 52 39 63 59 "
    "82 59 59 52 64 34 64 84"
)
_BOLD = (
    "35 46 52 84 70 100 87 31 46 46 52 84 38 42 38 37 70 70 70 70 70 70 70 70 70 70 40 40 84 "
    "84 84 58 100 77 76 73 83 68 68 82 84 37 37 77 64 100 84 85 73 85 77 72 68 81 77 110 77 "
    "72 73 46 37 46 84 50 50 67 72 59 72 68 44 72 71 34 34 67 34 104 71 69 72 72 49 60 48 71 "
    "65 92 65 65 58 71 37 71 84"
)
_SANS = {
    bold: {chr(at): int(width) / 100 for at, width in enumerate(widths.split(), ord(" "))}
    for bold, widths in ((False, _REGULAR), (True, _BOLD))
}


@cache
def _advance(character: str, family: str, bold: bool) -> float:
    """Give the width of a character in ems."""
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.1
    return 0.62 if family == MONOSPACE else _SANS[bold].get(character, 0.85)


@lru_cache(4096)  # a text is measured where it gets its room, and where it is written
def text_width(text: str, size: float, family: str = MONOSPACE, bold: bool = False) -> float:
    """Estimate from a fixed table how wide `text` is, on the safe side.

    Args:
        text: one line.
        size: the font size in pixels.
        family: `"monospace"` or `"sans-serif"`.
        bold: whether it is set in bold.

    Returns:
        The width in pixels; the same on every machine, whatever fonts it has.

    Example:
        >>> text_width("PowBackward0", 12)
        89.28
    """
    ems = 0.0
    for character in text:
        ems += _advance(character, family, bold)
    return round(ems * size, 2)


def format_number(value: Any, digits: int = 4) -> str:
    """Write one number the way every picture writes it.

    Fixed point with `digits` decimals, as PyTorch prints small tensors; scientific where fixed
    point would show nothing (too small) or too much (too large). Never a negative zero.

    Args:
        value: a Python or NumPy number, or anything else (a formula), which is shown as its text.
        digits: decimals to show.

    Returns:
        The text.

    Example:
        >>> format_number(-0.40796), format_number(3), format_number(1e-7), format_number(-0.0)
        ('-0.4080', '3', '1.0000e-07', '0.0000')
    """
    if not isinstance(value, float) or not math.isfinite(value):
        text = str(value)
        return text if isinstance(value, int) or len(text) <= 32 else text[:29] + "..."
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        return f"{0:.{digits}f}" if value == 0 else f"{value:.{digits}e}"
    return text if abs(value) < 1e6 else f"{value:.{digits}e}"


def format_values(nested: Any, digits: int = 4) -> str:
    """Write the few entries of a small tensor on one line.

    Args:
        nested: a number, or nested lists of numbers, as `tolist()` gives them.
        digits: decimals to show.

    Returns:
        The text; a tensor with one entry is written as that number, whatever its shape.

    Example:
        >>> format_values([[0.3]]), format_values([1.0, -2.5], digits=1)
        ('0.3000', '[1.0, -2.5]')
    """
    inner = nested
    while isinstance(inner, list) and len(inner) == 1:
        inner = inner[0]
    return _bracketed(nested if isinstance(inner, list) else inner, digits)


def _bracketed(nested: Any, digits: int) -> str:
    if not isinstance(nested, list):
        return format_number(nested, digits)
    # As deep as a tensor has dimensions, and only for tensors of a few entries.
    return "[" + ", ".join(_bracketed(item, digits) for item in nested) + "]"


def format_shape(shape: Iterable[int]) -> str:
    """Write a shape as Python writes a tuple.

    Example:
        >>> format_shape([2, 3]), format_shape([1]), format_shape([])
        ('(2, 3)', '(1,)', '()')
    """
    return str(tuple(int(size) for size in shape))


def counted(number: int, word: str) -> str:
    """Say how many of something there are.

    Example:
        >>> counted(1, "node"), counted(2, "node")
        ('1 node', '2 nodes')
    """
    return f"{number} {word}{'' if number == 1 else 's'}"


def significant(value: float | None, digits: int = 3) -> str:
    """Write a number with a few significant digits, the same width for most.

    Args:
        value: The number; None, for none at all, is written as a dash.
        digits: How many digits.

    Example:
        >>> [significant(value) for value in (1.0, 0.012345, 3.2e-7, 123456.0, 0.0, None)]
        ['1.00', '0.0123', '3.20e-07', '1.23e+05', '0', '-']
    """
    if value is None:
        return "-"
    if value == 0:
        return "0"
    text = f"{value:#.{digits}g}".rstrip(".")
    return text if abs(float(text)) >= 1e-3 else f"{value:.{digits - 1}e}"


def fitted(line: str, indent: int = 4, width: int = WIDE) -> list[str]:
    """Break a line that is too wide; what is broken off is indented.

    Example:
        >>> fitted("grad_input is (1.0, -2.0)", indent=2, width=16)
        ['grad_input is', '  (1.0, -2.0)']
    """
    return wrap(line, width, subsequent_indent=" " * indent, break_on_hyphens=False)


def ranges(numbers: Sequence[int]) -> str:
    """Write numbers in order, those in a row as ranges.

    Example:
        >>> ranges([2, 3, 4, 7, 9, 10])
        '2-4 7 9-10'
    """
    told = []
    for _, pairs in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        row = [str(number) for _, number in pairs]
        told.append("-".join(row[:: max(1, len(row) - 1)]))
    return " ".join(told)


def text_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], left: Sequence[int] = (0,)
) -> str:
    """Write a table: names to the left, numbers to the right of their columns.

    Args:
        head: The columns' names.
        rows: The cells of each row.
        left: The columns that stand to the left.

    Example:
        >>> print(text_table(["layer", "norm"], [["fc1", "0.5"], ["fc2", "10.25"]]))
        layer   norm
        fc1      0.5
        fc2    10.25
    """
    lines = [list(head), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place in left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
