"""Convert tensors: to another dtype, to the CPU where they are, from and to complex numbers.

Complex tensors hold values only: where a gradient would flow through them, they refuse.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from minigrad.autograd.messages import refuse_complex
from minigrad.autograd.rules import ignore_errstate
from minigrad.core.modes import modes
from minigrad.core.tensor import Tensor, make_view, wrap
from minigrad.creation import dtypes
from minigrad.ops import shape
from minigrad.ops.inplace import copy_
from minigrad.signatures import attach, variants
from minigrad.signatures.arguments import cast, check_tensor


def to(
    input: Tensor,
    *arguments: Any,
    dtype: Any = None,
    device: Any = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Convert to another dtype, or to that of another tensor; the only device is the CPU.

    Args:
        input: The tensor.
        *arguments: A dtype; or a device and perhaps a dtype; or another tensor. After these
            `non_blocking` and `copy` may follow.
        dtype: The dtype, by name.
        device: The CPU, by name.
        non_blocking: Anything; there is nothing to wait for.
        copy: Whether to copy where there is nothing to convert.
        memory_format: `contiguous_format` for entries in order.

    Returns:
        The tensor itself, if there is nothing to convert.

    Example:
        >>> import minigrad as torch
        >>> torch.tensor([1.5, 2.5]).to(torch.int64)
        tensor([1, 2])
    """
    if arguments:
        first, *rest = arguments
        alone = not rest and not copy and dtype is device is memory_format is None
        if alone and first.__class__ is dtypes.dtype:
            return _cast(input, first.numpy)
        if isinstance(first, Tensor):
            dtype = first.dtype
        elif isinstance(first, (dtypes.dtype, type)):
            dtype = first
        else:
            if first is not None:
                _check_device(first, "to")
            dtype = rest.pop(0) if rest and not isinstance(rest[0], bool) else dtype
        copy = rest[1] if len(rest) == 2 else copy
    if device is not None:
        _check_device(device, "to")
    check_tensor("to", input)
    result = input
    if dtype is not None:
        result = _cast(input, dtypes.asked("to", dtype))
    if copy and result is input:
        result = shape.to_copy(input, input._array.dtype)
    if result is not input and _wants_order(memory_format, "to"):
        result = contiguous(result)
    return result


def _cast(tensor: Tensor, dtype: np.dtype[Any]) -> Tensor:
    """Convert to a NumPy dtype; say so if imaginary parts get lost."""
    own = tensor._array.dtype
    if own.kind == "c" and dtype.kind in "iuf":
        warnings.warn("Casting complex values to real discards the imaginary part", stacklevel=4)
        return wrap(tensor._array.real.astype(dtype, order="C"))
    if own.kind == "f" and (dtype.kind in "iu" or dtype.itemsize < own.itemsize):
        return _cast_quietly(tensor, dtype)
    return cast(tensor, dtype)


_cast_quietly = ignore_errstate(cast)  # infinities and NaN are as silent as in PyTorch


def _check_device(device: Any, caller: str) -> None:
    if isinstance(device, np.ndarray) or device != "cpu":
        import_module("minigrad.creation.devices").refuse_other_places(device)


def _wants_order(memory_format: Any, caller: str) -> bool:
    if memory_format is None:
        return False
    return bool(import_module("minigrad.creation.devices").wants_contiguous(memory_format))


def _type(name: str, dtype: dtypes.dtype) -> Callable[..., Tensor]:
    """Make the method that converts to a dtype: `x.double()`."""
    target = dtype.numpy

    def method(input: Tensor, *, memory_format: Any = None) -> Tensor:
        return input if input._array.dtype == target else _cast(input, target)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"Convert to {dtype}."
    return method


@variants()
def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """Copy the values; gradients pass through."""
    clone_as = shape.clone_contiguous if _wants_order(memory_format, "clone") else shape.clone
    return clone_as(input)


def contiguous(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """Give the tensor itself if its memory is in order, else a copy that is."""
    _wants_order(memory_format, "contiguous")
    return input if input.is_contiguous() else shape.clone_contiguous(input)


def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
    """Give the tensor itself: it is on the CPU."""
    return self if memory_format is None else to(self, memory_format=memory_format)


# ---------------------------------------------------------------------- complex numbers


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
    return complex(abs * angle.cos(), abs * angle.sin())


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


def _assign(part: str) -> Callable[[Tensor, Any], None]:
    """Let a part of a tensor be assigned."""
    return lambda tensor, value: copy_(getattr(tensor, part), value)


_NAMED_BY_TYPE = "float double half long int short bool cfloat cdouble"
attach(
    __name__,
    {
        "to": to,
        "contiguous": contiguous,
        "cpu": cpu,
        "imag": property(imag, _assign("imag"), doc="The imaginary parts of complex numbers."),
        "real": property(real, _assign("real"), doc="The real parts of complex numbers."),
        "_check_memory_format": lambda self, given, caller: _wants_order(given, caller),
        **{name: _type(name, getattr(dtypes, name)) for name in _NAMED_BY_TYPE.split()},
        "char": _type("char", dtypes.int8),
        "byte": _type("byte", dtypes.uint8),
    },
)
