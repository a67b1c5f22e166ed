"""Take numbers out of a tensor: as Python numbers and lists, as NumPy arrays."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from minigrad.autograd.messages import type_name
from minigrad.core.modes import is_grad_enabled
from minigrad.core.plugs import attach
from minigrad.core.tensor import Tensor
from minigrad.creation import dtypes

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
        if isinstance(dtype, _type):
            raise ValueError(f"invalid type: '{dtype.__name__}'")
        if not isinstance(dtype, dtypes.dtype):
            raise TypeError("dtype must be a type, str, or dtype object")
        return self.to(dtype)

    def type_as(self, other: Tensor) -> Tensor:
        """Give the tensor in the type of another one."""
        if not isinstance(other, Tensor):
            raise TypeError(
                f"type_as(): argument 'other' (position 1) must be Tensor, not {type_name(other)}"
            )
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
        if force is not False and force is not True:
            raise TypeError(f"numpy(): argument 'force' must be bool, not {type_name(force)}")
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
        return self._as(float, "double")

    def __int__(self) -> int:
        return self._as(int, "int64_t")

    def _as(self, kind: Any, name_in_c: str = "") -> Any:
        """Give the only entry as a number of Python.

        Raises:
            RuntimeError: If its imaginary part would be lost.
            TypeError: If it is a formula.
        """
        number = self._single(kind.__name__)
        if isinstance(number, complex) and kind is not complex:
            raise RuntimeError(
                f"value cannot be converted to type {name_in_c} without overflow. It is {number}: "
                "take its real part with .real."
            )
        try:
            return kind(number)
        except TypeError:
            raise TypeError(
                f"{number} is not a number, so it can't become a Python {kind.__name__}. If it is "
                "a formula: what depends on the values of its symbols is not known before numbers "
                "are put in (minigrad.symbolic.evaluate)."
            ) from None

    def __index__(self) -> int:
        if self._array.size != 1 or self._array.dtype.kind not in "iub":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._array.item())

    def __complex__(self) -> complex:
        return self._as(complex)

    def _single(self, kind: str) -> Any:
        if kind != "int" and self.requires_grad and is_grad_enabled():
            warnings.warn(
                "Converting a tensor with requires_grad=True to a scalar may lead to unexpected "
                "behavior.\nConsider using tensor.detach() first.",
                UserWarning,
                stacklevel=4,
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

    def __iter__(self) -> Iterator[Self]:
        if self._array.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __reversed__(self) -> Any:
        return self.flip(0) if self._array.ndim else self

    def __contains__(self, element: Any) -> bool:
        if not isinstance(element, (Tensor, int, float, complex, np.generic)):
            raise RuntimeError(
                "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
                f"{element.__class__}."
            )
        return bool((self._array == getattr(element, "_array", element)).any())

    def __hash__(self) -> int:
        return id(self)
