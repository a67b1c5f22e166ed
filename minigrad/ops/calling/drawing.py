"""Draw random numbers into tensors.

A seed gives the numbers that it gives in PyTorch; see `minigrad.streams`. A tensor whose memory
lies in another order than it is printed is filled in the order of its memory, as there.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.autograd.modes import grad_mode
from minigrad.autograd.views import check_inplace
from minigrad.ops import randomness
from minigrad.ops.inplace import write
from minigrad.random import Generator, stream
from minigrad.tensor import Tensor

__all__: list[str] = []


def _drawn_into(operation: Any, tensor: Tensor, draw: Any) -> Tensor:
    """Draw as many numbers as a tensor has entries, and write them in the order of its memory.

    Args:
        operation: What the graph shall say.
        tensor: The tensor.
        draw: Gives so many numbers as it is asked for.
    """
    if grad_mode.enabled:  # a tensor that must not be changed uses up no random numbers
        check_inplace(tensor, recording=tensor.requires_grad)
    array = tensor._array
    values = np.empty(array.shape, array.dtype)
    order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
    if array.flags.c_contiguous:
        order = list(range(array.ndim))
    in_memory = values.transpose(order)
    in_memory[...] = np.reshape(draw(array.size), in_memory.shape)
    return write(operation, tensor, values, checked=True)


def check_floats(kernel: str, tensor: Tensor) -> None:
    """Raise if a tensor has no floating-point entries."""
    if tensor._array.dtype.kind != "f":
        raise NotImplementedError(
            f"\"{kernel}\" not implemented for '{tensor.dtype.tensor_type}'. "
            "Convert to float first."
        )


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
    check_floats("check_uniform_bounds", input)
    if from_ > to:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={from_:g} > to={to:g}"
        )
    source, dtype = stream(generator), input._array.dtype
    return _drawn_into(
        randomness.uniform_draw,
        input,
        lambda count: source.uniform((count,), dtype, float(from_), float(to)),
    )


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
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    check_floats("normal_kernel_cpu", input)
    source, array = stream(generator), input._array

    def draw(count: int) -> Any:
        if array.flags.c_contiguous:
            return source.normal((count,), array.dtype, float(mean), float(std))
        return source.normals_in_order(count) * std + mean

    return _drawn_into(randomness.normal_draw, input, draw)


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
        low, high = (0, int(bounds[0])) if len(bounds) == 1 else map(int, bounds)
        if low >= high:
            raise RuntimeError(
                f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
            )
        if dtype.kind in "iub":
            limits = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
            for what, bound in (("from", low), ("to - 1", high - 1)):
                if not limits[0] <= bound <= limits[1]:
                    name = dtypes.c_name(input._array)
                    raise RuntimeError(f"{what} is out of bounds for {name}")
        return _drawn_into(
            randomness.random_below if len(bounds) == 1 else randomness.random_between,
            input,
            lambda count: source.integers(low, high, (count,)),
        )
    size = _WHOLE.get(dtype.name) or int(np.iinfo(dtype).max) + 1
    bits = source.wide if dtype.itemsize == 8 else source.bits
    return _drawn_into(randomness.random_draw, input, lambda count: bits(count) % np.uint64(size))


def exponential_(input: Tensor, lambd: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers from an exponential distribution of a rate."""
    if input._array.dtype.kind != "f":
        raise RuntimeError(
            "Exponential distribution is a continuous probability distribution. dtype must be a "
            f"floating point but you specified {input.dtype.tensor_type}"
        )
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    source = stream(generator)
    return _drawn_into(
        randomness.exponential_draw, input, lambda count: source.exponential((count,), lambd)
    )


def cauchy_(
    input: Tensor, median: float = 0, sigma: float = 1, *, generator: Generator | None = None
) -> Tensor:
    """Fill with numbers from a Cauchy distribution."""
    if input._array.dtype.kind != "f":
        raise RuntimeError(
            "Cauchy distribution is a continuous probability distribution. dtype must be a "
            f"floating point but you specified {input.dtype.tensor_type}"
        )
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    source = stream(generator)
    return _drawn_into(
        randomness.cauchy_draw,
        input,
        lambda count: median + sigma * np.tan(math.pi * (source.fractions(count) - 0.5)),
    )


def log_normal_(
    input: Tensor, mean: float = 1, std: float = 2, *, generator: Generator | None = None
) -> Tensor:
    """Fill with numbers whose logarithms are from a normal distribution."""
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    check_floats("log_normal_cpu", input)
    source = stream(generator)
    return _drawn_into(
        randomness.log_normal_draw,
        input,
        lambda count: np.exp(source.normals_in_order(count) * std + mean),
    )


def geometric_(input: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Fill with how many tries it takes until one of probability `p` succeeds."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    source = stream(generator)
    return _drawn_into(
        randomness.geometric_draw,
        input,
        lambda count: np.ceil(np.log(source.fractions(count)) / math.log1p(-p)),
    )


def bernoulli_(input: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill with ones with a probability, else zeros.

    Args:
        input: The tensor to fill.
        p: The probability; or a tensor of probabilities, which broadcasts.
        generator: The source of the numbers, if not the one that `manual_seed` starts.

    Raises:
        RuntimeError: If it is no probability.
    """
    source = stream(generator)
    if isinstance(p, Tensor):
        chances = np.broadcast_to(p._array, input._array.shape)
        return _drawn_into(
            randomness.bernoulli_draw, input, lambda count: tried(chances, source).reshape(-1)
        )
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    return _drawn_into(randomness.bernoulli_draw, input, lambda count: source.fractions(count) < p)


def tried(chances: Any, source: Any) -> Any:
    """Compare probabilities with uniform numbers of their own type."""
    if not ((chances >= 0) & (chances <= 1)).all():
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error "
            "message be improved?  If so, please report an enhancement request to PyTorch.)"
        )
    return source.uniform(chances.shape, chances.dtype) < chances


methods: dict[str, Any] = {
    "bernoulli_": bernoulli_,
    "cauchy_": cauchy_,
    "exponential_": exponential_,
    "geometric_": geometric_,
    "log_normal_": log_normal_,
    "normal_": normal_,
    "random_": random_,
    "uniform_": uniform_,
}
