"""Record what PyTorch does in every scenario (needs torch): ``python3 tests/oracle/record.py``."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

if not __package__:
    # Run as a script: find the package that this file belongs to.
    sys.path[:0] = map(str, Path(__file__).parents[1:3])
    __package__ = import_module("oracle").__name__

from . import store
from .log import run
from .scenarios import FAMILIES


def main(wanted: list[str]) -> None:
    """Record the families asked for, or all; stop where a scenario itself is broken."""
    torch = import_module("torch")
    version = torch.__version__.split("+")[0]
    for family, scenarios in FAMILIES.items():
        if wanted and family not in wanted:
            continue
        logs = {name: run(scenario, torch) for name, scenario in scenarios.items()}
        for name, events in logs.items():
            if not events or events[-1][0] == "stopped by":
                raise SystemExit(f"{family}: {name} is broken: {events[-1:]}")
        store.write(family, version, logs)
        print(f"{family}: {len(logs)} scenarios, {sum(map(len, logs.values()))} events")
    if not wanted:
        for path in store.FOLDER.glob("*.json"):
            if path.stem not in FAMILIES:
                path.unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
