"""Read and write the recorded logs: one JSON file a family, one event a line."""

from __future__ import annotations

import gc
import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "recorded"


@cache
def read(family: str) -> dict[str, Any]:
    """Give a family's record: PyTorch's version under "torch", logs by scenario under
    "scenarios".
    """
    record: dict[str, Any] = json.loads((FOLDER / f"{family}.json").read_text(encoding="utf-8"))
    gc.freeze()  # it stays; many scenarios look for garbage, and need not look here
    return record


def dump(version: str, logs: dict[str, list[Any]]) -> str:
    """Write a family's record as text, scenarios sorted by name."""
    scenarios = []
    for name in sorted(logs):
        events = ",\n".join(f"      {json.dumps(event, allow_nan=False)}" for event in logs[name])
        scenarios.append(f"    {json.dumps(name)}: [\n{events}\n    ]")
    body = ",\n".join(scenarios)
    return f'{{\n  "torch": {json.dumps(version)},\n  "scenarios": {{\n{body}\n  }}\n}}\n'


def write(family: str, version: str, logs: dict[str, list[Any]]) -> None:
    """Keep a family's record."""
    (FOLDER / f"{family}.json").write_text(dump(version, logs), encoding="utf-8", newline="\n")
