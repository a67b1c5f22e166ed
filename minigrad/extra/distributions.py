"""Describe random numbers by their distributions: sample, log_prob, entropy.

`sample()` draws without a graph. `rsample()` draws by a formula of the parameters, so that their
gradients are known (Kingma and Welling, 2013); where there is none, differentiate `log_prob`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

from minigrad.autograd.grad_mode import enable_grad, no_grad
from minigrad.core.tensor import Tensor
from minigrad.creation import dtypes
from minigrad.creation.construction import tensor
from minigrad.creation.devices import finfo
from minigrad.creation.factories import full, ones, zeros
from minigrad.creation.layout import Size
from minigrad.nn import functional as F
from minigrad.ops.joining import broadcast_tensors
from minigrad.signatures import lazy_loading

__all__ = ["Bernoulli", "Categorical", "Distribution", "Normal"]

normal: Any = lazy_loading.function("normal")
NO_SHAPE = Size()


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Give numbers and tensors as tensors of one shape.

    Raises:
        ValueError: If something is neither a number nor a tensor.
    """
    if not all(isinstance(value, (Tensor, int, float)) for value in values):
        raise ValueError("the parameters of a distribution must be numbers or tensors")
    known = next((value for value in values if isinstance(value, Tensor)), None)
    dtype = dtypes.default.dtype if known is None else known.dtype
    return broadcast_tensors(
        *(value if isinstance(value, Tensor) else tensor(value, dtype=dtype) for value in values)
    )


# Which values a parameter can have, by its name: of numbers only nan does not equal itself.
_BOUNDS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("loc", "logits"), lambda value: value == value),
    "scale": lambda value: value > 0,
    "probs": lambda value: (value >= 0) & (value <= 1),
}


class Distribution:
    """A probability distribution, or a batch of them.

    Args:
        batch_shape: The shape of the parameters: one distribution for each.
        event_shape: The shape of one draw from one of them.
        validate_args: Whether parameters and values are checked.

    Raises:
        ValueError: If a parameter is outside its bounds.

    Example:
        >>> from minigrad.distributions import Distribution, Normal
        >>> isinstance(Normal(0.0, 1.0), Distribution)
        True
    """

    has_rsample = False
    _parameters: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self, batch_shape: Any = NO_SHAPE, event_shape: Any = NO_SHAPE, validate_args: Any = None
    ) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        self._validate_args = validate_args is not False
        for name in self._parameters if self._validate_args else ():
            value = vars(self).get(name)
            if value is not None and not _BOUNDS[name](value).all():
                kind = type(self).__name__
                raise ValueError(f"{kind}: the parameter {name} is out of bounds:\n{value}")

    def _not_here(self, *given: Any) -> Any:
        """Raise: this distribution has no formula for it."""
        raise NotImplementedError(f"there is no formula for this of a {type(self).__name__}")

    batch_shape = property(lambda self: self._batch_shape, doc="The shape of the batch.")
    event_shape = property(lambda self: self._event_shape, doc="The shape of one draw.")
    mean = variance = mode = property(_not_here)
    stddev = property(lambda self: self.variance.sqrt(), doc="The standard deviation.")
    log_prob: Callable[..., Any] = _not_here
    rsample: Callable[..., Any] = _not_here
    entropy: Callable[..., Any] = _not_here

    def sample(self, sample_shape: Any = NO_SHAPE) -> Any:
        """Draw without a graph, as many as `sample_shape` says for each distribution."""
        with no_grad():
            return self.rsample(sample_shape)

    def _extended_shape(self, sample_shape: Any = NO_SHAPE) -> Size:
        """Give the shape of as many draws as `sample_shape` says."""
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _can_be(self, value: Any) -> Any:
        """Tell for each value whether it can have been drawn."""
        return value == value

    def _checked(self, value: Any) -> Any:
        """Give a value back; raise if values are checked and it cannot have been drawn."""
        if self._validate_args and not self._can_be(value).all():
            raise ValueError(f"{self!r} cannot draw all of these values:\n{value}")
        return value

    def __repr__(self) -> str:
        """Give the name and the parameters: those of more than one entry by their shape."""
        known = {name: vars(self)[name] for name in self._parameters if name in vars(self)}
        shown = {name: v if v.numel() == 1 else v.size() for name, v in known.items()}
        listed = ", ".join(f"{name}: {value}" for name, value in shown.items())
        return f"{type(self).__name__}({listed})"


