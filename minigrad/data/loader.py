"""Go through a dataset in batches, in order or shuffled, in the open or by way of workers."""

from __future__ import annotations

import copy
import itertools
import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from minigrad.autograd.messages import warn
from minigrad.data.collate import default_collate, default_convert
from minigrad.data.dataset import Dataset, IterableDataset, TensorDataset
from minigrad.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, draw_seed
from minigrad.random import Generator, get_rng_state, manual_seed, set_rng_state


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


class Fetcher:
    """Asks a dataset for the examples of a batch, and makes the batch.

    Args:
        loader: Whose settings are followed.
        dataset: The dataset, or a worker's copy of it.
    """

    def __init__(self, loader: DataLoader[Any], dataset: Any) -> None:
        self._dataset = dataset
        self._in_batches = loader._auto_collation
        self._collate = loader.collate_fn
        self._drop_last = loader.drop_last
        iterable = isinstance(dataset, IterableDataset)
        self._examples: Iterator[Any] | None = iter(dataset) if iterable else None
        self._ended = False
        # rows of tensors that become tensors of rows: these can be had without the detour
        is_plain = type(dataset) is TensorDataset and loader.collate_fn is default_collate
        self._rows = dataset._batch if is_plain and self._in_batches else None

    def fetch(self, index: Any) -> Any:
        """Give the batch, or the single example, of an index.

        Raises:
            StopIteration: If an iterable dataset has no more.
        """
        if self._examples is not None:
            return self._collate(self._next_examples(index))
        if not self._in_batches:
            return self._collate(self._dataset[index])
        if self._rows is not None:
            batch = self._rows(index)
            if batch is not None:
                return batch
        if getattr(self._dataset, "__getitems__", None):
            return self._collate(self._dataset.__getitems__(index))
        return self._collate([self._dataset[number] for number in index])

    def _next_examples(self, index: Any) -> Any:
        """Take from an iterable dataset as many examples as a batch has."""
        if self._ended:
            raise StopIteration
        examples: Any = self._examples
        if not self._in_batches:
            return next(examples)
        batch = []
        for _ in index:
            try:
                batch.append(next(examples))
            except StopIteration:
                self._ended = True
                break
        if not batch or (self._drop_last and len(batch) < len(index)):
            raise StopIteration
        return batch


class _BaseDataLoaderIter:
    """What both kinds of iterator share."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self._loader = loader
        if loader.pin_memory and loader.pin_memory_device:
            warn(
                "pin_memory_device is deprecated, the current accelerator will be used as the "
                f"device,ignore pin_memory_device='{loader.pin_memory_device}'.",
                UserWarning,
            )
        if loader.pin_memory:
            warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device "
                "pinned memory won't be used.",
                UserWarning,
            )
        self._sampler_iter = iter(loader._index_sampler)
        self._base_seed = draw_seed(loader.generator)
        self._num_yielded = 0

    def __iter__(self) -> Any:
        return self

    def _next_data(self) -> Any:
        raise NotImplementedError

    def __next__(self) -> Any:
        data = self._next_data()
        self._num_yielded += 1
        told = self._loader._IterableDataset_len_called
        if told is not None and self._num_yielded > told:
            text = (
                f"Length of IterableDataset {self._loader.dataset} was reported to be {told}"
                f"(when accessing len(dataloader)), but {self._num_yielded} samples have been "
                "fetched. "
            )
            if self._loader.num_workers > 0:
                text += (
                    "For multiprocessing data-loading, this could be caused by not properly "
                    "configuring the IterableDataset replica at each worker. Please see "
                    "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset "
                    "for examples."
                )
            warn(text, UserWarning)
        return data

    def __len__(self) -> int:
        return len(self._loader._index_sampler)

    def __getstate__(self) -> Any:
        raise NotImplementedError("{} cannot be pickled", type(self).__name__)


class SingleIterator(_BaseDataLoaderIter):
    """Goes through the dataset without workers.

    Raises:
        AssertionError: If a timeout was asked for, which only workers can keep.
    """

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        if loader.timeout != 0:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        self._fetcher = Fetcher(loader, loader.dataset)

    def _next_data(self) -> Any:
        return self._fetcher.fetch(next(self._sampler_iter))


class WorkersIterator(_BaseDataLoaderIter):
    """Goes through the dataset by way of workers, which take turns batch by batch."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        count = loader.num_workers
        self._workers = [
            Worker(number, count, self._base_seed, loader.dataset, loader.worker_init_fn)
            for number in range(count)
        ]
        self._begin()

    def _reset(self) -> None:
        """Begin a new pass with the same workers."""
        self._sampler_iter = iter(self._loader._index_sampler)
        self._num_yielded = 0
        self._begin()

    def _begin(self) -> None:
        self._fetchers: list[Fetcher | None] = [None] * len(self._workers)
        for worker in self._workers:
            worker.active = True
        self._tasks: deque[tuple[int, Any]] = deque()
        self._turn = 0
        # indices are drawn as far ahead as PyTorch draws them: their random numbers are the same
        for _ in range((self._loader.prefetch_factor or 0) * len(self._workers)):
            self._put_task()

    def _put_task(self) -> None:
        """Give the next index to the next worker that still works."""
        try:
            index = next(self._sampler_iter)
        except StopIteration:
            return
        for _ in self._workers:
            number = self._turn % len(self._workers)
            self._turn += 1
            if self._workers[number].active:
                self._tasks.append((number, index))
                return

    def _next_data(self) -> Any:
        while self._tasks:
            number, index = self._tasks.popleft()
            worker = self._workers[number]
            if not worker.active:
                continue
            try:
                with worker.at_work() as info:
                    fetcher = self._fetchers[number]
                    if fetcher is None:
                        fetcher = self._fetchers[number] = Fetcher(self._loader, info.dataset)
                    data = fetcher.fetch(index)
            except StopIteration:
                if not isinstance(self._loader.dataset, IterableDataset):
                    raise
                worker.active = False
                self._put_task()
                continue
            self._put_task()
            return data
        raise StopIteration


