"""Write numbers into a tensor without recording it, and draw normal ones within bounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.autograd.modes import no_grad
from minigrad.creation import from_numpy, zeros_like
from minigrad.tensor import Tensor


@no_grad()
def fill(tensor: Tensor, values: np.ndarray[Any, Any]) -> Tensor:
    """Copy values into the tensor, in its own element type."""
    return tensor.copy_(from_numpy(np.asarray(values, tensor.dtype.numpy)))


def probability_below(x: float) -> float:
    """Give the probability that a standard normal number is less than another number."""
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def draw_normally(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any
) -> Tensor:
    """Draw, and draw again what is out of bounds."""
    low, high = (tensor.dtype.numpy.type(bound) for bound in (a, b))
    values = tensor.normal_(mean, std, generator=generator)._array
    while (out := (values < low) | (values > high)).any():
        again = zeros_like(tensor).normal_(mean, std, generator=generator)._array
        values = np.where(out, again, values)
    return fill(tensor, values)


def draw_uniformly(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any
) -> Tensor:
    """Draw within the bounds, and keep each number as often as it is probable."""
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    candidates, chance = zeros_like(tensor), zeros_like(tensor)
    values, pending = tensor._array, np.ones(tensor._array.shape, bool)
    while True:
        drawn = candidates.uniform_(a, b, generator=generator)._array
        values = np.where(pending, drawn, values)
        with np.errstate(all="ignore"):
            density = ((drawn - mean) / std) ** 2 * -0.5 - peak
            again = np.log(chance.uniform_(generator=generator)._array) > density
        pending = pending & again
        if not pending.any():
            return fill(tensor, values)
