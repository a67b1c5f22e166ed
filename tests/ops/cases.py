"""Describe a call of an operation of the book, and what NumPy says that it gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import minigrad as torch


@dataclass
class Case:
    """One call of an operation.

    Attributes:
        shapes: The shapes of its differentiable inputs.
        reference: What it should give, as a formula of NumPy arrays.
        call: Calls the operation with the inputs, settings and constants in their places.
        positive: Whether the inputs must be positive.
    """

    shapes: tuple[tuple[int, ...], ...]
    reference: Callable[..., Any]
    call: Callable[..., Any]
    positive: bool = False

    def inputs(self, seed: int = 0) -> list[np.ndarray[Any, Any]]:
        """Draw inputs with sizes from 0.3 to 1.7, so that none is near a kink at 0."""
        draw = np.random.default_rng((len(self.shapes), seed))
        arrays = [np.asarray(draw.uniform(0.3, 1.7, shape)) for shape in self.shapes]
        if self.positive:
            return arrays
        return [np.asarray(a * draw.choice([-1.0, 1.0], a.shape)) for a in arrays]


def case(reference: Callable[..., Any], *shapes: Any, then: Any = (), **options: Any) -> Case:
    """Make a case whose settings come after the inputs."""
    return Case(shapes, reference, lambda op, *inputs: op(*inputs, *then), **options)


def sigmoid_of(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def softmax_of(x: Any, axis: int) -> Any:
    powers = np.exp(x)
    return powers / powers.sum(axis, keepdims=True)


def placed(values: Any, shape: Any, key: Any) -> Any:
    whole = np.zeros(shape)
    whole[key] = values
    return whole


def added(whole: Any, key: Any, values: Any) -> Any:
    whole = whole.copy()
    np.add.at(whole, key, values)
    return whole


def put(whole: Any, key: Any, values: Any) -> Any:
    whole = whole.copy()
    whole[key] = values
    return whole


def put_along(whole: Any, positions: Any, axis: int, values: Any) -> Any:
    whole = whole.copy()
    np.put_along_axis(whole, positions, values, axis)
    return whole


def add_along(whole: Any, positions: Any, axis: int, values: Any) -> Any:
    whole = whole.copy()
    for place, position in np.ndenumerate(positions):
        target = list(place)
        target[axis] = position
        whole[tuple(target)] += values[place]
    return whole


def norm_of(order: float) -> Callable[[Any], Any]:
    return lambda x: (np.abs(x) ** order).sum() ** (1 / order)


V, M = (4,), (2, 3)
DOUBLE = np.dtype(np.float64)
MASK = torch.tensor([[True, False, True], [False, False, True]])
TWICE = (np.array([0, 2, 2]),)
PLACES = np.array([[0, 2], [1, 1]])
ONES = np.array([[2], [0]])
BROADCAST = ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (4,)), ((4,), (4,))


def two(reference: Any, *then: Any, **options: Any) -> list[Case]:
    return [case(reference, *shapes, then=then, **options) for shapes in BROADCAST]


def masked(reference: Any, *shapes: Any, then: Any = ()) -> Case:
    def call(op: Any, self: Any, *others: Any) -> Any:
        return op(self, MASK, *others, *then)

    return Case(shapes, reference, call)