# ------------------------------------------------------------------ numbers


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

    has_rsample = True
    _parameters = ("loc", "scale")

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    mean = mode = property(lambda self: self.loc, doc="The mean, which is the most likely value.")
    stddev = property(lambda self: self.scale, doc="The standard deviation.")
    variance = property(lambda self: self.stddev.pow(2), doc="The variance.")

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        r"""Draw by :math:`\mu + \sigma \varepsilon`."""
        shape = self._extended_shape(sample_shape)
        dtype = self.loc.dtype
        return self.loc + normal(zeros(shape, dtype=dtype), ones(shape, dtype=dtype)) * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the logarithm of the density."""
        value = self._checked(value)
        var, log_scale = self.scale**2, self.scale.log()
        normalized = -((value - self.loc) ** 2) / (2 * var) - log_scale
        return normalized - math.log(math.sqrt(2 * math.pi))

    def entropy(self) -> Tensor:
        r"""Give the entropy: :math:`\tfrac12 + \tfrac12 \ln(2\pi) + \ln\sigma`."""
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()


# ------------------------------------------------------------------ choices


class _Chances(Distribution):
    """Given either by probabilities or by logits; the other ones follow when they are asked for."""

    _parameters = ("probs", "logits")

    def _set(self, probs: Any, logits: Any) -> str:
        """Keep the one that is not None, and give its name."""
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        name, given = ("logits", logits) if probs is None else ("probs", probs)
        (given,) = broadcast_all(given)
        vars(self)[name] = given
        return name

    @cached_property
    @enable_grad()
    def logits(self) -> Tensor:
        r"""The logits: :math:`\ln p`, or :math:`\ln p - \ln(1-p)` of one of two."""
        eps = finfo(self.probs.dtype).eps
        inside = self.probs.clamp(min=eps, max=1 - eps)
        binary = isinstance(self, Bernoulli)
        return inside.log() - (-inside).log1p() if binary else inside.log()

    @cached_property
    @enable_grad()
    def probs(self) -> Tensor:
        """The probabilities, of two values those of 1."""
        return self.logits.sigmoid() if isinstance(self, Bernoulli) else self.logits.softmax(-1)


class Bernoulli(_Chances):
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

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        name = self._set(probs, logits)
        super().__init__(vars(self)[name].size(), validate_args=validate_args)

    mean = property(lambda self: self.probs, doc="The mean.")
    variance = property(lambda self: self.probs * (1 - self.probs), doc="The variance, p (1 - p).")

    def _can_be(self, value: Any) -> Any:
        return (value == 0) | (value == 1)

    def sample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw without a graph."""
        with no_grad():
            return self.probs.expand(self._extended_shape(sample_shape)).bernoulli()

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the logarithm of the probability."""
        logits, target = broadcast_all(self.logits, self._checked(value))
        return -F.binary_cross_entropy_with_logits(logits, target, reduction="none")

    def entropy(self) -> Tensor:
        """Give the entropy."""
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")


class Categorical(_Chances):
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

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        name = self._set(probs, logits)
        given = vars(self)[name]
        if given.ndim < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if name == "probs":
            self.probs = given / given.sum(-1, keepdim=True)
        else:
            self.logits = given - given.logsumexp(dim=-1, keepdim=True)
        self._num_events = given.shape[-1]
        super().__init__(given.shape[:-1], validate_args=validate_args)

    mode = property(lambda self: self.probs.argmax(dim=-1), doc="The most likely value.")

    # names have no mean and no variance
    mean = variance = property(
        lambda self: full(self._batch_shape, math.nan, dtype=self.probs.dtype)
    )

    def _can_be(self, value: Any) -> Any:
        return (value % 1 == 0) & (value >= 0) & (value < self._num_events)

    def sample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw without a graph."""
        shape = Size(sample_shape)
        rows = self.probs.detach().reshape(-1, self._num_events)
        return rows.multinomial(shape.numel(), True).T.reshape(self._extended_shape(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the logarithm of the probability."""
        value = self._checked(value)
        indices, logits = broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, indices[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        """Give the entropy."""
        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)
