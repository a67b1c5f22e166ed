"""Hold sequences of different lengths without padding: step by step, the longest ones first."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from minigrad.core.tensor import Tensor, wrap


class _Fields(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Fields):
    """Sequences of different lengths, packed: made by functions such as `pack_sequence`.

    Attributes:
        data: The elements: first the first ones of all sequences, then the second ones, ...
        batch_sizes: How many sequences have a first element, a second one, ...
        sorted_indices: The order in which the sequences were taken, or None if it is theirs.
        unsorted_indices: What brings them back into their order, or None.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.nn.utils.rnn import pack_sequence
        >>> packed = pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4, 5])])
        >>> packed.data, packed.batch_sizes
        (tensor([1, 4, 2, 5, 3]), tensor([2, 2, 1]))
    """

    def __new__(
        cls,
        data: Any,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        """Take the fields; `data` may be a pair of data and batch sizes."""
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not (isinstance(data, (list, tuple)) and len(data) == 2):
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Convert the data as `Tensor.to` does."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        return type(self)(data, *self[1:])

    def cpu(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Give the same; everything is on the CPU."""
        return self

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Raise, as there is no other device."""
        return type(self)(self.data.cuda(*args, **kwargs), *self[1:])

    def pin_memory(self) -> PackedSequence:
        """Do what `Tensor.pin_memory` does to each tensor."""
        return type(self)(
            self.data.pin_memory(),
            self.batch_sizes,
            *(None if each is None else each.pin_memory() for each in self[2:]),
        )

    def is_pinned(self) -> bool:
        """Tell whether the data lies in pinned memory."""
        return self.data.is_pinned()

    @property
    def is_cuda(self) -> bool:
        """Tell whether the data is on a graphics card: never."""
        return False

    def _convert(self, name: str) -> PackedSequence:
        data = getattr(self.data, name)()
        return self if data is self.data else type(self)(data, *self[1:])

    def double(self) -> PackedSequence:
        """Convert the data to float64."""
        return self._convert("double")

    def float(self) -> PackedSequence:
        """Convert the data to float32."""
        return self._convert("float")

    def half(self) -> PackedSequence:
        """Convert the data to float16."""
        return self._convert("half")

    def long(self) -> PackedSequence:
        """Convert the data to int64."""
        return self._convert("long")

    def int(self) -> PackedSequence:
        """Convert the data to int32."""
        return self._convert("int")

    def short(self) -> PackedSequence:
        """Convert the data to int16."""
        return self._convert("short")

    def char(self) -> PackedSequence:
        """Convert the data to int8."""
        return self._convert("char")

    def byte(self) -> PackedSequence:
        """Convert the data to uint8."""
        return self._convert("byte")


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Give the permutation that undoes another one.

    Example:
        >>> import minigrad as torch
        >>> invert_permutation(torch.tensor([2, 0, 1]))
        tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    inverse = np.empty_like(permutation._array)
    inverse[permutation._array] = np.arange(len(inverse))
    return wrap(inverse)