T_co = TypeVar("T_co", covariant=True)


class _InfiniteConstantSampler(Sampler[None]):
    """Gives None for ever: an iterable dataset is not asked for numbers."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


class _DatasetKind:
    Map = 0
    Iterable = 1


class DataLoader(Generic[T_co]):
    """Give the examples of a dataset in batches, each time it is iterated over.

    All work is done where the loader is used, in one process and one thread, also with
    `num_workers` above 0. Then batches, their order and all random numbers are what that many
    workers of PyTorch's would give (`worker_init_fn` and `get_worker_info` included), but nothing
    gets faster. Each worker's dataset is a shallow copy; in PyTorch it is a copy in another
    process.

    Args:
        dataset: Examples by number (`Dataset`), or one after the other (`IterableDataset`).
        batch_size: How many examples make a batch; None for single examples.
        shuffle: Take the examples in a new random order each time.
        sampler: The order, in place of `shuffle`.
        batch_sampler: The order in batches, in place of all of the above.
        num_workers: How many workers take turns; see above.
        collate_fn: Makes a batch of a list of examples; `default_collate` by default.
        pin_memory: Accepted; without a graphics card it makes a warning, as in PyTorch.
        drop_last: Leave out a last batch that is smaller.
        timeout: Accepted with workers; nothing ever has to be waited for.
        worker_init_fn: Called with the number of each worker before its first example.
        multiprocessing_context: Accepted and kept, without effect: no processes are started.
        generator: The source of randomness.
        prefetch_factor: How many batches ahead each worker's indices are drawn; 2 by default.
        persistent_workers: Keep the workers, and the state of their random numbers, from one
            iteration to the next.
        pin_memory_device: Deprecated in PyTorch, without effect.
        in_order: Accepted; batches always come in order.

    Raises:
        ValueError: If settings exclude each other or make no sense.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.utils.data import DataLoader, TensorDataset
        >>> data = TensorDataset(torch.arange(5), torch.arange(5) ** 2)
        >>> for x, y in DataLoader(data, batch_size=3):
        ...     print(x, y)
        tensor([0, 1, 2]) tensor([0, 1, 4])
        tensor([3, 4]) tensor([ 9, 16])
    """

    dataset: Dataset[T_co]
    batch_size: int | None
    num_workers: int
    drop_last: bool
    sampler: Any
    batch_sampler: Any
    collate_fn: Callable[[Any], Any]
    _iterator: WorkersIterator | None
    __initialized = False
    _FIXED = (
        "batch_size",
        "batch_sampler",
        "sampler",
        "drop_last",
        "dataset",
        "persistent_workers",
    )

    def __init__(
        self,
        dataset: Dataset[T_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[Any] | Iterable[Any] | None = None,
        batch_sampler: Sampler[list[Any]] | Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        if isinstance(dataset, IterableDataset):
            self._dataset_kind = _DatasetKind.Iterable
            _refuse_order(shuffle, sampler, batch_sampler)
        else:
            shuffle = bool(shuffle)
            self._dataset_kind = _DatasetKind.Map
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, "
                    "sampler, and drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with "
                "drop_last"
            )
        if sampler is None:
            if self._dataset_kind == _DatasetKind.Iterable:
                sampler = _InfiniteConstantSampler()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)  # type: ignore[arg-type]
            else:
                sampler = SequentialSampler(dataset)  # type: ignore[arg-type]
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)  # type: ignore[arg-type]
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.generator = generator
        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn = collate_fn
        self.persistent_workers = persistent_workers
        self.__initialized = True
        self._IterableDataset_len_called: int | None = None
        self._iterator = None

    def __setattr__(self, name: str, value: Any) -> None:
        if self.__initialized and name in self._FIXED:
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized"
            )
        super().__setattr__(name, value)

    def __iter__(self) -> _BaseDataLoaderIter:
        if self.num_workers == 0:
            return SingleIterator(self)
        if not self.persistent_workers:
            return WorkersIterator(self)
        if self._iterator is None:
            self._iterator = WorkersIterator(self)
        else:
            self._iterator._reset()
        return self._iterator

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._auto_collation else self.sampler

    def __len__(self) -> int:
        if self._dataset_kind == _DatasetKind.Map:
            return len(self._index_sampler)
        length = self._IterableDataset_len_called = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)

    def check_worker_number_rationality(self) -> None:
        """Here because PyTorch has it: no processes are started, so any number will do."""


def _check_workers(
    workers: int, timeout: float, prefetch_factor: int | None, persistent: bool
) -> None:
    """Refuse settings of workers that make no sense."""
    if workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable "
            "multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing.let num_workers > "
            "0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent and workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _refuse_order(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    """Refuse an order for a dataset that has its own."""
    for name, value, refused in (
        ("shuffle", shuffle, shuffle not in (False, None)),
        ("sampler", sampler, sampler is not None),
        ("batch_sampler", batch_sampler, batch_sampler is not None),
    ):
        if refused:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got "
                f"{name}={value}"
            )
