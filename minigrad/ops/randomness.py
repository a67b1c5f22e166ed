"""Draw random numbers into tensors, with tensors as probabilities or means, and for dropout.

A seed gives the numbers that it gives in PyTorch; see `minigrad.random`. No gradient passes, but
the graph tells of the numbers. A tensor whose memory lies in another order than it is printed is
filled in the order of its memory, as there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.custom_nodes import without_derivative
from minigrad.autograd.grad_mode import no_grad
from minigrad.autograd.messages import warn
from minigrad.autograd.rules import with_arguments
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation.construction import empty
from minigrad.creation.factories import check_range
from minigrad.ops import elementwise
from minigrad.ops.convolution import of_dimensions
from minigrad.ops.inplace import write
from minigrad.ops.type_promotion import broadcast_shape, check_floats
from minigrad.random import Generator, in_order_of_memory, normal_for, stream, uniform_for
from minigrad.signatures import attach, functional, variants
from minigrad.signatures.arguments import not_implemented, whole


def _drawn(node: str, name: str, two: bool = False) -> Any:
    """Register what replaces a tensor, or two, by numbers that were drawn before."""

    @with_arguments("self, other, values" if two else "self, values")
    def forward(self: Array, *others: Any) -> Array:
        return others[-1].astype(self.dtype)

    def zeros(grad: Any) -> Any:
        return np.zeros_like(grad)

    forward.__name__ = name
    forward.__doc__ = "Random numbers, drawn before, instead of a tensor: no gradient passes."
    rules: dict[str, Any] = dict.fromkeys(("self", "other") if two else ("self",), zeros)
    return operation(node, broadcasts=two, **rules)(forward)


_uniform_draw = _drawn("UniformBackward0", "uniform_draw")
_normal_draw = _drawn("NormalBackward0", "normal_draw")
_random_draw = _drawn("RandomBackward2", "random_draw")
_bernoulli_draw = _drawn("BernoulliBackward2", "bernoulli_draw")
_bernoulli_chances = _drawn("BernoulliBackward1", "bernoulli_chances", two=True)
_normal_of_two = _drawn("NormalBackward3", "normal_of_two", two=True)
_bernoulli = _drawn("BernoulliBackward0", "bernoulli")

# ------------------------------------------------------------------ into tensors


def _drawn_into(operation: Any, tensor: Tensor, draw: Any, *others: Tensor) -> Tensor:
    """Draw as many numbers as a tensor has entries, and write them in the order of its memory.

    Args:
        operation: The name in the graph.
        tensor: The tensor.
        draw: Gives so many numbers as it is asked for.
        *others: Further names in the graph.
    """
    values = in_order_of_memory(np.empty_like(tensor._array), draw)
    return write(operation, tensor, *others, values)


def uniform_(
    input: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Fill with uniform numbers from a lower bound up to but not including an upper one.

    Args:
        input: The tensor to fill.
        from_: The lower bound (PyTorch calls it `from`, which Python does not let one write).
        to: The upper bound.
        generator: The source of the numbers, if not the one that `manual_seed` starts.

    Raises:
        RuntimeError: If the bounds are in the wrong order.

    Example:
        >>> import minigrad as torch
        >>> _ = torch.manual_seed(0)
        >>> torch.empty(3).uniform_(-1, 1)
        tensor([-0.0075,  0.5364, -0.8230])
    """
    return _drawn_into(_uniform_draw, input, uniform_for(input._array, from_, to, generator))


