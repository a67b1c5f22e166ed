"""Go through a dataset in batches, in order or shuffled."""

from __future__ import annotations

import itertools
import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from minigrad.random import Generator
from minigrad.utils.data.collate import default_collate, default_convert
from minigrad.utils.data.dataset import Dataset, IterableDataset
from minigrad.utils.data.iteration import (
    SingleIterator,
    WorkersIterator,
    _BaseDataLoaderIter,
)
from minigrad.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

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
        multiprocessing_context: Checked, and without effect.
        generator: The source of randomness.
        prefetch_factor: How many batches ahead each worker's indices are drawn; 2 by default.
        persistent_workers: Keep the workers, and the state of their random numbers, from one
            iteration to the next.
        pin_memory_device: Deprecated in PyTorch, without effect.
        in_order: Accepted; batches always come in order.

    Raises:
        ValueError: If settings exclude each other or make no sense.
        TypeError: If `multiprocessing_context` is none.

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

    @property
    def multiprocessing_context(self) -> Any:
        """How PyTorch would start its workers."""
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        if context is not None:
            if self.num_workers == 0:
                raise ValueError(
                    "multiprocessing_context can only be used with multi-process loading "
                    f"(num_workers > 0), but got num_workers={self.num_workers}"
                )
            methods = multiprocessing.get_all_start_methods()
            if isinstance(context, str):
                if context not in methods:
                    raise ValueError(
                        "multiprocessing_context option should specify a valid start method in "
                        f"{methods!r}, but got multiprocessing_context={context!r}"
                    )
                context = multiprocessing.get_context(context)
            if not isinstance(context, multiprocessing.context.BaseContext):
                raise TypeError(
                    "multiprocessing_context option should be a valid context object or a string "
                    f"specifying the start method, but got multiprocessing_context={context}"
                )
        self.__multiprocessing_context = context

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
