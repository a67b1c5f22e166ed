"""Control the random numbers: start them from a seed, keep their state and return to it.

A seed gives the very numbers that it gives in PyTorch 2.13 on the CPU. The stream of bits is
MT19937, the Mersenne Twister (Matsumoto and Nishimura, 1998). NumPy has the same one, so the bits
come from there, quickly; what makes uniform, normal and other numbers of them is PyTorch's and not
NumPy's, and is written here. Two reservations: PyTorch computes 16 normal numbers or more in
float32 by a quicker approximation, which differs in the last bits, and its arithmetic may round a
product and a sum together.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

from minigrad.core.modes import modes
from minigrad.core.tensor import Tensor, wrap
from minigrad.signatures.arguments import not_implemented

__all__ = ["fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]

Shape = tuple[int, ...]
Array = np.ndarray[Any, Any]

# A state as bytes: the seed, where in the twister the next number is, the normal number in store
# (or NaN), and then the numbers of the twister.
_HEAD, _KEYS = struct.Struct("<QId"), 624
# From so many numbers on PyTorch makes normal ones in blocks of 16.
_BLOCK = 16
# Whole numbers from a range of this size on are made of 64 bits.
_WIDE_RANGE = 2**28


class Stream:
    """A stream of random numbers that begins with a seed.

    Args:
        seed: A number from 0 to 2**64 - 1; as in PyTorch, its last 32 bits count.

    Example:
        >>> Stream(0).uniform((3,))
        array([0.4962566 , 0.7682218 , 0.08847743], dtype=float32)
    """

    __slots__ = ("_stored", "_twister", "seed")

    def __init__(self, seed: int) -> None:
        self.seed = seed
        begin: Any = np.random.RandomState(seed & 0xFFFFFFFF).get_state(legacy=False)
        self._twister = np.random.MT19937()
        self._twister.state = begin
        self._stored: float | None = None  # normal numbers come in pairs

    # ------------------------------------------------------------------ bits

    def bits(self, count: int) -> Array:
        """Draw numbers of 32 bits."""
        return self._twister.random_raw(count)

    def wide(self, count: int) -> Array:
        """Draw numbers of 64 bits; the first 32 are the upper ones."""
        pairs = self.bits(2 * count).reshape(count, 2)
        return (pairs[:, 0] << np.uint64(32)) | pairs[:, 1]

    def fractions(self, count: int) -> Array:
        """Draw numbers from 0 up to but not including 1, in float64."""
        return (self.wide(count) & np.uint64(2**53 - 1)) * 2.0**-53

    # ------------------------------------------------------------------ distributions

    def uniform(
        self, shape: Shape, dtype: Any = np.float32, low: float = 0.0, high: float = 1.0
    ) -> Array:
        """Draw numbers from `low` up to but not including `high`, all equally likely."""
        count, dtype = math.prod(shape), np.dtype(dtype)
        if dtype == np.float64:
            values = self.fractions(count)
        else:
            values = (self.bits(count) & np.uint64(2**24 - 1)) * 2.0**-24
        if (low, high) != (0, 1):
            if dtype == np.float32:
                low, high = float(np.float32(low)), float(np.float32(high))
            values = values * (high - low) + low
        return values.reshape(shape).astype(dtype)

    def normal(
        self,
        shape: Shape,
        dtype: Any = np.float32,
        mean: float = 0.0,
        std: float = 1.0,
        blocks: bool = True,
    ) -> Array:
        r"""Draw numbers from a normal distribution, by the method of Box and Muller (1958).

        Two uniform numbers u and v give two normal ones, :math:`\sqrt{-2 \ln u} \cos 2 \pi v` and
        the same with the sine. As in PyTorch, 16 numbers or more are made in blocks, unless they
        are for a tensor whose memory has gaps.
        """
        count, dtype = math.prod(shape), np.dtype(dtype)
        if count < _BLOCK or not blocks:
            values = np.array([self._one_normal() for _ in range(count)])
            return (values * std + mean).reshape(shape).astype(dtype)
        computing = np.float64 if dtype == np.float64 else np.float32
        values = self.uniform((count,), computing)
        whole = count - count % _BLOCK
        values[:whole] = _in_blocks(values[:whole])
        if whole < count:  # the last 16 are made again
            values[-_BLOCK:] = _in_blocks(self.uniform((_BLOCK,), computing))
        if std != 1:
            values *= computing(std)
        if mean != 0:
            values += computing(mean)
        return values.reshape(shape).astype(dtype, copy=False)

    def _one_normal(self) -> float:
        if self._stored is not None:
            value, self._stored = self._stored, None
            return value
        turn, chance = self.fractions(2).tolist()
        radius = math.sqrt(-2 * math.log1p(-chance))
        self._stored = radius * math.sin(2 * math.pi * turn)
        return radius * math.cos(2 * math.pi * turn)

    def exponential(self, shape: Shape, rate: float = 1.0) -> Array:
        """Draw numbers from an exponential distribution, in float64."""
        return (-np.log1p(-self.fractions(math.prod(shape))) / rate).reshape(shape)

    def integers(self, low: int, high: int, shape: Shape) -> Array:
        """Draw whole numbers from `low` up to but not including `high`, in int64."""
        size, count = high - low, math.prod(shape)
        drawn = self.wide(count) if size >= _WIDE_RANGE else self.bits(count)
        return (drawn % np.uint64(size)).astype(np.int64).reshape(shape) + low

    def permutation(self, count: int) -> Array:
        """Draw an order of the numbers from 0 to `count` - 1 (Fisher and Yates, 1938)."""
        order = list(range(count))
        steps = self.bits(max(count - 1, 0)) % np.arange(count, 1, -1, dtype=np.uint64)
        for at, step in enumerate(steps.tolist()):
            order[at], order[at + step] = order[at + step], order[at]
        return np.array(order, np.int64)

    # ------------------------------------------------------------------ state

    def to_bytes(self) -> bytes:
        """Give the whole state."""
        state = self._twister.state["state"]
        stored = math.nan if self._stored is None else self._stored
        head = _HEAD.pack(self.seed, int(state["pos"]), stored)
        return head + state["key"].astype("<u4").tobytes()

    @classmethod
    def from_bytes(cls, content: bytes) -> Stream:
        """Return to a state.

        Raises:
            ValueError, struct.error: If it is none.
        """
        seed, place, stored, key = _parts(content)
        stream = cls(seed)
        stream._twister.state = {
            "bit_generator": "MT19937",
            "state": {"key": key.astype(np.uint32), "pos": place},
        }
        stream._stored = None if math.isnan(stored) else stored
        return stream


def _parts(content: bytes) -> tuple[int, int, float, Array]:
    """Take a state apart into the seed, the place, the normal number in store, and the numbers."""
    seed, place, stored = _HEAD.unpack_from(content)
    key = np.frombuffer(content, "<u4", _KEYS, _HEAD.size)
    if place > _KEYS or not key.any():
        raise ValueError("no state of a Mersenne Twister")
    return seed, place, stored, key


def _in_blocks(uniform: Array) -> Array:
    """Make normal numbers of uniform ones: in each block of 16 the first 8 and the last 8 pair."""
    blocks = uniform.reshape(-1, 2, _BLOCK // 2)
    radius = np.sqrt(-2 * np.log(1 - blocks[:, 0]))
    angle = uniform.dtype.type(2 * math.pi) * blocks[:, 1]
    pairs = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return pairs.reshape(-1)


_FIRST_SEED = 67280421310721  # of a new generator, as in PyTorch


def _fresh_seed() -> int:
    """Draw 64 bits from the system's own source of randomness."""
    return int.from_bytes(os.urandom(8), "little")


