r"""Differentiate a function by moving its inputs a little: central differences.

The derivative along a direction :math:`u` is :math:`(f(x + \epsilon u) - f(x - \epsilon u)) /
2\epsilon`, with an error of order :math:`\epsilon^2` from the third derivative and one of order
:math:`2^{-52} / \epsilon` from rounding. The inputs are moved in place, and moved back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.core.tensor import Tensor, wrap_as_normal
from minigrad.creation.dtypes import of_array

Array = Any


class Subject:
    """What is checked: a function and its inputs.

    Attributes:
        function: Gives a tensor, or several in a tuple or list.
        inputs: The arguments of the function.
        sources: The inputs that require a gradient.
    """

    def __init__(self, function: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
        self.function, self.inputs = function, inputs
        self.sources = [x for x in inputs if requires_grad(x)]

    def call(self) -> tuple[Any, ...]:
        """Call the function."""
        return as_tuple(self.function(*self.inputs))

    def values(self) -> list[Any]:
        """Call the function, and give copies of its outputs that are in no graph."""
        return [wrap_as_normal(np.array(output._array)) for output in self.call()]


def as_tuple(value: Any) -> tuple[Any, ...]:
    """Put a single value into a tuple."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def requires_grad(value: Any) -> bool:
    """Tell whether a value is a tensor that requires a gradient."""
    return isinstance(value, Tensor) and value.requires_grad


def is_continuous(tensor: Any) -> bool:
    """Tell whether a tensor has floating-point or complex entries."""
    return tensor._array.dtype.kind not in "iub"


def jacobian(subject: Subject, source: Any, outputs: Sequence[Any], eps: float) -> list[Array]:
    """Compute the Jacobians of all outputs with respect to one input.

    Args:
        subject: The function and its inputs.
        source: The input to move, one entry after the other.
        outputs: The outputs at the inputs as they are.
        eps: How far to move.

    Returns:
        For each output with floating-point or complex entries an array with a row for each entry
        of the input and a column for each entry of the output.
    """
    array = source._array
    continuous = [number for number, output in enumerate(outputs) if is_continuous(output)]
    found = []
    for number in continuous:
        values = outputs[number]._array
        found.append(np.zeros((array.size, values.size), values.dtype))
    for row, place in enumerate(np.ndindex(array.shape)):
        entry = array[(*place, ...)]
        slopes = _central_difference(subject, entry, eps, eps, f"on index {place} ")
        if len(slopes) < len(outputs):
            raise IndexError(
                f"list index out of range: func gave {len(outputs)} outputs when it was first "
                f"called, and {len(slopes)} at perturbed inputs."
            )
        for columns, number in zip(found, continuous, strict=True):
            _fill(columns[row], slopes[number])
    return found


def derivatives(subject: Subject, source: Any, direction: Array, eps: float) -> tuple[Array, ...]:
    """Compute the derivative of each output along one direction of one input, flattened."""
    array = source._array
    return _central_difference(subject, array, direction.reshape(array.shape) * eps, eps, "")


def _central_difference(
    subject: Subject, entries: Array, step: Any, eps: float, place: str
) -> tuple[Array, ...]:
    """Move entries of an input, given as a view of it, and see how the outputs change."""
    kept = entries.copy()
    try:
        entries[...] = kept - step
        below = subject.values()
        entries[...] = kept + step
        above = subject.values()
    finally:
        entries[...] = kept
    return tuple(_slope(a, b, eps, place) for a, b in zip(below, above, strict=False))


def _slope(below: Any, above: Any, eps: float, place: str) -> Array:
    """Divide the change of an output by the step."""
    begins = "Expected `func` to return outputs with the same {} when inputs are perturbed "
    ends = f"{place}by {eps}, but got: "
    if below._array.shape != above._array.shape:
        raise AssertionError(
            f"{begins.format('shape')}{ends}shapes torch.Size({list(below._array.shape)}) and "
            f"torch.Size({list(above._array.shape)})."
        )
    if below._array.dtype != above._array.dtype:
        raise AssertionError(
            f"{begins.format('dtype')}{ends}dtypes {of_array(below._array)} and "
            f"{of_array(above._array)}."
        )
    with np.errstate(all="ignore"):  # with tensors, so that types meet as in PyTorch
        return ((above - below) / (2 * eps))._array.reshape(-1)


def _fill(row: Array, slope: Array) -> None:
    if slope.size not in (row.size, 1):
        raise RuntimeError(
            f"The expanded size of the tensor ({row.size}) must match the existing size "
            f"({slope.size}) at non-singleton dimension 0.  Target sizes: [{row.size}].  Tensor "
            f"sizes: [{slope.size}]. The function gives outputs of other shapes at each call."
        )
    row[:] = slope
