"""NumPy references for the operations on what numbers are made of."""

from __future__ import annotations

import numpy as np

from .cases import Case, M, V, case

POWER = np.array([0.5, 1.0, 2.0, 4.0], np.float16)  # exact in every type, and promotes none

CASES: dict[str, list[Case]] = {
    "mantissa": [case(lambda x: x / POWER, V, then=(POWER,))],
    "angle": [case(lambda x: np.where(x < 0, np.pi, 0.0), V)],
    "narrow_copy": [case(lambda x: x[:, 1:3], M, then=(1, 1, 3))],
}
# A tiny step is nothing to a difference quotient, which so sees a derivative of 1 as here; but the
# reference is right only up to rounding.
CASES["nextafter"] = [case(lambda x, y: np.nextafter(x, y), V, V)]
