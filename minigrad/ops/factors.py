"""Check that the factors of a product fit together, and say in PyTorch's words what does not."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.creation.dtypes import c_name, scalar_name

_CONVERT = "Convert one of them with .to(dtype)."
_BOOL = np.dtype(np.bool_)


def refuse_booleans(kernel: str, array: Any) -> None:
    """Raise if an operation is asked for a product of booleans."""
    if array.dtype is _BOOL:
        raise NotImplementedError(
            f"\"{kernel}\" not implemented for 'Bool'. Convert to integers first."
        )


def type_name(array: Any) -> str:
    """Name a tensor's type as the errors of `expand` do."""
    return "CPUBoolType" if array.dtype.kind == "b" else f"torch.{scalar_name(array)}Tensor"


def differ(x: Any, y: Any) -> bool:
    """Tell whether two arrays have dtypes that do not go together. Symbols go with numbers."""
    return x.dtype is not y.dtype and x.dtype != y.dtype and "O" not in (x.dtype.kind, y.dtype.kind)


def check_dot(x: Any, y: Any) -> None:
    """Raise if two arrays have no inner product."""
    if x.ndim != 1 or y.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {x.ndim}D and {y.ndim}D tensors")
    if differ(x, y):
        raise RuntimeError(
            "dot : expected both vectors to have same dtype, but found "
            f"{scalar_name(x)} and {scalar_name(y)}. {_CONVERT}"
        )
    if x.size != y.size:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{x.size}] and src [{y.size}] to have the "
            f"same number of elements, but got {x.size} and {y.size} elements respectively"
        )
    refuse_booleans("dot", x)


def check_mv(x: Any, y: Any) -> None:
    """Raise if two arrays are not a matrix and a vector that fit."""
    if x.ndim != 2 or y.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {x.ndim}, {y.ndim}")
    if x.shape[1] != y.shape[0]:
        raise RuntimeError(
            f"size mismatch, got input ({x.shape[0]}), mat ({x.shape[0]}x{x.shape[1]}), "
            f"vec ({y.shape[0]})"
        )
    if differ(x, y):
        first, second = scalar_name(x), scalar_name(y)
        raise RuntimeError(
            "addmv input tensors must have the same dtype, but got "
            f"{second}, {first}, and {second}. {_CONVERT}"
        )
    refuse_booleans("addmv_impl_cpu", x)


def _check_sizes(x: Any, y: Any) -> None:
    if x.shape[1] != y.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({x.shape[0]}x{x.shape[1]} and "
            f"{y.shape[0]}x{y.shape[1]})"
        )


def check_mm(x: Any, y: Any) -> None:
    """Raise if two arrays are not matrices that fit."""
    if x.dtype is y.dtype is not _BOOL and x.ndim == y.ndim == 2 and x.shape[1] == y.shape[0]:
        return
    for name, array in (("self", x), ("mat2", y)):
        if array.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix")
    _check_sizes(x, y)
    if differ(x, y):
        raise RuntimeError(
            "expected m1 and m2 to have the same dtype, but got: "
            f"{c_name(x)} != {c_name(y)}. {_CONVERT}"
        )
    refuse_booleans("addmm_impl_cpu_", x)


def check_alike(bias: Any, x: Any, y: Any) -> None:
    """Raise if a bias and two factors have dtypes that do not go together."""
    for name, array in (("self", bias), ("mat1", x)):
        if differ(array, y):
            raise RuntimeError(
                f"{name} and mat2 must have the same dtype, but got {scalar_name(array)} and "
                f"{scalar_name(y)}. {_CONVERT}"
            )


def check_addmm(bias: Any, x: Any, y: Any) -> None:
    """Raise if a bias and two matrices do not fit."""
    if (
        bias.dtype is x.dtype is y.dtype is not _BOOL
        and x.ndim == y.ndim == 2
        and x.shape[1:] + bias.shape == y.shape
    ):
        return
    for name, array in (("mat1", x), ("mat2", y)):
        if array.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix, got {array.ndim}-D tensor")
    check_alike(bias, x, y)
    _check_sizes(x, y)
    if bias.shape != y.shape[1:]:
        check_bias(bias, (x.shape[0], y.shape[1]))
    refuse_booleans("addmm_impl_cpu_", x)


def check_bmm(x: Any, y: Any) -> None:
    """Raise if two arrays are not stacks of matrices that fit."""
    for name, array in (("batch1", x), ("batch2", y)):
        if array.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    if differ(x, y):
        raise RuntimeError(
            f"expected scalar type {scalar_name(x)} but found {scalar_name(y)}. {_CONVERT}"
        )
    if (x.shape[0], x.shape[2]) != y.shape[:2]:
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{x.shape[0]}, {x.shape[2]}] but got: [{y.shape[0]}, {y.shape[1]}]."
        )
    refuse_booleans("bmm", x)


def check_expand(have: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    """Raise if a tensor of one shape does not expand to another of at least its length."""
    added = len(wanted) - len(have)
    for i in range(len(wanted) - 1, added - 1, -1):
        if have[i - added] not in (1, wanted[i]):
            raise RuntimeError(
                f"The expanded size of the tensor ({wanted[i]}) must match the existing size "
                f"({have[i - added]}) at non-singleton dimension {i}.  Target sizes: "
                f"{list(wanted)}.  Tensor sizes: {list(have)}"
            )


def check_bias(bias: Any, wanted: tuple[int, ...]) -> None:
    """Raise if a bias does not expand to the shape of a product."""
    if len(bias.shape) > len(wanted):
        raise RuntimeError(
            f"expand({type_name(bias)}{{{list(bias.shape)}}}, size={list(wanted)}): the number of "
            f"sizes provided ({len(wanted)}) must be greater or equal to the number of dimensions "
            f"in the tensor ({len(bias.shape)})"
        )
    check_expand(bias.shape, wanted)
