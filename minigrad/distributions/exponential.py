"""Draw waiting times."""

from __future__ import annotations

from typing import Any, ClassVar

from minigrad.creation import empty, zeros_like
from minigrad.distributions import constraints
from minigrad.distributions.distribution import NO_SHAPE, Distribution, batch_of
from minigrad.distributions.utils import broadcast_all
from minigrad.tensor import Tensor


class Exponential(Distribution):
    r"""Exponential distribution: density :math:`\lambda e^{-\lambda x}`.

    Args:
        rate: The rates, :math:`\lambda`.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> import minigrad as torch
        >>> torch.distributions.Exponential(2.0).mean
        tensor(0.5000)
    """

    arg_constraints: ClassVar[Any] = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(batch_of(rate, like=self.rate), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.rate.reciprocal()

    @property
    def mode(self) -> Tensor:
        """The most likely value, 0."""
        return zeros_like(self.rate)

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw for a rate of 1, and divide by the rate."""
        shape = self._extended_shape(sample_shape)
        return empty(shape, dtype=self.rate.dtype).exponential_() / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Tensor) -> Tensor:
        """Give the probability of a draw that is not greater."""
        if self._validate_args:
            self._validate_sample(value)
        return 1 - (-self.rate * value).exp()

    def icdf(self, value: Tensor) -> Tensor:
        """Give the value that is not exceeded with a probability."""
        return -(-value).log1p() / self.rate

    def entropy(self) -> Tensor:
        r"""Give the entropy: :math:`1 - \ln\lambda`."""
        return 1 - self.rate.log()
