"""Show a person what a machine that compares outputs must not see: bars, measured numbers."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any

from minigrad.classroom import browser
from minigrad.classroom.display import shell
from minigrad.classroom.values import rounded

_SERVED = "JPY_SESSION_NAME"  # Jupyter's server names the notebook that a kernel was started for


def watched() -> bool:
    """Tell whether a person sees what is printed, at a terminal or in an open notebook.

    What nbval compares and what a release stores runs without Jupyter's server, so nobody watches.

    Example:
        >>> watched()
        False
    """
    if hasattr(shell(), "kernel"):
        served = _SERVED in os.environ or browser.here()
        return served and "PYTEST_VERSION" not in os.environ
    return sys.stderr.isatty()


def progress(iterable: Iterable[Any], description: str = "", **options: Any) -> Iterable[Any]:
    """Go through something with a progress bar, if there is somebody to watch it.

    The bar is tqdm's, and in a notebook it goes away when it is done. Without tqdm, or where nobody
    watches (a notebook that is compared with what it printed before, a file), nothing is shown.

    Args:
        iterable: What the loop goes through, such as a `DataLoader`.
        description: What stands before the bar.
        **options: Passed on to tqdm.

    Returns:
        Something that gives the same in the same order.

    Example:
        >>> sum(progress(range(5), "adding"))
        10
    """
    if not watched():
        return iterable
    try:
        from tqdm import tqdm
    except ImportError:
        return iterable
    if browser.here():
        tqdm.monitor_interval = 0  # its monitor is a thread
    if hasattr(shell(), "kernel"):
        options = {"file": sys.stdout, "leave": False, "ncols": 80} | options
    return tqdm(iterable, desc=description or None, **options)


def measured(
    name: str,
    value: float,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    unit: str = "",
    digits: int = 3,
) -> None:
    """Print that a measured number is within bounds; a person sees the number as well.

    What was measured differs from machine to machine and the bounds do not, so the line can be
    compared. Out of bounds, the line says so and shows the number to everybody.

    Args:
        name: What was measured.
        value: How much it was.
        at_least: The lower bound, if there is one.
        at_most: The upper bound, if there is one.
        unit: Behind each number, such as " %" or " MB".
        digits: Significant digits of the number.

    Raises:
        ValueError: If there is no bound.

    Example:
        >>> measured("right answers", 98.6, at_least=97, unit=" %")
        right answers: at least 97 %
        >>> measured("right answers", 95.04, at_least=97, unit=" %")
        right answers: NOT at least 97 %, but 95.0 %
    """
    bounds = {"at least": at_least, "at most": at_most}
    told = " and ".join(f"{word} {at:g}{unit}" for word, at in bounds.items() if at is not None)
    if not told:
        raise ValueError(f"measured({name!r}): give at_least or at_most, or both")
    low = -float("inf") if at_least is None else at_least
    high = float("inf") if at_most is None else at_most
    number = f"{rounded(float(value), digits)}{unit}"
    if not low <= value <= high:
        print(f"{name}: NOT {told}, but {number}")
    else:
        print(f"{name}: {told}" + (f"  ({number} in this run)" if watched() else ""))
