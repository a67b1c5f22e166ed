"""Draw from intervals, where all values are equally likely."""

from __future__ import annotations

import math
from typing import Any

from minigrad.creation import rand
from minigrad.distributions import constraints
from minigrad.distributions.distribution import NO_SHAPE, Distribution, batch_of
from minigrad.distributions.utils import broadcast_all
from minigrad.tensor import Tensor


class Uniform(Distribution):
    """Uniform distribution on the interval from `low` up to, but without, `high`.

    Args:
        low: The lower ends.
        high: The upper ends.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> import minigrad as torch
        >>> torch.distributions.Uniform(0.0, 4.0).mean
        tensor(2.)
    """

    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(batch_of(low, high, like=self.low), validate_args=validate_args)

    @property
    def arg_constraints(self) -> dict[str, Any]:  # type: ignore[override]
        """What the parameters may be: each bounds the other."""
        return {
            "low": constraints.less_than(self.high),
            "high": constraints.greater_than(self.low),
        }

    @property
    def support(self) -> Any:  # type: ignore[override]
        """The interval."""
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        """The middle."""
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        """None is the most likely: nan."""
        return math.nan * self.high

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw a fraction of the way from `low` to `high`."""
        shape = self._extended_shape(sample_shape)
        return self.low + rand(shape, dtype=self.low.dtype) * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the logarithm of the density: minus infinity outside."""
        if self._validate_args:
            self._validate_sample(value)
        above, below = self.low.le(value), self.high.gt(value)
        inside = above.type_as(self.low) * below.type_as(self.low)
        return inside.log() - (self.high - self.low).log()

    def cdf(self, value: Tensor) -> Tensor:
        """Give the probability of a draw that is not greater."""
        if self._validate_args:
            self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Tensor) -> Tensor:
        """Give the value that is not exceeded with a probability."""
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        """Give the entropy: the logarithm of the length."""
        return (self.high - self.low).log()
