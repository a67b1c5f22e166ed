"""Hold examples, say in which order they are taken, and go through them in batches."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from functools import partial
from operator import getitem
from typing import Any, Generic, TypeVar

import numpy as np

from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.creation.construction import as_tensor, empty, tensor
from minigrad.creation.factories import randint, randperm
from minigrad.ops.joining import stacked
from minigrad.random import Generator, default_generator
from minigrad.signatures.faults import explains

__all__ = ["ConcatDataset", "Dataset", "IterableDataset", "Subset", "TensorDataset", "random_split"]
__all__ += ["BatchSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler"]
__all__ += ["DataLoader", "WeightedRandomSampler", "default_collate", "default_convert"]
__all__ += ["get_worker_info"]

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class Dataset(Generic[T_co]):
    """Base class of data that are asked for by number: subclasses define `__getitem__`.

    Most also define `__len__`; `__getitems__`, which is given a list of numbers and gives a list of
    examples, may make batches faster.

    Example:
        >>> from minigrad.utils.data import DataLoader, Dataset
        >>> class Squares(Dataset):
        ...     def __len__(self):
        ...         return 4
        ...
        ...     def __getitem__(self, index):
        ...         return index**2
        >>> list(DataLoader(Squares(), batch_size=3))
        [tensor([0, 1, 4]), tensor([9])]
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[Any]) -> ConcatDataset[Any]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """Base class of data that come one after the other: subclasses define `__iter__`.

    Example:
        >>> from minigrad.utils.data import DataLoader, IterableDataset
        >>> class Squares(IterableDataset):
        ...     def __iter__(self):
        ...         return (n * n for n in range(5))
        >>> list(DataLoader(Squares(), batch_size=3))
        [tensor([0, 1, 4]), tensor([ 9, 16])]
    """


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Examples that are the rows of tensors.

    Args:
        *tensors: Tensors of the same size along their first dimension.

    Raises:
        AssertionError: If their sizes differ.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.utils.data import TensorDataset
        >>> data = TensorDataset(torch.tensor([[1.0], [2.0]]), torch.tensor([0, 1]))
        >>> data[1]
        (tensor([2.]), tensor(1))
    """

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensors[0].size(0) != tensor.size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].size(0))


def several(dataset: Any, indices: list[Any]) -> list[Any]:
    """Give several examples, all at once if the dataset can."""
    if callable(getattr(dataset, "__getitems__", None)):
        return dataset.__getitems__(indices)
    return [dataset[index] for index in indices]


class ConcatDataset(Dataset[T_co]):
    """Datasets one after the other.

    Args:
        datasets: Datasets with a length.

    Raises:
        AssertionError: If there is none, or one is an `IterableDataset`.
    """

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = [*itertools.accumulate(map(len, self.datasets))]  # type: ignore[arg-type]

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> T_co:
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, idx)
        return self.datasets[which][idx - self.cumulative_sizes[which - 1] if which else idx]


class Subset(Dataset[T_co]):
    """Some of the examples of a dataset.

    Args:
        dataset: The dataset.
        indices: The numbers of the examples, in the new order.
    """

    def __init__(self, dataset: Dataset[T_co], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, idx: Any) -> T_co:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> list[T_co]:
        """Give several examples at once."""
        return several(self.dataset, [self.indices[index] for index in indices])

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Dataset[T],
    lengths: Sequence[int | float],
    generator: Generator | None = default_generator,
) -> list[Subset[T]]:
    """Split a dataset at random into parts that do not overlap.

    Args:
        dataset: A dataset with a length.
        lengths: The length of each part, or fractions whose sum is 1.
        generator: The source of randomness.

    Raises:
        ValueError: If the lengths do not add up.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.utils.data import random_split
        >>> parts = random_split(range(10), [0.7, 0.3], torch.Generator().manual_seed(0))
        >>> [len(part) for part in parts]
        [7, 3]
    """
    total = len(dataset)  # type: ignore[arg-type]
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        if min(lengths) < 0:
            raise ValueError(f"the fractions {lengths} are not between 0 and 1")
        rounded = [math.floor(total * fraction) for fraction in lengths]
        for index in range(total - sum(rounded)):  # what is left over goes to the parts in turn
            rounded[index % len(rounded)] += 1
        lengths = rounded
    if sum(lengths) != total:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    numbers = randperm(sum(lengths), generator=generator).tolist()
    ends: list[Any] = [*itertools.accumulate(lengths)]
    return [Subset(dataset, numbers[a:b]) for a, b in zip([0, *ends], ends, strict=False)]


# ------------------------------------------------------------------ orders


def draw_seed(generator: Generator | None = None) -> int:
    """Draw a seed for a generator from another one: a number from 0 to 2**63 - 1."""
    return int(empty((), dtype=dtypes.int64).random_(generator=generator).item())


class Sampler(Generic[T_co]):
    """Base class of orders: subclasses define `__iter__`, which gives the numbers of examples.

    Most also define `__len__`.

    Example:
        >>> from minigrad.utils.data import DataLoader, Sampler
        >>> class Backwards(Sampler):
        ...     def __iter__(self):
        ...         return iter([2, 1, 0])
        >>> list(DataLoader([10, 20, 30], batch_size=2, sampler=Backwards()))
        [tensor([30, 20]), tensor([10])]
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """One after the other.

    Args:
        data_source: The dataset.
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """In random order, or drawn with replacement.

    Args:
        data_source: The dataset.
        replacement: Whether an example may be drawn again.
        num_samples: How many are drawn; by default as many as there are.
        generator: The source of randomness; by default a new one for each pass, with a seed from
            the one that `manual_seed` starts.

    Raises:
        ValueError: If `num_samples` is no positive integer.
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        _check_positive("num_samples", self.num_samples)

    @property
    def num_samples(self) -> int:
        """How many examples a pass has; the dataset may grow."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        size, left = len(self.data_source), self.num_samples
        generator = self.generator or Generator().manual_seed(draw_seed())
        if self.replacement:
            # in portions of 32, as PyTorch draws them: a pass that is broken off draws no more
            for portion in itertools.chain(itertools.repeat(32, left // 32), (left % 32,)):
                yield from randint(high=size, size=(portion,), generator=generator).tolist()
            return
        for _ in range(left // size):
            yield from randperm(size, generator=generator).tolist()
        yield from randperm(size, generator=generator).tolist()[: left % size]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Some examples, in random order.

    Args:
        indices: The numbers of the examples.
        generator: The source of randomness.
    """

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for number in randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[number]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Drawn with given weights.

    Args:
        weights: The weight of each example; their sum need not be 1.
        num_samples: How many are drawn.
        replacement: Whether an example may be drawn again.
        generator: The source of randomness.

    Raises:
        ValueError: If a setting makes no sense.

    Example:
        >>> from minigrad.utils.data import WeightedRandomSampler
        >>> list(WeightedRandomSampler([0.0, 1.0, 0.0], num_samples=3))
        [1, 1, 1]
    """

    def __init__(
        self,
        weights: Sequence[float] | Tensor,
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        _check_positive("num_samples", num_samples)
        self.weights = as_tensor(weights, dtype=dtypes.float64)
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = self.weights.multinomial(
            self.num_samples, self.replacement, generator=self.generator
        )
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Batches of the numbers that another sampler gives.

    Args:
        sampler: The sampler, or any iterable.
        batch_size: How many numbers make a batch.
        drop_last: Whether a last batch that is smaller is left out.

    Raises:
        ValueError: If a setting makes no sense.

    Example:
        >>> from minigrad.utils.data import BatchSampler, SequentialSampler
        >>> list(BatchSampler(SequentialSampler(range(5)), batch_size=2, drop_last=False))
        [[0, 1], [2, 3], [4]]
    """

    def __init__(
        self, sampler: Sampler[int] | Iterable[int], batch_size: int, drop_last: bool
    ) -> None:
        _check_positive("batch_size", batch_size)
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        numbers = iter(self.sampler)
        while batch := [*itertools.islice(numbers, self.batch_size)]:
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield batch

    def __len__(self) -> int:
        total = len(self.sampler)  # type: ignore[arg-type]
        return total // self.batch_size if self.drop_last else -(-total // self.batch_size)


