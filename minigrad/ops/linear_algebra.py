r"""Products of vectors, matrices and stacks of matrices, and sums of products over given indices.

The rules are those of two matrices, which stand in `minigrad.ops.linear`. einsum, tensordot, inner
and bilinear forms are composed of the operations that PyTorch records for them, down to one batch
of products of matrices for two factors.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from minigrad.autograd.rules import dispatch, ignore_errstate
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor, wrap
from minigrad.ops import elementwise, reduction, scatter, shape
from minigrad.ops.linear import check_factors, mm
from minigrad.ops.shape import _t
from minigrad.ops.type_promotion import broadcast_shape, check_one_type
from minigrad.signatures import attach, numpy_protocols, variants
from minigrad.signatures.arguments import as_tensor, check_tensors, different


@variants(out="none", check=partial(check_factors, right=1))
@operation(
    "MvBackward0",
    self=lambda grad, vec: np.multiply.outer(grad, vec),
    vec=lambda grad, self: _t(self) @ grad,
)
def mv(self: Array, vec: Array) -> Array:
    r"""Matrix times vector: :math:`g v^\top` for the matrix, :math:`A^\top g` for the vector."""
    return self @ vec


@variants(out="none", check=partial(check_factors, left=1, right=1))
@operation(
    "DotBackward0", self=lambda grad, tensor: grad * tensor, tensor=lambda grad, self: grad * self
)
def dot(self: Array, tensor: Array) -> Array:
    """Inner product: each vector gets the gradient times the other vector."""
    return self @ tensor


@variants(out="kind", ufunc=((np.multiply, "outer"),))
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Multiply each entry of one vector by each of another."""
    if not input.ndim == vec2.ndim == 1:
        raise RuntimeError(f"outer takes two vectors, not {input.ndim}D and {vec2.ndim}D")
    return elementwise.mul(shape.view(input, (len(input), 1)), vec2)


@variants(out="none", check=partial(check_factors, left=3, right=3))
@operation(
    "BmmBackward0",
    self=lambda grad, mat2: dispatch(bmm, grad, np.swapaxes(mat2, 1, 2)),
    mat2=lambda grad, self: dispatch(bmm, np.swapaxes(self, 1, 2), grad),
)
@ignore_errstate
def bmm(self: Array, mat2: Array) -> Array:
    """Products of matrices, one for each member of a batch: as for a single product."""
    if self.shape[2] == 1:  # a column times a row: quicker without the library of matrices
        return self * mat2
    return self @ mat2


@operation(
    "BaddbmmBackward0",
    broadcasts=("self",),
    self=lambda grad: grad,
    batch1=lambda grad, batch2: dispatch(bmm, grad, np.swapaxes(batch2, 1, 2)),
    batch2=lambda grad, batch1: dispatch(bmm, np.swapaxes(batch1, 1, 2), grad),
)
@ignore_errstate
def baddbmm(self: Array, batch1: Array, batch2: Array) -> Array:
    """Products of a batch of matrices plus a bias: it gets the gradient that the products get."""
    return self + batch1 @ batch2


# ---------------------------------------------------------------------- products of any dimensions


@variants(out="none", ufunc=np.matmul)
def matmul(input: Tensor, other: Tensor) -> Tensor:
    """Multiply tensors of any dimensions, through the operations above, as PyTorch does.

    Raises:
        RuntimeError: If dtypes differ or sizes do not fit.
    """
    x, y = input._array, other._array
    if x.ndim == 2 and y.ndim == 2:
        check_factors(x, y)
        return mm(input, other)
    if x.ndim == 0 or y.ndim == 0:
        raise RuntimeError(f"matmul takes no numbers, but got {x.ndim}D and {y.ndim}D")
    if y.ndim == 1 and x.ndim <= 2:
        check_factors(x, y, x.ndim, 1)
        return (dot if x.ndim == 1 else mv)(input, other)
    if x.ndim == 1 and y.ndim == 2:
        check_factors(x[None], y)
        result: Tensor = shape.squeeze_product(mm(shape.unsqueeze(input, 0), other), 0)
        result._bump_version()  # PyTorch squeezes in place
        return result
    product = _as_one_product if _is_one_product(input, other) else _batched
    return product(input, other)


def _is_one_product(a: Tensor, b: Tensor) -> bool:
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


def _as_one_product(a: Tensor, b: Tensor) -> Tensor:
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


# ---------------------------------------------------------------------- equations

