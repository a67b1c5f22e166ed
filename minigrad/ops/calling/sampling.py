"""Sample with tensors as probabilities, means, deviations or rates.

A seed gives the numbers that it gives in PyTorch; see `minigrad.streams`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.construction import check_place, default_or, finish, shape_of
from minigrad.ops import randomness
from minigrad.ops.calling.arguments import check_tensor
from minigrad.ops.calling.drawing import check_floats, tried
from minigrad.ops.calling.out import with_out
from minigrad.random import Generator, stream
from minigrad.tensor import Tensor, wrap

__all__ = ["bernoulli", "multinomial", "normal", "poisson"]


@with_out
def bernoulli(input: Tensor, p: Any = None, *, generator: Generator | None = None) -> Tensor:
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
    check_tensor("bernoulli", input)
    source, array = stream(generator), input._array
    if p is not None:
        if not 0 <= p <= 1:
            raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
        drawn = source.fractions(array.size).reshape(array.shape) < p
    else:
        check_floats("bernoulli_tensor_cpu_p_", input)
        drawn = tried(array, source)
    return randomness.bernoulli(input, drawn.astype(array.dtype))  # type: ignore[no-any-return]


@with_out
def normal(
    mean: Any,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Draw normal numbers, each with a mean and a standard deviation of its own.

    Args:
        mean: The means: a tensor, or one number.
        std: The standard deviations: a tensor, or one number.
        size: The shape, if both are numbers.
        generator: The source of the numbers, if not the one that `manual_seed` starts.
        dtype: The type of the entries, if both are numbers.
        layout: Strided, if any.
        device: The CPU, if any.
        pin_memory: False.
        requires_grad: Whether operations on the result are recorded, if both are numbers.

    Raises:
        RuntimeError: If a standard deviation is negative.
        TypeError: If there is neither a tensor nor a size.

    Example:
        >>> import minigrad as torch
        >>> _ = torch.manual_seed(0)
        >>> torch.normal(torch.tensor([0.0, 100.0]), torch.tensor([1.0, 10.0]))
        tensor([ 1.5410, 97.0657])
    """
    check_place("normal", device, layout, pin_memory)
    given = [each for each in (mean, std) if isinstance(each, Tensor)]
    lowest = std._array.min(initial=0) if isinstance(std, Tensor) else std
    if not lowest >= 0:
        what = "all elements of std >= 0.0" if isinstance(std, Tensor) else "std >= 0.0"
        found = "" if isinstance(std, Tensor) else f", but found std {std:g}"
        raise RuntimeError(f"normal expects {what}{found}")
    if not given:
        if size is None:
            raise TypeError("normal() needs a size if neither mean nor std is a tensor")
        shape = shape_of((size,), None, "normal")
        array = stream(generator).normal(shape, default_or(dtype, "normal"), mean, std)
        return finish(array, requires_grad)
    numbers = [getattr(each, "_array", each) for each in (mean, std)]
    shape = np.broadcast_shapes(*(np.shape(each) for each in numbers))
    kind = np.result_type(*(each._array.dtype for each in given))
    drawn = stream(generator).normal(shape, kind)
    return wrap((drawn * numbers[1] + numbers[0]).astype(kind))


@with_out(conversion="none")
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
    if weights.dtype.kind != "f":
        raise RuntimeError(
            "multinomial only supports floating-point dtypes for input, got: "
            f"{input.dtype.tensor_type}"
        )
    if weights.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > weights.shape[-1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    rows = np.atleast_2d(weights)
    if (rows.sum(1) <= 0).any():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    source = stream(generator)
    if num_samples == 1:  # with replacement or without, the one whose waiting time is shortest
        waiting = source.exponential(rows.shape).astype(rows.dtype)
        drawn = np.argmax(rows / waiting, axis=1)
    elif replacement:
        totals = np.cumsum(rows.astype(np.float64), axis=1)
        totals /= totals[:, -1:]
        chances = source.fractions(len(rows) * num_samples).reshape(len(rows), num_samples)
        pairs = zip(totals, chances, strict=True)
        drawn = np.array([np.searchsorted(total, chance) for total, chance in pairs])
    else:  # the one whose time of waiting is shortest comes first
        waiting = source.exponential(rows.shape).astype(rows.dtype)
        drawn = np.argsort(-(rows / waiting), axis=1, kind="stable")[:, :num_samples]
    return wrap(drawn.reshape(*weights.shape[:-1], num_samples).astype(np.int64))


def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Draw numbers of events from Poisson distributions, by Knuth's method.

    The numbers of a seed are PyTorch's as long as all rates are below 10, where PyTorch takes
    another method; here they are then drawn with the same method, and so more slowly.

    Args:
        input: The rates.
        generator: The source of the numbers, if not the one that `manual_seed` starts.

    Raises:
        RuntimeError: If a rate is negative.
    """
    check_floats("poisson_cpu", input)
    if (input._array < 0).any():
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    source = stream(generator)
    values = [_events(float(rate), source) for rate in input._array.flat]
    return wrap(np.array(values, input._array.dtype).reshape(input._array.shape))


def _events(rate: float, source: Any) -> int:
    """Count how many waiting times fit into one unit of time."""
    if rate == 0:
        return 0
    events, left = -1, rate
    while left >= 0:
        left += math.log(source.fractions(1).item() or 2.0**-54)
        events += 1
    return events


methods: dict[str, Any] = {"bernoulli": bernoulli, "multinomial": multinomial}
