"""Look at a tensor: its shape, strides and memory; its numbers for Python and NumPy; copies."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from copy import deepcopy
from importlib import import_module
from operator import index
from typing import Any, Self

import numpy as np

from minigrad.autograd.messages import warn
from minigrad.autograd.rules import attach
from minigrad.autograd.views import strides_of
from minigrad.core.modes import is_grad_enabled
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.signatures.arguments import whole


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple that prints as PyTorch prints it.

    Example:
        >>> Size((2, 3))
        torch.Size([2, 3])
        >>> Size((2, 3))[:1] + (4,)
        torch.Size([2, 4])
    """

    __slots__ = ()

    def __new__(cls, iterable: Any = (), /) -> Self:
        """Take whole numbers, also of NumPy's types."""
        return super().__new__(cls, map(index, iterable))

    def numel(self) -> int:
        """Give the number of entries of a tensor of this shape."""
        return math.prod(self)

    def __add__(self, other: Any) -> Size:
        return Size(tuple.__add__(self, other))

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return Size(found) if index.__class__ is slice else found

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"


_new_size = tuple.__new__  # without a look at each number


@attach(Tensor)
class Layout(Tensor):
    """The methods of a tensor that tell of its shape and its memory."""

    __slots__ = ()

    @property
    def shape(self) -> Size:
        """The number of entries along each dimension."""
        return _new_size(Size, self._array.shape)

    def size(self, dim: int | None = None) -> Any:
        """Give the shape, or the number of entries along one dimension."""
        if dim is None:
            return _new_size(Size, self._array.shape)
        return self._along(self._array.shape, dim, "size")

    def _along(self, steps: tuple[int, ...], dim: Any, caller: str) -> int:
        """Give the entry of a dimension.

        Raises:
            IndexError: If there is no such dimension.
        """
        try:
            return steps[dim if dim.__class__ is int else whole(caller, dim, "dim", 1)]
        except IndexError:
            raise IndexError(
                f"Dimension out of range: {dim} is not among the {len(steps)} dimensions"
            ) from None

    def dim(self) -> int:
        """Give the number of dimensions."""
        return int(self._array.ndim)

    ndimension = dim
    ndim = property(dim, doc="The number of dimensions.")

    def numel(self) -> int:
        """Give the number of entries."""
        return int(self._array.size)

    nelement = numel

    def stride(self, dim: int | None = None) -> Any:
        """Give the steps in memory, in entries, along each dimension or along one."""
        steps = strides_of(self._array)
        return steps if dim is None else self._along(steps, dim, "stride")

    def data_ptr(self) -> int:
        """Give the address of the first entry; tensors that share memory may share it.

        Example:
            >>> import minigrad as torch
            >>> x = torch.ones(3)
            >>> x.data_ptr() == x[:2].data_ptr(), x.data_ptr() == x.clone().data_ptr()
            (True, False)
        """
        return int(self._array.ctypes.data) if self._array.size else 0

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Tell whether the entries lie in memory in the order in which they are printed."""
        if memory_format is not None:
            self._check_memory_format(memory_format, "is_contiguous")
        return bool(self._array.flags.c_contiguous)

    def element_size(self) -> int:
        """Give the bytes an entry."""
        return int(self._array.itemsize)

    itemsize = property(element_size, doc="The bytes an entry.")

    @property
    def nbytes(self) -> int:
        """The bytes of all entries."""
        return int(self._array.nbytes)


# ------------------------------------------------------------------ numbers

_type = type  # a method of tensors is called so, too

_NO_NUMPY = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."


@attach(Tensor)
class Conversions(Tensor):
    """The methods of a tensor by which Python and NumPy get its numbers."""

    __slots__ = ()

    # ------------------------------------------------------------------ type

    @property
    def dtype(self) -> dtypes.dtype:
        """The type of the entries."""
        return dtypes.of_array(self._array)

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """Give the name of the tensor's type, or the tensor in another type.

        Args:
            dtype: The type; or its name, such as "torch.DoubleTensor", or the class of that name.
            non_blocking: Anything; there is nothing to wait for.

        Raises:
            ValueError: If there is no type of that name.
        """
        if dtype is None:
            return f"torch.{self.dtype.tensor_type}Tensor"
        if isinstance(dtype, str):
            dtype = dtypes.named(dtype)
        if isinstance(dtype, _type):
            dtype = getattr(dtype, "dtype", dtype)
        return self.to(dtype)

    def type_as(self, other: Tensor) -> Tensor:
        """Give the tensor in the type of another one."""
        return self.to(other.dtype)

    def is_floating_point(self) -> bool:
        """Tell whether the entries are floating-point numbers."""
        return self.dtype.is_floating_point

    # ------------------------------------------------------------------ NumPy

    def numpy(self, *, force: bool = False) -> np.ndarray[Any, Any]:
        """Give the values as a NumPy array that shares the tensor's memory.

        Args:
            force: Detach first if the tensor requires a gradient.

        Raises:
            RuntimeError: If the tensor requires a gradient.

        Example:
            >>> import minigrad as torch
            >>> torch.tensor([1.0, 2.0]).numpy()
            array([1., 2.], dtype=float32)
        """
        if is_grad_enabled() and self.requires_grad and not force:
            raise RuntimeError(_NO_NUMPY)
        return self._array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    # ------------------------------------------------------------------ Python

    def item(self) -> Any:
        """Give the only entry as a Python number.

        Raises:
            RuntimeError: If there is more than one entry, or none.
        """
        if self._array.size != 1:
            raise RuntimeError(
                f"a Tensor with {self._array.size} elements cannot be converted to Scalar. "
                "Use tolist() for a list of all of them."
            )
        return self._array.item()

    def tolist(self) -> Any:
        """Give the entries as nested lists of Python numbers."""
        return self._array.tolist()

    def __float__(self) -> float:
        return float(self._single("float"))

    def __int__(self) -> int:
        return int(self._single("int"))

    def __index__(self) -> int:
        if self._array.size != 1 or self._array.dtype.kind not in "iub":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._array.item())

    def __complex__(self) -> complex:
        return complex(self._single("complex"))

    def _single(self, kind: str) -> Any:
        if kind != "int" and self.requires_grad and is_grad_enabled():
            warn(
                "Converting a tensor with requires_grad=True to a scalar may lead to unexpected "
                "behavior.\nConsider using tensor.detach() first."
            )
        if self._array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self._array.item()

    def __bool__(self) -> bool:
        if self._array.size != 1:
            what = "no values" if self._array.size == 0 else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous: any() or all()?")
        return bool(self._array)

    def __len__(self) -> int:
        if self._array.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self._array)

    def __iter__(self) -> Iterator[Self]:
        if self._array.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __reversed__(self) -> Any:
        return self.flip(0) if self._array.ndim else self

    def __contains__(self, element: Any) -> bool:
        if not isinstance(element, (Tensor, int, float, complex, np.number)):
            raise RuntimeError(f"Tensor.__contains__ takes Tensors and numbers, no {type(element)}")
        same: Any = element == self
        return bool(same.any())

    def __hash__(self) -> int:
        return id(self)


# ------------------------------------------------------------------ memory


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


# ------------------------------------------------------------------ copies


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
        return import_module("minigrad.creation.devices").new(None, *data, kind=cls)

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
            RuntimeError: If the tensor isn't a leaf.

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
                "protocol at the moment. Use detach().clone() for a copy of the values."
            )
        if id(self) in memo:
            return memo[id(self)]
        copied = memo[id(self)] = wrap(self._array.copy(order="K"), type(self))
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


# ------------------------------------------------------------------ memory that is freed

# With the defaults of the C library of Linux (glibc), an array of some megabytes that is freed
# goes back to the system, and the next one is new memory, whose pages have to be made and zeroed
# one by one. On one machine three sums of arrays of 800 kB, one after the other, took 1.19 ms
# that way, and 0.07 ms with memory that was kept. glibc learns: when a large block is freed, it
# keeps blocks up to that size from then on (`M_MMAP_THRESHOLD` and `M_TRIM_THRESHOLD` in `man
# mallopt`). A program that frees large arrays teaches it sooner or later; minigrad does so at
# once. One block of 31 MB is allocated and freed when it is imported. Nobody touches it, so it
# takes no memory; it costs some 50 microseconds.
#
# The price: up to about 62 MB of what a program has freed may stay with it. To do without, set
# the environment variable `MINIGRAD_KEEP_FREED_MEMORY` to `0` before Python starts.
#
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
