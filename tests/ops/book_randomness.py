"""Cases for random numbers in the place of a tensor, which no gradient passes."""

from __future__ import annotations

import numpy as np

from .cases import Case, V, case

DRAWN = np.array([0.0, 1.0, 1.0, 0.0])

CASES: dict[str, list[Case]] = {
    name: [case(lambda x: DRAWN, V, then=(DRAWN,))]
    for name in (
        "bernoulli",
        "bernoulli_draw",
        "normal_draw",
        "random_draw",
        "uniform_draw",
    )
}
CASES |= {
    name: [case(lambda x, y: DRAWN, V, V, then=(DRAWN,))]
    for name in ("bernoulli_chances", "normal_of_two")
}
