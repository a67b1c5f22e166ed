"""Draw numbers between bounds, waiting times and vectors; take a batch as one draw."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from minigrad.breadth import constraints
from minigrad.breadth.distribution import NO_SHAPE, Distribution, batch_of, broadcast_all
from minigrad.core.tensor import Tensor
from minigrad.creation.construction import empty
from minigrad.creation.factories import rand, randn
from minigrad.faces import FACES


class Uniform(Distribution):
    """Uniform distribution between two bounds.

    Args:
        low: The lower bounds.
        high: The upper bounds.
        validate_args: Whether parameters and values are checked.
    """

    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low: Any
        self.high: Any
        self.low, self.high = broadcast_all(low, high)
        super().__init__(batch_of(low, high, like=self.low), validate_args=validate_args)

    @property
    def arg_constraints(self) -> Any:
        """The bounds are in order."""
        bounds = constraints.less_than(self.high), constraints.greater_than(self.low)
        return dict(zip(("low", "high"), bounds, strict=True))

    mean = property(lambda self: (self.high + self.low) / 2, doc="The mean.")
    variance = property(lambda self: (self.high - self.low) ** 2 / 12, doc="The variance.")
    support = property(lambda self: constraints.interval(self.low, self.high), doc="The bounds.")

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw by moving and stretching numbers between 0 and 1."""
        drawn = rand(self._extended_shape(sample_shape), dtype=self.low.dtype)
        return self.low + drawn * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the logarithm of the density: outside of the bounds it is -inf."""
        value = self._checked(value)
        inside = (self.low <= value) & (self.high > value)
        return inside.type_as(self.low).log() - (self.high - self.low).log()

    def entropy(self) -> Tensor:
        """Give the entropy."""
        return (self.high - self.low).log()


class Exponential(Distribution):
    r"""Distribution of waiting times at a rate: :math:`\lambda e^{-\lambda x}`.

    Args:
        rate: The rate, :math:`\lambda`.
        validate_args: Whether parameters and values are checked.
    """

    arg_constraints: ClassVar[Any] = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(batch_of(rate, like=self.rate), validate_args=validate_args)

    mean = stddev = property(lambda self: 1 / self.rate, doc="The mean.")
    variance = property(lambda self: self.rate**-2, doc="The variance.")

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw by dividing waiting times of rate 1."""
        drawn: Any = empty(self._extended_shape(sample_shape), dtype=self.rate.dtype)
        return drawn.exponential_() / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the logarithm of the density."""
        return self.rate.log() - self.rate * self._checked(value)

    def entropy(self) -> Tensor:
        """Give the entropy."""
        return 1 - self.rate.log()


class MultivariateNormal(Distribution):
    """Normal distribution of vectors. Give one of the three matrices.

    Args:
        loc: The means.
        covariance_matrix: The covariances.
        precision_matrix: Their inverse.
        scale_tril: A triangle L of which the covariances are L Lᵀ.
        validate_args: Whether parameters and values are checked.
    """

    arg_constraints: ClassVar[Any] = {"loc": constraints.real_vector}
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._given = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        if sum(each is not None for each in self._given.values()) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be "
                "specified."
            )
        if precision_matrix is not None:
            covariance_matrix = FACES["inverse"].function(precision_matrix)
        if scale_tril is None:
            scale_tril = FACES["linalg_cholesky"].function(covariance_matrix)
        lower: Any = scale_tril
        shape = broadcast_all(loc, lower[..., 0])[0].shape
        self.scale_tril = lower.expand(*shape, shape[-1])
        self.loc = loc.expand(shape)
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    mean = mode = property(lambda self: self.loc, doc="The mean.")
    variance = property(lambda self: (self.scale_tril**2).sum(-1), doc="The variances.")
    covariance_matrix = property(lambda self: self.scale_tril @ self.scale_tril.mT)
    precision_matrix = property(lambda self: FACES["inverse"].function(self.covariance_matrix))

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw by L z + the means, of normal numbers z."""
        drawn = randn(self._extended_shape(sample_shape), dtype=self.loc.dtype)
        return self.loc + (self.scale_tril @ drawn.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the logarithm of the density."""
        away = (self._checked(value) - self.loc).unsqueeze(-1)
        squares = (FACES["inverse"].function(self.scale_tril) @ away).squeeze(-1).pow(2).sum(-1)
        volume = self.scale_tril.diagonal(0, -2, -1).log().sum(-1)
        return -0.5 * (self.loc.shape[-1] * math.log(2 * math.pi) + squares) - volume

    def __repr__(self) -> str:
        given = next(name for name, matrix in self._given.items() if matrix is not None)
        return f"MultivariateNormal(loc: {self.loc.size()}, {given}: {self.scale_tril.size()})"

    def entropy(self) -> Tensor:
        """Give the entropy."""
        volume = self.scale_tril.diagonal(0, -2, -1).log().sum(-1)
        return 0.5 * self.loc.shape[-1] * (1 + math.log(2 * math.pi)) + volume


class Independent(Distribution):
    """Take several dimensions of a batch as the dimensions of one draw.

    Args:
        base_distribution: The distribution.
        reinterpreted_batch_ndims: How many dimensions, from the last one on.
        validate_args: Whether values are checked.
    """

    def __init__(
        self,
        base_distribution: Distribution,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        shape = base_distribution.batch_shape
        first = len(shape) - reinterpreted_batch_ndims
        if first < 0:
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{reinterpreted_batch_ndims} vs {len(shape)}"
            )
        super().__init__(
            shape[:first], shape[first:] + base_distribution.event_shape, validate_args
        )
        self.has_rsample = base_distribution.has_rsample

    def sample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw without a graph."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw by the formula of the distribution."""
        return self.base_dist.rsample(sample_shape)

    mean = property(lambda self: self.base_dist.mean, doc="The mean.")
    mode = property(lambda self: self.base_dist.mode, doc="The most likely value.")
    variance = property(lambda self: self.base_dist.variance, doc="The variance.")

    def _summed(self, values: Tensor) -> Tensor:
        several = range(-self.reinterpreted_batch_ndims, 0)
        return values.sum([*several]) if several else values

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the sum of the logarithms."""
        return self._summed(self.base_dist.log_prob(value))

    def entropy(self) -> Tensor:
        """Give the sum of the entropies."""
        return self._summed(self.base_dist.entropy())

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"
