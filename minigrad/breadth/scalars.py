"""Draw numbers: normal ones, ones and zeros, how many ones, or one of several."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, ClassVar

from minigrad.autograd.grad_mode import enable_grad, no_grad
from minigrad.breadth import constraints
from minigrad.breadth.distribution import (
    NO_SHAPE,
    Distribution,
    batch_of,
    broadcast_all,
    logits_to_probs,
    probs_to_logits,
)
from minigrad.core.tensor import Tensor
from minigrad.creation.factories import arange, full, ones, zeros
from minigrad.creation.layout import Size
from minigrad.creation.tensor_types import finfo
from minigrad.faces import lazy_loading
from minigrad.nn import functional as F
from minigrad.ops.joining import broadcast_tensors
from minigrad.random import Stream, stream

normal: Any = lazy_loading.function("normal")


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

    mean = mode = property(lambda self: self.loc, doc="The mean, which is the most likely value.")
    stddev = property(lambda self: self.scale, doc="The standard deviation.")
    variance = property(lambda self: self.stddev.pow(2), doc="The variance.")

    def sample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw without a graph."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        r"""Draw by :math:`\mu + \sigma \varepsilon`."""
        shape = self._extended_shape(sample_shape)
        dtype = self.loc.dtype
        return self.loc + normal(zeros(shape, dtype=dtype), ones(shape, dtype=dtype)) * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the logarithm of the density."""
        value = self._checked(value)
        squares = (value - self.loc) ** 2
        normalized = -squares / (2 * self.scale**2) - self.scale.log()
        return normalized - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Tensor) -> Tensor:
        """Give the probability of a draw that is not greater."""
        value = self._checked(value)
        distance = (value - self.loc) * self.scale.reciprocal() / math.sqrt(2)
        return 0.5 * (1 + distance.erf())

    def entropy(self) -> Tensor:
        r"""Give the entropy: :math:`\tfrac12 + \tfrac12 \ln(2\pi) + \ln\sigma`."""
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()


class _Chances(Distribution):
    """Given either by probabilities or by logits; the other ones follow when they are asked for."""

    _is_binary: ClassVar[bool] = False

    @cached_property
    @enable_grad()
    def logits(self) -> Tensor:
        """The logarithms of the probabilities, of two values the logarithmic odds of 1."""
        return probs_to_logits(self.probs, self._is_binary)

    @cached_property
    @enable_grad()
    def probs(self) -> Tensor:
        """The probabilities, of two values those of 1."""
        return logits_to_probs(self.logits, self._is_binary)


