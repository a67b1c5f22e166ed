"""Cases for the operations on slices whose places are listed: select and add."""

from __future__ import annotations

import numpy as np

from .cases import Case, M, added, case

LISTED, SAME = np.array([0, 2]), np.array([1, 1])

CASES: dict[str, list[Case]] = {
    "index_select": [case(lambda x: x[:, [0, 2, 2]], M, then=(1, np.array([0, 2, 2])))],
    "index_add_dim": [
        case(lambda x, y: added(x, (slice(None), SAME), y), M, (2, 2), then=(1, SAME, 1)),
        case(lambda x, y: added(x, (slice(None), LISTED), 3 * y), M, (2, 2), then=(1, LISTED, 3)),
    ],
}
