"""Make tensors filled with one number, evenly spaced, of random numbers, or like another tensor."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.core.tensor import Tensor
from minigrad.creation import construction, dtypes
from minigrad.creation.construction import Array, DtypeChoice, entry, factory, like, shape_of
from minigrad.random import Generator, in_order_of_memory, stream
from minigrad.signatures.arguments import not_implemented, number, whole

__all__ = ["empty_like", "eye", "full", "full_like", "ones", "ones_like", "zeros", "zeros_like"]
__all__ += ["arange", "linspace", "rand", "rand_like", "randint", "randn", "randn_like", "randperm"]

# Each function makes an array; `factory` takes dtype, device and so on, and makes the tensor.

# ------------------------------------------------------------------ filled with one number


@factory
def zeros(*sizes: Any, size: Any = None, dtype_or: DtypeChoice) -> Array:
    """Make a tensor of zeros.

    Example:
        >>> import minigrad as torch
        >>> torch.zeros(2, 3)
        tensor([[0., 0., 0.],
                [0., 0., 0.]])
    """
    return np.zeros(shape_of(sizes, size, "zeros"), dtype_or())


@factory
def ones(*sizes: Any, size: Any = None, dtype_or: DtypeChoice) -> Array:
    """Make a tensor of ones.

    Example:
        >>> import minigrad as torch
        >>> torch.ones(2)
        tensor([1., 1.])
    """
    return np.ones(shape_of(sizes, size, "ones"), dtype_or())


@factory
def full(size: Any, fill_value: Any, *, dtype_or: DtypeChoice) -> Array:
    """Make a tensor of a shape, filled with one number.

    Example:
        >>> import minigrad as torch
        >>> torch.full((2, 2), 7)
        tensor([[7, 7],
                [7, 7]])
    """
    value = number(fill_value, "full", "fill_value", 2, "Scalar")
    dtype = dtype_or(dtypes.scalar_dtype(value, np.dtype("bool")))
    return np.full(shape_of((), size, "full"), entry(value, dtype), dtype)


@factory
def eye(n: int, m: int | None = None, *, dtype_or: DtypeChoice) -> Array:
    """Make a matrix with ones on the diagonal and zeros elsewhere.

    Example:
        >>> import minigrad as torch
        >>> torch.eye(2)
        tensor([[1., 0.],
                [0., 1.]])
    """
    return np.eye(whole("eye", n, "n"), m, dtype=dtype_or())


# ------------------------------------------------------------------ like another tensor


@like
def empty_like(new: Array) -> Array:
    """Make a tensor in the shape and type of another whose entries are not set."""
    return new


@like
def zeros_like(new: Array) -> Array:
    """Make a tensor of zeros in the shape and type of another."""
    new.fill(0)
    return new


@like
def ones_like(new: Array) -> Array:
    """Make a tensor of ones in the shape and type of another."""
    new.fill(1)
    return new


@like
def full_like(new: Array, fill_value: Any) -> Array:
    """Make a tensor in the shape and type of another, filled with one number."""
    new[...] = entry(number(fill_value, "full_like", "fill_value", 2, "Scalar"), new.dtype)
    return new


def _new(name: str, make: Callable[..., Array]) -> Callable[..., Any]:
    """Make a method that makes a tensor of the same type: `x.new_zeros(2, 3)`."""

    def method(self: Tensor, *sizes: Any, size: Any = None, dtype_or: DtypeChoice) -> Array:
        return make(shape_of(sizes, size, name), dtype_or(self._array.dtype))

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"Make a tensor as `{name[4:]}` does, of this tensor's type."
    return factory(method)


@factory
def new_tensor(self: Tensor, data: Any, *, dtype_or: DtypeChoice) -> Any:
    """Make a tensor from data, of this tensor's type unless another is given."""
    if isinstance(data, Tensor):
        data = construction.array_of_tensor(data, "tensor.new_tensor")
    return construction.copied(data, dtype_or(self._array.dtype))


methods: dict[str, Any] = {"new_tensor": new_tensor}
for _name in ("empty", "ones", "zeros"):
    methods[f"new_{_name}"] = _new(f"new_{_name}", getattr(np, _name))

# ------------------------------------------------------------------ evenly spaced