def _either(probs: Any, logits: Any) -> Any:
    """Give the one that is not None."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    return logits if probs is None else probs


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

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support = constraints.boolean
    _is_binary = True

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        given = _either(probs, logits)
        (self._param,) = broadcast_all(given)
        setattr(self, "logits" if probs is None else "probs", self._param)
        super().__init__(batch_of(given, like=self._param), validate_args=validate_args)

    mean = property(lambda self: self.probs, doc="The mean.")
    variance = property(lambda self: self.probs * (1 - self.probs), doc="The variance, p (1 - p).")

    @property
    def mode(self) -> Tensor:
        """The likelier value; nan if both are as likely."""
        mode = (self.probs >= 0.5).to(self.probs)
        mode[self.probs == 0.5] = math.nan
        return mode

    def sample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw without a graph."""
        with no_grad():
            return self.probs.expand(self._extended_shape(sample_shape)).bernoulli()

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the logarithm of the probability."""
        value = self._checked(value)
        logits, target = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, target, reduction="none")

    def entropy(self) -> Tensor:
        """Give the entropy."""
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")


class Binomial(_Chances):
    """Distribution of how many of some trials succeed. Give either probabilities or logits.

    Args:
        total_count: How many trials.
        probs: The probabilities that one succeeds.
        logits: Their logarithmic odds, ln(p) - ln(1 - p).
        validate_args: Whether parameters and values are checked.

    Example:
        >>> import minigrad as torch
        >>> torch.distributions.Binomial(3, torch.tensor(0.5)).log_prob(torch.tensor(1.0))
        tensor(-0.9808)
    """

    arg_constraints: ClassVar[Any] = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    _is_binary = True

    def __init__(
        self,
        total_count: Any = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        count, self._param = broadcast_all(total_count, _either(probs, logits))
        self.total_count = count.type_as(self._param)
        setattr(self, "logits" if probs is None else "probs", self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    @property
    def support(self) -> Any:
        """The whole numbers from 0 to the number of trials."""
        return constraints.integer_interval(0, self.total_count)

    mean = property(lambda self: self.total_count * self.probs, doc="The mean, n p.")
    variance = property(lambda self: self.mean * (1 - self.probs), doc="The variance, n p (1 - p).")

    @property
    def mode(self) -> Tensor:
        """The likeliest value; the greater one of two."""
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    def sample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw without a graph."""
        shape = self._extended_shape(sample_shape)
        counts, chances = (each.expand(shape) for each in (self.total_count, self.probs))
        pairs = zip(counts._array.flat, chances.detach()._array.flat, strict=True)
        drawn = [_successes(float(n), float(p)) for n, p in pairs]
        return self._param.new_tensor(drawn).reshape(shape)

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the logarithm of the probability."""
        value, n, logits = self._checked(value), self.total_count, self.logits
        # -n ln(1 - p), which is n ln(1 + e^logit), without an overflow
        failures = n * logits.clamp(min=0) + n * (-logits.abs()).exp().log1p()
        chosen, others = _log_factorial(value), _log_factorial(n - value)
        return value * logits - chosen - others - (failures - _log_factorial(n))

    def entropy(self) -> Tensor:
        """Give the entropy.

        Raises:
            NotImplementedError: If the numbers of trials differ.
        """
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Give all possible values in a new first dimension.

        Raises:
            NotImplementedError: If the numbers of trials differ.
        """
        most = int(self.total_count.max())
        if self.total_count.min() != most:
            raise NotImplementedError(
                "Inhomogeneous total count not supported by `enumerate_support`."
            )
        values = arange(1 + most, dtype=self._param.dtype)
        values = values.view(-1, *[1] * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values


def _log_factorial(count: Tensor) -> Tensor:
    if count.requires_grad:
        raise NotImplementedError(
            "minigrad does not differentiate a Binomial's log_prob with respect to whole numbers: "
            "give it value.detach()."
        )
    return count.new_tensor([math.lgamma(each + 1) for each in count._array.flat]).view_as(count)


def _successes(n: float, p: float) -> float:
    """Draw how many of n trials succeed, each with the chance p."""
    if n <= 0 or p <= 0:
        return 0.0
    if p >= 1:
        return n
    if p > 0.5:
        return n - _successes(n, 1 - p)
    if math.isnan(p):
        return math.nan
    return _by_rejection(n, p) if n * p >= 10 else _by_waiting(n, p)


def fraction(source: Stream) -> float:
    """Draw one number from 0 up to but not including 1."""
    return float(source.fractions(1)[0])


def _by_waiting(n: float, p: float) -> float:
    """Count the successes: how many trials until each has a geometric distribution."""
    log_of_failure, tried, successes = math.log1p(-p), 0.0, 0
    while True:
        chance = fraction(stream())
        tried += math.ceil(math.log(chance) / log_of_failure) if chance else math.inf
        if tried > n:
            return float(successes)
        successes += 1


def _by_rejection(n: float, p: float) -> float:
    """Draw from a hat above the distribution (Hörmann, 1993, algorithm BTRS)."""
    deviation = math.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    most = math.floor((n + 1) * p)
    while True:
        u, v = fraction(stream()) - 0.5, fraction(stream())
        inside = 0.5 - abs(u)
        k = math.floor((2 * a / inside + b) * u + n * p + 0.5) if inside else -1.0
        if inside >= 0.07 and v <= 0.92 - 4.2 / b:
            return k
        if not 0 <= k <= n:
            continue
        v *= (2.83 + 5.1 / b) * deviation / (a / inside**2 + b)
        likelier = sum(map(math.lgamma, (most + 1, n - most + 1)))
        likelier -= sum(map(math.lgamma, (k + 1, n - k + 1)))
        if v == 0 or math.log(v) <= likelier + (k - most) * math.log(p / (1 - p)):
            return k


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

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }

    def __init__(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        given, name = _either(probs, logits), "logits" if probs is None else "probs"
        if given.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if probs is None:
            self._param = given - given.logsumexp(dim=-1, keepdim=True)
        else:
            self._param = given / given.sum(-1, keepdim=True)
        setattr(self, name, self._param)
        self._num_events = self._param.size()[-1]
        super().__init__(self._param.size()[:-1], validate_args=validate_args)

    @property
    def support(self) -> Any:
        """The whole numbers from 0 to n - 1."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return self.probs.argmax(dim=-1)

    @property
    def mean(self) -> Tensor:
        """Names have no mean and no variance: nan."""
        return full(self._batch_shape, math.nan, dtype=self.probs.dtype)

    variance = mean

    def sample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw without a graph."""
        shape = Size(sample_shape)
        rows = self.probs.detach().reshape(-1, self._num_events)
        return rows.multinomial(shape.numel(), True).T.reshape(self._extended_shape(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the logarithm of the probability."""
        value = self._checked(value)
        places, logits = broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, places[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        """Give the entropy."""
        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)
