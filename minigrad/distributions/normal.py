"""Draw from normal distributions."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from minigrad.autograd.modes import no_grad
from minigrad.creation import ones, zeros
from minigrad.distributions import constraints
from minigrad.distributions.distribution import NO_SHAPE, Distribution, batch_of
from minigrad.distributions.utils import broadcast_all
from minigrad.ops.calling.sampling import normal
from minigrad.tensor import Tensor


def standard_normal(shape: Any, dtype: Any) -> Tensor:
    """Draw numbers of mean 0 and variance 1."""
    return normal(zeros(shape, dtype=dtype), ones(shape, dtype=dtype))


class Normal(Distribution):
    r"""Normal distribution: density :math:`e^{-(x-\mu)^2/(2\sigma^2)} / (\sigma\sqrt{2\pi})`.

    Args:
        loc: The means, :math:`\mu`.
        scale: The standard deviations, :math:`\sigma`.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> import minigrad as torch
        >>> torch.distributions.Normal(0.0, 1.0).log_prob(torch.tensor(1.0))
        tensor(-1.4189)
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
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.scale

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.stddev.pow(2)

    def sample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw without a graph."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        r"""Draw by :math:`\mu + \sigma \varepsilon`."""
        shape = self._extended_shape(sample_shape)
        return self.loc + standard_normal(shape, self.loc.dtype) * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        squares = (value - self.loc) ** 2
        normalized = -squares / (2 * self.scale**2) - self.scale.log()
        return normalized - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Tensor) -> Tensor:
        """Give the probability of a draw that is not greater."""
        if self._validate_args:
            self._validate_sample(value)
        distance = (value - self.loc) * self.scale.reciprocal() / math.sqrt(2)
        return 0.5 * (1 + distance.erf())

    def icdf(self, value: Tensor) -> Tensor:
        """Give the value that is not exceeded with a probability."""
        return self.loc + self.scale * (2 * value - 1).erfinv() * math.sqrt(2)

    def entropy(self) -> Tensor:
        r"""Give the entropy: :math:`\tfrac12 + \tfrac12 \ln(2\pi) + \ln\sigma`."""
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()
