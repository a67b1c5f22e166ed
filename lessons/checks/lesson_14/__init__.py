"""Check the exercises of lesson 14, on maps of what a network looks at."""

from __future__ import annotations

from .cams import CAM
from .guides import GUIDING
from .letters import BY_HAND, PASSED
from .slopes import SALIENCY
from .walks import WALK

EXERCISES = [SALIENCY, BY_HAND, CAM, WALK, PASSED, GUIDING]