ELLIPSIS = "..."
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_LABEL = re.compile(r"\.\.\.|.", re.DOTALL)


class Plan(NamedTuple):
    """What an equation says, for operands of certain numbers of dimensions.

    Attributes:
        labels: For each operand the labels of its dimensions.
        places: For each label its place among all dimensions: first those of the result.
        covered: How many dimensions an ellipsis stands for.
        kept: How many dimensions the result has.
        total: How many dimensions there are in all.
    """

    labels: tuple[tuple[str, ...], ...]
    places: dict[str, int]
    covered: int
    kept: int
    total: int


@lru_cache(maxsize=512)
def _plan(equation: str, ndims: tuple[int, ...]) -> Plan:
    """Read an equation.

    Raises:
        RuntimeError: If it makes no sense, or does not fit the operands.
    """
    inputs, arrow, text = equation.replace(" ", "").partition("->")
    labels = tuple(tuple(_LABEL.findall(part)) for part in inputs.split(","))
    counts = Counter(chain(*labels))
    once = [label for label in _LETTERS if counts[label] == 1]
    output = _LABEL.findall(text) if arrow else [ELLIPSIS, *once]
    covers = [
        ndim - len(own) + own.count(ELLIPSIS) for own, ndim in zip(labels, ndims, strict=False)
    ]
    fits = len(labels) == len(ndims) and all(
        own.count(ELLIPSIS) < 2 and (extra >= 0 if ELLIPSIS in own else extra == 0)
        for own, extra in zip(labels, covers, strict=True)
    )
    known = {*_LETTERS, ELLIPSIS} >= {*counts} and {*counts, ELLIPSIS} >= {*output}
    if not (fits and known and len({*output}) == len(output)):
        raise RuntimeError(
            f"einsum(): the equation '{equation}' does not fit operands of {list(ndims)} "
            "dimensions: each needs one letter for each dimension, or '...' for several; the "
            "result has some of these letters, each once"
        )
    covered = max(covers)
    places: dict[str, int] = {}
    total = 0
    for label in dict.fromkeys((*output, ELLIPSIS, *sorted(counts))):
        if label in output or label in counts:
            places[label] = total
            total += covered if label == ELLIPSIS else 1
    kept = sum(covered if label == ELLIPSIS else 1 for label in output)
    return Plan(labels, places, covered, kept, total)


# ---------------------------------------------------------------------- sums of products


def _lined_up(operand: Tensor, labels: Sequence[str], plan: Plan) -> Tensor:
    """Bring an operand's dimensions into the common order; what it has not gets size 1."""
    order = [-1] * plan.total
    seen: dict[str, int] = {}
    position = 0
    ndim = operand.ndim
    for label in labels:
        if label == ELLIPSIS:
            for _ in range(plan.covered - (ndim - len(labels) + 1)):
                operand = shape.unsqueeze(operand, position)
            start = plan.places[label]
            for k in range(plan.covered):
                order[start + k] = position
                position += 1
        elif label in seen:
            first = seen[label]
            _one_size(operand._array.shape[first], operand._array.shape[position])
            operand = scatter.diagonal(operand, 0, first, position)
            last = operand.ndim - 1  # where the diagonal is now
            operand = shape.permute(operand, (*range(first), last, *range(first, last)))
        else:
            seen[label] = position
            order[plan.places[label]] = position
            position += 1
    for place, source in enumerate(order):
        if source == -1:
            operand = shape.unsqueeze(operand, operand._array.ndim)
            order[place] = position
            position += 1
    return shape.permute(operand, tuple(order))


def _one_size(size: int, other: int) -> None:
    if size != other:
        raise RuntimeError(f"a dimension has one size for all factors, but got {size} and {other}")


def _users(operands: Sequence[Tensor], plan: Plan) -> list[int]:
    """Count for each dimension the operands that really have it, all in one size."""
    sizes, counts = [1] * plan.total, [0] * plan.total
    for operand in operands:
        for place, size in enumerate(operand._array.shape):
            if size != 1:
                _one_size(size, sizes[place] if counts[place] else size)
                counts[place] += 1
                sizes[place] = size
    return counts


