"""What only a process of its own can tell: peak memory, and a chain of a million operations.

    python3 tests/benchmarks/memory.py long minigrad     (or chain; or torch)

prints a line of JSON.
"""

from __future__ import annotations

import gc
import importlib
import json
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import timing  # noqa: F401 - before NumPy: this holds the libraries to one thread

# isort: split
import large

LENGTH = 1_000_000


def held(most: bool) -> int:
    """Give in bytes what this process holds, or has held at most; Linux counts it."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:" if most else "VmRSS:")[2].split()[0]) * 1024


def long(torch: ModuleType) -> dict[str, float]:
    """Give by how much the process grows while it sums ten million hyperbolic tangents."""
    large.long(torch, 16)[0]()  # code that is loaded at its first use does not count
    step, _ = large.long(torch)
    before = held(most=True)
    step()
    return {"megabytes": (held(most=True) - before) / 1e6}


def chain(torch: ModuleType) -> dict[str, float]:
    """Give the seconds and the bytes an operation of a chain of a million, forward and backward."""
    x = torch.ones(1, requires_grad=True)
    w = torch.full((1,), 1.0000001)
    (x * w).backward()
    x.grad = None
    gc.collect()
    before = held(most=False)
    start = time.perf_counter()
    h = x
    for _ in range(LENGTH):
        h = h * w
    bytes_each = (held(most=False) - before) / LENGTH
    h.backward()
    return {"seconds": time.perf_counter() - start, "bytes": bytes_each}


def measured(what: str, library: str) -> dict[str, float]:
    """Give the figures of a process of its own."""
    command = [sys.executable, __file__, what, library]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    figures: dict[str, float] = json.loads(answer.stdout)
    return figures


if __name__ == "__main__":
    kinds: dict[str, Any] = {"long": long, "chain": chain}
    print(json.dumps(kinds[sys.argv[1]](importlib.import_module(sys.argv[2]))))
