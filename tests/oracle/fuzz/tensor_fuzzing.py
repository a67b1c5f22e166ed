"""Look for tensor programs in which minigrad differs from torch, and make them short."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from types import ModuleType

import minigrad

from .program_maker import make
from .programs import Program, Statement, run_program, source
from .shrink import shrink
from .tensor_compare import differences


def twice_differentiable(program: Program) -> bool:
    """Tell whether a program makes gradients with a graph: what nodes that has is told by values.

    A rule of ours may be composed of several operations where PyTorch has one kernel.
    """
    return any("create_graph" in statement.text for statement in program)


def compare(program: Program, torch: ModuleType) -> list[str]:
    """Run a program on both and list the differences."""
    expected, actual = run_program(program, torch), run_program(program, minigrad)
    found = differences(expected, actual)
    names = not twice_differentiable(program)
    if found and not names:
        found = differences(expected, actual, names=False)
    if found and not differences(expected, actual, infinitely=True, names=names):
        # only numbers differ: can PyTorch itself tell them, or do they hang on rounding?
        shaken = run_program(program, torch, shaken=True)
        if differences(expected, shaken, names=names):
            return []
    return found


def simpler(statement: Statement) -> Iterator[Statement]:
    """Give what a statement may be replaced by: less to look at, no grad mode of its own."""
    if statement.looks:
        yield statement._replace(looks="")
    _, found, rest = statement.text.partition("_grad(): ")
    if found:
        yield statement._replace(text=rest)


def explain(seed: int, torch: ModuleType) -> str:
    """Write the shortest program of a failing seed, what differs, and how to see it again."""
    short = shrink(make(seed), lambda program: bool(compare(program, torch)), simpler)
    found = "\n".join(f"    {line[:400]}" for line in compare(short, torch)[:2])
    again = f"python3 tests/oracle/fuzz_tensors.py --seed {seed} --count 1"
    return f"seed {seed} ({again}):\n{source(short)}\n{found}"


def search(seeds: Iterable[int], torch: ModuleType, show: int) -> int:
    """Print the failures, the first ones made short; give 1 if there are any."""
    begin, count, failures = time.perf_counter(), 0, []
    for seed in seeds:
        count += 1
        if compare(make(seed), torch):
            failures.append(seed)
            if len(failures) <= show:
                print(explain(seed, torch), flush=True)
    seconds = time.perf_counter() - begin
    print(f"{len(failures)} of {count} programs differ, {seconds:.0f} s: {failures[:50]}")
    return 1 if failures else 0
