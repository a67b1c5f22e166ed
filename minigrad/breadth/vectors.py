"""Draw vectors: with independent entries, or normal ones whose entries depend on each other."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from minigrad import linalg
from minigrad.breadth import constraints
from minigrad.breadth.distribution import NO_SHAPE, Distribution, lazy_property
from minigrad.breadth.scalars import standard_normal
from minigrad.core.tensor import Tensor
from minigrad.creation.factories import eye
from minigrad.creation.layout import Size
from minigrad.ops.joining import broadcast_shapes


def sum_rightmost(value: Tensor, dims: int) -> Tensor:
    """Sum over the last dimensions."""
    return value if dims == 0 else value.reshape((*value.shape[:-dims], -1)).sum(-1)


class Independent(Distribution):
    """The last dimensions of a batch as dimensions of one draw: `log_prob` sums over them.

    Args:
        base_distribution: The batch of distributions.
        reinterpreted_batch_ndims: How many of its dimensions.
        validate_args: Whether values are checked.

    Raises:
        ValueError: If the batch has fewer dimensions.

    Example:
        >>> import minigrad as torch
        >>> normal = torch.distributions.Normal(torch.zeros(3), torch.ones(3))
        >>> torch.distributions.Independent(normal, 1).log_prob(torch.zeros(3))
        tensor(-2.7568)
    """

    arg_constraints: ClassVar[Any] = {}

    def __init__(
        self,
        base_distribution: Distribution,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        own = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(own):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {len(own)}"
            )
        shape = own + base_distribution.event_shape
        batch = len(own) - reinterpreted_batch_ndims
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__(shape[:batch], shape[batch:], validate_args=validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether draws can be differentiated."""
        return self.base_dist.has_rsample

    @property
    def support(self) -> Any:
        """The values that can be drawn."""
        support = self.base_dist.support
        dims = self.reinterpreted_batch_ndims
        return constraints.independent(support, dims) if dims else support

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        """The variance of each entry."""
        return self.base_dist.variance

    def sample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw without a graph."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw by a formula of the parameters."""
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the sum of the logarithms of the densities."""
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        """Give the sum of the entropies."""
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        """Give the distribution and the number of dimensions."""
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"


def half_log_det(lower: Tensor) -> Tensor:
    """Give half the logarithm of the determinant of `lower @ lower.mT`."""
    return lower.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def _factor_of_precision(precision: Tensor) -> Tensor:
    """Factor the inverse of a matrix without computing the inverse."""
    upper = linalg.cholesky(precision.flip((-2, -1))).flip((-2, -1))
    return linalg.solve_triangular(
        upper.mT, eye(precision.shape[-1], dtype=precision.dtype), upper=False
    )


class MultivariateNormal(Distribution):
    r"""Normal distribution of vectors. Give one of the three matrices.

    Args:
        loc: The means, :math:`\mu`.
        covariance_matrix: The covariances, :math:`\Sigma`.
        precision_matrix: Their inverse.
        scale_tril: The lower triangular :math:`L` with :math:`L L^T = \Sigma`.
        validate_args: Whether parameters and values are checked.

    Raises:
        ValueError: If there is not exactly one matrix, or it is not positive-definite.

    Example:
        >>> import minigrad as torch
        >>> normal = torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))
        >>> normal.log_prob(torch.zeros(2))
        tensor(-1.8379)
    """

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
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
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        matrices = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = [(name, value) for name, value in matrices.items() if value is not None]
        if len(given) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be "
                "specified."
            )
        ((name, matrix),) = given
        if matrix.dim() < 2:
            optional = ", with optional leading batch dimensions" if name == "scale_tril" else ""
            raise ValueError(f"{name} matrix must be at least two-dimensional{optional}")
        batch = broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand((*batch, -1, -1)))
        self.loc = loc.expand((*batch, -1))
        super().__init__(batch, self.loc.shape[-1:], validate_args=validate_args)
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = _factor_of_precision(matrix)

    def expand(self, batch_shape: Any, _instance: Any = None) -> MultivariateNormal:
        """Give the same distribution as a larger batch, without copying the parameters."""
        larger = object.__new__(type(self))
        vars(larger).update(vars(self))
        wanted = Size(batch_shape)
        larger._batch_shape = wanted
        larger.loc = self.loc.expand(wanted + self._event_shape)
        for name in ("covariance_matrix", "precision_matrix", "scale_tril"):
            if name in vars(self):
                shape = wanted + self._event_shape + self._event_shape
                setattr(larger, name, getattr(self, name).expand(shape))
        return larger

    def _matrices(self) -> Size:
        """Give the shape of the matrices."""
        return self._batch_shape + self._event_shape + self._event_shape

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower triangular factor of the covariances."""
        return self._unbroadcasted_scale_tril.expand(self._matrices())

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariances."""
        lower = self._unbroadcasted_scale_tril
        return (lower @ lower.mT).expand(self._matrices())

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariances."""
        lower = self._unbroadcasted_scale_tril
        identity = eye(lower.shape[-1], dtype=lower.dtype)
        inverse = linalg.solve_triangular(lower, identity, upper=False)
        return (inverse.mT @ inverse).expand(self._matrices())

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
        """The variance of each entry."""
        own = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return own.expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        r"""Draw by :math:`\mu + L \varepsilon`."""
        noise = standard_normal(self._extended_shape(sample_shape), self.loc.dtype)
        return self.loc + (self._unbroadcasted_scale_tril @ noise.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the logarithm of the density."""
        value = self._checked(value)
        lower = self._unbroadcasted_scale_tril
        away = (value - self.loc).unsqueeze(-1)
        squares = linalg.solve_triangular(lower, away, upper=False).squeeze(-1).pow(2).sum(-1)
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + squares) - half_log_det(lower)

    def entropy(self) -> Tensor:
        """Give the entropy."""
        constant = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        entropy = constant + half_log_det(self._unbroadcasted_scale_tril)
        return entropy.expand(self._batch_shape) if self._batch_shape else entropy
