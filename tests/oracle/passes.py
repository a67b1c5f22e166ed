"""Compare backward passes event by event on both libraries, and keep where they part and why.

Needs torch: `python3 tests/oracle/passes.py FAMILY ...` writes the differences of some families,
or of all, to `passes.json`.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

if not __package__:
    # Run as a script: find the package that this file belongs to.
    sys.path.insert(0, str(Path(__file__).parents[1]))
    __package__ = import_module("oracle").__name__

import minigrad
from minigrad.viz import record
from minigrad.viz.comparison import first_difference

from .log import run
from .scenarios import FAMILIES

FILE = Path(__file__).with_suffix(".json")


def recorded_run(scenario: Any, library: ModuleType) -> tuple[list[Any], Any]:
    """Run a scenario while its passes are recorded: what it tells, and the log of the passes."""
    library.manual_seed(0)
    with record() as log:
        told = run(scenario, library)
    return told, log


def reason(ours: Any, theirs: Any) -> str | None:
    """Say why two logs are not equal; None if they are."""
    if first_difference(ours, theirs) is None:
        return None
    names = [Counter(event.node.name for event in log) for log in (ours, theirs)]
    only_ours, only_theirs = (sorted(set(a) - set(b)) for a, b in (names, names[::-1]))
    if only_theirs or only_ours:
        return (
            f"nodes: {' '.join(only_ours) or 'none'} here, {' '.join(only_theirs) or 'none'} there"
        )
    kinds = [
        Counter((type(event).__name__, event.node.name) for event in log) for log in (ours, theirs)
    ]
    return (
        "the same steps, in another order or with other numbers"
        if kinds[0] == kinds[1]
        else ("the same operations, not as often")
    )


def differences(family: str, torch: ModuleType) -> dict[str, str]:
    """Give for each scenario of a family whose passes are not equal the reason."""
    found = {}
    for name, scenario in FAMILIES[family].items():
        (_, ours), (_, theirs) = (recorded_run(scenario, each) for each in (minigrad, torch))
        why = reason(ours, theirs)
        if why is not None:
            found[name] = why
    return found


def main(wanted: list[str]) -> None:
    """Write the differences of the families asked for, or of all."""
    torch = import_module("torch")
    known = json.loads(FILE.read_text(encoding="utf-8")) if wanted and FILE.exists() else {}
    for family in wanted or FAMILIES:
        known.pop(family, None)
        found = differences(family, torch)
        if found:
            known[family] = found
        print(f"{family}: {len(FAMILIES[family])} scenarios, {len(found)} not equal", flush=True)
    text = json.dumps(known, indent=1, sort_keys=True)
    FILE.write_text(text + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
