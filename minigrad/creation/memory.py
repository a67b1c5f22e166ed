"""Copy tensors, look at the memory that they share, and let freed memory be used again.

With the defaults of the C library of Linux (glibc), an array of some megabytes that is freed goes
back to the system, and the next one is new memory, whose pages have to be made and zeroed one by
one. On one machine three sums of arrays of 800 kB, one after the other, took 1.19 ms that way, and
0.07 ms with memory that was kept. glibc learns: when a large block is freed, it keeps blocks up to
that size from then on (`M_MMAP_THRESHOLD` and `M_TRIM_THRESHOLD` in `man mallopt`). A program that
frees large arrays teaches it sooner or later; minigrad does so at once. One block of 31 MB is
allocated and freed when it is imported. Nobody touches it, so it takes no memory; it costs some 50
microseconds.

The price: up to about 62 MB of what a program has freed may stay with it. To do without, set the
environment variable `MINIGRAD_KEEP_FREED_MEMORY` to `0` before Python starts.
"""

from __future__ import annotations

import ctypes
import os
from copy import deepcopy
from importlib import import_module
from typing import Any

import numpy as np

from minigrad.autograd.messages import warn
from minigrad.autograd.rules import attach
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes

# The largest block that glibc learns from is 32 MB.
_LARGEST = 31 << 20


def keep_freed_memory() -> bool:
    """Allocate and free one large block, unless the environment says not to.

    Returns:
        Whether it was done.

    Example:
        >>> keep_freed_memory()
        True
    """
    if os.environ.get("MINIGRAD_KEEP_FREED_MEMORY") == "0":
        return False
    np.empty(_LARGEST, np.uint8)
    return True


def owner_of(array: Any) -> Any:
    """Give the array whose memory an array shows: itself, or the one that it is a view of."""
    owner = holder = array
    while holder is not None:
        owner = holder if isinstance(holder, np.ndarray) else owner
        holder = getattr(holder, "base", None)
    return owner


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
        self._owner = owner_of(tensor._array)

    def data_ptr(self) -> int:
        """Give the address of the first byte."""
        return int(self._owner.ctypes.data)

    def nbytes(self) -> int:
        """Count the bytes."""
        return int(self._owner.nbytes)

    size = __len__ = nbytes

    def __sizeof__(self) -> int:
        """Count the bytes of the memory and the object: to `sys.getsizeof` as many as there."""
        return 48 + self.nbytes()


class TypedStorage(UntypedStorage):
    """The memory of a tensor, entry by entry.

    Args:
        tensor: The tensor.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([[1, 2], [3, 4]])
        >>> x.T.storage().tolist()
        [1, 2, 3, 4]
    """

    __slots__ = ("_entries", "dtype")

    def __init__(self, tensor: Any) -> None:
        super().__init__(tensor)
        self.dtype = tensor.dtype
        self._entries = self._owner.ravel(order="K").view(tensor._array.dtype)

    def tolist(self) -> list[Any]:
        """Give the entries as numbers."""
        return list(self._entries.tolist())

    def __getitem__(self, place: Any) -> Any:
        return self._entries[place].tolist()

    def __setitem__(self, place: Any, value: Any) -> None:
        self._entries[place] = value

    def size(self) -> int:
        """Count the entries."""
        return len(self._entries)

    __len__ = size

    def __repr__(self) -> str:
        kind = f"[torch.storage.TypedStorage(dtype={self.dtype}, device=cpu) of size {len(self)}]"
        return " " + "\n ".join(map(str, self.tolist())) + f"\n{kind}"


# ------------------------------------------------------------------ several processes


def is_shared(tensor: Any) -> bool:
    """Say whether processes that are started see the same numbers."""
    return isinstance(getattr(owner_of(tensor._array), "base", None), ctypes.Array)


def shared(tensor: Tensor) -> Tensor:
    """Move a tensor to memory that processes started from here on see and change, and give it.

    Views that were made of it before stay where they were.

    Example:
        >>> import minigrad as torch
        >>> torch.ones(2).share_memory_().is_shared()
        True
    """
    if not is_shared(tensor):
        array: Any = tensor._array
        memory = import_module("multiprocessing").RawArray("b", max(array.nbytes, 1))
        tensor._array = np.ndarray(array.shape, array.dtype, memory)
        tensor._array[...] = array
        pickler = import_module("multiprocessing.reduction").ForkingPickler
        pickler.register(np.ndarray, _handed_over)
    return tensor


