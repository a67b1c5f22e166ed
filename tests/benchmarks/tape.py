"""Measure what recording and running backward costs, against PyTorch and hand-written NumPy.

    python3 tests/benchmarks/tape.py     (in the environment of the tests; with torch if there)

How it is measured is told in `timing.py`.
"""

from __future__ import annotations

from functools import partial
from types import ModuleType
from typing import Any

# before NumPy: this holds the libraries to one thread
from timing import Step, Work, Workload, run

# isort: split
import networks
import numpy as np


def worked_example(torch: ModuleType) -> Work:
    """Give a step that computes the loss of the worked example and its five gradients."""
    names = {"x": 0.3, "w0": 0.3, "b0": 0.1, "w1": 0.4, "b1": 0.2}
    x, w0, b0, w1, b1 = leaves = [
        torch.tensor([value], requires_grad=True) for value in names.values()
    ]

    def step() -> None:
        x1 = w0 * x + b0
        y = (w1 * x1 + b1) ** 2
        loss = (y - 1) ** 2
        loss.backward()

    return step, lambda: [leaf.grad for leaf in leaves]


def worked_example_by_hand() -> Step:
    """Give the same step in NumPy."""
    x, w0, b0, w1, b1 = (np.array([v], np.float32) for v in (0.3, 0.3, 0.1, 0.4, 0.2))
    one, two = np.float32([1]), np.float32([2])

    def step() -> list[Any]:
        x1 = w0 * x + b0
        s = w1 * x1 + b1
        y = s * s
        dy = two * (y - one)
        ds = dy * two * s
        dx1 = ds * w1
        return [dx1 * w0, dx1 * x, dx1, ds * x1, ds]

    return step


def worked_example_modules(torch: ModuleType) -> Work:
    """Give the step of the worked example made of two `nn.Linear`."""
    f0, f1 = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
    with torch.no_grad():
        for parameter, value in zip(
            (f0.weight, f0.bias, f1.weight, f1.bias), (0.3, 0.1, 0.4, 0.2), strict=True
        ):
            parameter.fill_(value)
    x = torch.tensor([0.3], requires_grad=True)
    leaves = [x, f0.weight, f0.bias, f1.weight, f1.bias]

    def step() -> None:
        y = f1(f0(x)) ** 2
        loss = (y - 1) ** 2
        loss.backward()

    return step, lambda: [leaf.grad.reshape(1) for leaf in leaves]


def chain(torch: ModuleType) -> Work:
    """Give a step of 1,000 multiplications and additions on 16 entries."""
    x = torch.linspace(0.5, 1.5, 16).requires_grad_()
    w, b, g = torch.full((16,), 1.0001), torch.full((16,), 1e-4), torch.ones(16)

    def step() -> None:
        h = x
        for _ in range(500):
            h = h * w + b
        h.backward(g)

    return step, lambda: [x.grad]


def chain_by_hand() -> Step:
    """Give the same step in NumPy."""
    x = np.linspace(0.5, 1.5, 16, dtype=np.float32)
    w, b, g = (np.full(16, v, np.float32) for v in (1.0001, 1e-4, 1.0))

    def step() -> list[Any]:
        h, saved = x, []
        for _ in range(500):
            saved.append(w)
            h = h * w + b
        gradient = g
        for factor in reversed(saved):
            gradient = gradient * factor
        return [gradient]

    return step


SMALL: dict[str, Any] = {"sizes": (784, 256, 128, 10), "batch": 64}
small_functions = partial(networks.functions, **SMALL)
small_modules = partial(networks.modules, **SMALL)
small_by_hand = partial(networks.by_hand, **SMALL)


WORKLOADS: list[Workload] = [
    ("worked example, operations", worked_example, worked_example_by_hand, 200),
    ("worked example, nn.Linear", worked_example_modules, worked_example_by_hand, 100),
    ("chain of 1,000 add, mul", chain, chain_by_hand, 4),
    (
        "784-256-128-10 step, functions",
        partial(networks.functions, **SMALL),
        partial(networks.by_hand, **SMALL),
        8,
    ),
    (
        "784-256-128-10 step, nn, optim",
        partial(networks.modules, **SMALL),
        partial(networks.by_hand, **SMALL),
        8,
    ),
]


if __name__ == "__main__":
    run(WORKLOADS)
