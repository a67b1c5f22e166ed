"""Hold examples so that they can be asked for by number, split and put together."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar

from minigrad.autograd.messages import warn
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation.factories import randperm
from minigrad.random import Generator, default_generator

__all__ = ["ConcatDataset", "Dataset", "IterableDataset", "Subset", "TensorDataset", "random_split"]

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

    def _batch(self, indices: list[Any]) -> list[Tensor] | None:
        """Give what `default_collate` would make of these rows, all at once; None if that differs.

        It differs where the rows would be recorded, or where an index is more than a number.
        """
        if any(type(tensor) is not Tensor or tensor.requires_grad for tensor in self.tensors):
            return None
        if any(type(index) is not int for index in indices):
            return None
        try:
            return [wrap(tensor._array[indices]) for tensor in self.tensors]
        except IndexError:  # asked for one by one, the wrong one is named
            return None

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
        kind = type(self)
        if kind.__getitem__ is not Subset.__getitem__ and kind.__getitems__ is Subset.__getitems__:
            raise NotImplementedError(
                f"{kind.__name__} overrides __getitem__ but not __getitems__. When subclassing "
                "Subset and overriding __getitem__, you must also override __getitems__ to ensure "
                "DataLoader works correctly with your custom logic. A simple implementation:\n\n"
                "def __getitems__(self, indices):\n"
                "    return [self.__getitem__(idx) for idx in indices]"
            )

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
    if not hasattr(dataset, "__len__"):
        raise TypeError(f"random_split(): argument 'dataset' must have a length, not {dataset!r}")
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _lengths_of_fractions(len(dataset), lengths)
    if sum(lengths) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    numbers = randperm(sum(lengths), generator=generator).tolist()
    ends: list[Any] = [*itertools.accumulate(lengths)]
    return [Subset(dataset, numbers[a:b]) for a, b in zip([0, *ends], ends, strict=False)]


def _lengths_of_fractions(total: int, fractions: Sequence[float]) -> list[int]:
    """Round fractions down; what is left over goes to the parts in turn."""
    lengths = []
    for index, fraction in enumerate(fractions):
        if fraction < 0 or fraction > 1:
            raise ValueError(f"Fraction at index {index} is not between 0 and 1")
        lengths.append(math.floor(total * fraction))
    for index in range(total - sum(lengths)):
        lengths[index % len(lengths)] += 1
    for index, length in enumerate(lengths):
        if length == 0:
            warn(f"Length of split at index {index} is 0. This might result in an empty dataset.")
    return lengths