def _handed_over(array: Any) -> Any:
    """Say how a process that is started gets an array: in the same memory, if it is shared."""
    owner = owner_of(array)
    starting = import_module("multiprocessing.context").get_spawning_popen()
    if starting is None or not isinstance(owner.base, ctypes.Array):
        return array.__reduce_ex__(4)
    start = array.ctypes.data - owner.ctypes.data
    return np.ndarray, (array.shape, array.dtype, owner.base, start, array.strides)


# ------------------------------------------------------------------ copies


def _copy_memory(array: Any, memo: dict[int, Any]) -> Any:
    """Copy an array; views of one memory become views of one copy."""
    owner = owner_of(array)
    if array is not owner and (not owner.flags.c_contiguous or owner.dtype.hasobject):
        return array.copy()
    copied = memo.get(id(owner))
    if copied is None:
        memo[id(owner)] = copied = owner.copy(order="K")
    if array is owner:
        return copied
    start = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    view: Any = np.ndarray(array.shape, array.dtype, copied, start, array.strides)
    view.flags.writeable = array.flags.writeable
    return view


def _make_again(
    kind: type[Tensor], array: Any, requires_grad: bool, attributes: dict[str, Any]
) -> Any:
    tensor = wrap(array, kind)
    tensor._bump_version()
    tensor.requires_grad = requires_grad
    tensor.__dict__.update(attributes)
    return tensor


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn of each hook of a tensor that would be lost in a pickle, and is not marked for that."""
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, "
                "you can decorate the function with @torch.utils.hooks.unserializable_hook to "
                "suppress this warning"
            )


@attach(Tensor)
class Copies(Tensor):
    """How a tensor is made of data, printed, and copied."""

    __slots__ = ()

    def __new__(cls, *data: Any) -> Any:
        """Make a tensor of data, or of sizes."""
        return import_module("minigrad.creation.tensor_types").new(None, *data, kind=cls)

    __new__.__qualname__ = "Tensor"

    def __repr__(self) -> str:
        try:
            node = self.grad_fn
            made_by = None if node is None else type(node).__name__
        except RuntimeError:  # a view that a custom Function gave, and whose memory was changed
            made_by = "Invalid"
        exact = type(self) is Tensor or type(self).__name__ == "Parameter"
        printing = import_module("minigrad.creation.printing")  # rarely needed by a script
        return printing.format_tensor(
            self._array,
            requires_grad=self._edge is None and made_by is None,
            grad_fn=made_by,
            default_dtype=dtypes.default.dtype.numpy,
            prefix="tensor(" if exact else f"{type(self).__name__}(",
        )

    def __format__(self, specification: str) -> str:
        if self._array.ndim == 0 and type(self) is Tensor:
            return format(self._array.item(), specification)
        return object.__format__(self, specification)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """Copy a leaf with its gradient and its own attributes, for `copy.deepcopy`; without hooks.

        Args:
            memo: What was copied already in the same call, by the id of the original.

        Returns:
            The copy. Tensors that shared memory do so again if they are copied in one call.

        Raises:
            RuntimeError: If the tensor is no leaf.

        Example:
            >>> import copy
            >>> import minigrad as torch
            >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
            >>> copy.deepcopy(x)
            tensor([1., 2.], requires_grad=True)
        """
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                "protocol at the moment.  If you were attempting to deepcopy a module, this may be "
                "because of a torch.nn.utils.weight_norm usage, see "
                "https://github.com/pytorch/pytorch/pull/103001. Use detach().clone() for a copy "
                "of the values."
            )
        if id(self) in memo:
            return memo[id(self)]
        copied = memo[id(self)] = wrap(_copy_memory(self._array, memo), type(self))
        copied._bump_version()  # as in PyTorch, where an empty tensor is given the memory
        copied.requires_grad = self.requires_grad
        if self._grad is not None:
            copied._grad = self._grad.__deepcopy__(memo)
        copied.__dict__.update(deepcopy(self.__dict__, memo))
        return copied

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Say how to make a tensor again, for `pickle` and `copy.copy`.

        A result of an operation becomes a leaf that requires a gradient.
        """
        warn_if_has_hooks(self)
        return _make_again, (type(self), self._array, self.requires_grad, dict(self.__dict__))
