"""Draw from Gumbel distributions: noise that turns an argmax into a categorical draw."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from minigrad.creation import rand
from minigrad.distributions import constraints
from minigrad.distributions.distribution import NO_SHAPE, Distribution, batch_of
from minigrad.distributions.utils import broadcast_all
from minigrad.ops.calling.types import finfo
from minigrad.tensor import Tensor


class Gumbel(Distribution):
    r"""Gumbel distribution: :math:`\mu - \beta \ln(-\ln u)` of a uniform :math:`u`.

    Args:
        loc: The most likely values, :math:`\mu`.
        scale: How wide they are, :math:`\beta`.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> import minigrad as torch
        >>> torch.distributions.Gumbel(0.0, 1.0).mean
        tensor(0.5772)
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
        return self.loc + self.scale * np.euler_gamma

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return self.loc

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.stddev.pow(2)

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw a uniform number, and give the value that it is the probability of."""
        shape, dtype = self._extended_shape(sample_shape), self.loc.dtype
        low, high = finfo(dtype).tiny, 1 - finfo(dtype).eps
        drawn = low + rand(shape, dtype=dtype) * (high - low)
        return self.loc + -self.scale * (-drawn.log()).log()

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    def cdf(self, value: Tensor) -> Tensor:
        """Give the probability of a draw that is not greater."""
        if self._validate_args:
            self._validate_sample(value)
        return (-((self.loc - value) / self.scale).exp()).exp()

    def icdf(self, value: Tensor) -> Tensor:
        """Give the value that is not exceeded with a probability."""
        return self.loc + -self.scale * (-value.log()).log()

    def entropy(self) -> Tensor:
        """Give the entropy."""
        return self.scale.log() + (1 + np.euler_gamma)
