"""Draw one of several, such as the action of a policy or the next letter."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from minigrad.creation import arange, full
from minigrad.distributions import constraints
from minigrad.distributions.distribution import NO_SHAPE, Distribution
from minigrad.distributions.utils import lazy_property, logits_to_probs, probs_to_logits
from minigrad.dtypes import int64
from minigrad.ops.calling.repeating import broadcast_tensors
from minigrad.ops.calling.sampling import multinomial
from minigrad.ops.calling.types import finfo
from minigrad.tensor import Size, Tensor


class Categorical(Distribution):
    """Distribution of 0 to n - 1. Give either probabilities or logits.

    Args:
        probs: Weights in the last dimension; they are divided by their sum.
        logits: Logarithms of such weights.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> import minigrad as torch
        >>> policy = torch.distributions.Categorical(torch.tensor([1.0, 3.0]))
        >>> policy.log_prob(torch.tensor(1))
        tensor(-0.2877)
    """

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    has_enumerate_support = True

    def __init__(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        if probs is not None:
            if probs.dim() < 1:
                raise ValueError("`probs` parameter must be at least one-dimensional.")
            self.probs = self._param = probs / probs.sum(-1, keepdim=True)
        elif logits is not None:
            if logits.dim() < 1:
                raise ValueError("`logits` parameter must be at least one-dimensional.")
            self.logits = self._param = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._num_events = self._param.size()[-1]
        super().__init__(self._param.size()[:-1], validate_args=validate_args)

    @property
    def support(self) -> Any:  # type: ignore[override]
        """The whole numbers from 0 to n - 1."""
        return constraints.integer_interval(0, self._num_events - 1)

    @lazy_property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities."""
        return logits_to_probs(self.logits)

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._param.size()

    @property
    def mean(self) -> Tensor:
        """Names have no mean: nan."""
        return full(self._batch_shape, math.nan, dtype=self.probs.dtype)

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return self.probs.argmax(dim=-1)  # type: ignore[no-any-return]

    @property
    def variance(self) -> Tensor:
        """Names have no variance: nan."""
        return full(self._batch_shape, math.nan, dtype=self.probs.dtype)

    def sample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw without a graph."""
        shape = Size(sample_shape)
        rows = self.probs.detach().reshape(-1, self._num_events)
        return multinomial(rows, shape.numel(), True).T.reshape(self._extended_shape(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        places, logits = broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, places[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        """Give the entropy."""
        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)  # type: ignore[no-any-return]

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Give all values along a new first dimension."""
        values = arange(self._num_events, dtype=int64)
        values = values.view((-1, *(1 for _ in self._batch_shape)))
        return values.expand((-1, *self._batch_shape)) if expand else values
