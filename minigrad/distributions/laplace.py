"""Draw from Laplace distributions, which have longer tails than normal ones."""

from __future__ import annotations

from typing import Any, ClassVar

from minigrad.creation import empty
from minigrad.distributions import constraints
from minigrad.distributions.distribution import NO_SHAPE, Distribution, batch_of
from minigrad.distributions.utils import broadcast_all
from minigrad.ops.calling.types import finfo
from minigrad.tensor import Tensor


class Laplace(Distribution):
    r"""Laplace distribution: density :math:`e^{-|x-\mu|/b} / (2b)`.

    Args:
        loc: The middles, :math:`\mu`.
        scale: How wide they are, :math:`b`.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> import minigrad as torch
        >>> torch.distributions.Laplace(0.0, 1.0).log_prob(torch.tensor(2.0))
        tensor(-2.6931)
    """

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(batch_of(loc, scale, like=self.loc), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return 2**0.5 * self.scale

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw a uniform number, and give the value that it is the probability of."""
        shape, dtype = self._extended_shape(sample_shape), self.loc.dtype
        drawn = empty(shape, dtype=dtype).uniform_(finfo(dtype).eps - 1, 1)
        return self.loc - self.scale * drawn.sign() * (-drawn.abs()).log1p()

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        """Give the probability of a draw that is not greater."""
        if self._validate_args:
            self._validate_sample(value)
        away = value - self.loc
        return 0.5 - 0.5 * away.sign() * (-away.abs() / self.scale).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        """Give the value that is not exceeded with a probability."""
        away = value - 0.5
        return self.loc - self.scale * away.sign() * (-2 * away.abs()).log1p()

    def entropy(self) -> Tensor:
        """Give the entropy: 1 + ln(2b)."""
        return 1 + (2 * self.scale).log()
