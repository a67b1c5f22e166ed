"""Make hostile calls and print what is wrong: `python -m tests.oracle.hostile --seed 1`."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

from .judge import KINDS, groups
from .running import outcomes

RECORDED = Path(__file__).parents[2] / "recorded" / "hostile.json"
SOURCES = ("functions", "objects", "signatures")


def told_of(told: dict[str, Any], module: str) -> str:
    """Put what came of a call into a line."""
    if "died" in told:
        return f"died with {told['code']}"
    made = told[module]
    failed = made if "error" in made else made.get("backward")
    if failed:
        says = failed["says"].split("\n")[0][:150]
        return f"{'' if failed is made else 'backward: '}{failed['error'][0]}: {says}"
    return str(made)[:300]


def record(seed: int, count: int) -> None:
    """Write down how many calls of a seed end otherwise than in PyTorch."""
    told: dict[str, dict[str, int]] = {}
    for source in SOURCES:
        counts = {"seed": seed, "calls": count, **dict.fromkeys(KINDS, 0)}
        for (kind, _), found in groups(outcomes(source, seed, count)).items():
            counts[kind] += len(found)
        told[source] = counts
        print(source, counts, flush=True)
    RECORDED.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8", newline="\n")


def main() -> None:
    """Read the arguments, run, and print groups."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--source", choices=SOURCES, default=SOURCES[0], help="made of what")
    parser.add_argument("--objects", dest="source", action="store_const", const="objects")
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--examples", type=int, default=1)
    parser.add_argument("--record", action="store_true", help="make all kinds, write the counts")
    options = parser.parse_args()
    if options.record:
        record(options.seed, options.count)
        return
    found = groups(outcomes(options.source, options.seed, options.count))
    counts: Counter[str] = Counter()
    for (kind, where), all_told in found.items():
        counts[kind] += len(all_told)
        if options.kind in (None, kind):
            print(f"{kind} {len(all_told)}  {where}")
            for told in sorted(all_told, key=lambda each: len(each["call"]))[: options.examples]:
                print(f"    {told['call']}")
                print(f"      here   {told_of(told, 'minigrad')}")
                print(f"      there  {told_of(told, 'torch')}")
    places = Counter(kind for kind, _ in found)
    for kind, what in KINDS.items():
        print(f"{counts[kind]:6} in {places[kind]:4} places: {what}")


if __name__ == "__main__":
    main()
