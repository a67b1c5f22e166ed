"""Time workloads side by side: minigrad, PyTorch, other packages, and NumPy written by hand.

All run in one process and one thread, in alternating rounds; the figures are medians of the ratios
of each round. Before anything is timed, the gradients of a first step are compared. PyTorch against
itself tells how far a ratio can be trusted on this machine.

Import this before NumPy: it holds the libraries to one thread.
"""

from __future__ import annotations

import os

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

import statistics
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))
import minigrad

Step = Callable[[], Any]
# a step of work, and a look at the gradients that the steps so far have left
Work = tuple[Step, Step]
ROUND = 0.01  # seconds that a round of a short step takes at least


@dataclass(frozen=True)
class Workload:
    """What is timed, and how quick it is meant to be.

    Attributes:
        name: As the table says it.
        make: Makes the work with minigrad or with PyTorch.
        by_hand: Makes a step in NumPy that returns the gradients.
        of_torch: Which part of PyTorch's time is the goal; None where PyTorch has no such thing.
        of_hand: The same for NumPy's by hand; None where that is not a goal.
        twin: The same work without hooks or pictures, if this one has some.
        of_twin: Which multiple of the twin's time is the goal.
        peers: Makers of a step that returns the gradients, by the name of a package.
        rounds: How often the libraries take turns.
    """

    name: str
    make: Callable[[ModuleType], Work]
    by_hand: Callable[[], Step] | None
    of_torch: float | None
    of_hand: float | None = None
    twin: Callable[[ModuleType], Work] | None = None
    of_twin: float | None = None
    peers: dict[str, Callable[[], Step]] = field(default_factory=dict)
    rounds: int = 31


def numbers(gradients: Any) -> list[Any]:
    """Give gradients of any library as NumPy's arrays."""
    return [np.asarray(getattr(g, "tolist", lambda g=g: g)()) for g in gradients]


def differs(found: Any, expected: Any) -> bool:
    """Tell whether gradients differ by more than long sums of float32 round differently."""
    pairs = list(zip(numbers(found), expected, strict=True))
    # a wrong rule is wrong by far more
    return any(
        a.shape != b.shape or np.abs(a * 1.0 - b).max() > 2e-4 * np.abs(b * 1.0).max() + 1e-6
        for a, b in pairs
    )


def measure(steps: dict[str, Step], rounds: int) -> dict[str, list[float]]:
    """Time the steps in alternating rounds, in seconds a step.

    A step that is not counted comes first each time: the caches hold what ran before. In each
    round the one that begins is another.
    """
    repeats = {}
    for library, step in steps.items():
        step()
        start = time.perf_counter()
        step()
        repeats[library] = max(1, round(ROUND / (time.perf_counter() - start)))
    times: dict[str, list[float]] = {library: [] for library in steps}
    order = list(steps)
    for _ in range(rounds):
        order.append(order.pop(0))
        for library in order:
            step, repeat = steps[library], repeats[library]
            step()
            start = time.perf_counter()
            for _ in range(repeat):
                step()
            times[library].append((time.perf_counter() - start) / repeat)
    return times


def ratio(times: dict[str, list[float]], a: str, b: str) -> float:
    """Give the median of the ratios of the rounds."""
    return statistics.median(x / y for x, y in zip(times[a], times[b], strict=True))


def run(workload: Workload, torch: ModuleType | None) -> dict[str, Any]:
    """Time one workload; give its figures.

    Returns:
        `seconds`, the median of each library, and `ratios`, minigrad's time as part of theirs;
        `skipped`, the packages that are missing or computed something else, with the reason.
    """
    steps: dict[str, Step] = {}
    skipped: dict[str, str] = {}
    ours = workload.make(minigrad)
    ours[0]()
    expected = numbers(ours[1]())
    steps["minigrad"] = ours[0]
    # full backward hooks of a first layer say so: its input needs no gradient
    warnings.filterwarnings("ignore", "Full backward hook is firing")
    if workload.of_torch is None:
        torch = None
    libraries = {"PyTorch": torch, "PyTorch again": torch} if torch is not None else {}
    for name, library in libraries.items():
        step, gradients = workload.make(library)
        step()
        if differs(gradients(), expected):
            sys.exit(f"{workload.name}: {name} computes another gradient; nothing is timed")
        steps[name] = step
    if workload.by_hand is not None:
        hand = workload.by_hand()
        if differs(hand(), expected):
            sys.exit(f"{workload.name}: by hand there is another gradient; nothing is timed")
        steps["NumPy by hand"] = hand
    if workload.twin is not None:
        steps["the plain step"] = workload.twin(minigrad)[0]
    for name, make in workload.peers.items():
        try:
            step = make()
            found = step()
        except Exception as error:
            skipped[name] = f"{type(error).__name__}: {error}".splitlines()[0]
            continue
        if differs(found, expected):
            skipped[name] = "computes another gradient"
        else:
            steps[name] = step
    times = measure(steps, workload.rounds)
    return {
        "seconds": {name: statistics.median(each) for name, each in times.items()},
        "ratios": {name: ratio(times, "minigrad", name) for name in steps if name != "minigrad"},
        "resolution": ratio(times, "PyTorch again", "PyTorch") if torch is not None else None,
        "skipped": skipped,
    }
