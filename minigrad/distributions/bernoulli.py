"""Draw ones and zeros."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from minigrad.autograd.modes import no_grad
from minigrad.creation import arange
from minigrad.distributions import constraints
from minigrad.distributions.distribution import NO_SHAPE, Distribution, batch_of
from minigrad.distributions.utils import (
    broadcast_all,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
)
from minigrad.nn.functional import binary_cross_entropy_with_logits
from minigrad.ops.calling.sampling import bernoulli
from minigrad.tensor import Size, Tensor


class Bernoulli(Distribution):
    """Distribution of 1 and 0. Give either probabilities or logits.

    Args:
        probs: The probabilities of 1.
        logits: Their logarithmic odds, ln(p) - ln(1 - p).
        validate_args: Whether parameters and values are checked.

    Example:
        >>> import minigrad as torch
        >>> torch.distributions.Bernoulli(0.25).log_prob(torch.tensor(1.0))
        tensor(-1.3863)
    """

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support = constraints.boolean
    has_enumerate_support = True

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        given = logits if probs is None else probs
        (self._param,) = broadcast_all(given)
        setattr(self, "logits" if probs is None else "probs", self._param)
        super().__init__(batch_of(given, like=self._param), validate_args=validate_args)

    @lazy_property
    def logits(self) -> Tensor:
        """The logarithmic odds of 1."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities of 1."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._param.size()

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.probs  # type: ignore[no-any-return]

    @property
    def mode(self) -> Tensor:
        """The likelier value; nan if both are as likely."""
        mode = (self.probs >= 0.5).to(self.probs)
        mode[self.probs == 0.5] = math.nan
        return mode  # type: ignore[no-any-return]

    @property
    def variance(self) -> Tensor:
        """The variance, p (1 - p)."""
        return self.probs * (1 - self.probs)  # type: ignore[no-any-return]

    def sample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw without a graph."""
        with no_grad():
            return bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        logits, target = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, target, reduction="none")

    def entropy(self) -> Tensor:
        """Give the entropy."""
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Give 0 and 1 along a new first dimension."""
        values = arange(2, dtype=self._param.dtype)
        values = values.view((-1, *(1 for _ in self._batch_shape)))
        return values.expand((-1, *self._batch_shape)) if expand else values
