"""Time workloads side by side: minigrad, PyTorch where it is installed, and hand-written NumPy.

Each workload runs in one process and one thread, in alternating rounds; the figures are medians of
the ratios of each round. Before anything is timed, the gradients are compared with those written by
hand. PyTorch against itself (A/A) tells how far a ratio can be trusted on this machine.

Import this before NumPy: it holds the libraries to one thread.
"""

from __future__ import annotations

import os

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

import importlib
import importlib.util
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))
import minigrad

Step = Callable[[], Any]
# a step of work, and a look at the gradients that the steps so far have left
Work = tuple[Step, Step]
# its name, how to make it with a library and by hand, and how many steps make a round
Workload = tuple[str, Callable[[ModuleType], Work], Callable[[], Step], int]
ROUNDS = 40


def _numbers(gradients: list[Any]) -> list[Any]:
    return [np.asarray(getattr(g, "tolist", lambda g=g: g)()) for g in gradients]


def check(name: str, by_hand: Step, libraries: dict[str, Work]) -> None:
    """Compare the gradients of a first step with those written by hand."""
    expected = _numbers(by_hand())
    for library, (step, gradients) in libraries.items():
        step()
        for found, wanted in zip(_numbers(gradients()), expected, strict=True):
            # long sums of float32 round differently; a wrong rule is wrong by far more
            room = 2e-4 * np.abs(wanted).max() + 1e-6
            if found.shape != wanted.shape or np.abs(found - wanted).max() > room:
                sys.exit(f"{name}: {library} computes another gradient; nothing is timed")


def measure(steps: dict[str, Step], repeats: int, rounds: int = ROUNDS) -> dict[str, list[float]]:
    """Time the steps in alternating rounds, in seconds a step.

    A step that is not counted comes first each time: the caches hold what ran before.
    """
    times: dict[str, list[float]] = {library: [] for library in steps}
    for _ in range(rounds):
        for library, step in steps.items():
            step()
            start = time.perf_counter()
            for _ in range(repeats):
                step()
            times[library].append((time.perf_counter() - start) / repeats)
    return times


def ratio(times: dict[str, list[float]], a: str, b: str) -> float:
    """Give the median of the ratios of the rounds."""
    return statistics.median(x / y for x, y in zip(times[a], times[b], strict=True))


def run(workloads: Iterable[Workload], rounds: int = ROUNDS) -> None:
    """Print a table of workloads, a line each."""
    torch: Any = None
    if importlib.util.find_spec("torch") is not None:
        torch = importlib.import_module("torch")
        torch.set_num_threads(1)
    for name, make, by_hand, repeats in workloads:
        hand, libraries = by_hand(), {"minigrad": make(minigrad)}
        if torch is not None:
            libraries |= {"torch": make(torch), "torch again": make(torch)}
        check(name, hand, libraries)
        steps = {"hand": hand} | {library: work[0] for library, work in libraries.items()}
        times = measure(steps, repeats, rounds)
        line = f"{name:36s} minigrad {statistics.median(times['minigrad']) * 1e6:9.1f} us"
        line += f"   / hand {ratio(times, 'minigrad', 'hand'):5.2f}"
        if torch is not None:
            line += f"   / torch {ratio(times, 'minigrad', 'torch'):5.2f}"
            line += f"   (torch / torch {ratio(times, 'torch again', 'torch'):4.2f})"
        print(line, flush=True)
