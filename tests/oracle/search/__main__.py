"""Search for differences from PyTorch: `python3 tests --search KIND`.

`tensors` and `modules` run random programs on both libraries, `calls` random calls with wrong
arguments; each difference is made small and printed as a scenario, which goes into a family of
`tests/oracle/scenarios`, is recorded with `tests/oracle/record.py`, and then keeps the mistake from
coming back. `mutation` plants small bugs in the package instead, and names those that no test
notices: `python3 tests --search mutation --help` has its options.
"""

from __future__ import annotations

import argparse
import faulthandler
import itertools
import sys
import time
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType

from .calls import make_call
from .programs import make
from .running import Program, apart_in_kind, compare, looks_at_gradients
from .shrinking import as_scenario, shrink

KINDS = ("tensors", "modules", "calls")


def main(words: list[str]) -> int:
    """Search as asked for; 1 if there is a difference."""
    if words[:1] == ["mutation"]:
        from tests.mutation.__main__ import main as plant

        return plant(words[1:])
    parser = argparse.ArgumentParser(
        prog="python3 tests --search",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("kind", choices=[*KINDS, "mutation"])
    parser.add_argument("--seed", type=int, help="of the first program; else another each time")
    parser.add_argument("--count", type=int, help="how many programs")
    parser.add_argument("--seconds", type=float, default=60, help="for how long, without a count")
    parser.add_argument("--show", type=int, default=3, help="how many differences to make small")
    parser.add_argument("--print", action="store_true", help="print the programs and do no more")
    given = parser.parse_args(words)
    first = time.time_ns() % 10**9 if given.seed is None else given.seed
    seeds: Iterable[int] = (
        range(first, first + given.count) if given.count else itertools.count(first)
    )
    if given.print:
        for seed in seeds if given.count else range(first, first + 1):
            print(f"# seed {seed}", *program(seed, given.kind), "", sep="\n")
        return 0
    try:
        torch = import_module("torch")
    except ModuleNotFoundError:
        print("Searching needs PyTorch: install torch in this environment.")
        return 2
    torch.set_num_threads(1)  # the tensors are small
    seconds = float("inf") if given.count else given.seconds
    return search(given.kind, seeds, torch, seconds, given.show)


def program(seed: int, kind: str) -> Program:
    """Make the program of a seed."""
    return make_call(seed) if kind == "calls" else make(seed, kind)


def differences(made: Program, kind: str, torch: ModuleType) -> list[str]:
    """Say how the libraries differ; of wrong calls the types of errors count."""
    faulthandler.dump_traceback_later(60, exit=True, file=sys.__stderr__)  # if it never ends
    return compare(made, torch, words=kind != "calls")


def search(
    kind: str, seeds: Iterable[int], torch: ModuleType, seconds: float = 1e9, show: int = 3
) -> int:
    """Print the programs that differ, the first ones made small; give 1 if there are any."""
    begin, count, failures = time.perf_counter(), 0, []
    for seed in seeds:
        if time.perf_counter() - begin > seconds:
            break
        if sys.stderr.isatty():
            print(f"\r{seed} ", end="", file=sys.stderr)
        count += 1
        if differences(program(seed, kind), kind, torch):
            failures.append(seed)
            if len(failures) <= show:
                print(explain(seed, kind, torch), flush=True)
    faulthandler.cancel_dump_traceback_later()
    took = time.perf_counter() - begin
    print(f"{len(failures)} of {count} programs differ, {took:.0f} s: {failures[:50]}")
    return 1 if failures else 0


def explain(seed: int, kind: str, torch: ModuleType) -> str:
    """Write the shortest program of a failing seed as a scenario, and what differs."""
    made = program(seed, kind)
    wanted = apart_in_kind(differences(made, kind, torch))

    def fails(shorter: Program) -> bool:
        found = apart_in_kind(differences(shorter, kind, torch))
        return found == wanted and not looks_at_gradients(shorter)

    short = shrink(made, fails)
    found = "\n".join(
        f"# {line[:300]}"
        for each in differences(short, kind, torch)[:2]
        for line in each.split("\n")
    )
    again = f"# seed {seed}: python3 tests --search {kind} --seed {seed} --count 1"
    return f"{again}\n{found}\n{as_scenario(short, torch, f'found_by_{kind}_{seed}')}\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
