"""Let examples be made as a worker of PyTorch's would: with its random numbers, its dataset."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.random import get_rng_state, manual_seed, set_rng_state


@dataclass(eq=False)
class WorkerInfo:
    """What a worker may know of itself.

    Attributes:
        id: Its number, from 0 to one below `num_workers`.
        num_workers: How many workers there are.
        seed: The seed of its random numbers.
        dataset: Its copy of the dataset.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


_worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """Give what the worker that is at work may know of itself; None outside of workers.

    Example:
        >>> from minigrad.utils.data import get_worker_info
        >>> get_worker_info() is None
        True
    """
    return _worker_info


class Worker:
    """One worker: it has a shallow copy of the dataset and random numbers of its own.

    It works in the same process and thread as everything else, when it is asked to; so all is done
    in the same order in every run, and nothing gets faster.

    Args:
        number: Its number.
        workers: How many there are.
        base_seed: What all seeds are counted from.
        dataset: The dataset.
        init_fn: Called with the number before the first example, if given.
    """

    def __init__(
        self,
        number: int,
        workers: int,
        base_seed: int,
        dataset: Any,
        init_fn: Callable[[int], Any] | None,
    ) -> None:
        seed = base_seed + number
        self.info = WorkerInfo(number, workers, seed, copy.copy(dataset))
        self.active = True
        self._base_seed = base_seed
        self._init_fn = init_fn
        self._states: tuple[Any, ...] | None = None

    @contextmanager
    def at_work(self) -> Iterator[WorkerInfo]:
        """Let what happens in a block happen in the worker."""
        global _worker_info
        outside, _worker_info = (_worker_info, _states()), self.info
        try:
            if self._states is None:
                self._start()
            else:
                _restore(self._states)
            yield self.info
        finally:
            self._states = _states()
            _worker_info, states = outside
            _restore(states)

    def _start(self) -> None:
        """Seed the three sources of random numbers, as PyTorch does, and call `worker_init_fn`."""
        random.seed(self.info.seed)
        manual_seed(self.info.seed)
        low, high = self._base_seed & 0xFFFFFFFF, self._base_seed >> 32
        np.random.seed(np.random.SeedSequence([self.info.id, low, high]).generate_state(4))
        if self._init_fn is not None:
            self._init_fn(self.info.id)


def _states() -> tuple[Any, ...]:
    return random.getstate(), np.random.get_state(), get_rng_state()


def _restore(states: tuple[Any, ...]) -> None:
    random.setstate(states[0])
    np.random.set_state(states[1])
    set_rng_state(states[2])
