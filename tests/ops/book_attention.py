"""Cases for attention."""

from __future__ import annotations

from .cases import Case, M, case, softmax_of

CASES: dict[str, list[Case]] = {
    "safe_softmax": [case(lambda x: softmax_of(x, 1), M, then=(1,))],
}
