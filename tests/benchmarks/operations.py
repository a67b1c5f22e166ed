"""Measure operations and layers one by one, forward and backward, against PyTorch.

    python3 tests/benchmarks/operations.py             (all of them; needs torch)
    python3 tests/benchmarks/operations.py softmax conv  (those whose names contain one of these)

Each is timed on a few entries, where what counts is the cost of recording, and on about a million.
How it is measured is told in `timing.py`; gradients are compared with PyTorch's first.
"""

from __future__ import annotations

import importlib
import math
import statistics
import sys
from collections.abc import Callable
from itertools import pairwise
from types import ModuleType
from typing import Any

# before NumPy: it holds the libraries to one thread
from timing import Work, measure, minigrad, ratio

# isort: split
import numpy as np
from measured import FEW, MANY, ROWS, Distinct, Indices, Mask, Positive, Row

ROUNDS = {"small": 15, "large": 7}


def random_inputs(row: Row, size: str) -> list[np.ndarray[Any, Any]]:
    """Give the numbers of a row's inputs, the same for each library."""
    generator = np.random.default_rng(0)
    arrays: list[np.ndarray[Any, Any]] = []
    for given in getattr(row, size):
        if isinstance(given, Indices):
            arrays.append(generator.integers(0, given.limit, given.shape))
        elif isinstance(given, Mask):
            arrays.append(generator.random(given.shape) < 0.5)
        elif isinstance(given, Positive):
            arrays.append(generator.uniform(0.2, 0.8, given.shape).astype(np.float32))
        elif isinstance(given, Distinct):
            order = generator.permutation(math.prod(given.shape)).reshape(given.shape)
            arrays.append((order / order.size).astype(np.float32))
        else:
            arrays.append(generator.standard_normal(given).astype(np.float32))
    return arrays


def work(torch: ModuleType, row: Row, size: str) -> Work:
    """Give a step that computes a row forward and backward, and a look at its gradients."""
    inputs = [torch.tensor(array) for array in random_inputs(row, size)]
    leaves = [x.requires_grad_() for x in inputs if x.is_floating_point()]
    call, shape = row.call, row.call(torch, *inputs).shape
    cotangent = torch.tensor(np.random.default_rng(1).standard_normal(shape).astype(np.float32))

    def step() -> None:
        for leaf in leaves:
            leaf.grad = None
        call(torch, *inputs).backward(cotangent)

    return step, lambda: [leaf.grad for leaf in leaves if leaf.grad is not None]


def dropout(torch: ModuleType, size: str) -> Work:
    """Give a step of dropout; each library draws numbers of its own."""
    x = torch.ones(FEW if size == "small" else MANY, requires_grad=True)
    ones = torch.ones(x.shape)

    def step() -> None:
        x.grad = None
        torch.nn.functional.dropout(x, 0.5, True).backward(ones)

    return step, lambda: [((x.grad == 0) | (x.grad == 2)).all()]


def optimizer(name: str, **settings: Any) -> Callable[[ModuleType, str], Work]:
    """Give a maker of steps of an optimizer, on a small network's parameters or large ones."""

    def make(torch: ModuleType, size: str) -> Work:
        widths = (784, 256, 128, 10) if size == "small" else (1000, 1000)
        generator = np.random.default_rng(0)
        shapes = [shape for i, o in pairwise(widths) for shape in ((o, i), (o,))]
        parameters = []
        for shape in shapes:
            value, gradient = generator.standard_normal((2, *shape)).astype(np.float32)
            parameters.append(torch.nn.Parameter(torch.tensor(value)))
            parameters[-1].grad = torch.tensor(gradient)
        step = getattr(torch.optim, name)(parameters, **settings).step
        return step, lambda: parameters

    return make


SPECIAL: dict[str, Callable[[ModuleType, str], Work]] = {
    "dropout": dropout,
    "SGD": optimizer("SGD", lr=1e-4),
    "SGD, momentum": optimizer("SGD", lr=1e-4, momentum=0.9),
    "Adam": optimizer("Adam", lr=1e-4),
    "AdamW": optimizer("AdamW", lr=1e-4),
    "RMSprop": optimizer("RMSprop", lr=1e-4),
}


def same(ours: list[Any], theirs: list[Any]) -> bool:
    """Tell whether two libraries computed the same gradients, up to the rounding of float32."""
    if len(ours) != len(theirs):
        return False
    arrays = [[np.asarray(g.detach().numpy()) for g in each] for each in (ours, theirs)]
    return all(
        a.shape == b.shape and np.abs(a * 1.0 - b).max() <= 2e-4 * np.abs(b * 1.0).max() + 1e-6
        for a, b in zip(*arrays, strict=True)
    )


def compare(torch: ModuleType, make: Callable[[ModuleType, str], Work], size: str) -> str:
    """Time one thing with both libraries; give its part of the line."""
    libraries = {"minigrad": make(minigrad, size), "torch": make(torch, size)}
    for step, _ in libraries.values():
        step()
    if not same(*(gradients() for _, gradients in libraries.values())):
        return f"{'another gradient':>24s}"
    times = measure({name: step for name, (step, _) in libraries.items()}, ROUNDS[size])
    return (
        f"{statistics.median(times['minigrad']) * 1e6:11.1f} us"
        f"{ratio(times, 'minigrad', 'torch'):10.2f}"
    )


def main(wanted: list[str]) -> None:
    """Print a table, a line each."""
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    makers: dict[str, Any] = {}
    for row in ROWS:
        makers[row.name] = lambda library, size, row=row: work(library, row, size)
    large = {row.name for row in ROWS if row.large is not None} | {*SPECIAL}
    print(f"{'':24s}{'few entries':>14s}{'/ torch':>10s}{'many':>14s}{'/ torch':>10s}")
    for name, make in (makers | SPECIAL).items():
        if wanted and not any(part in name for part in wanted):
            continue
        sizes = ("small", "large") if name in large else ("small",)
        print(f"{name:24s}" + "".join(compare(torch, make, size) for size in sizes), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
