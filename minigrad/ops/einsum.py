"""Sums of products over given indices: einsum, tensordot, inner and bilinear forms.

Each is composed of the operations that PyTorch records for it, down to one batch of products of
matrices for two factors.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from minigrad.autograd.messages import wrong_type
from minigrad.autograd.rules import applied
from minigrad.core.operation import Array, differentiable
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation.dtypes import scalar_name
from minigrad.faces import face, numpy_protocols
from minigrad.faces.arguments import as_tensor, check_tensors, dimension, dimensions
from minigrad.ops import elementwise, linear_algebra, reduction, shape, triangular
from minigrad.ops.type_promotion import differ

# ---------------------------------------------------------------------- equations

ELLIPSIS = "..."
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_LABEL = re.compile(r"\.\.\.|[^ ]", re.DOTALL)


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


def _read(text: str, start: int, again: str, alone: str) -> list[str]:
    """Read the labels of one operand, or of the result.

    Args:
        text: Its part of the equation.
        start: Where that part starts.
        again: What is wrong if there are two ellipses.
        alone: What is wrong if a point belongs to none.
    """
    found: list[str] = []
    for match in _LABEL.finditer(text):
        label = match[0]
        if ELLIPSIS in found and label in (".", ELLIPSIS):
            raise RuntimeError(f"einsum(): found '.' for {again}")
        if label == ".":
            raise RuntimeError(f"einsum(): found '.' for {alone}")
        if label != ELLIPSIS and label not in _LETTERS:
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {start + match.start()} in the "
                "equation string, subscripts must be in [a-zA-Z]"
            )
        found.append(label)
    return found


def _labels(equation: str, count: int) -> list[list[str]]:
    """Read the labels of each operand."""
    parts = equation.partition("->")[0].split(",")
    found: list[list[str]] = []
    start = 0
    for number, part in enumerate(parts[:count]):
        again = f"operand {number} for which an ellipsis was already found"
        alone = f"operand {number} that is not part of any ellipsis"
        found.append(_read(part, start, again, alone))
        start += len(part) + 1
    if len(parts) != count:
        which = "fewer" if len(parts) > count else "more"
        raise RuntimeError(
            f"einsum(): {which} operands were provided than specified in the equation"
        )
    return found


def _output(equation: str, counts: dict[str, int]) -> list[str]:
    """Read the labels of the result; or infer them: those that occur once, in order."""
    _, arrow, text = equation.partition("->")
    if not arrow:
        once = [label for label in _LETTERS if counts.get(label) == 1]
        return [ELLIPSIS, *once]
    again = "output but an ellipsis (...) was already found"
    alone = "output that is not part of any ellipsis (...)"
    found = _read(text, len(equation) - len(text), again, alone)
    for place, label in enumerate(found):
        if label in found[:place]:
            raise RuntimeError(
                f"einsum(): output subscript {label} appears more than once in the output"
            )
        if label != ELLIPSIS and label not in counts:
            raise RuntimeError(
                f"einsum(): output subscript {label} does not appear in the equation for any "
                "input operand"
            )
    return found


@lru_cache(maxsize=512)
def _plan(equation: str, ndims: tuple[int, ...]) -> Plan:
    """Read an equation."""
    labels = _labels(equation, len(ndims))
    counts = Counter(label for own in labels for label in own)
    covered = 0
    for operand, (own, ndim) in enumerate(zip(labels, ndims, strict=True)):
        has_ellipsis = ELLIPSIS in own
        if has_ellipsis and len(own) - 1 > ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(own) - 1}) is more than "
                f"the number of dimensions ({ndim}) for operand {operand}"
            )
        if not has_ellipsis and len(own) != ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(own)}) does not match "
                f"the number of dimensions ({ndim}) for operand {operand} and no ellipsis was given"
            )
        if has_ellipsis:
            covered = max(covered, ndim - len(own) + 1)
    output = _output(equation, counts)
    summed = [label for label in (ELLIPSIS, *sorted(counts)) if label not in output]
    places: dict[str, int] = {}
    total = 0
    for label in dict.fromkeys((*output, *summed)):
        places[label] = total
        total += covered if label == ELLIPSIS else 1
    kept = sum(covered if label == ELLIPSIS else 1 for label in output)
    return Plan(tuple(map(tuple, labels)), places, covered, kept, total)


# ---------------------------------------------------------------------- sums of products

_NOTHING = (
    "einsum(): must specify the equation string and at least one operand, or at least one operand "
    "and its subscripts list"
)


def _lined_up(operand: Tensor, labels: Sequence[str], plan: Plan, number: int) -> Tensor:
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
            sizes = operand._array.shape
            if sizes[first] != sizes[position]:
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated for operand {number} but the sizes "
                    f"don't match, {sizes[position]} != {sizes[first]}"
                )
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


def _check_sizes(operands: Sequence[Tensor], plan: Plan) -> list[int]:
    """Check that sizes meet, and count for each dimension the operands that really have it."""
    sizes = [1] * plan.total
    counts = [0] * plan.total
    names = {place: label for label, place in plan.places.items() if label != ELLIPSIS}
    for number, operand in enumerate(operands):
        for place, size in enumerate(operand._array.shape):
            if size == 1:
                continue
            counts[place] += 1
            if sizes[place] not in (1, size):
                what = f"subscript {names[place]}" if place in names else "the ellipsis"
                raise RuntimeError(
                    f"einsum(): {what} has size {size} for operand {number} which does not "
                    f"broadcast with previously seen size {sizes[place]}"
                )
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
    linear_algebra.check_bmm(a._array, b._array)
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
        if not all(number is ... or 0 <= number < 52 for number in numbers):
            raise ValueError(
                "einsum(): subscript in subscript list is not within the valid range [0, 52)"
            )
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
        raise ValueError(_NOTHING)
    equation, *operands = args
    if not isinstance(equation, str):
        equation, operands = _written(args)
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = list(operands[0])
    if not operands:
        raise ValueError(_NOTHING)
    operands = check_tensors(operands, "einsum", "operands", 1)
    plan = _plan(equation, tuple(operand._array.ndim for operand in operands))
    lined_up = [
        _lined_up(operand, labels, plan, number)
        for number, (operand, labels) in enumerate(zip(operands, plan.labels, strict=True))
    ]
    return _summed(lined_up, plan, _check_sizes(lined_up, plan))


def _axes(a: Tensor, b: Tensor, dims: Any) -> tuple[Any, Any]:
    """Take the dimensions of tensordot in any of their forms."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, (tuple, list)):
        first, second = dims
        for name, each, position in (("dims_self", first, 3), ("dims_other", second, 4)):
            if not isinstance(each, (tuple, list)):
                raise wrong_type("tensordot", name, "tuple of ints", each, position)
        return list(first), list(second)
    if not isinstance(dims, int):
        raise RuntimeError(f"tensordot expects dims to be int or two lists, but got dims={dims}")
    if dims < 0:
        raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
    if dims > min(a._array.ndim, b._array.ndim):
        raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
    return list(range(-dims, 0)), list(range(dims))


