r"""Affine maps, as a linear layer has them: products of two matrices, a bias, one node for all.

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

from minigrad.autograd.rules import dispatch, ignore_errstate
from minigrad.core.operation import LAYOUTS, Array, operation
from minigrad.core.tensor import Tensor
from minigrad.creation.construction import entry, real_number
from minigrad.creation.dtypes import scalar_name
from minigrad.ops import shape
from minigrad.ops.shape import _t, expanded_sizes
from minigrad.ops.type_promotion import check_one_type, differ
from minigrad.signatures import functional, variants
from minigrad.signatures.signature import Number

# ---------------------------------------------------------------------- factors that fit

_BOOL = np.dtype(np.bool_)


def check_factors(x: Any, y: Any, left: int = 2, right: int = 2) -> None:
    """Raise if two arrays are not factors of a product.

    Args:
        x: The left one.
        y: The right one.
        left: How many dimensions the left one must have.
        right: How many the right one.

    Raises:
        RuntimeError: If dimensions, sizes or types do not fit.
        NotImplementedError: If they hold booleans.
    """
    fits = (
        x.ndim == left
        and y.ndim == right
        and x.shape[-1] == y.shape[-1 if right == 1 else -2]
        and x.shape[:-2] == y.shape[:-2]
    )
    if fits and x.dtype is y.dtype is not _BOOL:
        return
    if not fits:
        sizes = ["x".join(map(str, each.shape)) for each in (x, y)]
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({sizes[0]} and {sizes[1]})")
    if differ(x, y):
        names = f"{scalar_name(x)} and {scalar_name(y)}"
        raise RuntimeError(f"mat1 and mat2 must have the same dtype, but got {names}")
    if x.dtype is _BOOL:
        raise NotImplementedError("products of booleans: convert to integers first")


def check_addmm(bias: Any, x: Any, y: Any) -> None:
    """Raise if a bias and two matrices do not fit."""
    check_factors(x, y)
    if bias.shape != y.shape[1:]:
        expanded_sizes(bias, (x.shape[0], y.shape[1]))
    check_one_type(bias, y)


# ---------------------------------------------------------------------- products and biases


def is_column_major(matrix: Any) -> bool:
    """Tell whether a matrix lies in memory column by column, one directly after the other."""
    rows, columns = matrix.strides[-2:]
    return bool(rows == matrix.itemsize and columns == matrix.itemsize * max(matrix.shape[-2], 1))


LAYOUTS["columns"] = is_column_major

# What computes an affine map with one node for all until somebody looks, or None: see `fast`.
fused_linear: Any = None


# A factor that lies in memory column by column, such as a transposed weight, gets a gradient that
# does so too: it is computed transposed, and transposed back. For few numbers NumPy's method `dot`
# is half a microsecond quicker than `@`; but it fills its result with zeros first.
_FEW = 1 << 14


def _left_rule(grad: Any, right: Any, column_major: bool) -> Any:
    """Give the gradient of the left factor, laid out in memory as that factor is."""
    if type(grad) is type(right) is np.ndarray and right.size < _FEW:
        return right.dot(grad.T).T if column_major else grad.dot(right.T)
    if column_major:
        return _t(dispatch(mm, right, _t(grad)))
    return dispatch(mm, grad, _t(right))


def _right_rule(grad: Any, left: Any, column_major: bool) -> Any:
    """Give the gradient of the right factor, laid out in memory as that factor is."""
    if type(grad) is type(left) is np.ndarray and left.size < _FEW:
        return grad.T.dot(left).T if column_major else left.T.dot(grad)
    if column_major:
        return _t(dispatch(mm, _t(grad), left))
    return dispatch(mm, _t(left), grad)


@variants(out="none", check=check_factors)
@operation(
    "MmBackward0",
    self=lambda grad, mat2, self_sym_columns: _left_rule(grad, mat2, self_sym_columns),
    mat2=lambda grad, self, mat2_sym_columns: _right_rule(grad, self, mat2_sym_columns),
)
def mm(self: Array, mat2: Array) -> Array:
    r"""Product of matrices: :math:`G B^\top` for the left, :math:`A^\top G` for the right.

    Raises:
        RuntimeError: If dtypes differ or sizes do not fit.
    """
    return self @ mat2


@operation(
    "AddmmBackward0",
    broadcasts=("self",),
    self=lambda grad: grad,
    mat1=lambda grad, mat2, mat1_sym_columns: _left_rule(grad, mat2, mat1_sym_columns),
    mat2=lambda grad, mat1, mat2_sym_columns: _right_rule(grad, mat1, mat2_sym_columns),
)
@ignore_errstate
def addmm(self: Array, mat1: Array, mat2: Array) -> Array:
    r"""Product of matrices plus a bias: as for the product; the bias gets :math:`G`.

    Raises:
        RuntimeError: If dtypes differ or sizes do not fit.
    """
    if not (type(self) is type(mat1) is type(mat2) is np.ndarray):
        return self + mat1 @ mat2
    product = mat1.dot(mat2) if mat1.size < _FEW else mat1 @ mat2
    return np.add(self, product, product)  # in the memory of the product


def factors(tensor: Tensor, *numbers: Any) -> list[Any]:
    """Give factors of a tensor in its type: PyTorch drops an integer's decimals."""
    dtype = tensor._array.dtype
    take = real_number if dtype.kind not in "iu" else lambda *given: entry(*given).item()
    return [take(each, dtype) for each in numbers]