def _contracted(left: Tensor, right: Tensor, summed: Sequence[int]) -> Tensor:
    """Multiply two operands and sum over dimensions that both have: as a batch of products."""
    if not summed:
        return elementwise.mul(left, right)
    x, y = left._array.shape, right._array.shape
    both: list[int] = []
    own: list[int] = []
    other: list[int] = []
    for d in range(len(x)):
        if d not in summed:
            (other if x[d] == 1 else own if y[d] == 1 else both).append(d)
    if own and other and other[-1] < own[0]:  # so that the result need not be reordered
        left, right, x, y, own, other = right, left, y, x, other, own
    batch = math.prod(x[d] for d in both)
    inner = math.prod(x[d] for d in summed)
    rows, columns = math.prod(x[d] for d in own), math.prod(y[d] for d in other)
    order = (*both, *own, *summed, *other)
    a = shape.permute(left, order)
    b = shape.permute(right, (*both, *summed, *other, *own))
    a = shape.reshape(a, (batch, rows, inner))
    b = shape.reshape(b, (batch, inner, columns))
    check_factors(a._array, b._array, 3, 3)
    result = bmm(a, b)
    sizes = tuple(1 if d in summed else y[d] if d in other else x[d] for d in order)
    result = shape.view(result, sizes)
    return shape.permute(result, tuple(map(order.index, range(len(order)))))


def _summed(operands: list[Tensor], plan: Plan, counts: list[int]) -> Tensor:
    """Multiply operands from left to right; each dimension is summed over as soon as it can be."""
    result = operands[0]
    for operand in operands[1:]:
        x, y = result._array.shape, operand._array.shape
        shared: list[int] = []
        of_left: list[int] = []
        of_right: list[int] = []
        for d in range(plan.kept, plan.total):
            counts[d] -= x[d] != 1 != y[d]
            if counts[d] == 1 and not x[d] == y[d] == 1:  # no later operand has it
                counts[d] = 0
                (of_right if x[d] == 1 else of_left if y[d] == 1 else shared).append(d)
        if of_left:
            result = _total(result, tuple(of_left), True)
        if of_right:
            operand = _total(operand, tuple(of_right), True)
        result = _contracted(result, operand, shared)
    if plan.total == plan.kept:
        return result
    if len(operands) > 1:
        return shape.view(result, tuple(result._array.shape[: plan.kept]))
    return _total(result, tuple(range(plan.kept, plan.total)), False)


def _total(tensor: Tensor, dims: tuple[int, ...], keepdim: bool) -> Tensor:
    """Sum over dimensions; whole numbers are added up as int64."""
    array = tensor._array
    if array.dtype.kind in "iub":
        tensor = wrap(array.astype(np.int64))
    return reduction.sum_dim(tensor, dims, keepdim)


def _written(args: Sequence[Any]) -> tuple[str, list[Any]]:
    """Write lists of numbers for dimensions as an equation; give it, and the operands."""

    def letters(numbers: Any) -> str:
        return "".join(ELLIPSIS if number is ... else _LETTERS[number] for number in numbers)

    equation = ",".join(map(letters, args[1::2]))
    if len(args) % 2:
        equation += f"->{letters(args[-1])}"
    return equation, [*args[: len(args) - len(args) % 2 : 2]]


@variants(method=False)
def einsum(*args: Any) -> Tensor:
    r"""Multiply tensors and sum over indices, as an equation says: "ij,jk->ik".

    Args:
        *args: The equation, then the operands. Each operand's dimensions have a letter; a letter
            that the result has not is summed over. "..." stands for any dimensions. Without "->"
            the result has the letters that occur once, in alphabetic order. Or each operand with
            a list of numbers for its dimensions, and perhaps a list for the result.

    Returns:
        The result. With two operands the sum is one batch of matrix products.

    Raises:
        RuntimeError: If the equation makes no sense, or sizes do not fit.
        ValueError: If there is no operand.

    Example:
        >>> import minigrad as torch
        >>> A, B = torch.ones(2, 3), torch.ones(3, 4)
        >>> torch.einsum("ij,jk->ik", A, B).shape
        torch.Size([2, 4])
    """
    if len(args) < 2:
        raise ValueError("einsum(): there must be an equation and operands")
    equation, *operands = args
    if not isinstance(equation, str):
        equation, operands = _written(args)
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = list(operands[0])
    operands = check_tensors(operands, "einsum", "operands", 1)
    plan = _plan(equation, tuple([operand._array.ndim for operand in operands]))
    pairs = zip(operands, plan.labels, strict=True)
    lined_up = [_lined_up(operand, labels, plan) for operand, labels in pairs]
    return _summed(lined_up, plan, _users(lined_up, plan))


