"""Draw one of several, as a vector that is 1 at its place."""

from __future__ import annotations

from typing import Any, ClassVar

from minigrad.creation import eye
from minigrad.distributions import constraints
from minigrad.distributions.categorical import Categorical
from minigrad.distributions.distribution import NO_SHAPE, Distribution
from minigrad.nn.functional import one_hot
from minigrad.tensor import Size, Tensor


class OneHotCategorical(Distribution):
    """Distribution of one-hot vectors. Give either probabilities or logits.

    Args:
        probs: Weights in the last dimension; they are divided by their sum.
        logits: Logarithms of such weights.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> import minigrad as torch
        >>> torch.distributions.OneHotCategorical(torch.tensor([1.0, 3.0])).mean
        tensor([0.2500, 0.7500])
    """

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self._categorical.probs  # type: ignore[no-any-return]

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        return self._categorical.logits  # type: ignore[no-any-return]

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._categorical.param_shape

    @property
    def mean(self) -> Tensor:
        """The mean: the probabilities."""
        return self.probs

    @property
    def mode(self) -> Tensor:
        """The most likely vector."""
        places = self.probs.argmax(dim=-1)
        return one_hot(places, num_classes=self._event_shape[-1]).to(self.probs)

    @property
    def variance(self) -> Tensor:
        """The variance of each entry."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw without a graph."""
        places = self._categorical.sample(sample_shape)
        return one_hot(places, self._event_shape[-1]).to(self.probs)

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Tensor:
        """Give the entropy."""
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Give all vectors along a new first dimension."""
        n = self._event_shape[0]
        values = eye(n, dtype=self.probs.dtype).view((n, *(1 for _ in self._batch_shape), n))
        return values.expand((n, *self._batch_shape, n)) if expand else values
