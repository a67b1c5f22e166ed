"""Get every scenario by family: small programs that run on torch and on minigrad and write down
what happened.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from ..log import Scenario

FAMILIES: dict[str, dict[str, Scenario]] = {
    path.stem: import_module(f"{__name__}.{path.stem}").family
    for path in sorted(Path(__file__).parent.glob("*.py"))
    if not path.stem.startswith(("__init__", "tools"))
}
