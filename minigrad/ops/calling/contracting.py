"""Call einsum, sums of products over indices that an equation names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.modes import grad_mode
from minigrad.autograd.type_name import type_name
from minigrad.ops import elementwise, factors, linear_algebra, reduction, shape, triangular
from minigrad.ops.calling.equations import ELLIPSIS, Plan, equation_of
from minigrad.ops.calling.equations import plan as read
from minigrad.ops.meeting import applied
from minigrad.tensor import Tensor, wrap

__all__ = ["einsum"]

_NOTHING = (
    "einsum(): must specify the equation string and at least one operand, or at least one operand "
    "and its subscripts list"
)


def _lined_up(operand: Any, labels: Sequence[str], plan: Plan, number: int) -> Any:
    """Bring an operand's dimensions into the common order; what it has not gets size 1."""
    order = [-1] * plan.total
    seen: dict[str, int] = {}
    position = 0
    ndim = operand.ndim
    for label in labels:
        if label == ELLIPSIS:
            for _ in range(plan.covered - (ndim - len(labels) + 1)):
                operand = applied(shape.unsqueeze, operand, position)
            start = plan.places[label]
            for k in range(plan.covered):
                order[start + k] = position
                position += 1
        elif label in seen:
            first = seen[label]
            sizes = operand.shape
            if sizes[first] != sizes[position]:
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated for operand {number} but the sizes "
                    f"don't match, {sizes[position]} != {sizes[first]}"
                )
            operand = applied(triangular.diagonal, operand, 0, first, position)
            last = operand.ndim - 1
            moved = [d for d in range(last) if d < first]
            rest = [d for d in range(last) if d >= first]
            operand = applied(shape.permute, operand, (*moved, last, *rest))
        else:
            seen[label] = position
            order[plan.places[label]] = position
            position += 1
    for place, source in enumerate(order):
        if source == -1:
            operand = applied(shape.unsqueeze, operand, operand.ndim)
            order[place] = position
            position += 1
    return applied(shape.permute, operand, tuple(order))


def _check_sizes(operands: Sequence[Any], plan: Plan) -> list[int]:
    """Check that sizes meet, and count for each dimension the operands that really have it."""
    sizes = [1] * plan.total
    counts = [0] * plan.total
    names = {place: label for label, place in plan.places.items() if label != ELLIPSIS}
    for number, operand in enumerate(operands):
        for place, size in enumerate(operand.shape):
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


def _contracted(left: Any, right: Any, summed: Sequence[int]) -> Any:
    """Multiply two operands and sum over dimensions that both have: as a batch of products."""
    if not summed:
        return applied(elementwise.mul, left, right)
    x, y = left.shape, right.shape
    both, own, other = [], [], []
    for d in range(len(x)):
        if d in summed:
            continue
        if x[d] != 1 and y[d] != 1:
            both.append(d)
        elif x[d] != 1:
            own.append(d)
        else:
            other.append(d)
    if own and other and other[-1] < own[0]:  # so that the result need not be reordered
        left, right, x, y, own, other = right, left, y, x, other, own
    batch = math.prod(x[d] for d in both)
    inner = math.prod(x[d] for d in summed)
    rows, columns = math.prod(x[d] for d in own), math.prod(y[d] for d in other)
    a = applied(shape.permute, left, (*both, *own, *summed, *other))
    b = applied(shape.permute, right, (*both, *summed, *other, *own))
    a = _reshaped(a, (batch, rows, inner))
    b = _reshaped(b, (batch, inner, columns))
    factors.check_bmm(_array(a), _array(b))
    result = applied(linear_algebra.bmm, a, b)
    order = (*both, *own, *summed, *other)
    sizes = (*(x[d] for d in both), *(x[d] for d in own), *(1 for _ in summed))
    result = applied(shape.view, result, (*sizes, *(y[d] for d in other)))
    return applied(shape.permute, result, tuple(map(order.index, range(len(order)))))


