"""Plant mutants and see which ones no test notices: `python3 tests --search mutation`.

The first run notes which tests reach which line (some minutes); `--again` repeats that. Then for
each mutant a child process runs the tests that reach its line, until one fails. `survivors.toml`
says which mutants may survive, and why; the others that survive are printed, and the command fails.
A mutant counts as killed only if the same tests, in the same order, pass without it.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from .mutants import Mutant
from .places import ROOMS, all_mutants, load
from .running import OPTIONS, TESTS, Planter, Reached

HERE = Path(__file__).resolve().parent
REACHED = HERE / "reached.json"
FIGURES = HERE.parent / "recorded" / "mutation.json"


def known_survivors() -> dict[str, str]:
    """Give the survivors that were looked at, each with the kind of reason why it may survive."""
    groups = tomllib.loads((HERE / "survivors.toml").read_text(encoding="utf-8"))["group"]
    return {name: group["kind"] for group in groups for name in group["mutants"]}


def main(words: list[str]) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python3 tests --search mutation", description=__doc__)
    parser.add_argument("--again", action="store_true", help="note again what reaches which line")
    parser.add_argument("--room", choices=ROOMS, help="plant in this room alone")
    parser.add_argument("--only", default="", metavar="TEXT", help="those with this in their name")
    parser.add_argument("--count", type=int, default=50, metavar="N", help="of each room; 0: all")
    parser.add_argument("--seed", type=int, help="which ones; else others each time")
    parser.add_argument("--seconds", type=float, default=1e9, help="for how long")
    parser.add_argument("--limit", type=float, default=20, metavar="S", help="of tests per mutant")
    parser.add_argument("--record", action="store_true", help="write the figures of these rooms")
    given = parser.parse_args(words)
    if given.again or not REACHED.exists():
        command = [sys.executable, "-c", "from tests.mutation.__main__ import note; note()"]
        subprocess.run(command, check=True)
    load()
    known, rng = known_survivors(), random.Random(given.seed)
    figures: dict[str, Counter[str]] = {}
    room_of: dict[Mutant, str] = {}
    for room, mutants in all_mutants().items():
        if given.room in (None, room):
            figures[room] = Counter(mutants=len(mutants))
            named = [mutant for mutant in mutants if given.only in mutant.key]
            rng.shuffle(named)
            room_of |= dict.fromkeys(named[: given.count or None], room)
    chosen = rng.sample([*room_of], len(room_of))
    strangers: list[str] = []
    end_of_all = time.monotonic() + given.seconds

    def tell(mutant: Mutant, end: str, tests: int = 0) -> bool:
        if end == "not reached":
            end = "survived"
        figures[room_of[mutant]].update(["planted", end] if end != "not planted" else [end])
        if end == "survived":
            figures[room_of[mutant]][known.get(mutant.key, "not examined")] += 1
            if mutant.key not in known:
                strangers.append(mutant.key)
                print(f"{end} {tests} tests: {mutant.key}  (line {mutant.lines[0]})", flush=True)
        return time.monotonic() < end_of_all

    pytest.main([*OPTIONS, *TESTS.split()], plugins=[Planter(chosen, REACHED, given.limit, tell)])
    print(json.dumps(figures, indent=1))
    if given.record:
        told = json.loads(FIGURES.read_text(encoding="utf-8"))  # of rooms that were left out, too
        text = json.dumps(told | figures, indent=1, sort_keys=True) + "\n"
        FIGURES.write_text(text, encoding="utf-8")
    return 1 if strangers else 0


def note() -> None:
    """Run all tests once and note what they reach."""
    watcher = Reached(REACHED)
    load()
    pytest.main([*OPTIONS, *TESTS.split()], plugins=[watcher])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
