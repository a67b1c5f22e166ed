"""The gradients that a backward pass starts from: check what was given, fill in what was not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.complex_numbers import refuse_complex
from minigrad.autograd.gradient_edge import GradientEdge, layout_of
from minigrad.autograd.leaves import resolve_edge
from minigrad.autograd.node import NO_EDGE, Node
from minigrad.autograd.variable import Variable


def starting_gradients(roots: Sequence[Any], gradients: Any, recorded: bool) -> list[Any]:
    """Check the gradients to start from, and fill in 1 where one may be left out."""
    if gradients is None:
        gradients = [None] * len(roots)
    elif isinstance(gradients, Variable):
        gradients = [gradients]
    starts = [
        starting_gradient(position, root, gradient, recorded)
        # more gradients than tensors are not looked at, as in PyTorch
        for position, (root, gradient) in enumerate(zip(roots, gradients, strict=False))
    ]
    if len(starts) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(starts)} gradients")
    for position, root in enumerate(roots):
        check_needs_gradient(position, root)
    return starts


def check_needs_gradient(position: int, root: Any) -> None:
    """Raise if no gradient flows from a root."""
    if not isinstance(root, Variable):
        return
    edge = root._edge
    if edge is NO_EDGE or (edge is None and resolve_edge(root) is NO_EDGE):
        raise RuntimeError(
            f"element {position} of tensors does not require grad and does not have a grad_fn. "
            "Was an input made with requires_grad=True, and not under no_grad()?"
        )


# for each kind of scalar the gradient with which a backward pass starts
_ones = {np.dtype(kind).num: np.ones((), kind) for kind in (np.float32, np.float64)}


def starting_gradient(position: int, root: Any, gradient: Any, recorded: bool) -> Any:
    """Check one gradient to start from, or make one."""
    if not isinstance(root, Variable):
        return _starting_at_edge(position, root, gradient, recorded)
    array = root._array
    if gradient is None:
        if array.size != 1 and root.requires_grad:
            raise RuntimeError(
                "grad can be implicitly created only for scalar outputs. This one has shape "
                f"{list(array.shape)}: reduce it with sum() or mean(), or pass gradient= in its "
                "shape."
            )
        one = _ones.get(array.dtype.num) if array.ndim == 0 else None
        if one is not None:  # a loss
            start = one.copy()
        else:
            start = array.copy()
            start.fill(1)
    elif not isinstance(gradient, Variable):
        raise TypeError(
            f"gradients can be either Tensors or None, but got {type(gradient).__name__}"
        )
    elif gradient._array.shape != array.shape:
        raise _wrong_shape(position, gradient, array.shape)
    else:
        start = gradient._array
        if start.dtype is not array.dtype:
            _check_complex(position, gradient, root.dtype)
    if gradient is None:
        return Node.wrap(start) if recorded else start
    if not recorded:
        return start if start.dtype == array.dtype else start.astype(array.dtype)
    return gradient if start.dtype == array.dtype else gradient._to_numpy_dtype(array.dtype)


def _wrong_shape(position: int, gradient: Any, shape: Any) -> RuntimeError:
    return RuntimeError(
        f"Mismatch in shape: grad_output[{position}] has a shape of "
        f"torch.Size({list(gradient._array.shape)}) and output[{position}] has a shape of "
        f"torch.Size({list(shape)})."
    )


def _starting_at_edge(position: int, root: Any, gradient: Any, recorded: bool) -> Any:
    """Check the gradient to start from at a gradient edge, or make one."""
    if not isinstance(root, GradientEdge):
        raise AssertionError(
            "Expected output to be a torch.Tensor or a gradient edge, but got "
            f"{type(root).__name__}"
        )
    layout = layout_of(root)
    if root.output_nr and not root.node._multiple:
        raise IndexError(
            f"tuple index out of range: {root.node.name()} has one output, not number "
            f"{root.output_nr}"
        )
    if gradient is None:
        if layout is None:
            raise RuntimeError(
                f"element {position} of tensors is a GradientEdge without a tensor, so the shape "
                "of its gradient is not known. Pass the gradient, or make the edge with "
                "get_gradient_edge()."
            )
        shape, dtype = layout
        if np.prod(shape) != 1:
            raise RuntimeError(
                "grad can be implicitly created only for scalar outputs. This one has shape "
                f"{list(shape)}: pass a gradient in that shape."
            )
        start = np.ones(shape, dtype)
        return Node.wrap(start) if recorded else start
    if not isinstance(gradient, Variable):
        raise TypeError(
            f"gradients can be either Tensors or None, but got {type(gradient).__name__}"
        )
    if layout is None:
        refuse_complex(gradient._array.dtype)
        return gradient if recorded else gradient._array
    shape, dtype = layout
    if gradient._array.shape != shape:
        raise _wrong_shape(position, gradient, shape)
    if gradient._array.dtype != dtype:
        _check_complex(position, gradient, Node.wrap(np.empty(0, dtype)).dtype)
        gradient = gradient._to_numpy_dtype(dtype)
    return gradient if recorded else gradient._array


def _check_complex(position: int, gradient: Any, wanted: Any) -> None:
    """Refuse a complex gradient for a real tensor and the reverse: the imaginary part would go."""
    given = gradient.dtype
    if given != wanted and (given.is_complex or wanted.is_complex):
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same "
            f"dtype. Mismatch in dtype: grad_output[{position}] has a dtype of {given} and "
            f"output[{position}] has a dtype of {wanted}."
        )
