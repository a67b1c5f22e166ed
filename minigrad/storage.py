"""Look at the memory that tensors share: `x.untyped_storage().data_ptr()`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


class UntypedStorage:
    """The memory of a tensor, byte by byte, all that its views share.

    Args:
        tensor: The tensor.

    Example:
        >>> import minigrad as torch
        >>> x = torch.ones(4)
        >>> x[1:].untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
        True
        >>> x[1:].untyped_storage().nbytes()
        16
    """

    __slots__ = ("_owner",)

    def __init__(self, tensor: Any) -> None:
        owner = holder = tensor._array
        while holder is not None:
            owner = holder if isinstance(holder, np.ndarray) else owner
            holder = getattr(holder, "base", None)
        self._owner: Any = owner

    def data_ptr(self) -> int:
        """Give the address of the first byte."""
        return int(self._owner.ctypes.data)

    def nbytes(self) -> int:
        """Count the bytes."""
        return int(self._owner.nbytes)

    size = __len__ = nbytes

    def tolist(self) -> list[int]:
        """Give the bytes as a list of numbers."""
        return [*self]

    def __iter__(self) -> Iterator[int]:
        return iter(self._owner.tobytes())

    def __getitem__(self, index: int) -> int:
        return int(self._owner.tobytes()[index])

    def __repr__(self) -> str:
        bytes_ = "".join(f" {byte}\n" for byte in self)
        return f"{bytes_}[torch.storage.UntypedStorage(device=cpu) of size {self.nbytes()}]"
