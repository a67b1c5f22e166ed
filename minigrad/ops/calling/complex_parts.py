"""Take complex numbers apart and put them together: real, imag, conj, angle, polar.

Complex tensors hold values only: `minigrad.autograd.complex_numbers` says why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.autograd.modes import grad_mode
from minigrad.autograd.views import make_view
from minigrad.ops import representation
from minigrad.ops.calling.arguments import check_tensor
from minigrad.ops.calling.less_usual_creation import complex as complex_of_parts
from minigrad.ops.calling.out import with_out
from minigrad.ops.inplace import copy_, in_place
from minigrad.tensor import Tensor, wrap

__all__ = [
    "angle",
    "conj",
    "conj_physical",
    "conj_physical_",
    "imag",
    "polar",
    "real",
    "resolve_conj",
    "resolve_neg",
    "view_as_complex",
    "view_as_real",
]


def _is_complex(tensor: Tensor) -> bool:
    """Tell whether the entries are complex numbers."""
    return bool(tensor._array.dtype.kind == "c")


def _view(array: Any, source: Tensor, replay: Callable[[Tensor], Tensor]) -> Tensor:
    """Give an array that lies in the memory of a tensor as a view of it."""
    result = wrap(array)
    make_view(result, source, replay)
    return result


def _refuse_gradient(*tensors: Tensor) -> None:
    """Raise if a gradient would have to flow through complex numbers."""
    if grad_mode.enabled and any(tensor.requires_grad for tensor in tensors):
        raise NotImplementedError(
            "minigrad does not differentiate complex numbers: detach() the tensors first, and "
            "compute with the real and the imaginary part as two tensors where you need gradients."
        )


def real(input: Tensor) -> Tensor:
    """Give the real parts, which lie in the same memory; a real tensor is given as it is.

    Example:
        >>> import minigrad as torch
        >>> torch.real(torch.tensor([1 + 2j]))
        tensor([1.])
    """
    check_tensor("real", input)
    return _view(input._array.real, input, real) if _is_complex(input) else input


def imag(input: Tensor) -> Tensor:
    """Give the imaginary parts, which lie in the same memory.

    Raises:
        RuntimeError: If the entries are not complex.

    Example:
        >>> import minigrad as torch
        >>> torch.imag(torch.tensor([1 + 2j]))
        tensor([2.])
    """
    check_tensor("imag", input)
    if not _is_complex(input):
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return _view(input._array.imag, input, imag)


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
    check_tensor("view_as_real", input)
    if not _is_complex(input):
        raise RuntimeError("view_as_real is only supported for complex tensors")
    array = input._array
    parts = array[..., np.newaxis].view(array.real.dtype)
    return _view(parts, input, view_as_real)


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
    check_tensor("view_as_complex", input)
    array = input._array
    if not input.dtype.is_floating_point:
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a "
            f"tensor of scalar type: {input.dtype.tensor_type}"
        )
    if array.ndim == 0:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if array.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if array.strides[-1] != array.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if input.dtype is dtypes.float16:
        raise NotImplementedError("minigrad has no complex32. Convert the parts with float().")
    _refuse_gradient(input)
    pairs = array.view(input.dtype.to_complex().numpy)[..., 0]
    return _view(pairs, input, view_as_complex)


def conj_physical(input: Tensor) -> Tensor:
    """Give the complex conjugates, in memory of their own.

    Example:
        >>> import minigrad as torch
        >>> torch.conj_physical(torch.tensor([1 + 2j]))
        tensor([1.-2.j])
    """
    check_tensor("conj_physical", input)
    return wrap(np.conjugate(input._array)) if _is_complex(input) else input


def conj(input: Tensor) -> Tensor:
    """Give the complex conjugates; a real tensor is given as it is.

    In PyTorch the result shares the memory and is conjugated when it is read. Here it is a copy.

    Example:
        >>> import minigrad as torch
        >>> torch.conj(torch.tensor([1 + 2j]))
        tensor([1.-2.j])
    """
    check_tensor("conj", input)
    return conj_physical(input)


def resolve_conj(input: Tensor) -> Tensor:
    """Give the tensor itself: here nothing waits to be conjugated."""
    check_tensor("resolve_conj", input)
    return input


def resolve_neg(input: Tensor) -> Tensor:
    """Give the tensor itself: here nothing waits to be negated."""
    check_tensor("resolve_neg", input)
    return input


@with_out
def angle(input: Tensor) -> Tensor:
    """Give the angles of complex numbers in radians; those of real numbers are 0 or pi.

    Raises:
        NotImplementedError: If a gradient would be needed.

    Example:
        >>> import minigrad as torch
        >>> torch.angle(torch.tensor([1j, -1 + 0j]))
        tensor([1.5708, 3.1416])
    """
    check_tensor("angle", input)
    array = input._array
    if array.dtype.kind == "f":
        return representation.angle(input)  # type: ignore[no-any-return]
    _refuse_gradient(input)
    if array.dtype.kind == "c":
        return wrap(np.angle(array).astype(array.real.dtype, copy=False))
    kind = array.dtype if array.dtype.kind == "f" else dtypes.get_default_dtype().numpy
    angles = np.where(array < 0, kind.type(np.pi), kind.type(0))
    return wrap(np.where(np.isnan(array), array, angles).astype(kind, copy=False))


@with_out
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
    check_tensor("polar", abs, "abs")
    check_tensor("polar", angle, "angle", 2)
    if not (abs.dtype.is_floating_point and angle.dtype.is_floating_point):
        return complex_of_parts(abs, angle)  # which says that it must be floating-point numbers
    lengths, angles = abs.detach(), angle.detach()
    _refuse_gradient(abs, angle)
    if abs.dtype is not angle.dtype:
        return complex_of_parts(lengths, angles)
    return complex_of_parts(lengths * angles.cos(), lengths * angles.sin())


def _set(part: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Any], None]:
    """Let a part of a tensor be assigned."""

    def assign(tensor: Tensor, value: Any) -> None:
        copy_(part(tensor), value)

    return assign


conj_physical_ = in_place(conj_physical)

methods: dict[str, Any] = {
    "angle": angle,
    "conj": conj,
    "conj_physical": conj_physical,
    "conj_physical_": conj_physical_,
    "imag": property(imag, _set(imag), doc="The imaginary parts of complex numbers."),
    "real": property(real, _set(real), doc="The real parts of complex numbers."),
    "resolve_conj": resolve_conj,
    "resolve_neg": resolve_neg,
}

ufuncs: dict[Any, Any] = {np.conjugate: conj_physical}

functions: dict[Any, Any] = {np.real: real, np.angle: angle}
