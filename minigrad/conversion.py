"""Take numbers out of a tensor: as Python numbers and lists, as NumPy arrays, through DLPack."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NoReturn, Self

import numpy as np

from minigrad.autograd.attributes import TensorAttributes
from minigrad.autograd.modes import is_grad_enabled
from minigrad.autograd.type_name import type_name
from minigrad.autograd.variable import Variable

_NO_NUMPY = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."


class Conversions(TensorAttributes):
    """The methods of a tensor by which Python and NumPy get its numbers."""

    __slots__ = ()

    # ------------------------------------------------------------------ NumPy and others

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
        return self._array  # type: ignore[no-any-return]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Offer the memory to another library, as `numpy.from_dlpack(tensor)` asks for it.

        Raises:
            BufferError: If the tensor requires a gradient.
        """
        if self.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        if stream is not None:
            raise AssertionError("stream should be None on cpu.")
        array = self._array.copy() if copy else self._array
        try:
            return array.__dlpack__(max_version=max_version)
        except TypeError:  # NumPy before 2.1
            return array.__dlpack__()

    def __dlpack_device__(self) -> tuple[Any, int]:
        return self._array.__dlpack_device__()  # type: ignore[no-any-return]

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
        number = self._single("float")
        if isinstance(number, complex):
            _refuse_complex("double", number)
        try:
            return float(number)
        except TypeError:
            raise _no_number(number, "float") from None

    def __int__(self) -> int:
        number = self._single("int")
        if isinstance(number, complex):
            _refuse_complex("int64_t", number)
        try:
            return int(number)
        except TypeError:
            raise _no_number(number, "int") from None

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

    def is_nonzero(self) -> bool:
        """Tell whether the only entry is not zero."""
        return self.__bool__()

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
        if not isinstance(element, (Variable, int, float, complex, np.generic)):
            raise RuntimeError(
                "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
                f"{element.__class__}."
            )
        return bool((self._array == getattr(element, "_array", element)).any())

    def __hash__(self) -> int:
        return id(self)


def _no_number(entry: Any, kind: str) -> TypeError:
    """Make the error for an entry, such as a formula, that Python makes no number of."""
    return TypeError(
        f"{entry} is not a number, so it can't become a Python {kind}. If it is a formula: what "
        "depends on the values of its symbols is not known before numbers are put in "
        "(minigrad.symbolic.evaluate)."
    )


def _refuse_complex(kind: str, number: complex) -> NoReturn:
    """Raise if the imaginary part of a number would be lost, as PyTorch does."""
    raise RuntimeError(
        f"value cannot be converted to type {kind} without overflow. It is {number}: take its real "
        "part with .real."
    )
