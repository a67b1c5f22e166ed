"""Take complex numbers apart and put them together: real, imag, conj, polar.

Complex tensors hold values only: `minigrad.autograd.complex_numbers` says why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.messages import refuse_complex
from minigrad.core.modes import modes
from minigrad.core.tensor import Tensor, make_view, wrap
from minigrad.ops.inplace import copy_
from minigrad.signatures import attach, variants


def _view(array: Any, source: Tensor) -> Tensor:
    """Give an array that lies in the memory of a tensor as a view of it."""
    result = wrap(array)
    make_view(result, source)
    return result


def _refuse_gradient(*tensors: Tensor) -> None:
    """Raise if a gradient would have to flow through complex numbers."""
    if modes.recording and any(tensor.requires_grad for tensor in tensors):
        refuse_complex(np.dtype(np.complex64))


@variants(method=False, numpy=np.real)
def real(input: Tensor) -> Tensor:
    """Give the real parts, which lie in the same memory; a real tensor is given as it is.

    Example:
        >>> import minigrad as torch
        >>> torch.real(torch.tensor([1 + 2j]))
        tensor([1.])
    """
    return _view(input._array.real, input) if input.is_complex() else input


@variants(method=False)
def imag(input: Tensor) -> Tensor:
    """Give the imaginary parts, which lie in the same memory.

    Raises:
        RuntimeError: If the entries are not complex.

    Example:
        >>> import minigrad as torch
        >>> torch.imag(torch.tensor([1 + 2j]))
        tensor([2.])
    """
    if not input.is_complex():
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return _view(input._array.imag, input)


@variants(method=False)
def view_as_real(input: Tensor) -> Tensor:
    """Show the real and imaginary parts as a last dimension of size 2, in the same memory.

    Raises:
        RuntimeError: If the entries are not complex.

    Example:
        >>> import minigrad as torch
        >>> torch.view_as_real(torch.tensor([1 + 2j, 3 + 4j]))
        tensor([[1., 2.],
                [3., 4.]])
    """
    if not input.is_complex():
        raise RuntimeError("view_as_real is only supported for complex tensors")
    array = input._array
    return _view(array[..., np.newaxis].view(array.real.dtype), input)


@variants(method=False)
def view_as_complex(input: Tensor) -> Tensor:
    """Show a last dimension of size 2 as complex numbers, in the same memory.

    Raises:
        RuntimeError: If the numbers are of another kind, or do not lie in pairs.
        NotImplementedError: If a gradient would be needed, or the numbers are of dtype float16.

    Example:
        >>> import minigrad as torch
        >>> torch.view_as_complex(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor([1.+2.j, 3.+4.j])
    """
    array = input._array
    if not input.dtype.is_floating_point or array.shape[-1:] != (2,):
        raise RuntimeError("view_as_complex takes floats, with a last dimension of size 2")
    _refuse_gradient(input)
    pairs = array.view(input.dtype.to_complex().numpy)[..., 0]
    return _view(pairs, input)


@variants(ufunc=np.conjugate)
def conj(input: Tensor) -> Tensor:
    """Give the complex conjugates; a real tensor is given as it is.

    In PyTorch the result shares the memory and is conjugated when it is read. Here it is a copy.

    Example:
        >>> import minigrad as torch
        >>> torch.conj(torch.tensor([1 + 2j]))
        tensor([1.-2.j])
    """
    return wrap(np.conjugate(input._array)) if input.is_complex() else input


@variants()
def resolve_conj(input: Tensor) -> Tensor:
    """Give the tensor itself: here nothing waits to be conjugated."""
    return input


@variants(out="kind", method=False)
def polar(abs: Tensor, angle: Tensor) -> Tensor:
    r"""Make complex numbers of lengths and angles: :math:`r \cos \varphi + i r \sin \varphi`.

    Raises:
        RuntimeError: If the two are not of one floating-point dtype.
        NotImplementedError: If one requires a gradient, or they are of dtype float16.

    Example:
        >>> import minigrad as torch
        >>> torch.polar(torch.tensor([2.0]), torch.tensor([0.0]))
        tensor([2.+0.j])
    """
    if abs.dtype is not angle.dtype or not abs.dtype.is_floating_point:
        return complex(abs, angle)  # which says what they must be
    return complex(abs * angle.cos(), abs * angle.sin())


def _set(part: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Any], None]:
    """Let a part of a tensor be assigned."""

    def assign(tensor: Tensor, value: Any) -> None:
        copy_(part(tensor), value)

    return assign


@variants(out="none", method=False)
def complex(real: Tensor, imag: Tensor) -> Tensor:
    """Make complex numbers of their real and imaginary parts.

    Raises:
        RuntimeError: If the two are not of one floating-point dtype.
        NotImplementedError: If one requires a gradient, or they are of dtype float16.

    Example:
        >>> import minigrad as torch
        >>> torch.complex(torch.tensor([1.0]), torch.tensor([2.0]))
        tensor([1.+2.j])
    """
    if real.dtype is not imag.dtype or not real.dtype.is_floating_point:
        raise RuntimeError(f"complex() takes floats of one type, got {real.dtype}, {imag.dtype}")
    _refuse_gradient(real, imag)
    first, second = np.broadcast_arrays(real._array, imag._array)
    array = np.empty(first.shape, real.dtype.to_complex().numpy)
    array.real, array.imag = first, second
    return wrap(array)


attach(
    __name__,
    {
        "imag": property(imag, _set(imag), doc="The imaginary parts of complex numbers."),
        "real": property(real, _set(real), doc="The real parts of complex numbers."),
    },
)