@variants("addmm", out="none", in_place=True)
def scaled_addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    """Give the product of matrices plus a bias, each with its factor.

    Raises:
        RuntimeError: If dtypes differ or sizes do not fit.
    """
    check_addmm(input._array, mat1._array, mat2._array)
    if beta == alpha == 1:
        return addmm(input, mat1, mat2)
    beta, alpha = factors(mat1, beta, alpha)
    return addmm(input * beta, mat1 * alpha, mat2)


@functional()
def linear(input: Tensor, weight: Any, bias: Any = None) -> Tensor:
    r"""Map vectors affinely: $y = x W^\top + b$.

    A matrix with a bias becomes one `addmm`, over the transposed weight; anything else contiguous
    is viewed as a matrix first and viewed back after. These are the nodes one meets in the graph.
    What does not lie in memory in order is copied and multiplied, and the bias is added.

    Args:
        input: The vectors.
        weight: The matrix $W$.
        bias: The vector $b$, or None.

    Returns:
        The mapped vectors.

    Raises:
        RuntimeError: If the shapes do not fit together, or the input has no dimension.

    Shape:
        - input: (..., in_features)
        - weight: (out_features, in_features)
        - bias: (out_features,)
        - output: (..., out_features)

    Example:
        >>> import minigrad as torch
        >>> weight = torch.tensor([[1.0, 2.0], [0.0, 1.0], [3.0, 0.0]])
        >>> torch.nn.functional.linear(torch.tensor([1.0, 1.0]), weight)
        tensor([3., 1., 3.])
    """
    x, w = input._array, weight._array
    if bias is None or w.ndim != 2 or not x.ndim:
        if bias is not None and w.ndim == 1 and x.ndim == 2:
            raise RuntimeError("mat2 must be a matrix, got 1-D tensor")
        result = input @ weight.t()
        return result if bias is None else result + bias
    if fused_linear is not None and (result := fused_linear(input, weight, bias)) is not None:
        return result
    rows = input
    if x.ndim != 2:
        if x.ndim > 2 and not x.flags.c_contiguous:
            return input @ weight.t() + bias
        rows = shape.reshape(input, (math.prod(x.shape[:-1]), x.shape[-1]))
    matrix = shape.t(weight)
    check_addmm(bias._array, rows._array, matrix._array)
    result = addmm(bias, rows, matrix)
    return result if x.ndim == 2 else shape.view(result, (*x.shape[:-1], w.shape[0]))