@factory
def arange(
    *bounds: Any, start: Any = 0, end: Any = None, step: Any = 1, dtype_or: DtypeChoice
) -> Array:
    """Make a vector of numbers from a start (or 0) up to but not including an end.

    The dtype is int64 if all bounds are whole numbers, else the default.

    Args:
        *bounds: The end; or start and end; or start, end and step.
        start: The first number, given by name.
        end: Where to stop, given by name.
        step: The distance between two numbers, given by name.

    Raises:
        RuntimeError: If the step is 0 or leads away from the end, or a bound is not finite.

    Example:
        >>> import minigrad as torch
        >>> torch.arange(2, 8, 2)
        tensor([2, 4, 6])
    """
    given = bounds if end is None else (*(bounds or (start,)), end)
    if len(given) not in (1, 2, 3):
        raise TypeError("arange() takes (end), (start, end) or (start, end, step)")
    first, last = (start, *given) if len(given) == 1 else given[:2]
    first, last = number(first, "arange", "start"), number(last, "arange", "end")
    step = number(given[2] if len(given) == 3 else step, "arange", "step")
    whole = isinstance(first, int) and isinstance(last, int) and isinstance(step, int)
    dtype = dtype_or(np.dtype("int64") if whole else None)
    if whole and dtype == np.int64 and step and (last - first) * step >= 0:
        return np.arange(first, last, step, dtype=np.int64)
    if dtype.kind in "bc":
        raise not_implemented("arange_cpu", np.empty(0, dtype))
    if not (step and 0 <= (last - first) * step < math.inf):
        raise RuntimeError(f"a step of {step} does not lead from {first} to {last}")
    if dtype == np.int64:
        first, last, step = int(first), int(last), int(step)
    distance = last - first
    exact = isinstance(distance, int) and isinstance(step, int)
    count = -(-distance // step) if exact else math.ceil(distance / step)
    kind = int if dtype.kind in "iu" else float
    if dtype == np.float32 and not exact and (first % 1 or step % 1):
        wide, whole = np.longdouble(step), count // 8 * 8  # PyTorch rounds the first of every eight
        firsts = (np.arange(0, whole, 8) * wide + first).astype(dtype)
        blocks = (firsts[:, None] + np.arange(8) * float(step)).astype(dtype)
        rest = (np.arange(whole, count) * wide + first).astype(dtype)
        return np.concatenate([blocks.ravel(), rest])
    return (np.arange(count) * kind(step) + kind(first)).astype(dtype)


@factory
def linspace(start: Any, end: Any, steps: int, *, dtype_or: DtypeChoice) -> Array:
    """Make a vector of evenly spaced numbers, both ends included.

    Args:
        start: The first number.
        end: The last number.
        steps: How many numbers.

    Raises:
        RuntimeError: If the number of numbers is negative.

    Example:
        >>> import minigrad as torch
        >>> torch.linspace(0, 1, 5)
        tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    first, last = (
        number(bound, "linspace", name, kind="float")
        for name, bound in (("start", start), ("end", end))
    )
    whole("linspace", steps, "steps", 3)
    if steps < 0:
        raise RuntimeError(f"number of steps must be non-negative. It is {steps}.")
    dtype = dtype_or()
    if dtype.kind in "bc":
        raise not_implemented("linspace_cpu", np.empty(0, dtype))
    exact = np.float64 if dtype.kind in "iu" else dtype.type
    if dtype.kind in "iu":
        first, last = int(first), int(last)
    with np.errstate(all="ignore"):
        first, last = exact(first), exact(last)
        if steps == 1:
            return np.full(1, first).astype(dtype)
        step = (last - first) / exact(max(steps - 1, 1))
        places = np.arange(steps).astype(exact)
        half = steps // 2  # counted from the nearer end, so that both ends are exact
        if dtype == np.float32:  # PyTorch rounds only once here, after multiplying and adding
            first, last, step = np.float64(first), np.float64(last), np.float64(step)
        result = np.empty(steps, exact)
        result[:half] = first + step * places[:half]
        result[half:] = last - step * places[: steps - half][::-1]
        return result.astype(dtype)


# ------------------------------------------------------------------ random numbers

# A seed gives the numbers that it gives in PyTorch; see `minigrad.random`.


def random_floats(
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    generator: Generator | None,
    normal: bool = False,
    blocks: bool = True,
) -> Array:
    """Draw uniform numbers from 0 to 1, or standard normal ones.

    Args:
        shape: The shape.
        dtype: The type.
        generator: The source of the numbers, if not the one that `manual_seed` starts.
        normal: Whether they are normal.
        blocks: Whether normal ones are made in blocks, as for memory without gaps.

    Raises:
        NotImplementedError: If the type is not floating point.
    """
    if dtype.kind != "f":
        raise not_implemented("normal" if normal else "uniform", np.empty(0, dtype))
    source = stream(generator)
    return source.normal(shape, dtype, blocks=blocks) if normal else source.uniform(shape, dtype)


@factory
def rand(
    *sizes: Any, size: Any = None, generator: Generator | None = None, dtype_or: DtypeChoice
) -> Array:
    """Make a tensor of random numbers, uniform from 0 up to but not including 1.

    Args:
        *sizes: The shape.
        size: The shape, given by its name.
        generator: The source of the numbers, if not the one that `manual_seed` starts.

    Raises:
        NotImplementedError: If the type is not floating point.

    Example:
        >>> import minigrad as torch
        >>> _ = torch.manual_seed(0)
        >>> torch.rand(3)
        tensor([0.4963, 0.7682, 0.0885])
    """
    return random_floats(shape_of(sizes, size, "rand"), dtype_or(), generator)


@factory
def randn(
    *sizes: Any, size: Any = None, generator: Generator | None = None, dtype_or: DtypeChoice
) -> Array:
    """Make a tensor of random numbers from the standard normal distribution; see `rand`.

    Example:
        >>> import minigrad as torch
        >>> _ = torch.manual_seed(0)
        >>> torch.randn(3)
        tensor([ 1.5410, -0.2934, -2.1788])
    """
    return random_floats(shape_of(sizes, size, "randn"), dtype_or(), generator, normal=True)


def check_range(low: int, high: int, dtype: np.dtype[Any]) -> None:
    """Raise if there is no whole number to draw, or a dtype does not hold the last."""
    limits = {"b": (0, 1), "c": (0, -1)}.get(dtype.kind, (-math.inf, math.inf))
    if dtype.kind in "iu":
        limits = np.iinfo(dtype).min, np.iinfo(dtype).max
    if not limits[0] <= low < high <= limits[1] + 1:
        raise RuntimeError(f"there are no numbers of {dtype} from {low} up to {high}")


@factory
def randint(
    *arguments: Any,
    low: int = 0,
    high: int | None = None,
    size: Any = None,
    generator: Generator | None = None,
    dtype_or: DtypeChoice,
) -> Array:
    """Make a tensor of random integers: `randint(low, high, size)` or `randint(high, size)`.

    Args:
        *arguments: The lowest number, 0 if left out; the one after the highest; the shape.
        low: The lowest number, by name.
        high: The one after the highest, by name.
        size: The shape, by name.
        generator: The source of the numbers, if not the one that `manual_seed` starts.

    Raises:
        RuntimeError: If there is no number in the range, or the type does not hold the last.

    Example:
        >>> import minigrad as torch
        >>> _ = torch.manual_seed(0)
        >>> torch.randint(0, 10, (3,))
        tensor([4, 9, 3])
    """
    given = [*arguments]
    if size is None and given:
        size = given.pop()
    if high is None and given:
        high = given.pop()
    if high is None or len(given) > 1 or not isinstance(size, (tuple, list)):
        raise TypeError("randint() takes (high, size) or (low, high, size), where size is a tuple")
    first = whole("randint", given[0] if given else low, "low", 1)
    end = whole("randint", high, "high", 2)
    shape, dtype = shape_of((size,), None, "randint"), dtype_or(np.dtype("int64"))
    check_range(first, end, dtype)
    return stream(generator).integers(first, end, shape).astype(dtype)


@factory
def randperm(n: int, *, generator: Generator | None = None, dtype_or: DtypeChoice) -> Array:
    """Make a vector of the numbers from 0 to n - 1 in random order, of dtype int64 by default.

    Raises:
        RuntimeError: If n is negative, or the type does not hold the last number.

    Example:
        >>> import minigrad as torch
        >>> _ = torch.manual_seed(0)
        >>> torch.randperm(4)
        tensor([0, 1, 3, 2])
    """
    n = whole("randperm", n, "n", 1)
    dtype = dtype_or(np.dtype("int64"))
    if n < 0 or (dtype.kind in "iu" and n > np.iinfo(dtype).max + 1):
        raise RuntimeError(f"there are no {n} numbers of {dtype} from 0 on")
    return stream(generator).permutation(n).astype(dtype)


@like
def rand_like(new: Array, *, generator: Generator | None = None) -> Array:
    """Make a tensor of uniform random numbers in the shape and type of another."""
    return in_order_of_memory(new, lambda n: random_floats((n,), new.dtype, generator))


@like
def randn_like(new: Array, *, generator: Generator | None = None) -> Array:
    """Make a tensor of normal random numbers in the shape and type of another."""
    blocks = new.flags.c_contiguous
    return in_order_of_memory(
        new, lambda n: random_floats((n,), new.dtype, generator, True, blocks)
    )
