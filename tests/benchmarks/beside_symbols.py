"""Measure whether numbers pay for symbols: run this file to see.

    python3 tests/benchmarks/beside_symbols.py

The same steps on numbers, in processes that have imported `minigrad.symbolic` and in others that
have not, in turns. The figures are medians of the ratios of neighboring processes; two processes
without it tell how far such a ratio can be trusted.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

# before NumPy: this holds the libraries to one thread
from timing import Step, minigrad

# isort: split
import numpy as np

SIZES, BATCH, ROUNDS = (784, 256, 128, 10), 64, 9
NAMES = ("784-256-128-10 step", "worked example")


def network() -> Step:
    """Give a training step of a network with two hidden layers."""
    nn = minigrad.nn
    minigrad.manual_seed(0)
    layers = [nn.Linear(i, o) for i, o in pairwise(SIZES)]
    model = nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.ReLU(), layers[2])
    generator = np.random.default_rng(0)
    x = minigrad.tensor(generator.standard_normal((BATCH, SIZES[0])).astype(np.float32))
    classes = minigrad.tensor(generator.integers(0, 10, BATCH))
    optimizer = minigrad.optim.SGD(model.parameters(), lr=1e-3)

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), classes).backward()
        optimizer.step()

    return step


def example() -> Step:
    """Give the worked example, with a hook on its second module."""
    nn = minigrad.nn
    first, second = nn.Linear(1, 1), nn.Linear(1, 1)
    second.register_full_backward_hook(lambda module, grad_input, grad_output: None)
    x = minigrad.tensor([0.3], requires_grad=True)

    def step() -> None:
        ((second(first(x)) ** 2 - 1) ** 2).backward()

    return step


def once(with_symbols: bool) -> None:
    """Print the time of each step, in microseconds."""
    if with_symbols:
        import minigrad.symbolic  # noqa: F401 - whether it is there is what is measured
    assert ("sympy" in sys.modules) == with_symbols
    for step, repeats in ((network(), 20), (example(), 400)):
        times = []
        for _ in range(25):
            step()
            # of this process alone: what else the machine does is not counted
            start = time.process_time()
            for _ in range(repeats):
                step()
            times.append((time.process_time() - start) / repeats)
        print(statistics.median(times) * 1e6)


def main() -> None:
    """Compare processes in turns."""
    here = str(Path(__file__).resolve())
    runs: dict[str, list[list[float]]] = {"without": [], "with": [], "without again": []}
    for _ in range(ROUNDS):
        for kind, found in runs.items():
            answer = subprocess.run(
                [sys.executable, here, kind.partition(" ")[0]],
                capture_output=True, text=True, check=True, env=dict(os.environ),
            )  # fmt: skip
            found.append([float(figure) for figure in answer.stdout.split()])
    for place, name in enumerate(NAMES):
        plain, beside, again = (
            [run[place] for run in runs[kind]] for kind in ("without", "with", "without again")
        )
        paid = statistics.median(b / a for a, b in zip(plain, beside, strict=True))
        noise = statistics.median(b / a for a, b in zip(plain, again, strict=True))
        print(
            f"{name:20s} without {statistics.median(plain):8.1f} us, "
            f"with minigrad.symbolic {statistics.median(beside):8.1f} us: "
            f"ratio {paid:.3f} (without / without {noise:.3f})"
        )


if __name__ == "__main__":
    if sys.argv[1:]:
        once(sys.argv[1] == "with")
    else:
        main()