def _summed(operands: list[Any], plan: Plan, counts: list[int]) -> Any:
    """Multiply operands from left to right; each dimension is summed over as soon as it can be."""
    result = operands[0]
    for operand in operands[1:]:
        x, y = result.shape, operand.shape
        shared: list[int] = []
        of_left: list[int] = []
        of_right: list[int] = []
        for d in range(plan.kept, plan.total):
            if x[d] != 1 and y[d] != 1:
                counts[d] -= 1
                if counts[d] == 1:
                    shared.append(d)
                    counts[d] = 0
            elif counts[d] == 1 and (x[d] != 1 or y[d] != 1):
                (of_left if x[d] != 1 else of_right).append(d)
                counts[d] = 0
        if of_left:
            result = applied(reduction.sum_dim, addable(result), tuple(of_left), True)
        if of_right:
            operand = applied(reduction.sum_dim, addable(operand), tuple(of_right), True)
        result = _contracted(result, operand, shared)
    if plan.total == plan.kept:
        return result
    if len(operands) > 1:
        return applied(shape.view, result, tuple(result.shape[: plan.kept]))
    places = tuple(range(plan.kept, plan.total))
    return applied(reduction.sum_dim, addable(result), places, False)


def addable(tensor: Any) -> Any:
    """Give whole numbers as int64, in which they are added up."""
    array = _array(tensor)
    if array.dtype.kind not in "iub":
        return tensor
    whole = array.astype(np.int64)
    return wrap(whole) if isinstance(tensor, Tensor) else whole


def _array(tensor: Any) -> Any:
    return tensor._array if isinstance(tensor, Tensor) else tensor


def _reshaped(tensor: Any, sizes: tuple[int, ...]) -> Any:
    if isinstance(tensor, Tensor):
        return linear_algebra.reshape(tensor, sizes)
    return tensor.reshape(sizes)


def _recorded(operands: Sequence[Tensor]) -> bool:
    """Tell whether the steps have to be recorded, or do more than work on plain arrays."""
    kind = operands[0]._array.dtype
    return len(operands) == 1 or (
        (bool(grad_mode.enabled) and any(t.requires_grad for t in operands))
        or any(t._array.dtype is not kind for t in operands)
    )


def einsum(*args: Any) -> Tensor:
    r"""Multiply tensors and sum over indices, as an equation says: "ij,jk->ik".

    Args:
        *args: The equation, then the operands. Each operand's dimensions have a letter; a letter
            that the result has not is summed over. "..." stands for any dimensions. Without "->"
            the result has the letters that occur once, in alphabetic order. Or, instead of an
            equation, each operand followed by a list of numbers in the place of letters.

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
        >>> torch.einsum(A, [0, 1], B, [1, 2], [0, 2]).shape
        torch.Size([2, 4])
    """
    if len(args) < 2:
        raise ValueError(_NOTHING)
    if isinstance(args[0], str):
        equation, operands = args[0], list(args[1:])
    else:
        equation, operands = equation_of(args)
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = list(operands[0])
    if not operands:
        raise ValueError(_NOTHING)
    for number, operand in enumerate(operands):
        if not isinstance(operand, Tensor):
            raise TypeError(
                f"expected Tensor as element {number} in argument 1, but got {type_name(operand)}"
            )
    plan = read(equation, tuple(operand._array.ndim for operand in operands))
    recorded = _recorded(operands)
    lined_up = [
        _lined_up(operand if recorded else operand._array, labels, plan, number)
        for number, (operand, labels) in enumerate(zip(operands, plan.labels, strict=True))
    ]
    result: Tensor = _summed(lined_up, plan, _check_sizes(lined_up, plan))
    return result if recorded else wrap(result)


methods: dict[str, Any] = {}


def _numpy_einsum(*operands: Any, optimize: Any = False) -> Tensor:
    if isinstance(operands[0], str):
        return einsum(operands[0], *map(_tensor, operands[1:]))
    listed = (each if isinstance(each, (list, tuple)) else _tensor(each) for each in operands)
    return einsum(*listed)


def _tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else wrap(np.asarray(value))


functions: dict[Any, Any] = {np.einsum: _numpy_einsum}
