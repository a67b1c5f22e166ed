"""Record a scenario's backward passes on both libraries, and say where and why they part.

`python3 -m tests.oracle.passes` writes `parts.json`, the list of those that do; with names of
families after it, only these are written again. `reasons.py` has the reasons.
"""

from __future__ import annotations

import gc
import json
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import minigrad
from minigrad.viz import record
from minigrad.viz.comparison import first_difference

from .log import run
from .reasons import reasons_of
from .scenarios import FAMILIES

PARTS = Path(__file__).parent / "parts.json"


def recorded_run(scenario: Any, library: ModuleType) -> tuple[list[Any], Any]:
    """Run a scenario while its passes are recorded: what it tells, and the log of the passes."""
    library.manual_seed(0)
    gc.disable()  # a leaf whose old graph waits for the collector keeps its node for the next pass
    try:
        with record() as log:
            told = run(scenario, library)
    finally:
        gc.enable()
    return told, log


def part(ours: Any, theirs: Any) -> dict[str, Any] | None:
    """Say where two logs part, and which nodes only one of them has; None if they are equal.

    Numbers are left out: they may round in another way on another machine.
    """
    place = first_difference(ours, theirs)
    if place is None:
        return None
    nodes = [{*Counter(each.node.name for each in log)} for log in (ours, theirs)]
    return {
        "event": place,
        "here": _event(ours, place),
        "there": _event(theirs, place),
        "only here": " ".join(sorted(nodes[0] - nodes[1])),
        "only there": " ".join(sorted(nodes[1] - nodes[0])),
    }


def _event(log: Any, place: int) -> str:
    if place >= len(log):
        return "no more"
    return f"{log[place].node}: {log[place]._columns()[0]}"


def family_parts(family: str, torch: ModuleType) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Compare the passes of a family's scenarios.

    Returns:
        How many have passes, and the parts of those whose passes are not equal; and what each
        scenario told of PyTorch while it was recorded.
    """
    found: dict[str, Any] = {"with passes": 0, "parts": {}}
    said = {}
    for name, scenario in FAMILIES[family].items():
        (_, ours), (said[name], theirs) = (recorded_run(scenario, a) for a in (minigrad, torch))
        found["with passes"] += bool(len(ours) or len(theirs))
        apart = part(ours, theirs)
        if apart is not None:
            found["parts"][name] = apart | {"why": reasons_of(family, name, apart)}
    return found, said


def stored() -> dict[str, Any]:
    """Give the list: for each family how many scenarios have passes, and those that part."""
    listed: dict[str, Any] = json.loads(PARTS.read_text(encoding="utf-8"))
    return listed


def dump(listed: dict[str, Any]) -> str:
    """Write the list as text, a line for each scenario."""
    families = []
    for family in sorted(listed):
        count, parts = listed[family]["with passes"], listed[family]["parts"]
        lines = ",\n".join(f"   {json.dumps(name)}: {json.dumps(parts[name])}" for name in parts)
        families.append(
            f' {json.dumps(family)}: {{\n  "with passes": {count},\n'
            f'  "parts": {{{f"{chr(10)}{lines}{chr(10)}  " if lines else ""}}}\n }}'
        )
    return "{\n" + ",\n".join(families) + "\n}\n"


def figures(listed: dict[str, Any]) -> tuple[int, int]:
    """Count the scenarios with passes, and those of them whose passes are equal."""
    all_of_them = sum(each["with passes"] for each in listed.values())
    return all_of_them, all_of_them - sum(len(each["parts"]) for each in listed.values())


def main(families: list[str]) -> int:
    """Write the list, and tell the scenarios that have no reason yet."""
    import torch

    gc.freeze()  # recording looks through all that the collector knows
    listed = stored() if families else {}
    for family in families or FAMILIES:
        listed[family], _ = family_parts(family, torch)
        for name, each in listed[family]["parts"].items():
            if not each["why"]:
                print(family, name, each, sep=" | ")
    PARTS.write_text(dump(listed), encoding="utf-8", newline="\n")
    print("{} scenarios with passes, {} equal".format(*figures(listed)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
