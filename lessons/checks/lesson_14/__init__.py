"""Check the exercises of lesson 14, on maps of what a network looks at."""

from __future__ import annotations

from .by_hand import BY_HAND
from .cams import CAM
from .guides import GUIDING
from .slopes import SALIENCY
from .useless import USELESS
from .walks import WALK

EXERCISES = [SALIENCY, BY_HAND, CAM, WALK, USELESS, GUIDING]