class Generator:
    """A source of random numbers with a state of its own.

    The same seed gives the same numbers as in PyTorch.

    Args:
        device: Where the numbers are made; there is only `"cpu"`.

    Example:
        >>> import minigrad as torch
        >>> dice = torch.Generator().manual_seed(7)
        >>> first = torch.rand(2, generator=dice)
        >>> torch.equal(first, torch.rand(2, generator=dice.manual_seed(7)))
        True
    """

    def __init__(self, device: str = "cpu") -> None:
        if device is not None and str(device) not in ("cpu", "cpu:0"):
            raise RuntimeError(f"there is no generator for device {device!r}, only for 'cpu'")
        self._seed: int | None = _FIRST_SEED
        self._stream: Stream | bytes | None = None  # bytes: a state to return to

    @property
    def device(self) -> Any:
        """Where the numbers are made: the CPU."""
        return wrap(np.empty(0)).device

    def stream(self) -> Stream:
        """Give the stream to draw from; it is made late, since NumPy loads its bits late."""
        if modes.at_once is not None:
            modes.at_once()
        if self._stream is None:
            self._stream = Stream(self.initial_seed())
        elif isinstance(self._stream, bytes):
            self._stream = Stream.from_bytes(self._stream)
        return self._stream

    def initial_seed(self) -> int:
        """Give the seed that the numbers began with."""
        if self._seed is None:
            self._seed = _fresh_seed()
        return self._seed

    def manual_seed(self, seed: int) -> Self:
        """Start again from a seed, always in the same way for the same one.

        Args:
            seed: From -2**63 to 2**64 - 1; a negative one counts as itself plus 2**64.

        Returns:
            The generator.

        Raises:
            RuntimeError: If the seed is no integer.
            ValueError: If it is out of range.
        """
        if type(seed) is not int or not -(2**63) <= seed < 2**64:
            error = RuntimeError if type(seed) is not int else ValueError
            raise error(f"a seed is a whole number between -2**63 and 2**64 - 1, not {seed!r}")
        self._seed, self._stream = seed % 2**64, None
        return self

    def seed(self) -> int:
        """Start again from a seed that nobody can guess, and give it."""
        self.manual_seed(_fresh_seed())
        return self.initial_seed()

    def get_state(self) -> Tensor:
        """Give the whole state as a vector of bytes, for `set_state`."""
        state = self._stream if isinstance(self._stream, bytes) else self.stream().to_bytes()
        return wrap(np.frombuffer(state, np.uint8).copy())

    def set_state(self, new_state: Tensor) -> Self:
        """Return to a state that `get_state` gave.

        Returns:
            The generator.

        Raises:
            TypeError: If it isn't a tensor of bytes.
            RuntimeError: If it has the wrong size, or no generator could have such a state.
        """
        if not isinstance(new_state, Tensor) or new_state._array.dtype != np.uint8:
            raise TypeError("the state of random numbers is a tensor of bytes (torch.uint8)")
        state = new_state._array.tobytes()
        try:
            self._seed, *_ = _parts(state)
        except (ValueError, struct.error):
            raise RuntimeError("this is no state of random numbers, as get_state() gives") from None
        self._stream = state  # it is made when it is needed: a proof returns to it again and again
        return self