@face("tensordot(a, b, dims=2, out=None)", out="none", method=False)
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
    first, second = _axes(a, b, dims)
    if len(first) != len(second):
        raise RuntimeError("both dimension lists should have same length")
    x, y = a._array, b._array
    if differ(x, y):
        raise RuntimeError("both inputs should have same dtype")
    of_a, of_b = [dimension(d, x.ndim) for d in first], [dimension(d, y.ndim) for d in second]
    for place, (own, other) in enumerate(zip(of_a, of_b, strict=True)):
        s, o = x.shape[own], y.shape[other]
        if o == 1 != s:
            a = _total(a, (own,), True)
        elif s == 1 != o:
            b = _total(b, (other,), True)
        elif s != o:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {s} in dim "
                f"{first[place]} and second has size {o} in dim {second[place]}"
            )
    dimensions(of_a, x.ndim)  # which says if one comes twice
    dimensions(of_b, y.ndim)
    return _multiplied(a, b, of_a, of_b)


def _multiplied(a: Tensor, b: Tensor, first: list[int], second: list[int]) -> Tensor:
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
    if x[-1] != y[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(x)} and {list(y)}"
        )
    return tensordot(input, other, ([-1], [-1]))


# ---------------------------------------------------------------------- bilinear forms


@differentiable(
    "TrilinearBackward0",
    i1=lambda grad, i2, i3, expand1, expand2, expand3, sumdim: applied(
        trilinear, grad, i2, i3, sumdim, expand2, expand3, expand1
    ),
    i2=lambda grad, i1, i3, expand1, expand2, expand3, sumdim: applied(
        trilinear, i1, grad, i3, expand1, sumdim, expand3, expand2
    ),
    i3=lambda grad, i1, i2, expand1, expand2, expand3, sumdim: applied(
        trilinear, i1, i2, grad, expand1, expand2, sumdim, expand3
    ),
)
def trilinear(
    i1: Array, i2: Array, i3: Array, expand1: Any, expand2: Any, expand3: Any, sumdim: Any
) -> Array:
    r"""Product of three, summed over dimensions: the gradient takes the place of one of them.

    Each of the three is without some of the dimensions of the product, which are `expand1`,
    `expand2` and `expand3`; the sum takes away `sumdim`. So :math:`\sum_{ab} x_{na} w_{oab} y_{nb}`
    has the dimensions n, o, a, b, and expands are (1, 3), (0,) and (1, 2).
    """
    every = range(i1.ndim + len(expand1))
    first, second, third, left = (
        [dim for dim in every if dim not in gone] for gone in (expand1, expand2, expand3, sumdim)
    )
    return np.einsum(i1, first, i2, second, i3, third, left, optimize=True)


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
    first, second, table = input1._array, input2._array, weight._array
    _check_bilinear(first, second, table, bias)
    rows = first.shape[:-1]
    flat1 = shape.view(input1.contiguous(), (first.size // (first.shape[-1] or 1), first.shape[-1]))
    flat2 = shape.view(input2.contiguous(), (flat1._array.shape[0], second.shape[-1]))
    product = trilinear(flat1, weight, flat2, (1, 3), (0,), (1, 2), (2, 3))
    result: Tensor = shape.view(product, (*rows, table.shape[0]))
    return result if bias is None else result + bias


def _check_bilinear(first: Any, second: Any, table: Any, bias: Tensor | None) -> None:
    if not (first.dtype == second.dtype == table.dtype):
        names = [scalar_name(a).lower() for a in (first, second, table)]
        raise RuntimeError(
            f"All tensors must have the same dtype, got input1: {names[0]}, input2: {names[1]}, "
            f"weight: {names[2]}"
        )
    if first.ndim != second.ndim:
        raise RuntimeError(
            f"bilinear(): input dimensions do not match: got {first.ndim} and {second.ndim}"
        )
    if not first.ndim:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    for dim, (a, b) in enumerate(zip(first.shape[:-1], second.shape[:-1], strict=True)):
        if a != b:
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {dim}: got {a} and {b}"
            )
    for name, array, place in (("input1", first, 1), ("input2", second, 2)):
        expected = table.shape[dimension(place, table.ndim)]
        if array.shape[-1] != expected:
            raise RuntimeError(
                f"bilinear(): {name} size does not match weight size: got {array.shape[-1]} but "
                f"expected {expected}"
            )
    if bias is not None and bias._array.shape[0] != table.shape[0]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias._array.shape[0]} but "
            f"expected {table.shape[0]}"
        )


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
