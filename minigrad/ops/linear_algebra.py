r"""The derivatives of products of vectors and matrices.

For :math:`C = A B` with :math:`G = \partial L / \partial C` the entries are
:math:`c_{ij} = \sum_k a_{ik} b_{kj}`, hence :math:`\partial L / \partial A = G B^\top` and
:math:`\partial L / \partial B = A^\top G`.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.ops import factors, shape
from minigrad.ops.meeting import applied, broadcast_error, quietly
from minigrad.ops.shape import _t
from minigrad.ops.tape import Array, differentiable
from minigrad.tensor import Tensor

_NUMBERS = frozenset((int, float))


def times(array: Any, factor: Any) -> Any:
    """Multiply by a factor, unless it is 1."""
    return array if factor.__class__ in _NUMBERS and factor == 1 else array * factor


def added(bias: Any, product: Any, beta: Any, alpha: Any) -> Any:
    r"""Give :math:`\beta C + \alpha P`; where beta is 0, C is not read: it may be NaN."""
    product = times(product, alpha)
    return product if beta.__class__ in _NUMBERS and beta == 0 else times(bias, beta) + product


# A factor that lies in memory column by column, such as a transposed weight, gets a gradient that
# does so too: it is computed transposed, and transposed back.


def _left_rule(grad: Any, right: Any, column_major: bool) -> Any:
    """Give the gradient of the left factor, laid out in memory as that factor is."""
    return _t(right @ _t(grad)) if column_major else grad @ _t(right)


def _right_rule(grad: Any, left: Any, column_major: bool) -> Any:
    """Give the gradient of the right factor, laid out in memory as that factor is."""
    return _t(_t(grad) @ left) if column_major else _t(left) @ grad


@differentiable(
    "MmBackward0",
    self=lambda grad, mat2, self_sym_columns: _left_rule(grad, mat2, self_sym_columns),
    mat2=lambda grad, self, mat2_sym_columns: _right_rule(grad, self, mat2_sym_columns),
)
def mm(self: Array, mat2: Array) -> Array:
    r"""Product of matrices: :math:`G B^\top` for the left, :math:`A^\top G` for the right."""
    return self @ mat2


@differentiable(
    "AddmmBackward0",
    broadcasts=("self",),
    self=lambda grad: grad,
    mat1=lambda grad, mat2, mat1_sym_columns: _left_rule(grad, mat2, mat1_sym_columns),
    mat2=lambda grad, mat1, mat2_sym_columns: _right_rule(grad, mat1, mat2_sym_columns),
)
@quietly
def addmm(self: Array, mat1: Array, mat2: Array) -> Array:
    r"""Product of matrices plus a bias: as for the product; the bias gets :math:`G`."""
    return self + mat1 @ mat2


@differentiable(
    "AddmmBackward0",
    broadcasts=True,
    self=lambda grad, beta: times(grad, beta),
    mat1=lambda grad, mat2, mat1_sym_columns, alpha: times(
        _left_rule(grad, mat2, mat1_sym_columns), alpha
    ),
    mat2=lambda grad, mat1, mat2_sym_columns, alpha: times(
        _right_rule(grad, mat1, mat2_sym_columns), alpha
    ),
)
@quietly
def addmm_scaled(self: Array, mat1: Array, mat2: Array, beta: Any, alpha: Any) -> Array:
    r"""Product and bias with factors, :math:`\beta C + \alpha A B`; if beta is 0, C is not read."""
    return added(self, mat1 @ mat2, beta, alpha)


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
    self=lambda grad, mat2: applied(bmm, grad, np.swapaxes(mat2, 1, 2)),
    mat2=lambda grad, self: applied(bmm, np.swapaxes(self, 1, 2), grad),
)
@quietly
def bmm(self: Array, mat2: Array) -> Array:
    """Products of matrices, one for each member of a batch: as for a single product."""
    if self.shape[2] == 1:  # a column times a row: quicker without the library of matrices
        return self * mat2
    return self @ mat2


# ---------------------------------------------------------------------- products of any dimensions


def matmul(a: Tensor, b: Tensor) -> Tensor:
    """Multiply tensors of any dimensions, through the operations above, as PyTorch does.

    Raises:
        RuntimeError: If dtypes differ or sizes do not fit.
    """
    x, y = a._array, b._array
    if x.ndim == 2 and y.ndim == 2:
        factors.check_mm(x, y)
        return mm(a, b)  # type: ignore[no-any-return]
    if x.ndim == 0 or y.ndim == 0:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {x.ndim}D and {y.ndim}D"
        )
    if y.ndim == 1 and x.ndim <= 2:
        (factors.check_dot if x.ndim == 1 else factors.check_mv)(x, y)
        return (dot if x.ndim == 1 else mv)(a, b)  # type: ignore[no-any-return]
    if x.ndim == 1 and y.ndim == 2:
        factors.check_mm(x[None], y)
        result: Tensor = shape.squeeze_product(mm(shape.unsqueeze(a, 0), b), 0)
        result._bump_version()  # PyTorch squeezes in place
        return result
    return _folded(a, b) if _can_fold(a, b) else _batched(a, b)


def _can_fold(a: Tensor, b: Tensor) -> bool:
    """Tell whether a stack of matrices is multiplied as one matrix that has all their rows.

    So it is with a matrix or vector on the other side that needs a gradient, which is then one
    product; or if no copy is necessary.
    """
    stack, other = (a, b) if a._array.ndim >= b._array.ndim else (b, a)
    if other._array.ndim > 2:
        return False
    if other.requires_grad:
        return True
    if a._array.ndim == 2:
        return False
    array = stack._array if stack is a else np.swapaxes(stack._array, -2, -1)
    sizes, strides = array.shape, array.strides
    return array.size == 0 or all(
        strides[d] == strides[d + 1] * sizes[d + 1] for d in range(array.ndim - 2)
    )


def _folded(a: Tensor, b: Tensor) -> Tensor:
    """Multiply a stack with a matrix or a vector in one product; (A B)^T = B^T A^T turns sides."""
    turned = b._array.ndim > a._array.ndim
    if turned:
        last = b._array.ndim - 1
        a, b = shape.transpose(b, last - 1, last), shape.t(a) if a._array.ndim == 2 else a
    *outer, inner = a._array.shape
    rows = reshape(a, (math.prod(outer), inner))
    if b._array.ndim == 1:
        factors.check_mv(rows._array, b._array)
        return shape.unsafe_view(mv(rows, b), tuple(outer))  # type: ignore[no-any-return]
    factors.check_mm(rows._array, b._array)
    result = shape.unsafe_view(mm(rows, b), (*outer, b._array.shape[1]))
    if not turned:
        return result  # type: ignore[no-any-return]
    result = shape.transpose(result, len(outer) - 1, len(outer))
    return result if result.is_contiguous() else shape.clone_contiguous(result)  # type: ignore[no-any-return]


def _batched(a: Tensor, b: Tensor) -> Tensor:
    """Multiply stacks of matrices pair by pair; stacks of different sizes are broadcast."""
    x, y = a._array.shape, b._array.shape
    if len(x) == len(y) == 3 and x[0] != y[0]:
        if x[0] == 1 and a.requires_grad:
            return matmul(shape.squeeze_dim(a, 0), b)
        if y[0] == 1 and b.requires_grad:
            return matmul(a, shape.squeeze_dim(b, 0))
    try:
        batch = np.broadcast_shapes(x[:-2], y[:-2])
    except ValueError:
        raise broadcast_error(x[:-2], y[:-2]) from None
    count = math.prod(batch)
    rows = x[-2] if len(x) > 1 else 1
    left = reshape(shape.expand(a, (*batch, rows, x[-1])), (count, rows, x[-1]))
    if len(y) == 1:
        right = shape.unsqueeze(reshape(shape.expand(b, (*batch, *y)), (count, *y)), 2)
    else:
        right = reshape(shape.expand(b, (*batch, *y[-2:])), (count, *y[-2:]))
    factors.check_bmm(left._array, right._array)
    result = bmm(left, right)
    if len(y) == 1:
        result = shape.squeeze_dim(result, 2)
    return shape.unsafe_view(result, (*batch, *x[-2:-1], *(y[-1:] if len(y) > 1 else ())))  # type: ignore[no-any-return]


def reshape(tensor: Tensor, size: tuple[int, ...]) -> Tensor:
    """Reshape: a view where the memory allows it, else a copy in the new shape."""
    array = tensor._array
    if array.flags.c_contiguous:
        return shape.view(tensor, size)  # type: ignore[no-any-return]
    if np.may_share_memory(array.reshape(size), array):
        return shape.reshape_alias(tensor, size)  # type: ignore[no-any-return]
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
    rows = input
    if x.ndim != 2 and bias is not None and weight._array.ndim == 2:
        rows = reshape(input, (math.prod(x.shape[:-1]), x.shape[-1]))
    matrix = shape.t(weight) if weight._array.ndim == 2 else weight
    if bias is None or weight._array.ndim != 2:
        result = matmul(input, matrix)
        return result if bias is None else result + bias
    factors.check_addmm(bias._array, rows._array, matrix._array)
    result = addmm(bias, rows, matrix)
    if rows is input:
        return result  # type: ignore[no-any-return]
    return shape.view(result, (*x.shape[:-1], weight._array.shape[0]))  # type: ignore[no-any-return]
