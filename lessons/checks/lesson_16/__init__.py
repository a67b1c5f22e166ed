"""Check the exercises of lesson 16, on what frameworks build on hooks; draw its figures."""

from __future__ import annotations

from . import meters, pictures, ranks
from .grouping import BUCKETS, COMPRESS
from .halves import HALVES
from .messages import MESSAGES
from .steps import STEPS
from .timing import TIMING

__all__ = ["EXERCISES", "meters", "pictures", "ranks"]

EXERCISES = [STEPS, HALVES, MESSAGES, TIMING, BUCKETS, COMPRESS]
