"""Prepare what a function is differentiated at, check it, and hand results back in its form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.autograd.gradients import grad
from minigrad.core.tensor import Tensor, wrap_as_normal

Tensors = tuple[Any, ...]

NOT_ALLOWED = "This is not allowed in strict mode"


def as_tuple(value: Any, what: str, caller: str | None) -> tuple[bool, Tensors]:
    """Tell whether something is a tuple, and give it as one.

    Raises:
        TypeError: If it is neither a tensor nor a tuple of tensors.
    """
    several = isinstance(value, tuple)
    tensors = value if several else (value,)
    for position, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            place = f"value at index {position}" if several else f"given {what}"
            raise TypeError(
                f"The {what} given to {caller} must be either a Tensor or a tuple of Tensors but "
                f"the {place} has type {type(tensor)}."
            )
    return several, tensors


def in_form(tensors: Sequence[Any], several: bool) -> Any:
    """Give tensors as a tuple, or the only one by itself."""
    return tensors if several else tensors[0]


def fresh(tensors: Tensors, create_graph: bool, requires_grad: bool) -> Tensors:
    """Give new tensors of the same values, so that a function may use the old ones as well.

    With `create_graph` those that require a gradient stay connected with the old ones.
    """
    return tuple(
        tensor.view_as(tensor)
        if create_graph and tensor.requires_grad
        else tensor.detach().requires_grad_(requires_grad)
        for tensor in tensors
    )


def refuse_nothing(tensors: Sequence[Any]) -> None:
    """Refuse an empty tuple of inputs or of outputs.

    Raises:
        IndexError: If there is nothing in it.
    """
    if not tensors:
        raise IndexError("tuple index out of range. There is nothing to differentiate")


def without_graph(tensors: Tensors, create_graph: bool) -> Tensors:
    """Cut results off from their graph, unless it was asked for."""
    refuse_nothing(tensors)
    return tensors if create_graph else tuple(tensor.detach() for tensor in tensors)


def zeros_like(tensor: Any, requires_grad: bool = False) -> Any:
    """Make zeros in the shape and type of a tensor."""
    return wrap_as_normal(np.zeros_like(tensor._array)).requires_grad_(requires_grad)


def differentiate(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Tensors | None = None,
    create_graph: bool = False,
    retain_graph: bool | None = None,
) -> Tensors:
    """Do as `grad`, skipping the outputs that have no graph; None where nothing depends."""
    starts = (None,) * len(outputs) if grad_outputs is None else grad_outputs
    pairs = [
        (output, start)
        for output, start in zip(outputs, starts, strict=True)
        if output is not None and output.requires_grad
    ]
    if not pairs:
        return (None,) * len(inputs)
    recorded, starts = zip(*pairs, strict=True)
    return grad(recorded, inputs, starts, retain_graph, create_graph, allow_unused=True)


def vector(
    v: Any, like: Tensors, several: bool, caller: str, create_graph: bool, only: str
) -> Tensors | None:
    """Check the vector of a product, and give it as a tuple.

    Args:
        v: What the user gave.
        like: What it is to be multiplied with: the tensors whose shapes it must have.
        several: Whether these are a tuple.
        caller: The public function's name.
        create_graph: Keep the vector connected with the user's tensors.
        only: The words that say when it may be left out.

    Raises:
        TypeError: If it is neither a tensor nor a tuple of tensors.
        RuntimeError: If its shapes are wrong, or it is missing.
    """
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                f"The vector v can only be None if {only} a single Tensor with a single element. "
                f"The shapes that v must have here: {[list(tensor.shape) for tensor in like]}."
            )
        return None
    given = fresh(as_tuple(v, "v", caller)[1], create_graph, False)
    if len(given) != len(like):
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(like)} but got {len(given)}."
            if several
            else "The given v should contain a single Tensor."
        )
    for position, (entry, other) in enumerate(zip(given, like, strict=True)):
        if entry.shape != other.shape:
            raise RuntimeError(
                f"{f'Entry {position} in ' if several else ''}v has invalid size: should be "
                f"{other.shape} but got {entry.shape}."
            )
    return given


def must_be_recorded(tensors: Tensors, message: Callable[[int], str]) -> None:
    """Refuse tensors that have no graph, for strict mode.

    Args:
        tensors: What must have a graph; None where there was nothing to compute.
        message: Says what a tensor without a graph means, given its position.
    """
    for position, tensor in enumerate(tensors):
        if tensor is None:
            raise RuntimeError(independent_output(position))
        if not tensor.requires_grad:
            raise RuntimeError(message(position))


def filled(
    gradients: Tensors,
    like: Tensors,
    strict: bool,
    create_graph: bool,
    missing: Callable[[int], str],
    derivative: str = "jacobian",
) -> Tensors:
    """Put zeros where nothing depends; in strict mode that is an error.

    Args:
        gradients: The gradients; None where there is none.
        like: The tensors whose shapes the zeros get.
        strict: Whether to refuse instead.
        create_graph: Whether the results shall be differentiable: then strict mode asks it.
        missing: Says what a missing gradient means, given its position.
        derivative: What the gradients are, for the error: the Jacobian or the Hessian.
    """
    for position, gradient in enumerate(gradients):
        if not strict:
            break
        if gradient is None:
            raise RuntimeError(missing(position))
        if create_graph and not gradient.requires_grad:
            raise RuntimeError(
                f"The {derivative} of the user-provided function is independent of input "
                f"{position}. {NOT_ALLOWED} when create_graph=True."
            )
    return tuple(
        zeros_like(other) if gradient is None else gradient
        for gradient, other in zip(gradients, like, strict=True)
    )


# ------------------------------------------------------------------ what strict mode says


def independent_output(position: int) -> str:
    """Say that the outputs do not depend on an input."""
    return (
        f"The output of the user-provided function is independent of input {position}. "
        f"{NOT_ALLOWED}."
    )


def unrecorded_output(position: int) -> str:
    """Say that an output has no graph."""
    return (
        f"Output {position} of the user-provided function does not require gradients. The outputs "
        "must be computed in a differentiable manner from the input when running in strict mode."
    )


def constant_gradient(position: int) -> str:
    """Say that a gradient is constant, so that it cannot be differentiated again."""
    return (
        f"The gradient with respect to input {position} is independent of the inputs of the "
        f"user-provided function. {NOT_ALLOWED}."
    )


def constant_jacobian(position: int) -> str:
    """Say that the Jacobian is constant where a Hessian is wanted."""
    return (
        "While computing the hessian, found that the jacobian of the user-provided function with "
        f"respect to input {position} is independent of the input. {NOT_ALLOWED}. You should "
        "ensure that your function is twice differentiable and that the jacobian depends on the "
        "inputs (this would be violated by a linear function for example)."
    )
