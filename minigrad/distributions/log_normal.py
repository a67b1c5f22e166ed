"""Draw positive numbers whose logarithms are normal."""

from __future__ import annotations

from typing import Any, ClassVar

from minigrad.distributions import constraints
from minigrad.distributions.distribution import NO_SHAPE, Distribution
from minigrad.distributions.normal import Normal
from minigrad.tensor import Tensor


class LogNormal(Distribution):
    """Distribution of exp(x) for a normal x.

    Args:
        loc: The means of the logarithms.
        scale: Their standard deviations.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> import minigrad as torch
        >>> torch.distributions.LogNormal(0.0, 1.0).mean
        tensor(1.6487)
    """

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.base_dist = Normal(loc, scale, validate_args=validate_args)
        super().__init__(self.base_dist.batch_shape, validate_args=validate_args)

    @property
    def loc(self) -> Tensor:
        """The means of the logarithms."""
        return self.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """The standard deviations of the logarithms."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Tensor:
        """The variance."""
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def sample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw without a graph."""
        return self.base_dist.sample(sample_shape).exp()

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw by the formula of the normal distribution."""
        return self.base_dist.rsample(sample_shape).exp()

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        x = value.log()
        return 0.0 - x + self.base_dist.log_prob(x)

    def cdf(self, value: Tensor) -> Tensor:
        """Give the probability of a draw that is not greater."""
        if self._validate_args:
            self._validate_sample(value)
        return self.base_dist.cdf(value.log())

    def icdf(self, value: Tensor) -> Tensor:
        """Give the value that is not exceeded with a probability."""
        return self.base_dist.icdf(value).exp()

    def entropy(self) -> Tensor:
        """Give the entropy: that of the normal distribution, and its mean."""
        return self.base_dist.entropy() + self.loc