@variants(out="none", method=False)
def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Sum products over pairs of dimensions; those that are left come one after the other.

    Args:
        a: The first tensor.
        b: The second one.
        dims: How many of the last dimensions of `a` meet the first ones of `b`; or two lists of
            dimensions, of `a` and of `b`.

    Raises:
        RuntimeError: If sizes do not fit, or dtypes differ.

    Example:
        >>> import minigrad as torch
        >>> torch.tensordot(torch.ones(2, 3, 4), torch.ones(3, 4, 5)).shape
        torch.Size([2, 5])
    """
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if not 0 <= dims <= min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot can't sum over {dims} dimensions of each tensor")
        dims = range(-dims, 0), range(dims)
    first, second = different(dims[0], a.ndim), different(dims[1], b.ndim)
    check_one_type(a._array, b._array)
    for own, other in zip(first, second, strict=True):
        s, o = a._array.shape[own], b._array.shape[other]
        if o == 1 != s:
            a = _total(a, (own,), True)
        elif s == 1 != o:
            b = _total(b, (other,), True)
        else:
            _one_size(s, o)
    x, y = a._array.shape, b._array.shape
    rows = [d for d in range(len(x)) if d not in first]
    columns = [d for d in range(len(y)) if d not in second]
    a, b = shape.permute(a, (*rows, *first)), shape.permute(b, (*second, *columns))
    if not rows and not columns:
        if a.is_contiguous() and b.is_contiguous():
            product = a.flatten().dot(b.flatten())
        else:
            product = elementwise.mul(shape.squeeze_all(a), shape.squeeze_all(b)).sum()
        return shape.view(product, ())
    inner_size = math.prod(x[d] for d in first)
    height, width = math.prod(x[d] for d in rows), math.prod(y[d] for d in columns)
    a = shape.reshape(a, (height, inner_size))
    b = shape.reshape(b, (inner_size, width))
    sizes = (*(x[d] for d in rows), *(y[d] for d in columns))
    return shape.reshape(a.mm(b), sizes)


@variants(out="none", numpy=np.inner)
def inner(input: Tensor, other: Tensor) -> Tensor:
    """Sum products over the last dimension of both; a number multiplies.

    Raises:
        RuntimeError: If the last sizes differ.

    Example:
        >>> import minigrad as torch
        >>> torch.inner(torch.ones(2, 3), torch.ones(3))
        tensor([3., 3.])
    """
    x, y = input._array.shape, other._array.shape
    if not x or not y:
        return elementwise.mul(input, other)
    return tensordot(input, other, ([-1], [-1]))


@variants(method=False)
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    r"""Map pairs of vectors, $y_o = \sum_{ij} x_i W_{oij} z_j + b_o$.

    Args:
        input1: The vectors x.
        input2: The vectors z.
        weight: The array W.
        bias: The vector b, or None.

    Returns:
        The mapped vectors.

    Raises:
        RuntimeError: If the shapes or types do not fit together.

    Shape:
        - input1: (..., in1_features)
        - input2: (..., in2_features)
        - weight: (out_features, in1_features, in2_features)
        - bias: (out_features,)
        - output: (..., out_features)

    Example:
        >>> import minigrad as torch
        >>> x, z = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
        >>> torch.bilinear(x, z, torch.eye(2).unsqueeze(0))
        tensor([11.])
    """
    if input1.ndim != input2.ndim or not input1.ndim:
        raise RuntimeError(f"bilinear takes vectors in pairs, got {input1.ndim}D, {input2.ndim}D")
    result = einsum("...i,oij,...j->...o", input1, weight, input2)
    return result if bias is None else result + bias


def _numpy_einsum(*operands: Any, optimize: Any = False) -> Tensor:
    kept = (str, list, tuple)
    return einsum(*(each if isinstance(each, kept) else as_tensor(each) for each in operands))


def _numpy_dot(a: Any, b: Any) -> Tensor:
    a, b = as_tensor(a), as_tensor(b)
    if not a._array.ndim or not b._array.ndim:
        return a * b
    return tensordot(a, b, ([-1], [-2 if b._array.ndim > 1 else -1]))


numpy_protocols.functions.update(
    {
        np.dot: _numpy_dot,
        np.einsum: _numpy_einsum,
        np.tensordot: lambda a, b, axes=2: tensordot(as_tensor(a), as_tensor(b), axes),
    }
)
