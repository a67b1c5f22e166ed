"""Record what PyTorch does with each operation: `python3 -m tests.operations.record`."""

from __future__ import annotations

import sys
from collections import Counter
from importlib import import_module
from typing import Any

import minigrad
from tests.oracle.log import run
from tests.oracle.store import dump

from .running import HERE, OPEN, SCENARIOS

FOLDER = HERE / "recorded"


def reached(theirs: list[Any], ours: list[Any]) -> list[Any]:
    """Leave out of PyTorch's log what is not reached and may be so."""
    labels = [
        [e[0] if isinstance(e[0], str) else "a warning" for e in each] for each in (theirs, ours)
    ]
    alike = labels[0] == labels[1]
    return [
        [event[0], None] if alike and event[0] in OPEN and event != other else event
        for event, other in zip(theirs, ours if alike else theirs, strict=True)
    ]


def main(families: list[str]) -> None:
    """Record some families, or all; stop where an operation does not run."""
    torch = import_module("torch")
    version = torch.__version__.split("+")[0]
    for family in families or SCENARIOS:
        logs = {}
        for name, scenario in SCENARIOS[family].items():
            logs[name] = reached(run(scenario, torch), run(scenario, minigrad))
            if logs[name][-1][0] == "stopped by":
                raise SystemExit(f"{family}: {name} does not run: {logs[name][-1]}")
        text = dump(version, logs)
        (FOLDER / f"{family}.json").write_text(text, encoding="utf-8", newline="\n")
        counts = Counter(event[0] for log in logs.values() for event in log if event[1:] == [None])
        print(f"{family}: {len(logs)} operations; not reached: {dict(counts)}")


if __name__ == "__main__":
    main(sys.argv[1:])
