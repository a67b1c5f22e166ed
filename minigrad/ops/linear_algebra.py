r"""The derivatives of products of vectors and matrices.

For :math:`C = A B` with :math:`G = \partial L / \partial C` the entries are
:math:`c_{ij} = \sum_k a_{ik} b_{kj}`, hence :math:`\partial L / \partial A = G B^\top` and
:math:`\partial L / \partial B = A^\top G`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops import shape
from minigrad.ops.shape import _t
from minigrad.ops.tape import Array, differentiable
from minigrad.tensor import Tensor


def _column_major(sizes: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> bool:
    """Tell whether a matrix lies in memory column by column, such as a transposed weight."""
    return strides[0] == itemsize and strides[1] == itemsize * sizes[0]


def _left_rule(grad: Any, right: Any, sizes: Any, strides: Any) -> Any:
    """Give the gradient of the left factor, laid out in memory as that factor is."""
    if _column_major(sizes, strides, grad.dtype.itemsize):
        return _t(right @ _t(grad))
    return grad @ _t(right)


def _right_rule(grad: Any, left: Any, sizes: Any, strides: Any) -> Any:
    """Give the gradient of the right factor, laid out in memory as that factor is."""
    if _column_major(sizes, strides, grad.dtype.itemsize):
        return _t(_t(grad) @ left)
    return _t(left) @ grad


@differentiable(
    "MmBackward0",
    self=lambda grad, mat2, self_sym_sizes, self_sym_strides: _left_rule(
        grad, mat2, self_sym_sizes, self_sym_strides
    ),
    mat2=lambda grad, self, mat2_sym_sizes, mat2_sym_strides: _right_rule(
        grad, self, mat2_sym_sizes, mat2_sym_strides
    ),
)
def mm(self: Array, mat2: Array) -> Array:
    r"""Product of matrices: :math:`G B^\top` for the left, :math:`A^\top G` for the right."""
    return self @ mat2


@differentiable(
    "AddmmBackward0",
    broadcasts=True,
    self=lambda grad: grad,
    mat1=lambda grad, mat2, mat1_sym_sizes, mat1_sym_strides: _left_rule(
        grad, mat2, mat1_sym_sizes, mat1_sym_strides
    ),
    mat2=lambda grad, mat1, mat2_sym_sizes, mat2_sym_strides: _right_rule(
        grad, mat1, mat2_sym_sizes, mat2_sym_strides
    ),
)
def addmm(self: Array, mat1: Array, mat2: Array) -> Array:
    r"""Product of matrices plus a bias: as for the product; the bias gets :math:`G`."""
    return self + mat1 @ mat2


@differentiable(
    "MvBackward0",
    self=lambda grad, vec: np.multiply.outer(grad, vec),
    vec=lambda grad, self: _t(self) @ grad,
)
def mv(self: Array, vec: Array) -> Array:
    r"""Matrix times vector: :math:`g v^\top` for the matrix, :math:`A^\top g` for the vector."""
    return self @ vec


@differentiable(
    "DotBackward0",
    self=lambda grad, tensor: grad * tensor,
    tensor=lambda grad, self: grad * self,
)
def dot(self: Array, tensor: Array) -> Array:
    """Inner product: each vector gets the gradient times the other vector."""
    return self @ tensor


@differentiable(
    "BmmBackward0",
    self=lambda grad, mat2: grad @ np.swapaxes(mat2, 1, 2),
    mat2=lambda grad, self: np.swapaxes(self, 1, 2) @ grad,
)
def bmm(self: Array, mat2: Array) -> Array:
    """Products of matrices, one for each member of a batch: as for a single product."""
    return self @ mat2


def matmul(a: Tensor, b: Tensor) -> Tensor:
    """Multiply tensors of any dimensions, through the operations above, as PyTorch does.

    Raises:
        RuntimeError: If dtypes differ or sizes do not fit.
    """
    x, y = a._array, b._array
    if x.ndim == 0 or y.ndim == 0:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {x.ndim}D and {y.ndim}D"
        )
    check_product(x, y)
    if y.ndim == 1:
        if x.ndim == 1:
            return dot(a, b)  # type: ignore[no-any-return]
        if x.ndim == 2:
            return mv(a, b)  # type: ignore[no-any-return]
        rows = shape_of_rows(a)
        return shape.unsafe_view(mv(rows, b), x.shape[:-1])  # type: ignore[no-any-return]
    if x.ndim == 1:
        if y.ndim == 2:
            return shape.squeeze_product(mm(shape.unsqueeze(a, 0), b), 0)  # type: ignore[no-any-return]
        columns = shape_of_rows(shape.transpose(b, y.ndim - 2, y.ndim - 1))
        return shape.unsafe_view(mv(columns, a), (*y.shape[:-2], y.shape[-1]))  # type: ignore[no-any-return]
    if x.ndim == 2 and y.ndim == 2:
        return mm(a, b)  # type: ignore[no-any-return]
    if y.ndim == 2:
        return shape.unsafe_view(mm(shape_of_rows(a), b), (*x.shape[:-1], y.shape[-1]))  # type: ignore[no-any-return]
    batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    count = int(np.prod(batch, dtype=np.int64))
    factors = []
    for factor, array in ((a, x), (b, y)):
        expanded = shape.expand(factor, (*batch, *array.shape[-2:]))
        factors.append(reshape(expanded, (count, *array.shape[-2:])))
    return shape.unsafe_view(bmm(*factors), (*batch, x.shape[-2], y.shape[-1]))  # type: ignore[no-any-return]


def shape_of_rows(tensor: Tensor) -> Tensor:
    """Give a tensor as a matrix that has its last dimension for rows."""
    return reshape(tensor, (-1, tensor._array.shape[-1]))


def reshape(tensor: Tensor, size: tuple[int, ...]) -> Tensor:
    """Reshape: a view where the memory allows it, else a copy in the new shape."""
    array = tensor._array
    if array.flags.c_contiguous or np.may_share_memory(array.reshape(size), array):
        return shape.view(tensor, size)  # type: ignore[no-any-return]
    return shape.unsafe_view(shape.clone_contiguous(tensor), size)  # type: ignore[no-any-return]


def linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    r"""Apply :math:`x W^\top + b` to the last dimension, with PyTorch's nodes.

    Args:
        input: Of shape (..., in_features).
        weight: Of shape (out_features, in_features).
        bias: Of shape (out_features,), or None.

    Raises:
        RuntimeError: If dtypes differ or sizes do not fit.
    """
    x = input._array
    matrix = shape.t(weight) if weight._array.ndim == 2 else weight
    if bias is None or weight._array.ndim != 2:
        result = matmul(input, matrix)
        return result if bias is None else result + bias
    check_product(x.reshape(1, -1) if x.ndim == 1 else x, matrix._array, bias._array)
    if x.ndim == 2:
        return addmm(bias, input, matrix)  # type: ignore[no-any-return]
    rows = reshape(input, (-1, x.shape[-1]))
    result = addmm(bias, rows, matrix)
    return shape.view(result, (*x.shape[:-1], weight._array.shape[0]))  # type: ignore[no-any-return]


def check_product(x: Any, y: Any, bias: Any = None) -> None:
    """Raise PyTorch's error if two factors do not fit together."""
    if x.dtype != y.dtype or (bias is not None and bias.dtype != y.dtype):
        if "O" in (x.dtype.kind, y.dtype.kind):
            return
        names = {"float32": "Float", "float64": "Double", "float16": "Half", "int64": "Long"}
        kinds = [names.get(str(array.dtype), str(array.dtype).capitalize()) for array in (x, y)]
        if x.ndim == 1 and y.ndim == 1:
            raise RuntimeError(
                "dot : expected both vectors to have same dtype, but found "
                f"{kinds[0]} and {kinds[1]}"
            )
        low = [name.lower() for name in kinds]
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {low[0]} != {low[1]}. "
            "Convert one of them with .to(dtype)."
        )
    inner = y.shape[0] if y.ndim == 1 else y.shape[-2]
    if x.shape[-1] == inner:
        return
    if x.ndim == 1 and y.ndim == 1:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{x.size}] and src [{y.size}] to have the "
            f"same number of elements, but got {x.size} and {y.size} elements respectively"
        )
    if y.ndim == 1 and x.ndim == 2:
        raise RuntimeError(
            f"size mismatch, got input ({x.shape[0]}), mat ({x.shape[0]}x{x.shape[1]}), "
            f"vec ({y.shape[0]})"
        )
    if x.ndim > 2 and y.ndim > 2:
        count = int(np.prod(np.broadcast_shapes(x.shape[:-2], y.shape[:-2]), dtype=np.int64))
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{count}, {x.shape[-1]}] but got: [{count}, {inner}]."
        )
    rows = x.size // x.shape[-1] if x.shape[-1] else 0
    raise RuntimeError(
        f"mat1 and mat2 shapes cannot be multiplied ({rows}x{x.shape[-1]} and "
        f"{inner}x{y.shape[-1] if y.ndim > 1 else 1})"
    )


def matmul_of(first: int, second: int, name: str) -> Any:
    """Make the product of tensors of fixed numbers of dimensions, such as `mm` or `dot`."""

    def product(input: Tensor, other: Tensor) -> Tensor:
        if (input.ndim, other.ndim) != (first, second):
            raise RuntimeError(
                f"{name}: expected tensors of {first} and {second} dimensions, but got "
                f"{input.ndim} and {other.ndim}. matmul() takes any dimensions."
            )
        check_product(input._array, other._array)
        return operation(input, other)  # type: ignore[no-any-return]

    operation = {"mm": mm, "mv": mv, "dot": dot, "bmm": bmm}[name]
    product.__name__ = name
    product.__doc__ = operation.__doc__
    return product
