"""Measure what writing a backward pass down costs: `record()` on, against the plain pass.

    python3 tests/benchmarks/recording.py

With the path of another checkout, the plain pass there is compared with the plain pass here, which
tells what `record` costs while it is off:

    python3 tests/benchmarks/recording.py ../minigrad-before

How it is measured is told in `timing.py`.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from typing import Any

# before NumPy: this holds the libraries to one thread
from timing import Step, measure, minigrad, ratio

# isort: split
import numpy as np

SIZES, BATCH = (784, 256, 128, 10), 64


def backward(recorder: Any) -> Step:
    """Give the backward pass of a network with two hidden layers, its graph kept for the next."""
    nn = minigrad.nn
    minigrad.manual_seed(0)
    layers = [nn.Linear(i, o) for i, o in pairwise(SIZES)]
    model = nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.ReLU(), layers[2])
    generator = np.random.default_rng(0)
    x = minigrad.tensor(generator.standard_normal((BATCH, SIZES[0])).astype(np.float32))
    loss = nn.functional.cross_entropy(model(x), minigrad.tensor(generator.integers(0, 10, BATCH)))
    parameters = list(model.parameters())

    def step() -> None:
        with recorder():
            loss.backward(retain_graph=True)
        for parameter in parameters:
            parameter.grad = None

    return step


def plain() -> None:
    """Print the plain pass's time in this checkout, in microseconds."""
    times = measure({"plain": backward(nullcontext)}, rounds=20)
    print(statistics.median(times["plain"]) * 1e6)


def against(other: str, rounds: int = 7) -> None:
    """Compare the plain pass with that of another checkout, in alternating processes."""
    benchmarks = Path(__file__).parent
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    here = []
    for _ in range(rounds):
        pair = []
        for checkout in (str(benchmarks.parents[1]), other):
            # minigrad first: what is imported already stays
            code = f"import sys; sys.path[:0] = {[checkout, str(benchmarks)]}; "
            code += "import minigrad, recording; recording.plain()"
            run = [sys.executable, "-c", code]
            told = subprocess.run(run, capture_output=True, check=True, env=environment)
            pair.append(float(told.stdout))
        here.append(pair[0] / pair[1])
    print(f"off: / {other}  {statistics.median(here):.3f}  ({min(here):.3f} to {max(here):.3f})")


def main() -> None:
    """Print the ratios."""
    if len(sys.argv) > 1:
        against(sys.argv[1])
        return
    from minigrad.viz import record

    steps = {
        "plain": backward(nullcontext),
        "again": backward(nullcontext),
        "on": backward(record),
    }
    times = measure(steps, rounds=31)
    print(f"backward of {'-'.join(map(str, SIZES))}, batch {BATCH}: ", end="")
    print(f"{statistics.median(times['plain']) * 1e6:.0f} us")
    print(f"record() on / plain    {ratio(times, 'on', 'plain'):.2f}")
    print(f"plain again / plain    {ratio(times, 'again', 'plain'):.2f}")


if __name__ == "__main__":
    main()
