"""Go through a dataset in batches, in order or shuffled; numbers become tensors on the way."""

from __future__ import annotations

import copy
import itertools
import os
from collections import abc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from minigrad.autograd.messages import type_name, warn
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.creation.construction import as_tensor, tensor
from minigrad.data.dataset import Dataset, IterableDataset, TensorDataset, several
from minigrad.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, draw_seed
from minigrad.ops.joining import stacked as stack
from minigrad.random import Generator

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

_WRONG = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found"


def default_convert(data: Any) -> Any:
    """Turn NumPy arrays into tensors, also within dictionaries, tuples and lists.

    All else stays as it is.

    Example:
        >>> import numpy as np
        >>> from minigrad.utils.data import default_convert
        >>> default_convert({"x": np.array([1, 2]), "name": "two"})
        {'x': tensor([1, 2]), 'name': 'two'}
    """
    if isinstance(data, Tensor):
        return data
    if isinstance(data, np.generic) and not isinstance(data, (np.str_, np.bytes_)):
        return wrap(np.asarray(data))
    if isinstance(data, np.ndarray):
        return data if data.dtype.kind in "SUO" else as_tensor(data)
    if isinstance(data, Mapping):
        return _rebuilt(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple):
        converted = [default_convert(entry) for entry in data]
        return type(data)(*converted) if hasattr(data, "_fields") else converted
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _rebuilt(data, [default_convert(entry) for entry in data])
    return data


def _rebuilt(model: Any, entries: Any) -> Any:
    """Put entries into a container of the kind of another one, if such a one can be made."""
    try:
        if not isinstance(model, (abc.MutableMapping, abc.MutableSequence)):
            return type(model)(entries)
        rebuilt = copy.copy(model)  # it keeps what else there is: a default, attributes
        pairs = entries.items() if isinstance(entries, dict) else enumerate(entries)
        for place, entry in pairs:
            rebuilt[place] = entry
        return rebuilt
    except TypeError:
        return entries