def normal_(
    input: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Fill with numbers from a normal distribution.

    Args:
        input: The tensor to fill.
        mean: The mean.
        std: The standard deviation.
        generator: The source of the numbers, if not the one that `manual_seed` starts.

    Raises:
        RuntimeError: If the standard deviation is negative.

    Example:
        >>> import minigrad as torch
        >>> _ = torch.manual_seed(0)
        >>> torch.empty(3).normal_(10, 0.5)
        tensor([10.7705,  9.8533,  8.9106])
    """
    return _drawn_into(_normal_draw, input, normal_for(input._array, mean, std, generator))


# How many whole numbers random_() chooses among, from 0 on: as many as the type holds exactly.
_WHOLE = {"float16": 2**11 + 1, "float32": 2**24 + 1, "float64": 2**53 + 1, "bool": 2}


def random_(input: Tensor, *bounds: Any, generator: Generator | None = None) -> Tensor:
    """Fill with whole numbers: `random_()`, `random_(to)` or `random_(from, to)`.

    Args:
        input: The tensor to fill.
        *bounds: The number after the highest, and before it the lowest. Without any, all numbers
            that the type holds exactly, from 0 on.
        generator: The source of the numbers, if not the one that `manual_seed` starts.

    Raises:
        RuntimeError: If there is no number between the bounds, or the type does not hold them.

    Example:
        >>> import minigrad as torch
        >>> _ = torch.manual_seed(0)
        >>> torch.empty(4, dtype=torch.int64).random_(10)
        tensor([4, 9, 3, 0])
    """
    source, dtype = stream(generator), input._array.dtype
    if bounds:
        ends = bounds if len(bounds) > 1 else (0, *bounds)
        low, high = (whole("random_", each, "to") for each in ends)
        check_range(low, high, dtype)
        return _drawn_into(_random_draw, input, lambda count: source.integers(low, high, (count,)))
    size = _WHOLE.get(dtype.name) or int(np.iinfo(dtype).max) + 1
    bits = source.wide if dtype.itemsize == 8 else source.bits
    return _drawn_into(_random_draw, input, lambda count: bits(count) % np.uint64(size))


def bernoulli_(input: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill with ones with a probability, else zeros.

    Args:
        input: The tensor to fill.
        p: The probability; or a tensor of probabilities, which broadcasts.
        generator: The source of the numbers, if not the one that `manual_seed` starts.

    Raises:
        RuntimeError: If it isn't a probability.
    """
    source = stream(generator)
    if isinstance(p, Tensor):
        check_floats("bernoulli_", "bernoulli_tensor_cpu_p_", p)
        chances = np.broadcast_to(p._array, input._array.shape)
        return _drawn_into(
            _bernoulli_chances, input, lambda count: _tried(chances, source).reshape(-1), p
        )
    return _drawn_into(_bernoulli_draw, input, _with_chance(p, source))


def _with_chance(p: float, source: Any) -> Any:
    """Give what draws so many truth values as it is asked for, true with a probability."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    return lambda count: source.fractions(count) < p


def _tried(chances: Any, source: Any) -> Any:
    """Compare probabilities with uniform numbers of their own type."""
    if not ((chances >= 0) & (chances <= 1)).all():
        raise RuntimeError("probabilities are numbers from 0 to 1")
    return source.uniform(chances.shape, chances.dtype) < chances


# ------------------------------------------------------------------ with tensors as parameters


@variants(out="any")
def bernoulli(
    input: Tensor, p: float | None = None, *, generator: Generator | None = None
) -> Tensor:
    """Draw ones with the probabilities that a tensor holds, else zeros.

    Args:
        input: The probabilities; or only a shape and type, if `p` is given.
        p: One probability for all.
        generator: The source of the numbers, if not the one that `manual_seed` starts.

    Raises:
        RuntimeError: If one is no probability.
        NotImplementedError: If they are no floating-point numbers.

    Example:
        >>> import minigrad as torch
        >>> _ = torch.manual_seed(0)
        >>> torch.bernoulli(torch.tensor([0.1, 0.5, 0.9]))
        tensor([0., 0., 1.])
    """
    source, array = stream(generator), input._array
    if p is not None:
        drawn = _with_chance(p, source)(array.size).reshape(array.shape)
        return without_derivative("bernoulli", wrap(drawn.astype(array.dtype)), input)
    check_floats("bernoulli", "bernoulli_tensor_cpu_p_", input, "iubcO")
    return _bernoulli(input, _tried(array, source).astype(array.dtype))


def normal(
    mean: Any, std: Any = 1.0, size: Any = None, *, generator: Any = None, **options: Any
) -> Tensor:
    """Draw normal numbers, each with a mean and a standard deviation of its own.

    Args:
        mean: The means: a tensor, or one number.
        std: The standard deviations: a tensor, or one number.
        size: The shape, if both are numbers.
        generator: The source of the numbers, if not the one that `manual_seed` starts.
        **options: `dtype`, `requires_grad` and so on, if both are numbers.

    Raises:
        RuntimeError: If a standard deviation is negative.
        TypeError: If there is neither a tensor nor a size.

    Example:
        >>> import minigrad as torch
        >>> _ = torch.manual_seed(0)
        >>> torch.normal(torch.tensor([0.0, 100.0]), torch.tensor([1.0, 10.0]))
        tensor([ 1.5410, 97.0657])
    """
    if size is not None:
        with no_grad():
            return normal_(empty(size, **options), mean, std, generator=generator)
    given = [each for each in (mean, std) if isinstance(each, Tensor)]
    if not given:
        raise TypeError("normal() needs a size if neither mean nor std is a tensor")
    kind = given[0]._array.dtype
    if kind.kind != "f":
        raise not_implemented("normal_kernel_cpu", given[0]._array)
    mean, std = (
        each if isinstance(each, Tensor) else wrap(np.asarray(each, kind)) for each in (mean, std)
    )
    if (std._array < 0).any():
        raise RuntimeError("normal takes standard deviations from 0 on")
    drawn = stream(generator).normal(broadcast_shape(mean._array.shape, std._array.shape), kind)
    return _normal_of_two(mean, std, drawn * std._array + mean._array)


@variants(out="none")
def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Draw positions with the probabilities that a vector, or each row of a matrix, holds.

    Args:
        input: Weights that need not sum to 1, of shape (n,) or (rows, n).
        num_samples: How many positions for each row.
        replacement: Whether a position may come more than once.
        generator: The source of the numbers, if not the one that `manual_seed` starts.

    Returns:
        Positions in int64, of shape (num_samples,) or (rows, num_samples).

    Raises:
        RuntimeError: If a weight is negative or not finite, all are 0, or there are too few.

    Example:
        >>> import minigrad as torch
        >>> _ = torch.manual_seed(0)
        >>> torch.multinomial(torch.tensor([0.1, 0.2, 0.7]), 4, replacement=True)
        tensor([2, 2, 2, 2])
    """
    weights = input._array
    if weights.dtype.kind != "f" or weights.ndim not in (1, 2) or num_samples <= 0:
        raise RuntimeError("multinomial draws from a vector or rows of floats, at least once")
    if not replacement and num_samples > weights.shape[-1]:
        raise RuntimeError(f"{num_samples} draws without replacement need as many weights")
    rows = np.atleast_2d(weights)
    if not (np.isfinite(rows) & (rows >= 0)).all() or (rows.sum(1) <= 0).any():
        raise RuntimeError("weights are finite and not negative, and not all of them are 0")
    source = stream(generator)
    if replacement and num_samples > 1:
        totals = np.cumsum(rows.astype(np.float64), axis=1)
        totals /= totals[:, -1:]
        chances = source.fractions(len(rows) * num_samples).reshape(len(rows), num_samples)
        pairs = zip(totals, chances, strict=True)
        drawn = np.array([np.searchsorted(total, chance) for total, chance in pairs])
    else:  # the one whose time of waiting is shortest comes first
        rates = rows / source.exponential(rows.shape).astype(rows.dtype)
        order = np.argsort(-rates, 1, "stable") if num_samples > 1 else rates.argmax(1)[:, None]
        drawn = order[:, :num_samples]
    return wrap(drawn.reshape(*weights.shape[:-1], num_samples).astype(np.int64))


_IN_PLACE = (bernoulli_, normal_, random_, uniform_)
attach(__name__, {method.__name__: method for method in _IN_PLACE}, {"normal": normal})


# ------------------------------------------------------------------ dropout


# Minus the value of selu far on the left: what takes the place of dropped entries, so that mean
# and variance stay. Source: Klambauer et al., Self-normalizing neural networks, 2017.


def _keep_mask(like: Any, p: float) -> Any:
    """Draw what is kept: ones with probability 1 - p, else zeros. All masks are drawn here."""
    draw = stream().fractions
    mask = np.empty_like(like, order="C" if 0 in like.strides else "K")
    return in_order_of_memory(mask, lambda count: draw(count) < 1 - p)


def _drop(input: Tensor, p: float, training: bool, inplace: Any = False, dims: int = 0) -> Tensor:
    """Multiply by a random mask, 0 or one over the probability of being kept.

    Args:
        input: The tensor.
        p: The probability of an entry to be set to zero.
        training: Whether to do it at all; if not, the input itself is the result.
        inplace: Overwrite the input.
        dims: How many dimensions number the channels that are dropped as a whole; 0 for entries.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    array, dtype = input._array, input._array.dtype
    if p == 0 or not training or not array.size:
        return input
    if dtype.kind in "biuc":
        raise RuntimeError(f"dropout scales floats, got {input.dtype}")
    if dims:
        array = np.empty((*array.shape[:dims], *[1] * (array.ndim - dims)), dtype)
    mask = _keep_mask(array, p) if p < 1 else np.zeros((), dtype)
    factor = wrap(mask / (1 - p or 1))
    return write(elementwise.mul, input, factor) if inplace else elementwise.mul(input, factor)


@variants("dropout", method=False)
def dropped_if(input: Tensor, p: float, train: bool) -> Tensor:
    """Set entries to zero at random, and divide the rest by 1 - p; if not `train`, do nothing."""
    return _drop(input, p, train)


@variants("native_dropout", method=False)
def dropped_and_mask(input: Tensor, p: float, train: bool) -> tuple[Tensor, Tensor]:
    """Set entries to zero at random, and give the mask of those that were kept, too.

    Example:
        >>> import minigrad as torch
        >>> torch.native_dropout(torch.ones(2), 0.5, False)
        (tensor([1., 1.]), tensor([True, True]))
    """
    kept = _keep_mask(input._array, p if train else 0.0)
    scale = 1 / (1 - p or 1) if train else 1.0
    return input * wrap(kept * scale), wrap(kept.astype(bool))


# ---------------------------------------------------------------------- of layers


@functional("dropout")
def dropped(input: Any, p: float = 0.5, training: bool = True, inplace: Any = False) -> Tensor:
    """Set entries to zero at random, and divide the rest by 1 - p.

    Source: Srivastava et al., *Dropout: a simple way to prevent neural networks from overfitting*,
    2014.

    Args:
        input: The tensor.
        p: The probability of an entry to be set to zero.
        training: Whether to do it at all; if not, the input itself is the result.
        inplace: Overwrite the input.

    Raises:
        ValueError: If `p` is not between 0 and 1.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.dropout(torch.ones(3), p=0.5, training=False)
        tensor([1., 1., 1.])
    """
    return _drop(input, p, training, inplace)


def _of_channels(
    name: str, spatial: int, input: Any, p: float = 0.5, training: bool = True, inplace: Any = False
) -> Tensor:
    """Set whole channels to zero at random, and divide the rest by 1 - p.

    Source: Tompson et al., *Efficient object localization using convolutional networks*, 2014.

    Args:
        name: The function that is called.
        spatial: How many dimensions a channel has.
        input: The tensor.
        p: The probability of a channel to be set to zero.
        training: Whether to do it at all; if not, the input itself is the result.
        inplace: Overwrite the input.

    Shape:
        - input: (N, C, L), (N, C, H, W) or (N, C, D, H, W); or without N, but for images
        - output: the same

    Raises:
        RuntimeError: If signals have neither 2 nor 3 dimensions.
        ValueError: If `p` is not between 0 and 1.
    """
    ndim = input.ndim
    if spatial == 1 and ndim not in (2, 3):
        raise RuntimeError(f"{name} takes inputs of 2 or 3 dimensions, got {ndim}")
    if spatial == 2 and ndim == 3:
        warn("dropout2d takes a 3D input as (N, C, L), as dropout1d does; use that instead.")
    return _drop(input, p, training, inplace, 1 if spatial != 2 and ndim == spatial + 1 else 2)


for _spatial in (1, 2, 3):
    of_dimensions(_of_channels, _spatial, f"dropout{_spatial}d")
