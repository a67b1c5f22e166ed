"""What the pieces of a step cost: a Python call, a NumPy call, a node, a hook; and where that ends.

Each piece is the difference of two loops, one with it and one without, run in turns. What importing
costs is the time of a process that does nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from timing import measure

# isort: split
import os
import statistics
import subprocess
import sys
import time

import numpy as np

import minigrad
from minigrad import nn

FEW, TIMES = 16, 200
# entries of the arrays at which the tape is compared with the numbers
SIZES = (1, 16, 256, 4096, 65536, 1048576)


def _loop(call: Callable[[], Any]) -> Callable[[], None]:
    def loop() -> None:
        for _ in range(TIMES):
            call()

    return loop


def _nothing() -> None:
    """Do nothing."""


def _turns() -> None:
    for _ in range(TIMES):
        pass


def pieces() -> dict[str, float]:
    """Give in nanoseconds what each piece costs, with arrays of 16 numbers."""
    a, b = np.linspace(0.5, 1.5, FEW, dtype=np.float32), np.full(FEW, 1.5, np.float32)
    x, y = minigrad.tensor(a), minigrad.tensor(b)
    leaf, seed = minigrad.tensor(a, requires_grad=True), minigrad.ones(FEW)
    identity = nn.Identity()
    hooked = nn.Identity()
    hooked.register_forward_hook(lambda module, args, output: None)
    layer, bare = nn.Identity(), nn.Identity()
    layer.register_full_backward_hook(lambda module, grad_input, grad_output: None)

    def backward(length: int, hooks: bool = False) -> Callable[[], None]:
        def step() -> None:
            h = leaf
            for _ in range(length):
                h = h * y
                if hooks:
                    h.register_hook(lambda grad: None)
            h.backward(seed)

        return step

    def through(module: nn.Module) -> Callable[[], None]:
        def step() -> None:
            module(leaf * y).backward(seed)

        return step

    pairs: dict[str, tuple[Callable[[], Any], Callable[[], Any], int]] = {
        "a Python call": (_loop(_nothing), _turns, TIMES),
        "a NumPy call, `a * b`": (_loop(lambda: a * b), _loop(_nothing), TIMES),
        "`x * y` without a gradient, beyond NumPy's": (
            _loop(lambda: x * y),
            _loop(lambda: a * b),
            TIMES,
        ),
        "a node: `x * y` recorded, beyond that": (
            _loop(lambda: leaf * y),
            _loop(lambda: x * y),
            TIMES,
        ),
        "a node in the backward pass, its NumPy call included": (
            backward(2 * TIMES),
            lambda: [backward(TIMES)(), [leaf * y for _ in range(TIMES)]],
            TIMES,
        ),
        "a tensor hook, put on and called": (
            backward(TIMES, hooks=True),
            backward(TIMES),
            TIMES,
        ),
        "the call of a module": (_loop(lambda: identity(x)), _loop(_nothing), TIMES),
        "a forward hook": (_loop(lambda: hooked(x)), _loop(lambda: identity(x)), TIMES),
        "a full backward hook, forward and backward": (
            _loop(through(layer)),
            _loop(through(bare)),
            TIMES,
        ),
    }
    found: dict[str, float] = {}
    for name, (with_it, without, times) in pairs.items():
        rounds = measure({"with": with_it, "without": without}, rounds=15)
        differences = [p - q for p, q in zip(rounds["with"], rounds["without"], strict=True)]
        found[name] = statistics.median(differences) / times * 1e9
    return found


def by_size() -> list[dict[str, float]]:
    """Compare forward and backward of `tanh(x * y) * y` with NumPy's, at each size."""
    rows: list[dict[str, float]] = []
    for size in SIZES:
        a, b = np.linspace(-1, 1, size, dtype=np.float32), np.full(size, 0.7, np.float32)
        leaf, y = minigrad.tensor(a, requires_grad=True), minigrad.tensor(b)
        seed = minigrad.ones(size)

        def tape(leaf: Any = leaf, y: Any = y, seed: Any = seed) -> None:
            leaf.grad = None
            (minigrad.tanh(leaf * y) * y).backward(seed)

        def hand(a: Any = a, b: Any = b, g: Any = seed._array) -> None:
            t = np.tanh(a * b)
            t * b
            slope = t * t
            np.subtract(1, slope, out=slope)
            slope *= g * b
            slope *= b

        times = measure({"tape": tape, "hand": hand}, rounds=15)
        tape_time, hand_time = (statistics.median(times[name]) for name in ("tape", "hand"))
        rows.append({"entries": size, "hand": hand_time, "tape": tape_time})
    return rows


def importing(packages: list[str], rounds: int = 31) -> dict[str, float]:
    """Give in seconds how long a process takes that only imports a package, in turns."""
    # as on a reader's machine, where Python keeps what it has compiled
    kept = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPATH": os.pathsep.join(sys.path)}
    times: dict[str, list[float]] = {package: [] for package in packages}
    for _ in range(rounds + 1):
        for package in packages:
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", f"import {package}"], env=kept, check=True)
            times[package].append(time.perf_counter() - start)
    return {package: statistics.median(each[1:]) for package, each in times.items()}
