"""Plant mutants and see which ones no test notices: `python -m tests.mutation`.

The first run notes which tests reach which line (some minutes); `--anew` notes it again. Then for
each mutant a child process runs the tests that reach its line, until one fails. `survivors.toml`
says which mutants may survive, and why; the others that survive are printed, and the command fails.
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
from .places import all_mutants, load
from .running import OPTIONS, TESTS, Planter, Reached

HERE = Path(__file__).resolve().parent
REACHED = HERE / "reached.json"
SURVIVORS = HERE / "survivors.toml"
FIGURES = HERE.parent / "recorded" / "mutation.json"


def known_survivors() -> dict[str, str]:
    """Give the survivors that were looked at, each with the reason why it may survive."""
    groups = tomllib.loads(SURVIVORS.read_text(encoding="utf-8"))["group"]
    return {name: group["why"] for group in groups for name in group["mutants"]}


def main(words: list[str]) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--anew", action="store_true", help="note again what reaches which line")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="plant each Nth mutant")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="begin with this one")
    parser.add_argument("--room", default="", help="plant in this room alone")
    parser.add_argument("--only", default="", metavar="TEXT", help="those with this in their name")
    parser.add_argument("--limit", type=float, default=20, metavar="S", help="of tests per mutant")
    parser.add_argument("--record", action="store_true", help=f"write {FIGURES.name}")
    given = parser.parse_args(words)
    if given.anew or not REACHED.exists():
        command = [sys.executable, "-c", "from tests.mutation.__main__ import note; note()"]
        subprocess.run(command, check=True)
    load()
    known, rooms = known_survivors(), all_mutants()
    room_of = {mutant: room for room, mutants in rooms.items() for mutant in mutants}
    if given.room:
        rooms = {given.room: rooms[given.room]}
    chosen = [m for ms in rooms.values() for m in ms if given.only in m.key]
    chosen = chosen[given.first :: given.every]
    figures = {room: Counter(mutants=len(mutants)) for room, mutants in rooms.items()}
    strangers: list[str] = []

    def tell(mutant: Mutant, end: str, test: str, tests: int, seconds: float) -> None:
        room = figures[room_of[mutant]]
        room["not planted" if end == "not planted" else "planted"] += 1
        if end in ("survived", "not reached"):
            examined = mutant.key in known
            room["examined" if examined else "unexamined"] += 1
            if not examined:
                strangers.append(mutant.key)
                print(f"{end}, {tests} tests: {mutant.key}  (line {mutant.lines[0]})", flush=True)
        elif end == "killed":
            room["killed"] += 1

    planter = Planter(chosen, REACHED, given.limit, tell)
    pytest.main([*OPTIONS, *TESTS.split()], plugins=[planter])
    print(json.dumps(figures, indent=1))
    if given.record:
        FIGURES.write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return 1 if strangers else 0


def note() -> None:
    """Run all tests once and note what they reach."""
    watcher = Reached(REACHED)
    load()
    pytest.main([*OPTIONS, *TESTS.split()], plugins=[watcher])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