def default_collate(batch: Any) -> Any:
    """Make one batch of many examples.

    Tensors and arrays are stacked along a new first dimension; Python's floats become a tensor of
    float64, integers one of int64; strings stay a list; dictionaries, tuples and lists keep their
    form, with a batch in each place.

    Args:
        batch: A list of examples of the same form.

    Raises:
        TypeError: If there are other things in it.
        RuntimeError: If shapes or lengths differ.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.utils.data import default_collate
        >>> default_collate([(torch.tensor([1.0, 2.0]), 0), (torch.tensor([3.0, 4.0]), 1)])
        [tensor([[1., 2.],
                [3., 4.]]), tensor([0, 1])]
        >>> default_collate([{"name": "a", "size": 1.5}, {"name": "b", "size": 2.5}])
        {'name': ['a', 'b'], 'size': tensor([1.5000, 2.5000], dtype=torch.float64)}
    """
    first = batch[0]
    kind = type(first)
    if isinstance(first, Tensor):
        return stack(batch, 0)
    if isinstance(first, np.ndarray):
        if first.dtype.kind in "SUO":
            raise TypeError(f"{_WRONG} {first.dtype}")
        return stack([as_tensor(array) for array in batch], 0)
    if isinstance(first, (np.bool_, np.number)):
        return as_tensor(batch)
    if isinstance(first, float):
        return tensor(batch, dtype=dtypes.float64)
    if isinstance(first, int):
        return tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        entries = {key: default_collate([example[key] for example in batch]) for key in first}
        return _rebuilt(first, entries)
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return kind(*(default_collate(column) for column in zip(*batch, strict=False)))
    if isinstance(first, Sequence):
        if any(len(example) != len(first) for example in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [default_collate(column) for column in zip(*batch, strict=True)]
        return columns if isinstance(first, tuple) else _rebuilt(first, columns)
    raise TypeError(f"{_WRONG} {kind}")


def get_worker_info() -> None:
    """Give None, as PyTorch does outside of workers: there are none here.

    Example:
        >>> from minigrad.utils.data import get_worker_info
        >>> get_worker_info() is None
        True
    """


class _BaseDataLoaderIter:
    """Asks the dataset of a loader for the examples of one batch after the other."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        if loader.timeout != 0 and loader.num_workers == 0:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        if loader.pin_memory:
            warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device "
                "pinned memory won't be used."
            )
        self._loader, self._dataset = loader, loader.dataset
        self._in_batches, self._collate = loader._auto_collation, loader.collate_fn
        if not callable(self._collate):
            raise TypeError(f"collate_fn must be a function, not {type_name(self._collate)}")
        self._indices = iter(loader._index_sampler)
        if not (loader.persistent_workers and loader._seeded):
            draw_seed(loader.generator)  # PyTorch's workers count their seeds from it
            loader._seeded = True
        iterable = isinstance(self._dataset, IterableDataset)
        self._examples: Iterator[Any] | None = iter(self._dataset) if iterable else None
        self._ended = False
        # rows of tensors that become tensors of rows: these can be had without the detour
        self._rows: Callable[[Any], Any] | None = None
        if type(self._dataset) is TensorDataset and self._collate is default_collate:
            self._rows = self._dataset._batch if self._in_batches else None

    def __iter__(self) -> _BaseDataLoaderIter:
        return self

    def __next__(self) -> Any:
        return self._fetch(next(self._indices))

    def __len__(self) -> int:
        return len(self._loader._index_sampler)

    def _fetch(self, index: Any) -> Any:
        """Give the batch, or the single example, of an index."""
        if self._examples is not None:
            return self._collate(self._next_examples(self._examples, index))
        if not self._in_batches:
            return self._collate(self._dataset[index])
        batch = self._rows(index) if self._rows is not None else None
        return self._collate(several(self._dataset, index)) if batch is None else batch

    def _next_examples(self, examples: Iterator[Any], index: Any) -> Any:
        """Take from an iterable dataset as many examples as a batch has."""
        if self._ended:
            raise StopIteration
        if not self._in_batches:
            return next(examples)
        batch = [*itertools.islice(examples, len(index))]
        self._ended = len(batch) < len(index)
        if not batch or (self._loader.drop_last and self._ended):
            raise StopIteration
        return batch


T_co = TypeVar("T_co", covariant=True)


class _InfiniteConstantSampler(Sampler[None]):
    """Gives None for ever: an iterable dataset is not asked for numbers."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


class DataLoader(Generic[T_co]):
    """Give the examples of a dataset in batches, each time it is iterated over.

    All work is done where the loader is used, in one process and one thread, also with
    `num_workers` above 0: batches and their order are the same as in PyTorch, without the gain in
    speed. What a dataset draws at random comes from the program's own generators, and an
    `IterableDataset` is gone through once, not once by each worker.

    Args:
        dataset: Examples by number (`Dataset`), or one after the other (`IterableDataset`).
        batch_size: How many examples make a batch; None for single examples.
        shuffle: Take the examples in a new random order each time.
        sampler: The order, in place of `shuffle`.
        batch_sampler: The order in batches, in place of all of the above.
        num_workers: Accepted; see above.
        collate_fn: Makes a batch of a list of examples; `default_collate` by default.
        pin_memory: Accepted; without a graphics card it makes a warning, as in PyTorch.
        drop_last: Leave out a last batch that is smaller.
        timeout: Accepted with workers.
        worker_init_fn: Accepted; there are no workers to call it.
        multiprocessing_context: Accepted and kept, without effect: no processes are started.
        generator: The source of randomness.
        prefetch_factor: Accepted with workers.
        persistent_workers: Accepted with workers.
        pin_memory_device: Accepted; deprecated in PyTorch.
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

    __initialized = False
    _FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset")

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
        iterable = isinstance(dataset, IterableDataset)
        if iterable:
            ordered = None if shuffle in {False, None} else shuffle
            _refuse_order(shuffle=ordered, sampler=sampler, batch_sampler=batch_sampler)
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
            if iterable:
                sampler = _InfiniteConstantSampler()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)  # type: ignore[arg-type]
            else:
                sampler = SequentialSampler(dataset)  # type: ignore[arg-type]
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)  # type: ignore[arg-type]
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler: Any = sampler
        self.batch_sampler: Any = batch_sampler
        self.generator = generator
        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn = collate_fn
        self.persistent_workers = persistent_workers
        self.__initialized = True
        self._seeded = False

    def __setattr__(self, name: str, value: Any) -> None:
        if self.__initialized and name in self._FIXED:
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized"
            )
        super().__setattr__(name, value)

    def __iter__(self) -> _BaseDataLoaderIter:
        return _BaseDataLoaderIter(self)

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._auto_collation else self.sampler

    def __len__(self) -> int:
        if not isinstance(self.dataset, IterableDataset):
            return len(self._index_sampler)
        length = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)


def _check_workers(
    workers: int, timeout: float, prefetch_factor: int | None, persistent: bool
) -> None:
    """Refuse settings of workers that make no sense."""
    if not hasattr(workers, "__index__"):
        told = type(workers).__name__
        raise TypeError(f"num_workers must be a whole number, the number of processes, not {told}")
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
    has_sets = hasattr(os, "sched_getaffinity")
    processors = len(os.sched_getaffinity(0)) if has_sets else os.cpu_count() or 1
    if workers > processors:
        unknown = "" if has_sets else " (`cpuset` is not taken into account)"
        warn(
            f"This DataLoader will create {workers} worker processes in total. Our suggested max "
            f"number of worker in current system is {processors}{unknown}, which is smaller than "
            "what this DataLoader is going to create. Please be aware that excessive worker "
            "creation might get DataLoader running slow or even freeze, lower the worker number to "
            "avoid potential slowness/freeze if necessary."
        )


def _refuse_order(**given: Any) -> None:
    """Refuse an order for a dataset that has its own."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got "
                f"{name}={value}"
            )
