"""Describe random numbers by their distributions: `Normal`, `Categorical`, `Poisson`, ...

Counts are drawn one by one, as in PyTorch: by waiting while few are expected, else by rejection
(W. Hörmann, "The generation of binomial random variates" and "The transformed rejection method for
generating Poisson random variables", 1993).
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from minigrad.autograd.grad_mode import enable_grad, no_grad
from minigrad.breadth import constraints, distribution
from minigrad.breadth.distribution import NO_SHAPE, Distribution, broadcast_all
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation.construction import empty
from minigrad.creation.factories import arange, full, ones, ones_like, rand, randn, zeros
from minigrad.creation.layout import Size
from minigrad.creation.tensor_types import finfo
from minigrad.faces import FACES, lazy_loading
from minigrad.faces.arguments import as_floats
from minigrad.nn import functional as F
from minigrad.ops.joining import broadcast_tensors
from minigrad.random import Stream, stream

__all__ = ["Bernoulli", "Binomial", "Categorical", "Exponential", "Independent", "Multinomial"]
__all__ += ["MultivariateNormal", "Normal", "Poisson", "Uniform"]

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
        super().__init__(self.loc.size(), validate_args=validate_args)

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

    _is_binary: ClassVar[bool] = True
    arg_constraints: ClassVar[Any] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }

    @cached_property
    @enable_grad()
    def logits(self) -> Tensor:
        """The logarithms of the probabilities, of two values the logarithmic odds of 1."""
        return distribution.probs_to_logits(self.probs, self._is_binary)

    @cached_property
    @enable_grad()
    def probs(self) -> Tensor:
        """The probabilities, of two values those of 1."""
        return distribution.logits_to_probs(self.logits, self._is_binary)


def _either(probs: Any, logits: Any) -> Any:
    """Give the one that is not None, after its name."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    return ("logits", logits) if probs is None else ("probs", probs)


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

    support = constraints.boolean

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        name, given = _either(probs, logits)
        (self._param,) = broadcast_all(given)
        setattr(self, name, self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

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

    arg_constraints: ClassVar[Any] = {"total_count": constraints.nonnegative_integer}
    arg_constraints |= _Chances.arg_constraints

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: Any = None
    ) -> None:
        name, given = _either(probs, logits)
        count, self._param = broadcast_all(total_count, given)
        self.total_count = count.type_as(self._param)
        setattr(self, name, self._param)
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
    found = [math.lgamma(each + 1) for each in count._array.flat]
    return as_floats(count).new_tensor(found).view_as(count)


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

    arg_constraints: ClassVar[Any] = dict(probs=constraints.simplex, logits=constraints.real_vector)
    _is_binary = False

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        name, given = _either(probs, logits)
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


class Uniform(Distribution):
    """Uniform distribution between two bounds.

    Args:
        low: The lower bounds.
        high: The upper bounds.
        validate_args: Whether parameters and values are checked.
    """

    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.size(), validate_args=validate_args)

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
        inside = self.low.le(value) & self.high.gt(value)
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
        super().__init__(self.rate.size(), validate_args=validate_args)

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
        matrices = covariance_matrix, precision_matrix, scale_tril
        names = "covariance_matrix", "precision_matrix", "scale_tril"
        given = [name for name, each in zip(names, matrices, strict=True) if each is not None]
        if len(given) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be "
                "specified."
            )
        self._given = given[0]
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
    _volume = property(lambda self: self.scale_tril.diagonal(0, -2, -1).log().sum(-1))

    def rsample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw by L z + the means, of normal numbers z."""
        drawn = randn(self._extended_shape(sample_shape), dtype=self.loc.dtype)
        return self.loc + (self.scale_tril @ drawn.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the logarithm of the density."""
        away = (self._checked(value) - self.loc).unsqueeze(-1)
        squares = (FACES["inverse"].function(self.scale_tril) @ away).squeeze(-1).pow(2).sum(-1)
        return -0.5 * (self.loc.shape[-1] * math.log(2 * math.pi) + squares) - self._volume

    def __repr__(self) -> str:
        sizes = self.loc.size(), self.scale_tril.size()
        return f"MultivariateNormal(loc: {sizes[0]}, {self._given}: {sizes[1]})"

    def entropy(self) -> Tensor:
        """Give the entropy."""
        return 0.5 * self.loc.shape[-1] * (1 + math.log(2 * math.pi)) + self._volume


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
        super().__init__(shape[:first], shape[first:] + self.base_dist.event_shape, validate_args)
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


