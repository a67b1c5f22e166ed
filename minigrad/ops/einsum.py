"""Sums of products over given indices: einsum, tensordot, inner and bilinear forms.

Each is composed of the operations that PyTorch records for it, down to one batch of products of
matrices for two factors.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from minigrad.core.tensor import Tensor, wrap
from minigrad.faces import face, numpy_protocols
from minigrad.faces.arguments import as_tensor, check_tensors, different
from minigrad.ops import elementwise, linear_algebra, reduction, shape, triangular
from minigrad.ops.linear import check_factors
from minigrad.ops.type_promotion import check_one_type

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
            operand = triangular.diagonal(operand, 0, first, position)
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
    result = linear_algebra.bmm(a, b)
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


@face("einsum(*args)", method=False)
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


@face("tensordot(Tensor a, Tensor b, dims=2, out=None)", out="none", method=False)
def tensordot(a: Tensor, b: Tensor, dims: Any) -> Tensor:
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


@face("inner(Tensor input, Tensor other, *, out=None)", out="none", numpy=np.inner)
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


@face("bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None)", method=False)
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
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
