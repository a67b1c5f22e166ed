"""Read a batch of distributions as one distribution of vectors with independent entries."""

from __future__ import annotations

from typing import Any, ClassVar

from minigrad.distributions import constraints
from minigrad.distributions.distribution import NO_SHAPE, Distribution
from minigrad.tensor import Tensor


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
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        """Whether all values can be listed."""
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @property
    def support(self) -> Any:  # type: ignore[override]
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

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Give all values along a new first dimension."""
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand)

    def __repr__(self) -> str:
        """Give the distribution and the number of dimensions."""
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"
