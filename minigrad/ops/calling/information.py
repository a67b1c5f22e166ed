"""Ask a tensor where it lives and how; there is one answer, as all tensors are on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import backends as backends
from minigrad import cuda as cuda
from minigrad.autograd.type_name import type_name
from minigrad.devices import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    device,
    get_default_device,
    layout,
    memory_format,
    preserve_format,
    refuse_other_places,
    set_default_device,
    sparse_coo,
    strided,
)
from minigrad.ops.calling.arguments import check_tensor
from minigrad.storage import UntypedStorage
from minigrad.tensor import Tensor
from minigrad.tensor_types import new

__all__ = [
    "backends",
    "channels_last",
    "channels_last_3d",
    "contiguous_format",
    "cuda",
    "device",
    "get_default_device",
    "is_conj",
    "is_nonzero",
    "is_same_size",
    "is_storage",
    "layout",
    "memory_format",
    "numel",
    "preserve_format",
    "set_default_device",
    "sparse_coo",
    "strided",
    "typename",
]


def numel(input: Tensor) -> int:
    """Give the number of entries.

    Example:
        >>> import minigrad as torch
        >>> torch.numel(torch.ones(2, 3))
        6
    """
    check_tensor("numel", input)
    return input.numel()


def typename(obj: Any, /) -> str:
    """Give the name of a tensor's type, or of the class of something else, with its module.

    Example:
        >>> import minigrad as torch
        >>> torch.typename(torch.ones(2)), torch.typename(1)
        ('torch.FloatTensor', 'int')
    """
    if isinstance(obj, Tensor):
        return str(obj.type())
    module = getattr(obj, "__module__", "") or ""
    name = getattr(obj, "__qualname__", "") or type(obj).__name__
    if not getattr(obj, "__qualname__", ""):
        module = type(obj).__module__
    module = "" if module in ("builtins", "__builtin__") else module
    module = "torch" + module.removeprefix("minigrad") if module.startswith("minigrad") else module
    return f"{module}.{name}" if module else name


def is_nonzero(input: Tensor) -> bool:
    """Tell whether the only entry of a tensor is not zero."""
    check_tensor("is_nonzero", input)
    return bool(input)


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Tell whether two tensors have one shape."""
    check_tensor("is_same_size", input)
    check_tensor("is_same_size", other, "other", 2)
    return bool(input._array.shape == other._array.shape)


def is_storage(obj: Any, /) -> bool:
    """Tell whether something is the memory of a tensor."""
    return isinstance(obj, UntypedStorage)


def is_conj(input: Tensor) -> bool:
    """Tell whether a tensor is conjugated when it is read: never here."""
    check_tensor("is_conj", input)
    return False


def _cuda(
    self: Tensor, device: Any = None, non_blocking: bool = False, *, memory_format: Any = None
) -> Tensor:
    """Raise, because there is no GPU."""
    refuse_other_places("cuda" if device is None else device, "cuda")
    raise AssertionError("Torch not compiled with CUDA enabled")


def _pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """Raise, because there is no GPU that would read pinned memory."""
    raise RuntimeError(
        "Cannot access accelerator device when none is available. minigrad computes on the CPU "
        "only: leave pin_memory out."
    )


def _storage_offset(self: Tensor) -> int:
    """Give how many entries lie before the first one in the memory that the tensor shares."""
    storage = UntypedStorage(self)
    return int((self._array.ctypes.data - storage.data_ptr()) // self._array.itemsize)


def _is_same_size(self: Tensor, other: Tensor) -> bool:
    """Tell whether another tensor has the same shape."""
    if not isinstance(other, Tensor):
        raise TypeError(
            f"is_same_size(): argument 'other' (position 1) must be Tensor, not {type_name(other)}"
        )
    return bool(self._array.shape == other._array.shape)


def _apply(self: Tensor, callable: Any) -> Tensor:
    """Put what a function gives for each entry in the place of the entry; slow, and no graph."""
    if self.requires_grad:
        raise RuntimeError("Can't call apply_() on Variable that requires grad. Use var.detach()")
    array = self._array
    for place in np.ndindex(array.shape):
        array[place] = callable(array[place].item())
    self._bump_version()
    return self


def _to_dense(self: Tensor, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
    """Give the tensor itself, which is dense, or a copy of another type."""
    return self if dtype is None else self.to(dtype)


def _constant(value: Any, what: str) -> property:
    return property(lambda self: value, doc=what)


methods: dict[str, Any] = {
    "apply_": _apply,
    "cuda": _cuda,
    "dense_dim": lambda self: self.ndim,
    "device": _constant(device("cpu"), "Where the tensor lives: the CPU."),
    "get_device": lambda self: -1,
    "is_conj": lambda self: False,
    "is_distributed": lambda self: False,
    "is_neg": lambda self: False,
    "is_pinned": lambda self, device=None: False,
    "is_same_size": _is_same_size,
    "is_shared": lambda self: False,
    "layout": _constant(strided, "How the entries are kept: strided."),
    "new": lambda self, *data: new(self.dtype, *data),
    "pin_memory": _pin_memory,
    "sparse_dim": lambda self: 0,
    "storage_offset": _storage_offset,
    "to_dense": _to_dense,
    "untyped_storage": lambda self: UntypedStorage(self),
    **{
        name: _constant(name == "is_cpu", "Whether the tensor lives or is kept in this way.")
        for name in (
            "is_cpu",
            "is_cuda",
            "is_ipu",
            "is_maia",
            "is_meta",
            "is_mkldnn",
            "is_mps",
            "is_mtia",
            "is_nested",
            "is_quantized",
            "is_sparse",
            "is_sparse_csr",
            "is_vulkan",
            "is_xla",
            "is_xpu",
        )
    },
}
