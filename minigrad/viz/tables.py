"""Write the numbers behind a picture as a table of text that is the same on every machine."""

import math
from collections.abc import Iterable, Sequence


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
    if not math.isfinite(value):
        return str(value)
    rounded = float(f"{value:.{digits - 1}e}")
    if 1e-3 <= abs(rounded) < 10**digits:
        decimals = digits - 1 - math.floor(math.log10(abs(rounded)))
        return f"{rounded:.{max(decimals, 0)}f}"
    return f"{rounded:.{digits - 1}e}"


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
