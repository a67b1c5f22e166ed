"""Go through a dataset in batches, in order or shuffled; numbers become tensors on the way."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.creation.construction import as_tensor, tensor
from minigrad.data.dataset import (
    BatchSampler,
    Dataset,
    IterableDataset,
    RandomSampler,
    Sampler,
    SequentialSampler,
    draw_seed,
    several,
)
from minigrad.ops.joining import stacked
from minigrad.random import Generator
from minigrad.signatures.faults import explains

stack = explains(stacked, "stack")

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
        return type(model)(entries)
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


T_co = TypeVar("T_co", covariant=True)


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
        sampler: The order, instead of `shuffle`.
        batch_sampler: The order in batches, instead of all of the above.
        num_workers: Accepted; see above.
        collate_fn: Makes a batch of a list of examples; `default_collate` by default.
        pin_memory: Accepted.
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
        iterable = isinstance(dataset, IterableDataset)
        ordered = bool(shuffle) or sampler is not None
        for wrong, what in (
            (num_workers < 0, "num_workers is not negative"),
            (sampler is not None and shuffle, "sampler excludes shuffle"),
            (
                batch_sampler is not None and (batch_size != 1 or ordered or drop_last),
                "batch_sampler excludes batch_size, shuffle, sampler and drop_last",
            ),
            (batch_size is None and drop_last, "batch_size=None excludes drop_last"),
            (
                iterable and (ordered or batch_sampler is not None),
                "an IterableDataset has its own order",
            ),
        ):
            if wrong:
                raise ValueError(f"DataLoader: {what}")
        if sampler is None and not iterable:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else None  # type: ignore[arg-type]
            sampler = sampler or SequentialSampler(dataset)  # type: ignore[arg-type]
        if batch_sampler is not None:
            batch_size = None
        elif batch_size is not None and not iterable:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)  # type: ignore[arg-type]
        in_batches = batch_sampler is not None or batch_size is not None
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.sampler: Any = sampler
        self.batch_sampler: Any = batch_sampler
        self.generator = generator
        self.collate_fn = collate_fn or (default_collate if in_batches else default_convert)
        self.num_workers, self.worker_init_fn, self.timeout = num_workers, worker_init_fn, timeout
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.multiprocessing_context, self.in_order = multiprocessing_context, in_order
        self.prefetch_factor, self.persistent_workers = prefetch_factor, persistent_workers

    def __iter__(self) -> Iterator[Any]:
        draw_seed(self.generator)  # PyTorch's workers count their seeds from it
        return map(self.collate_fn, self._examples())

    def _examples(self) -> Iterator[Any]:
        """Give the examples of each batch, or single ones."""
        if not isinstance(self.dataset, IterableDataset):
            if self.batch_sampler is None:
                return (self.dataset[index] for index in self.sampler)
            return (several(self.dataset, indices) for indices in self.batch_sampler)
        return iter(self.dataset) if self.batch_size is None else self._batches(self.batch_size)

    def _batches(self, size: int) -> Iterator[list[Any]]:
        """Take from an iterable dataset as many examples as a batch has."""
        examples = iter(self.dataset)
        while batch := [*itertools.islice(examples, size)]:
            if len(batch) == size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        if not isinstance(self.dataset, IterableDataset):
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
        length = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)