default_generator = Generator()
default_generator._seed = None  # drawn when first asked for


def stream(generator: Generator | None = None) -> Stream:
    """Give the stream to draw from: that of the default generator if None is given.

    Raises:
        TypeError: If it isn't a generator.
    """
    if generator is None:
        return default_generator.stream()
    if isinstance(generator, Generator):
        return generator.stream()
    raise TypeError(f"expected a torch.Generator, but got {type(generator).__name__}")


# ------------------------------------------------------------------ for the entries of an array

Draw = Callable[[int], Array]  # gives so many numbers as it is asked for


def uniform_for(array: Array, low: float, high: float, generator: Generator | None) -> Draw:
    """Give what draws uniform numbers for the entries of an array.

    Raises:
        NotImplementedError: If the entries are no floating-point numbers.
        RuntimeError: If the bounds are in the wrong order.
    """
    if array.dtype.kind != "f":
        raise not_implemented("check_uniform_bounds", array)
    most = np.finfo(array.dtype).max
    if not -most <= low <= high <= most:
        raise RuntimeError(f"uniform_: there are no numbers of {array.dtype} in [{low}, {high})")
    source, dtype = stream(generator), array.dtype
    return lambda count: source.uniform((count,), dtype, float(low), float(high))


def normal_for(array: Array, mean: float, std: float, generator: Generator | None) -> Draw:
    """Give what draws normal numbers for the entries of an array.

    Raises:
        NotImplementedError: If the entries are no floating-point numbers.
        RuntimeError: If the standard deviation is negative.
    """
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    if array.dtype.kind != "f":
        raise not_implemented("normal_kernel_cpu", array)
    source, dtype, blocks = stream(generator), array.dtype, array.flags.c_contiguous
    return lambda count: source.normal((count,), dtype, float(mean), float(std), blocks)


