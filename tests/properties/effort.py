"""How many examples: few and always the same in the suite, more and others if asked for.

`MINIGRAD_EXAMPLES=100 python3 -m pytest tests/properties` takes a hundred times as many.
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck

MORE = int(os.environ.get("MINIGRAD_EXAMPLES", "1"))
SETTINGS: dict[str, Any] = {
    "deadline": None,
    "derandomize": MORE == 1,
    "database": None,
    "suppress_health_check": list(HealthCheck),
}
