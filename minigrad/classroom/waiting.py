"""See how far a long loop has come."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, TypeVar

T = TypeVar("T")


def progress(iterable: Iterable[T], description: str = "", **options: Any) -> Iterable[T]:
    """Go through something with a progress bar, if there is somebody to watch it.

    The bar is tqdm's. Without tqdm, or where the output is no terminal (in a notebook that is
    compared with what it printed before, or in a file), nothing is shown.

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
    if not sys.stderr.isatty():
        return iterable
    try:
        from tqdm import tqdm
    except ImportError:
        return iterable
    return tqdm(iterable, desc=description or None, **options)  # type: ignore[no-any-return]
