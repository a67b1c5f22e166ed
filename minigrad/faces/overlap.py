"""Tell how tensors share memory, and refuse to write where the result would depend on the order."""

from __future__ import annotations

import warnings
from typing import Any

from numpy import may_share_memory
from numpy.lib.array_utils import byte_bounds

_SHARED = (
    "unsupported operation: {} refer{} to a single memory location. Please clone() the tensor "
    "before performing the operation."
)


def repeats(array: Any) -> bool:
    """Tell whether entries of an array share memory, as those of an expanded tensor do."""
    pairs = zip(array.strides, array.shape, strict=True)
    return array.size > 0 and any(not step and size > 1 for step, size in pairs)


def warn_of_repeats(name: str, example: str) -> None:
    """Warn that a tensor whose entries share memory is written to."""
    warnings.warn(
        f"Use of {name} on expanded tensors is deprecated. Please clone() the tensor before "
        f"performing this operation. This also applies to advanced indexing e.g. {example}",
        UserWarning,
        stacklevel=4,
    )


def refuse_repeats(written: Any) -> None:
    """Raise if entries of an array that is about to be written to share memory."""
    if 0 in written.strides and repeats(written):
        raise RuntimeError(_SHARED.format("more than one element of the written-to tensor", "s"))


def refuse_overlap(written: Any, read: Any, refused: tuple[str, ...] = ("partial",)) -> None:
    """Raise if an array that is about to be written to overlaps one that is read."""
    if overlap(written, read) in refused:
        raise RuntimeError(
            _SHARED.format("some elements of the input tensor and the written-to tensor", "")
        )


def overlap(a: Any, b: Any) -> str:
    """Tell how two arrays share memory: "no", "full", "partial", or "unknown" if there are gaps."""
    if a is b:
        return "full"
    if (a.base is None and b.base is None) or not may_share_memory(a, b):
        return "no"
    if not (_is_dense(a) and _is_dense(b)):
        return "unknown"
    same = byte_bounds(a) == byte_bounds(b)
    return "full" if same and a.strides == b.strides else "partial"


def _is_dense(array: Any) -> bool:
    """Tell whether the entries fill a piece of memory, in whatever order."""
    expected = array.itemsize
    for step, size in sorted(zip(array.strides, array.shape, strict=True)):
        if size != 1:
            if step != expected:
                return False
            expected *= size
    return True
