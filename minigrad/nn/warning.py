"""Warn a user where the cause is: at a line of their own program."""

from __future__ import annotations

import sys
import warnings
from os.path import abspath, dirname

import numpy as np

# Files whose lines are not the user's: this package, and NumPy, through which a backward pass goes.
_NOT_THE_USERS = (dirname(dirname(abspath(__file__))), dirname(abspath(np.__file__)))


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line of the user's program that led here, not at a line of this package."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_NOT_THE_USERS):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)
