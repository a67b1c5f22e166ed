"""Hold examples so that they can be asked for by number, and say in which order they are taken."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

from minigrad.core.tensor import Tensor
from minigrad.creation import dtypes
from minigrad.creation.construction import as_tensor, empty
from minigrad.creation.factories import randint, randperm
from minigrad.random import Generator, default_generator

__all__ = ["ConcatDataset", "Dataset", "IterableDataset", "Subset", "TensorDataset", "random_split"]
__all__ += ["BatchSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler"]
__all__ += ["WeightedRandomSampler"]

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
    """Base class of data that come one after the other: subclasses define `__iter__`."""


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
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """Give the running sum of lengths."""
        return [*itertools.accumulate(map(len, sequence))]

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> T_co:
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        place = bisect.bisect_right(self.cumulative_sizes, idx)
        return self.datasets[place][idx - self.cumulative_sizes[place - 1] if place else idx]


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
        lengths = _lengths_of_fractions(total, lengths)
    if sum(lengths) != total:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    numbers = randperm(sum(lengths), generator=generator).tolist()
    ends: list[Any] = [*itertools.accumulate(lengths)]
    return [Subset(dataset, numbers[a:b]) for a, b in zip([0, *ends], ends, strict=False)]


def _lengths_of_fractions(total: int, fractions: Sequence[float]) -> list[int]:
    """Round fractions down; what is left over goes to the parts in turn."""
    if min(fractions) < 0:
        raise ValueError(f"the fractions {fractions} are not between 0 and 1")
    lengths = [math.floor(total * fraction) for fraction in fractions]
    for index in range(total - sum(lengths)):
        lengths[index % len(lengths)] += 1
    return lengths


# ------------------------------------------------------------------ orders


def draw_seed(generator: Generator | None = None) -> int:
    """Draw a seed for a generator from another one: a number from 0 to 2**63 - 1."""
    return int(empty((), dtype=dtypes.int64).random_(generator=generator).item())


class Sampler(Generic[T_co]):
    """Base class of orders: subclasses define `__iter__`, which gives the numbers of examples.

    Most also define `__len__`.
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
        generator = self.generator
        if generator is None:
            generator = Generator()
            generator.manual_seed(draw_seed())
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
        for place in randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[place]

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
        if self.weights.ndim != 1:
            raise ValueError(f"weights must be a row of numbers, not of {self.weights.shape}")
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
