"""Plant mutants and see which ones no test notices: `python -m tests.mutation`.

The first run notes which tests reach which line (some minutes); `--anew` notes it again. Then for
each mutant a child process runs the tests that reach its line, until one fails. `survivors.toml`
says which mutants may survive, and why; the others that survive are printed, and the command fails.
A mutant counts as killed only if the same tests, in the same order, pass without it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from .mutants import Mutant
from .places import ROOMS, all_mutants, load
from .running import OPTIONS, TESTS, Planter, Reached

HERE = Path(__file__).resolve().parent
REACHED, RESULTS = HERE / "reached.json", HERE / "results.jsonl"
SURVIVORS = HERE / "survivors.toml"
FIGURES = HERE.parent / "recorded" / "mutation.json"
EVERY = {"heart": 3, "autograd": 12, "rules": 14, "module": 1}  # which part is planted of each room


def known_survivors() -> dict[str, str]:
    """Give the survivors that were looked at, each with the kind of reason why it may survive."""
    groups = tomllib.loads(SURVIVORS.read_text(encoding="utf-8"))["group"]
    return {name: group["kind"] for group in groups for name in group["mutants"]}


def main(words: list[str]) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--anew", action="store_true", help="note again what reaches which line")
    parser.add_argument("--every", type=int, metavar="N", help="plant each Nth, 1 for all of them")
    parser.add_argument("--offset", type=int, default=0, metavar="N", help="leave out the first N")
    parser.add_argument("--room", choices=ROOMS, help="plant in this room alone")
    parser.add_argument("--only", default="", metavar="TEXT", help="those with this in their name")
    parser.add_argument("--limit", type=float, default=20, metavar="S", help="of tests per mutant")
    parser.add_argument("--resume", action="store_true", help="keep what earlier runs have found")
    parser.add_argument("--again", action="store_true", help="plant again what survived in them")
    parser.add_argument("--record", action="store_true", help="plant nothing, write the figures")
    given = parser.parse_args(words)
    if given.anew or not REACHED.exists():
        command = [sys.executable, "-c", "from tests.mutation.__main__ import note; note()"]
        subprocess.run(command, check=True)
    load()
    known, rooms = known_survivors(), all_mutants()
    figures = {room: Counter(mutants=len(mutants)) for room, mutants in rooms.items()}
    room_of: dict[Mutant, str] = {}
    for room in [given.room] if given.room else ROOMS:
        named = [mutant for mutant in rooms[room] if given.only in mutant.key]
        step = given.every or (1 if given.only else EVERY[room])
        room_of |= dict.fromkeys(named[given.offset :: step], room)
    if not (given.resume or given.again or given.record):
        RESULTS.unlink(missing_ok=True)
    ended = dict(map(json.loads, RESULTS.read_text().splitlines())) if RESULTS.exists() else {}
    if given.again:
        ended = {key: end for key, end in ended.items() if end == "killed"}
    strangers: list[str] = []

    def tell(mutant: Mutant, end: str, tests: int = 0) -> None:
        if mutant.key not in ended:
            with RESULTS.open("a") as file:
                file.write(json.dumps([mutant.key, end]) + "\n")
        if end == "not reached":
            end = "survived"
        figures[room_of[mutant]].update(["planted", end] if end != "not planted" else [end])
        if end == "survived":
            figures[room_of[mutant]][known.get(mutant.key, "not examined")] += 1
            if mutant.key not in known:
                strangers.append(mutant.key)
                print(f"{end} {tests} tests: {mutant.key}  (line {mutant.lines[0]})", flush=True)

    for mutant in room_of:
        if mutant.key in ended:
            tell(mutant, ended[mutant.key])
    left = [mutant for mutant in room_of if mutant.key not in ended]
    if left and not given.record:
        pytest.main([*OPTIONS, *TESTS.split()], plugins=[Planter(left, REACHED, given.limit, tell)])
    print(json.dumps(figures, indent=1))
    if given.record:
        told = json.loads(FIGURES.read_text(encoding="utf-8"))  # of rooms that were left out, too
        told |= {room: counts for room, counts in figures.items() if counts["planted"]}
        FIGURES.write_text(json.dumps(told, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return 1 if strangers else 0


def note() -> None:
    """Run all tests once and note what they reach."""
    watcher = Reached(REACHED)
    load()
    pytest.main([*OPTIONS, *TESTS.split()], plugins=[watcher])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