def _one(rate: float, source: Stream) -> float:
    count, product, least = -1, 1.0, math.exp(-rate)
    if rate < 10:
        while rate and (product > least or count < 0):
            product *= fraction(source)
            count += 1
        return max(count, 0)
    b = 0.931 + 2.53 * math.sqrt(rate)
    a, at_once = -0.059 + 0.02483 * b, 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = fraction(source) - 0.5, fraction(source)
        edge = 0.5 - abs(u)
        count = math.floor((2 * a / edge + b) * u + rate + 0.43) if edge else -1
        if edge >= 0.07 and v <= at_once:
            return count
        if count >= 0 and (edge >= 0.013 or v <= edge):
            height = math.log(v * (1.1239 + 1.1328 / (b - 3.4)) / (a / (edge * edge) + b))
            if height <= count * math.log(rate) - rate - math.lgamma(count + 1):
                return count


def draw_poisson(rate: Tensor, source: Stream) -> Tensor:
    """Draw a count for each rate."""
    counts = [_one(each, source) for each in rate._array.ravel().tolist()]
    return wrap(np.array(counts, rate._array.dtype).reshape(rate.shape))


class Poisson(Distribution):
    r"""Distribution of counts at a rate: :math:`\lambda^k e^{-\lambda} / k!`.

    Args:
        rate: The mean, :math:`\lambda`.
        validate_args: Whether parameters and values are checked.
    """

    arg_constraints: ClassVar[Any] = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    mean = variance = property(lambda self: self.rate, doc="The mean, and the variance.")

    def sample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw without a graph."""
        return draw_poisson(self.rate.expand(self._extended_shape(sample_shape)), stream())

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the logarithm of the probability."""
        rate, value = broadcast_all(self.rate, self._checked(value))
        return value.xlogy(rate) - rate - _log_factorial(value)


class Multinomial(Distribution):
    """Distribution of how often each of several values comes in some trials.

    Args:
        total_count: The trials.
        probs: Weights in the last dimension; they are divided by their sum.
        logits: Logarithms of such weights.
        validate_args: Whether parameters and values are checked.
    """

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: Any = None
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs, logits)
        shape = self._categorical._param.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)
        self.probs, self.logits = self._categorical.probs, self._categorical.logits

    mean = property(lambda self: self.total_count * self.probs, doc="The mean.")
    variance = property(lambda self: self.mean * (1 - self.probs), doc="The variance.")
    support = constraints.nonnegative_integer

    def sample(self, sample_shape: Any = NO_SHAPE) -> Tensor:
        """Draw without a graph."""
        trials = self._categorical.sample(Size((self.total_count, *sample_shape))).movedim(0, -1)
        counts = zeros(self._extended_shape(sample_shape), dtype=self.probs.dtype)
        return counts.scatter_add_(-1, trials, ones_like(trials).to(counts.dtype))

    def entropy(self) -> Tensor:
        """Give the mean of the negative logarithm of the probability."""
        each = Binomial(self.total_count, self.probs)
        counts = each.enumerate_support(False)
        same = (each.log_prob(counts).exp() * _log_factorial(counts)).sum((0, -1))
        return self.total_count * self._categorical.entropy() - _log_factorial(counts[-1, 0]) + same

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the logarithm of the probability."""
        logits, value = broadcast_all(self.logits, self._checked(value))
        ways = _log_factorial(value.sum(-1)) - _log_factorial(value).sum(-1)
        return ways + (logits * value).where(value != 0, 0.0).sum(-1)
