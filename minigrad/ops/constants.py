"""Constants of the formulas: plain Python numbers, which take the type of what they stand beside.

Beside symbols they become exact, as all numbers do.
"""

from __future__ import annotations

import math

PI = math.pi
LN_2 = math.log(2)
LN_10 = math.log(10)
TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)
HALF_ROOT_PI = math.sqrt(math.pi) / 2
DEGREE = math.pi / 180
RADIAN = 180 / math.pi
