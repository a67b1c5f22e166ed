"""Share memory with other libraries through DLPack: `from_dlpack(their_array)`."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.construction import check_place
from minigrad.tensor import Tensor, wrap


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """Make a tensor that shares the memory of another library's array.

    Args:
        ext_tensor: An array that offers its memory by `__dlpack__`.
        device: The CPU, if any.
        copy: True for memory of its own, False for an error if the memory cannot be shared.

    Raises:
        RuntimeError: If it is no such array.
        BufferError: If it does not give its memory.

    Example:
        >>> import minigrad as torch
        >>> array = np.array([1.0, 2.0])
        >>> shared = torch.from_dlpack(array)
        >>> array[0] = 7
        >>> shared
        tensor([7., 2.], dtype=torch.float64)
    """
    check_place("from_dlpack", device, None, False)
    if isinstance(ext_tensor, Tensor):
        found = ext_tensor.detach()
        return found.clone() if copy else found
    if not hasattr(ext_tensor, "__dlpack__"):
        raise RuntimeError(
            "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed "
            "only once, so you might have already constructed a tensor from it once."
        )
    array = np.from_dlpack(ext_tensor)
    dtypes.of_array(array)
    return wrap(array.copy() if copy else array)
