"""Check the exercises of lesson 15, on hooks that change gradients."""

from __future__ import annotations

from .decay import DECAY
from .private import PRIVATE
from .quantize import QUANTIZE
from .samples import SAMPLES
from .step import STEP
from .turn import TURN

EXERCISES = [TURN, QUANTIZE, STEP, SAMPLES, DECAY, PRIVATE]
