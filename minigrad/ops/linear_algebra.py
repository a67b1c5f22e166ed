r"""Products of vectors, matrices and stacks of matrices, and their derivatives.

The rules are those of two matrices, which stand in `minigrad.ops.linear`.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from minigrad.autograd.rules import applied, quietly
from minigrad.core.operation import Array, differentiable
from minigrad.core.tensor import Tensor, wrap
from minigrad.faces import attach, face, numpy_protocols
from minigrad.faces.arguments import as_tensor
from minigrad.ops import elementwise, shape
from minigrad.ops.linear import check_factors, mm
from minigrad.ops.shape import _t
from minigrad.ops.type_promotion import broadcast_shape


@face(
    "mv(Tensor input, Tensor vec, *, out=None)", out="none", check=partial(check_factors, right=1)
)
@differentiable(
    "MvBackward0",
    self=lambda grad, vec: np.multiply.outer(grad, vec),
    vec=lambda grad, self: _t(self) @ grad,
)
def mv(self: Array, vec: Array) -> Array:
    r"""Matrix times vector: :math:`g v^\top` for the matrix, :math:`A^\top g` for the vector."""
    return self @ vec


@face(
    "dot(Tensor input, Tensor tensor, *, out=None)",
    out="none",
    check=partial(check_factors, left=1, right=1),
)
@differentiable(
    "DotBackward0", self=lambda grad, tensor: grad * tensor, tensor=lambda grad, self: grad * self
)
def dot(self: Array, tensor: Array) -> Array:
    """Inner product: each vector gets the gradient times the other vector."""
    return self @ tensor


@face("outer(Tensor input, Tensor vec2, *, out=None)", ufunc=((np.multiply, "outer"),))
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Multiply each entry of one vector by each of another."""
    if not input.ndim == vec2.ndim == 1:
        raise RuntimeError(f"outer takes two vectors, not {input.ndim}D and {vec2.ndim}D")
    return elementwise.mul(shape.view(input, (len(input), 1)), vec2)


@face(
    "bmm(Tensor input, Tensor mat2, *, out=None)",
    out="none",
    check=partial(check_factors, left=3, right=3),
)
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


@differentiable(
    "BaddbmmBackward0",
    broadcasts=("self",),
    self=lambda grad: grad,
    batch1=lambda grad, batch2: applied(bmm, grad, np.swapaxes(batch2, 1, 2)),
    batch2=lambda grad, batch1: applied(bmm, np.swapaxes(batch1, 1, 2), grad),
)
@quietly
def baddbmm(self: Array, batch1: Array, batch2: Array) -> Array:
    """Products of a batch of matrices plus a bias: it gets the gradient that the products get."""
    return self + batch1 @ batch2


# ---------------------------------------------------------------------- products of any dimensions


@face("matmul(Tensor input, Tensor other, *, out=None)", out="none", ufunc=np.matmul)
def matmul(a: Tensor, b: Tensor) -> Tensor:
    """Multiply tensors of any dimensions, through the operations above, as PyTorch does.

    Raises:
        RuntimeError: If dtypes differ or sizes do not fit.
    """
    x, y = a._array, b._array
    if x.ndim == 2 and y.ndim == 2:
        check_factors(x, y)
        return mm(a, b)
    if x.ndim == 0 or y.ndim == 0:
        raise RuntimeError(f"matmul takes no numbers, but got {x.ndim}D and {y.ndim}D")
    if y.ndim == 1 and x.ndim <= 2:
        check_factors(x, y, x.ndim, 1)
        return (dot if x.ndim == 1 else mv)(a, b)
    if x.ndim == 1 and y.ndim == 2:
        check_factors(x[None], y)
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
    rows = shape.reshape(a, (math.prod(outer), inner))
    if b._array.ndim == 1:
        check_factors(rows._array, b._array, 2, 1)
        return shape.unsafe_view(mv(rows, b), tuple(outer))
    check_factors(rows._array, b._array)
    result = shape.unsafe_view(mm(rows, b), (*outer, b._array.shape[1]))
    if not turned:
        return result
    result = shape.transpose(result, len(outer) - 1, len(outer))
    return result if result.is_contiguous() else shape.clone_contiguous(result)


def _batched(a: Tensor, b: Tensor) -> Tensor:
    """Multiply stacks of matrices pair by pair; stacks of different sizes are broadcast."""
    x, y = a._array.shape, b._array.shape
    if len(x) == len(y) == 3 and x[0] != y[0]:
        if x[0] == 1 and a.requires_grad:
            return matmul(shape.squeeze_dim(a, 0), b)
        if y[0] == 1 and b.requires_grad:
            return matmul(a, shape.squeeze_dim(b, 0))
    batch = broadcast_shape(x[:-2], y[:-2])
    count = math.prod(batch)
    rows = x[-2] if len(x) > 1 else 1
    left = shape.reshape(shape.expand(a, (*batch, rows, x[-1])), (count, rows, x[-1]))
    if len(y) == 1:
        right = shape.unsqueeze(shape.reshape(shape.expand(b, (*batch, *y)), (count, *y)), 2)
    else:
        right = shape.reshape(shape.expand(b, (*batch, *y[-2:])), (count, *y[-2:]))
    check_factors(left._array, right._array, 3, 3)
    result = bmm(left, right)
    if len(y) == 1:
        result = shape.squeeze_dim(result, 2)
    return shape.unsafe_view(result, (*batch, *x[-2:-1], *(y[-1:] if len(y) > 1 else ())))


def _operator(self: Tensor, other: Any) -> Any:
    """Multiply matrices: `x @ y`."""
    if isinstance(other, np.ndarray):
        other = wrap(other)
    return matmul(self, other) if isinstance(other, Tensor) else NotImplemented


def _reflected(self: Tensor, other: Any) -> Any:
    return matmul(wrap(other), self) if isinstance(other, np.ndarray) else NotImplemented


attach(__name__, {"__matmul__": _operator, "__rmatmul__": _reflected})
numpy_protocols.functions[np.outer] = lambda a, b: outer(
    as_tensor(a).reshape(-1), as_tensor(b).reshape(-1)
)