def _check_positive(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{name} must be a positive whole number, not {value!r}")


# ------------------------------------------------------------------ batches

stack = explains(stacked, "stack")
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
    if isinstance(data, (np.ndarray, np.generic)):
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
    if isinstance(first, Tensor):
        return stack(batch, 0)
    if isinstance(first, (np.ndarray, np.generic)):
        if first.dtype.kind in "SUO":
            raise TypeError(f"{_WRONG} {first.dtype}")
        return stack([as_tensor(array) for array in batch], 0)
    if isinstance(first, (float, int)):
        return tensor(batch, dtype=dtypes.float64 if isinstance(first, float) else None)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        entries = {key: default_collate([example[key] for example in batch]) for key in first}
        return _rebuilt(first, entries)
    if not isinstance(first, Sequence):
        raise TypeError(f"{_WRONG} {type(first)}")
    if any(len(example) != len(first) for example in batch):
        raise RuntimeError("each element in list of batch should be of equal size")
    columns = [default_collate(column) for column in zip(*batch, strict=True)]
    if hasattr(first, "_fields"):
        return type(first)(*columns)
    return columns if isinstance(first, tuple) else _rebuilt(first, columns)


def get_worker_info() -> None:
    """Give None, as PyTorch does outside of workers: there are none here.

    Example:
        >>> from minigrad.utils.data import get_worker_info
        >>> get_worker_info() is None
        True
    """


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
    ) -> None:
        iterable = isinstance(dataset, IterableDataset)
        ordered = bool(shuffle) or sampler is not None
        others = batch_size != 1 or ordered or drop_last
        wrong = {
            "sampler excludes shuffle": sampler is not None and shuffle,
            "batch_sampler excludes the other settings": batch_sampler is not None and others,
            "batch_size=None excludes drop_last": batch_size is None and drop_last,
            "an IterableDataset has its own order": iterable and (ordered or batch_sampler),
            "num_workers is not negative": num_workers < 0,
        }
        for what in wrong:
            if wrong[what]:
                raise ValueError(f"DataLoader: {what}")
        order: Any = sampler or dataset  # an iterable dataset gives examples, and no numbers
        if sampler is None and not iterable:
            order = RandomSampler(order, generator=generator) if shuffle else None
            order = order or SequentialSampler(dataset)  # type: ignore[arg-type]
        if batch_sampler is not None:
            batch_size = None
        elif batch_size is not None:
            batch_sampler = BatchSampler(order, batch_size, drop_last)
        batched = batch_sampler is not None
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.sampler, self.batch_sampler, self.generator = order, batch_sampler, generator
        self.collate_fn = collate_fn or (default_collate if batched else default_convert)
        self.num_workers, self.worker_init_fn, self.timeout = num_workers, worker_init_fn, timeout
        self.pin_memory, self.multiprocessing_context = pin_memory, multiprocessing_context
        self.prefetch_factor, self.persistent_workers = prefetch_factor, persistent_workers

    @property
    def _order(self) -> Any:
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def __iter__(self) -> Iterator[Any]:
        draw_seed(self.generator)  # PyTorch's workers count their seeds from it
        examples = iter(self._order)
        if not isinstance(self.dataset, IterableDataset):
            take = several if self.batch_sampler is not None else getitem
            examples = map(partial(take, self.dataset), examples)
        return map(self.collate_fn, examples)

    def __len__(self) -> int:
        return len(self._order)