def in_order_of_memory(array: Array, draw: Draw) -> Array:
    """Fill an array with random numbers: the first one goes where its memory begins."""
    in_memory = array
    if not array.flags.c_contiguous:
        in_memory = array.transpose(np.argsort([-abs(step) for step in array.strides], 0, "stable"))
    in_memory[...] = draw(array.size).reshape(in_memory.shape)
    return array


# ------------------------------------------------------------------ the default generator


def manual_seed(seed: Any) -> Generator:
    """Start the random numbers of this package again, always in the same way for the same seed.

    The same seed gives the same numbers as in PyTorch.

    Returns:
        The default generator.

    Raises:
        ValueError: If the seed is not between -2**63 and 2**64 - 1.

    Example:
        >>> import minigrad as torch
        >>> _ = torch.manual_seed(0)
        >>> a = torch.randn(2)
        >>> _ = torch.manual_seed(0)
        >>> torch.equal(a, torch.randn(2))
        True
    """
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Start the random numbers again from a seed that nobody can guess, and give it.

    Example:
        >>> import minigrad as torch
        >>> torch.seed() == torch.initial_seed()
        True
    """
    return default_generator.seed()


def initial_seed() -> int:
    """Give the seed that the random numbers began with.

    Example:
        >>> import minigrad as torch
        >>> _ = torch.manual_seed(5)
        >>> torch.initial_seed()
        5
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Give the state of the random numbers as a vector of bytes, for `set_rng_state`.

    Example:
        >>> import minigrad as torch
        >>> state = torch.get_rng_state()
        >>> a = torch.rand(3)
        >>> torch.set_rng_state(state)
        >>> torch.equal(a, torch.rand(3))
        True
    """
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Return to a state of the random numbers that `get_rng_state` gave.

    Raises:
        TypeError: If it isn't a tensor of bytes.
        RuntimeError: If it has the wrong size, or no generator could have such a state.

    Example:
        >>> import minigrad as torch
        >>> before = torch.get_rng_state()
        >>> a = torch.rand(3)
        >>> torch.set_rng_state(before)
        >>> torch.equal(a, torch.rand(3))
        True
    """
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(devices: Any = (), enabled: bool = True, **others: Any) -> Iterator[None]:
    """Draw random numbers inside a block, and leave their state as it was before.

    Args:
        devices: Other devices to do this for. There are none.
        enabled: False to do nothing at all.
        **others: PyTorch's names of other devices.

    Raises:
        AssertionError: If another device is named.

    Example:
        >>> import minigrad as torch
        >>> with torch.random.fork_rng():
        ...     a = torch.rand(3)
        >>> torch.equal(a, torch.rand(3))
        True
    """
    if not enabled:
        yield
        return
    if devices:
        raise AssertionError("Torch not compiled with CUDA enabled")
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
