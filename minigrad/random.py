"""Control the random numbers: start them from a seed, keep their state and return to it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

from minigrad.streams import STATE_SIZE, Stream
from minigrad.tensor import Tensor, wrap

__all__ = [
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]

_FIRST_SEED = 67280421310721  # of a new generator, as in PyTorch


def _fresh_seed() -> int:
    """Draw 64 bits from the system's own source of randomness."""
    return int.from_bytes(os.urandom(8), "little")


class Generator:
    """A source of random numbers with a state of its own.

    The same seed gives the same numbers as in PyTorch (see `minigrad.streams`).

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
        if device != "cpu":
            raise RuntimeError(f"there is no generator for device {device!r}, only for 'cpu'")
        self._seed: int | None = _FIRST_SEED
        self._stream: Stream | None = None

    @property
    def device(self) -> Any:
        """Where the numbers are made: the CPU."""
        return wrap(np.empty(0)).device

    def stream(self) -> Stream:
        """Give the stream to draw from; it is made late, since NumPy loads its bits late."""
        if self._stream is None:
            self._stream = Stream(self.initial_seed())
        return self._stream

    def initial_seed(self) -> int:
        """Give the seed that the numbers began with."""
        if self._seed is None:
            self._seed = _fresh_seed()
        return self._seed

    def manual_seed(self, seed: int) -> Self:
        """Start anew from a seed, always in the same way for the same one.

        Args:
            seed: From -2**63 to 2**64 - 1; a negative one counts as itself plus 2**64.

        Returns:
            The generator.

        Raises:
            RuntimeError: If the seed is no integer.
            ValueError: If it is out of range.
        """
        if type(seed) is not int:
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        if not -(2**63) <= seed < 2**64:
            raise ValueError(
                f"Overflow when unpacking long long. The seed {seed} is not between -2**63 and "
                "2**64 - 1"
            )
        self._seed, self._stream = seed % 2**64, None
        return self

    def seed(self) -> int:
        """Start anew from a seed that nobody can guess, and give it."""
        self.manual_seed(_fresh_seed())
        return self.initial_seed()

    def get_state(self) -> Tensor:
        """Give the whole state as a vector of bytes, for `set_state`; PyTorch's reads the same."""
        return wrap(np.frombuffer(self.stream().to_bytes(), np.uint8).copy())

    def set_state(self, new_state: Tensor) -> Self:
        """Return to a state that `get_state` gave.

        Returns:
            The generator.

        Raises:
            TypeError: If it is no tensor of bytes.
            RuntimeError: If it has the wrong size, or no generator could have such a state.
        """
        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
        array = new_state._array
        if array.dtype != np.uint8:
            raise TypeError(
                f"RNG state must be a torch.ByteTensor. This one is a {new_state.type()}"
            )
        if array.size != STATE_SIZE:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {STATE_SIZE} but found the input RNG "
                f"state size to be {array.size}. Use what get_rng_state() or get_state() gave."
            )
        try:
            self._stream = Stream.from_bytes(array.tobytes())
        except ValueError:
            raise RuntimeError(
                "Invalid mt19937 state. Use what get_rng_state() or get_state() gave."
            ) from None
        self._seed = self._stream.seed
        return self

    def clone_state(self) -> Generator:
        """Give another generator in the same state."""
        return Generator().set_state(self.get_state())


default_generator = Generator()
default_generator._seed = None  # drawn when first asked for


def stream(generator: Generator | None = None) -> Stream:
    """Give the stream to draw from: that of the default generator if None is given.

    Raises:
        TypeError: If it is no generator.
    """
    if generator is None:
        return default_generator.stream()
    if isinstance(generator, Generator):
        return generator.stream()
    raise TypeError(f"expected a torch.Generator, but got {type(generator).__name__}")


def manual_seed(seed: Any) -> Generator:
    """Start the random numbers of this package anew, always in the same way for the same seed.

    The same seed gives the same numbers as in PyTorch (see `minigrad.streams`).

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
    """Start the random numbers anew from a seed that nobody can guess, and give it."""
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
        TypeError: If it is no tensor of bytes.
        RuntimeError: If it has the wrong size, or no generator could have such a state.
    """
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(
    devices: Iterable[Any] | None = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str | None = None,
) -> Iterator[None]:
    """Draw random numbers inside a block, and leave their state as it was before.

    Args:
        devices: Other devices to do this for. There are none; so this changes nothing.
        enabled: False to do nothing at all.
        _caller: Here because PyTorch has it.
        _devices_kw: Here because PyTorch has it.
        device_type: Here because PyTorch has it.

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
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
