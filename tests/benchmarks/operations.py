"""Single operations and layers on about a million numbers, forward and backward."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

from timing import Step, Work

# isort: split
import numpy as np
from operations_by_hand import BY_HAND

Shape = tuple[int, ...]
MANY, IMAGES = (1000, 1000), (32, 32, 32, 32)
# what stands for an input: numbers with a gradient, whole numbers below 1,000, booleans
KINDS: dict[str, Callable[[Any, Shape], Any]] = {
    "numbers": lambda source, shape: source.standard_normal(shape).astype(np.float32),
    "indices": lambda source, shape: source.integers(0, 1000, shape),
    "mask": lambda source, shape: source.random(shape) < 0.5,
}


def numbers(*shapes: Shape) -> list[tuple[str, Shape]]:
    """Give inputs that are all random numbers."""
    return [("numbers", shape) for shape in shapes]


def _gelu_tanh(torch: ModuleType, x: Any) -> Any:
    return torch.nn.functional.gelu(x, approximate="tanh")


def _layer_norm(torch: ModuleType, x: Any, w: Any, b: Any) -> Any:
    return torch.nn.functional.layer_norm(x, (x.shape[1],), w, b)


def _batch_norm(torch: ModuleType, x: Any, w: Any, b: Any) -> Any:
    return torch.nn.functional.batch_norm(x, None, None, w, b, True)


def _group_norm(torch: ModuleType, x: Any, w: Any, b: Any) -> Any:
    return torch.nn.functional.group_norm(x, 2, w, b)


# a call and its inputs
OPERATIONS: dict[str, tuple[Callable[..., Any], list[tuple[str, Shape]]]] = {
    "gelu": (lambda torch, x: torch.nn.functional.gelu(x), numbers(MANY)),
    "gelu, tanh": (_gelu_tanh, numbers(MANY)),
    "layer_norm": (_layer_norm, numbers(MANY, (1000,), (1000,))),
    "batch_norm": (_batch_norm, numbers(MANY, (1000,), (1000,))),
    "group_norm": (_group_norm, numbers(IMAGES, (32,), (32,))),
    "cumsum": (lambda torch, x: torch.cumsum(x, 1), numbers(MANY)),
    "x[indices]": (lambda torch, i, x: x[i], [("indices", (1000,)), ("numbers", MANY)]),
    "x[rows, columns]": (
        lambda torch, i, j, x: x[i, j],
        [("indices", (100_000,)), ("indices", (100_000,)), ("numbers", MANY)],
    ),
    "x[mask]": (lambda torch, m, x: x[m], [("mask", MANY), ("numbers", MANY)]),
}


def entries(name: str) -> str:
    """Tell how many numbers the largest input of an operation has."""
    return f"{max(math.prod(shape) for _, shape in OPERATIONS[name][1]):,} entries"


def data(name: str) -> list[Any]:
    """Give the inputs of an operation as arrays."""
    source = np.random.default_rng(0)
    return [KINDS[kind](source, shape) for kind, shape in OPERATIONS[name][1]]


def cotangent_for(shape: Shape) -> Any:
    """Give what a result of some shape is differentiated with."""
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


def work(torch: ModuleType, name: str) -> Work:
    """Give a step that computes an operation forward and backward, and a look at its gradients."""
    call = OPERATIONS[name][0]
    inputs = [torch.tensor(array) for array in data(name)]
    leaves = [x.requires_grad_() for x in inputs if x.is_floating_point()]
    cotangent = torch.tensor(cotangent_for(tuple(call(torch, *inputs).shape)))

    def step() -> None:
        for leaf in leaves:
            leaf.grad = None
        call(torch, *inputs).backward(cotangent)

    return step, lambda: [leaf.grad for leaf in leaves]


def by_hand(name: str) -> Step:
    """Give the same in NumPy, where `operations_by_hand` has it."""
    arrays = data(name)
    cotangent = cotangent_for(arrays[0].shape)
    return lambda: BY_HAND[name](*arrays, cotangent)
