"""Measure what `import minigrad` costs beside `import numpy`: run this file to see.

Both are timed in fresh processes, in turns, so that a slow moment of the machine hits both. The
promise is a ratio of at most 1.3; the exit code says whether it was kept.
"""

import os
import statistics
import subprocess
import sys
from pathlib import Path

ROUNDS = 15
BAR = 1.3
TIMER = "import time; t = time.perf_counter(); import {0}; print(time.perf_counter() - t)"


def seconds(module: str) -> float:
    """Time the import of a module in a process of its own."""
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", TIMER.format(module)]
    env = {**os.environ}
    env.pop(
        "PYTHONDONTWRITEBYTECODE", None
    )  # readers have compiled files from the second import on
    answer = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root, env=env)
    return float(answer.stdout)


def main() -> int:
    """Print the medians and their ratio."""
    modules = ("numpy", "minigrad")
    for module in modules:  # compile and cache once
        seconds(module)
    pairs = [[seconds(module) for module in modules] for _ in range(ROUNDS)]
    numpy, minigrad = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(after / before for before, after in pairs)
    print(f"import numpy {numpy * 1e3:.1f} ms, import minigrad {minigrad * 1e3:.1f} ms")
    print(f"median ratio {ratio:.2f} (at most {BAR})")
    return 0 if ratio <= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
