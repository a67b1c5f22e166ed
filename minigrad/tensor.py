"""The tensor: an array that remembers how it was computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from minigrad import dtypes
from minigrad.autograd.gradients import backward
from minigrad.autograd.modes import grad_mode
from minigrad.autograd.node import NO_EDGE, Node
from minigrad.autograd.type_name import type_name
from minigrad.autograd.variable import Variable
from minigrad.autograd.versions import INFERENCE
from minigrad.conversion import Conversions
from minigrad.copying import deep_copy, reduce_to_parts
from minigrad.copying import set_up as set_up
from minigrad.printing import format_tensor
from minigrad.size import Size as Size

_new_size = tuple.__new__  # without a look at each number
_type = type  # a method of tensors is called so, too


class Tensor(Conversions):
    """An array of numbers that records the operations it takes part in.

    `minigrad.tensor(data)` makes one. Operations are methods (`x.sum()`), functions
    (`minigrad.sum(x)`) and operators (`x * y`); they live in `minigrad.ops`.

    Args:
        *data: Nested sequences of numbers, or an array; converted to the default dtype. Or, as in
            PyTorch, the sizes of a tensor whose entries are not set.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([2., 4.])
    """

    __slots__ = ()

    # NumPy hands operators and functions with a Tensor among the arguments to these tables.
    _ufuncs: ClassVar[dict[Any, Callable[..., Any]]] = {}
    _functions: ClassVar[dict[Any, Callable[..., Any]]] = {}
    # Adds to the tables what is loaded late.
    _enter_all: ClassVar[Callable[[], None]]
    # Does what NumPy asked for and the tables do not have, or with arguments of NumPy's own.
    _computed_by_numpy: ClassVar[Callable[..., Any]]
    # Makes the array of `Tensor(data)`.
    _from_data: ClassVar[Callable[..., Any]]

    if TYPE_CHECKING:  # operations are attached when the package loads

        def __getattr__(self, name: str) -> Any: ...
        def __add__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __rpow__(self, other: Any) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __getitem__(self, index: Any) -> Tensor: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...

    def __init__(self, *data: Any) -> None:
        set_up(self, self._from_data(*data))

    # ------------------------------------------------------------------ shape and type

    @property
    def shape(self) -> Size:
        """The number of entries along each dimension."""
        return _new_size(Size, self._array.shape)

    def size(self, dim: int | None = None) -> Any:
        """Give the shape, or the number of entries along one dimension."""
        if dim is None:
            return _new_size(Size, self._array.shape)
        try:
            return self._array.shape[dim]
        except (IndexError, TypeError):
            raise self._no_dimension("size", dim) from None

    def _no_dimension(self, method: str, dim: Any) -> Exception:
        """Make the error for a dimension that is not there."""
        if not hasattr(dim, "__index__"):
            return TypeError(
                f"{method}(): argument 'dim' (position 1) must be int, not {type_name(dim)}"
            )
        ndim = self._array.ndim
        if not ndim:
            return IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        return IndexError(
            f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got "
            f"{dim})"
        )

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return int(self._array.ndim)

    def dim(self) -> int:
        """Give the number of dimensions."""
        return int(self._array.ndim)

    ndimension = dim

    def numel(self) -> int:
        """Give the number of entries."""
        return int(self._array.size)

    nelement = numel

    def stride(self, dim: int | None = None) -> Any:
        """Give the steps in memory, in entries, along each dimension or along one."""
        steps = strides_of(self._array)
        if dim is None:
            return steps
        try:
            return steps[dim]
        except (IndexError, TypeError):
            raise self._no_dimension("stride", dim) from None

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

    @property
    def itemsize(self) -> int:
        """The bytes an entry."""
        return int(self._array.itemsize)

    @property
    def nbytes(self) -> int:
        """The bytes of all entries."""
        return int(self._array.nbytes)

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
        if isinstance(dtype, _type):
            raise ValueError(f"invalid type: '{dtype.__name__}'")
        if not isinstance(dtype, dtypes.dtype):
            raise TypeError("dtype must be a type, str, or dtype object")
        return self.to(dtype)

    def type_as(self, other: Tensor) -> Tensor:
        """Give the tensor in the type of another one."""
        if not isinstance(other, Variable):
            raise TypeError(
                f"type_as(): argument 'other' (position 1) must be Tensor, not {type_name(other)}"
            )
        return self.to(other.dtype)  # type: ignore[no-any-return]

    def is_floating_point(self) -> bool:
        """Tell whether the entries are floating-point numbers."""
        return self.dtype.is_floating_point

    # ------------------------------------------------------------------ autograd

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Compute the gradient of this tensor with respect to the leaves of its graph.

        The gradients are added to the leaves' `.grad`.

        Args:
            gradient: The gradient of what is differentiated with respect to this tensor; may be
                left out if this tensor has one entry.
            retain_graph: Keep the saved values, so that the graph can be run again. By default
                they are released, unless `create_graph`.
            create_graph: Record the backward pass, for derivatives of derivatives.
            inputs: The tensors whose gradient is wanted; by default all leaves.

        Raises:
            RuntimeError: If this tensor has no graph or more than one entry and no `gradient`, or
                if the graph was released.

        Example:
            >>> import minigrad as torch
            >>> x = torch.tensor([3.0], requires_grad=True)
            >>> (x**2).backward()
            >>> x.grad
            tensor([6.])
        """
        backward(self, gradient, retain_graph, create_graph, None, inputs)

    # ------------------------------------------------------------------ the printed form

    def __repr__(self) -> str:
        try:
            node = self.grad_fn
            made_by = None if node is None else type(node).__name__
        except RuntimeError:  # a view that a custom Function gave, and whose memory was changed
            made_by = "Invalid"
        exact = type(self) is Tensor or type(self).__name__ == "Parameter"
        return format_tensor(
            self._array,
            requires_grad=self._edge is None and made_by is None,
            grad_fn=made_by,
            default_dtype=dtypes.get_default_dtype().numpy,
            prefix="tensor(" if exact else f"{type(self).__name__}(",
        )

    def __format__(self, specification: str) -> str:
        if self._array.ndim == 0 and type(self) is Tensor:
            return format(self._array.item(), specification)
        return object.__format__(self, specification)

    # ------------------------------------------------------------------ copies

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return deep_copy(self, memo)  # type: ignore[no-any-return]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return reduce_to_parts(self)

    # ------------------------------------------------------------------ NumPy

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Record what NumPy was asked to compute with tensors."""
        operation = self._ufuncs.get(ufunc)
        if operation is not None and not options and method == "__call__":
            return operation(*inputs)
        return self._computed_by_numpy(ufunc, method, inputs, options)

    def __array_function__(
        self, function: Any, types: Sequence[Any], inputs: Any, options: Any
    ) -> Any:
        """Record what NumPy was asked to compute with tensors."""
        operation = self._functions.get(function)
        if operation is not None:
            return operation(*inputs, **options)
        return self._computed_by_numpy(function, None, inputs, options)


def strides_of(array: Any) -> tuple[int, ...]:
    """Give the steps in memory, in entries, along each dimension, as PyTorch counts them.

    NumPy's steps are 0 where there are no entries, and where a size of 1 was broadcast to 1.
    """
    steps = [step // array.itemsize for step in array.strides]
    for d in range(array.ndim - 1, -1, -1):
        if not array.size or (array.shape[d] == 1 and not steps[d]):
            last = d + 1 == array.ndim
            steps[d] = 1 if last else max(array.shape[d + 1], 1) * steps[d + 1]
    return tuple(steps)


def wrap(array: Any) -> Tensor:
    """Put an array, or a number that NumPy made of one, into a tensor that needs no gradient."""
    tensor = wrap_as_normal(array)
    if grad_mode.enabled is None:
        tensor._version_counter = INFERENCE
    return tensor


def wrap_as_normal(array: Any) -> Tensor:
    """Do what `wrap` does, but give a normal tensor also in inference mode."""
    tensor = object.__new__(Tensor)
    tensor._array = array if isinstance(array, np.ndarray) else np.asarray(array)
    tensor._edge = NO_EDGE
    tensor._grad = tensor._meta = tensor._version_counter = tensor._view = None
    return tensor


Node.wrap = staticmethod(wrap_as_normal)  # type: ignore[method-assign]
