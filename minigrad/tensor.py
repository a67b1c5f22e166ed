"""The tensor: an array that remembers how it was computed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from minigrad import dtypes
from minigrad.autograd.attributes import TensorAttributes
from minigrad.autograd.gradients import backward
from minigrad.autograd.modes import grad_mode, is_grad_enabled
from minigrad.autograd.node import NO_EDGE, Node
from minigrad.autograd.type_name import type_name
from minigrad.autograd.variable import Variable
from minigrad.autograd.versions import INFERENCE
from minigrad.copying import deep_copy, reduce_to_parts
from minigrad.copying import set_up as set_up
from minigrad.printing import format_tensor


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple that prints as PyTorch prints it.

    Example:
        >>> Size((2, 3))
        torch.Size([2, 3])
    """

    __slots__ = ()

    def numel(self) -> int:
        """Give the number of entries of a tensor of this shape."""
        return int(np.prod(self, dtype=np.int64))

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"


class Tensor(TensorAttributes):
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

    if TYPE_CHECKING:  # operations are attached when the package loads

        def __getattr__(self, name: str) -> Any: ...
        def __add__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __getitem__(self, index: Any) -> Tensor: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...

    def __init__(self, *data: Any) -> None:
        by_size = len(data) == 1 and isinstance(data[0], Size)
        if by_size or (data and all(type(size) is int for size in data)):
            sizes = data[0] if by_size else data
            set_up(self, np.zeros(sizes, dtypes.get_default_dtype().numpy))
            return
        (values,) = data or ((),)
        if isinstance(values, (float, complex)):
            raise TypeError(
                f"new(): data must be a sequence (got {type(values).__name__}). "
                "minigrad.tensor makes a tensor of one number."
            )
        array = np.array(values._array if isinstance(values, Variable) else values)
        if array.dtype.kind != "O":
            array = array.astype(dtypes.get_default_dtype().numpy)
        set_up(self, array)

    # ------------------------------------------------------------------ shape and type

    @property
    def shape(self) -> Size:
        """The number of entries along each dimension."""
        return Size(self._array.shape)

    def size(self, dim: int | None = None) -> Any:
        """Give the shape, or the number of entries along one dimension."""
        return self.shape if dim is None else self._array.shape[dim]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return int(self._array.ndim)

    def dim(self) -> int:
        """Give the number of dimensions."""
        return int(self._array.ndim)

    def numel(self) -> int:
        """Give the number of entries."""
        return int(self._array.size)

    nelement = numel

    def stride(self, dim: int | None = None) -> Any:
        """Give the steps in memory, in entries, along each dimension or along one."""
        steps = tuple(step // self._array.itemsize for step in self._array.strides)
        return steps if dim is None else steps[dim]

    def data_ptr(self) -> int:
        """Give the address of the first entry; tensors that share memory may share it.

        Example:
            >>> import minigrad as torch
            >>> x = torch.ones(3)
            >>> x.data_ptr() == x[:2].data_ptr(), x.data_ptr() == x.clone().data_ptr()
            (True, False)
        """
        return int(self._array.ctypes.data) if self._array.size else 0

    def is_contiguous(self) -> bool:
        """Tell whether the entries lie in memory in the order in which they are printed."""
        return bool(self._array.flags.c_contiguous)

    @property
    def dtype(self) -> dtypes.dtype:
        """The type of the entries."""
        return dtypes.of_array(self._array)

    def type(self, dtype: dtypes.dtype | str | None = None) -> Any:
        """Give the name of the tensor's type, or the tensor in another type.

        Args:
            dtype: The type, or its name, such as "torch.DoubleTensor".

        Raises:
            ValueError: If there is no type of that name.
        """
        if dtype is None:
            return f"torch.{self.dtype.tensor_type}Tensor"
        if isinstance(dtype, str):
            dtype = dtypes.named(dtype)
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

    # ------------------------------------------------------------------ out of the tensor

    def numpy(self, *, force: bool = False) -> np.ndarray[Any, Any]:
        """Give the values as a NumPy array that shares the tensor's memory.

        Args:
            force: Detach first if the tensor requires a gradient.

        Raises:
            RuntimeError: If the tensor requires a gradient.
        """
        if is_grad_enabled() and self.requires_grad and not force:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. "
                "Use tensor.detach().numpy() instead."
            )
        return self._array  # type: ignore[no-any-return]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.numpy(), dtype=dtype, copy=copy)

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
            warnings.warn(
                "Converting a tensor with requires_grad=True to a scalar may lead to unexpected "
                "behavior.\nConsider using tensor.detach() first.",
                UserWarning,
                stacklevel=3,
            )
        if self._array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self._array.item()

    def __bool__(self) -> bool:
        if self._array.size != 1:
            what = "no values" if self._array.size == 0 else "more than one value"
            raise RuntimeError(
                f"Boolean value of Tensor with {what} is ambiguous. Use any() or all() to say "
                "which entries count."
            )
        return bool(self._array)

    def __len__(self) -> int:
        if self._array.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self._array)

    def __iter__(self) -> Iterator[Tensor]:
        if self._array.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __contains__(self, element: Any) -> bool:
        if not isinstance(element, (Variable, int, float, complex, np.generic)):
            raise RuntimeError(
                "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
                f"{element.__class__}."
            )
        return bool((self._array == getattr(element, "_array", element)).any())

    def __hash__(self) -> int:
        return id(self)

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
        operation = _found(self._ufuncs, ufunc if method == "__call__" else (ufunc, method))
        if operation is None or options.get("out") is not None:
            raise TypeError(
                f"NumPy's {ufunc.__name__} (as {method}) is not known for tensors. Use "
                "tensor.detach().numpy() to compute outside of the graph."
            )
        return operation(*inputs, **options)

    def __array_function__(
        self, function: Any, types: Sequence[Any], inputs: Any, options: Any
    ) -> Any:
        """Record what NumPy was asked to compute with tensors."""
        operation = _found(self._functions, function)
        if operation is None:
            raise TypeError(
                f"NumPy's {function.__name__} is not known for tensors. Use "
                "tensor.detach().numpy() to compute outside of the graph."
            )
        return operation(*inputs, **options)


def _found(table: dict[Any, Callable[..., Any]], asked: Any) -> Callable[..., Any] | None:
    """Look up what stands for a function of NumPy's; at a miss once more, with all loaded."""
    operation = table.get(asked)
    if operation is None:
        Tensor._enter_all()
        operation = table.get(asked)
    return operation


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
