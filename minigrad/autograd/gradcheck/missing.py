"""See that backward takes gradients that are zero, and gradients that are missing."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.gradcheck.differences import Subject, as_tuple
from minigrad.autograd.gradcheck.messages import (
    UNDEFINED_IS_CHECKED,
    UNDEFINED_NOT_ZERO,
    UNDEFINED_REFUSED,
    GradcheckError,
)
from minigrad.autograd.gradients import grad
from minigrad.core.leaves import resolve_edge
from minigrad.core.node import Node, next_priority
from minigrad.core.tensor import wrap_as_normal


class UndefinedGradBackward(Node):
    """A node that lets no gradient through: what comes before it gets None."""

    __slots__ = ()

    def _run(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Give None, whatever the gradient is."""
        return (None,)

    _run_recorded = _run


def without_gradient(tensor: Any) -> Any:
    """Give a tensor with the same values, through which no gradient comes back.

    Args:
        tensor: A tensor that requires a gradient.
    """
    node = UndefinedGradBackward()
    node.next_functions = (tensor._edge or resolve_edge(tensor),)
    node._saved, node._broadcast, node._hooks = (), None, None
    node._priority = next_priority()
    result = wrap_as_normal(tensor._array)
    result._edge = (node, 0)
    return result


def check_zero_gradients(subject: Subject, outputs: Sequence[Any], masked: bool | None) -> None:
    """See that gradients of zero for the outputs give gradients of zero for the inputs.

    Args:
        subject: The function and its inputs.
        outputs: Those outputs that require a gradient; their graph is released.
        masked: Whether almost zero is enough.

    Raises:
        GradcheckError: If a gradient is not zero, or has the wrong dtype or shape.
    """
    sources = subject.sources
    found = grad(outputs, sources, _zeros(outputs), allow_unused=True) if outputs else ()
    for gradient, source in zip(found, sources, strict=False):
        if gradient is None:
            continue
        array = gradient._array
        if not (np.allclose(array, 0) if masked else (array == 0).all()):
            raise GradcheckError("backward not multiplied by grad_output")
        if array.dtype != source._array.dtype:
            raise GradcheckError("grad is incorrect type")
        if array.shape != source._array.shape:
            raise GradcheckError("grad is incorrect size")


def check_undefined_gradients(subject: Subject) -> None:
    """See that outputs whose gradient is missing count as if it were zero.

    First the gradients of all outputs are left out; then, if there are several outputs, one by
    one.

    Args:
        subject: The function and its inputs.

    Raises:
        GradcheckError: If backward fails, or a gradient of an input is not zero.
    """
    outputs = differentiable(subject.call())
    tries = [[without_gradient(output) for output in outputs]]
    if len(outputs) > 1:
        for missing in range(len(outputs)):
            outputs = differentiable(subject.call())
            outputs[missing] = without_gradient(outputs[missing])
            tries.append(outputs)
    for outputs in tries:
        if outputs:
            _check_undefined(subject, outputs)


def differentiable(outputs: Any) -> list[Any]:
    """Keep those outputs that require a gradient."""
    return [output for output in as_tuple(outputs) if output.requires_grad]


def _check_undefined(subject: Subject, outputs: list[Any]) -> None:
    try:
        found = grad(outputs, subject.sources, _zeros(outputs), allow_unused=True)
    except RuntimeError as error:
        _warn()
        raise GradcheckError(UNDEFINED_REFUSED) from error
    for gradient in found:
        if gradient is not None and not (gradient._array == 0).all():
            _warn()
            raise GradcheckError(UNDEFINED_NOT_ZERO)


def _warn() -> None:
    warnings.warn(UNDEFINED_IS_CHECKED, UserWarning, stacklevel=5)


def _zeros(outputs: Sequence[Any]) -> list[Any]:
    return [wrap_as_normal(np.zeros_like(output._array, order="C")) for output in outputs]
