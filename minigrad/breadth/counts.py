"""Describe counts by their distributions: `Poisson`, `Multinomial`.

Poisson's are drawn one by one, as in PyTorch: by products of uniform numbers while few are
expected, else by rejection (W. Hörmann, "The transformed rejection method for generating Poisson
random variables", 1993).
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from minigrad.breadth import constraints
from minigrad.breadth.distribution import NO_SHAPE, Distribution, batch_of, broadcast_all
from minigrad.breadth.scalars import Categorical, _log_factorial, fraction
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation.factories import ones_like, zeros
from minigrad.creation.layout import Size
from minigrad.random import Stream, stream


def _one(rate: float, source: Stream) -> float:
    count, product, least = -1, 1.0, math.exp(-rate)
    if rate < 10:
        while rate and (product > least or count < 0):
            product *= fraction(source)
            count += 1
        return max(count, 0)
    b = 0.931 + 2.53 * math.sqrt(rate)
    a, at_once = -0.059 + 0.02483 * b, 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = fraction(source) - 0.5, fraction(source)
        edge = 0.5 - abs(u)
        count = math.floor((2 * a / edge + b) * u + rate + 0.43) if edge else -1
        if edge >= 0.07 and v <= at_once:
            return count
        if count >= 0 and (edge >= 0.013 or v <= edge):
            height = math.log(v * (1.1239 + 1.1328 / (b - 3.4)) / (a / (edge * edge) + b))
            if height <= count * math.log(rate) - rate - math.lgamma(count + 1):
                return count


def draw_poisson(rate: Tensor, source: Stream) -> Tensor:
    """Draw a count for each rate."""
    counts = [_one(each, source) for each in rate._array.ravel().tolist()]
    return wrap(np.array(counts, rate._array.dtype).reshape(rate.shape))


class Poisson(Distribution):
    r"""Distribution of counts at a rate: :math:`\lambda^k e^{-\lambda} / k!`.

    Args:
        rate: The mean, :math:`\lambda`.
        validate_args: Whether parameters and values are checked.
    """

    arg_constraints: ClassVar[Any] = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(batch_of(rate, like=self.rate), validate_args=validate_args)

    mean = variance = property(lambda self: self.rate, doc="The mean, and the variance.")

    def sample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw without a graph."""
        return draw_poisson(self.rate.expand(self._extended_shape(sample_shape)), stream())

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the logarithm of the probability."""
        rate, value = broadcast_all(self.rate, self._checked(value))
        return value.xlogy(rate) - rate - _log_factorial(value)


class Multinomial(Distribution):
    """Distribution of how often each of several values comes in some trials.

    Args:
        total_count: The trials.
        probs: Weights in the last dimension; they are divided by their sum.
        logits: Logarithms of such weights.
        validate_args: Whether parameters and values are checked.
    """

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: Any = None
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs, logits)
        shape = self._categorical._param.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)
        self.probs, self.logits = self._categorical.probs, self._categorical.logits

    mean = property(lambda self: self.total_count * self.probs, doc="The mean.")
    variance = property(lambda self: self.mean * (1 - self.probs), doc="The variance.")
    support = constraints.nonnegative_integer

    def sample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw without a graph."""
        trials = self._categorical.sample(Size((self.total_count, *sample_shape))).movedim(0, -1)
        counts = zeros(self._extended_shape(sample_shape), dtype=self.probs.dtype)
        return counts.scatter_add_(-1, trials, ones_like(trials).to(counts.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the logarithm of the probability."""
        logits, value = broadcast_all(self.logits, self._checked(value))
        ways = _log_factorial(value.sum(-1)) - _log_factorial(value).sum(-1)
        return ways + (logits * value).where(value != 0, 0.0).sum(-1)
