"""Make what a custom function's forward returned the results of its node."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from minigrad.autograd.function_node import FunctionNode
from minigrad.autograd.modes import no_grad
from minigrad.autograd.type_name import type_name
from minigrad.autograd.variable import Variable
from minigrad.autograd.views import rebase_history


def place_outputs(
    ctx: FunctionNode,
    inputs: Sequence[Any],
    outputs: list[Any],
    *,
    recording: bool,
    in_setup: bool,
) -> None:
    """Give each output its place in the graph, in the list itself.

    An input returned as it is becomes a view of that input, so that the function can be its
    `grad_fn`; an input marked as dirty gets the function as its new history instead.

    Args:
        ctx: The node.
        inputs: The arguments of forward.
        outputs: What forward returned.
        recording: Whether the node is part of a graph.
        in_setup: Whether `setup_context` said what is saved, rather than forward.

    Raises:
        TypeError: If something is saved that is no tensor.
        RuntimeError: If marks and outputs contradict each other.
    """
    saved = _tensors_to_save(ctx, recording)
    not_differentiable = _marked_not_differentiable(ctx)
    dirty = _marked_dirty(ctx)
    given = [output for output in outputs if isinstance(output, Variable)]
    shapes: list[Any] = []
    dtypes: list[Any] = []
    differentiable_outputs = 0
    for output_nr, output in enumerate(outputs):
        if not isinstance(output, Variable):
            shapes.append(None)
            dtypes.append(None)
            continue
        shapes.append(output._array.shape)
        dtypes.append(output._array.dtype)
        is_input, is_dirty = _among(output, inputs), _among(output, dirty)
        differentiable = recording and output._array.dtype.kind in "fcO"
        differentiable = differentiable and not _among(output, not_differentiable)
        if is_input and not is_dirty and (differentiable or not output.requires_grad):
            if in_setup and _among(output, saved):
                _refuse_saved_input()
            with no_grad():
                output = output.view_as(output)
        if not differentiable:
            output = _without_gradient(output, is_input) if output.requires_grad else output
        elif is_dirty:
            _change_history(output, ctx, output_nr, is_input, len(outputs))
        else:
            _set_edge(output, ctx, output_nr)
        differentiable_outputs += differentiable
        if output._view is not None and not (is_input and is_dirty):
            output._view.origin = "one"
        outputs[output_nr] = output
    if differentiable_outputs > 1:
        for output in outputs:
            if isinstance(output, Variable) and output._view is not None:
                output._view.origin = "several"
    if not all(_among(tensor, given) for tensor in dirty):
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. "
            "The inputs that are modified inplace must all be outputs of the Function."
        )
    ctx.shape, ctx.dtype = tuple(shapes), tuple(dtypes)
    ctx.saved_for_forward = None


def _among(tensor: Any, tensors: Sequence[Any]) -> bool:
    return any(tensor is other for other in tensors)


def _tensors_to_save(ctx: FunctionNode, recording: bool) -> list[Any]:
    for position, tensor in enumerate(ctx._to_save):
        if recording and tensor is not None and not isinstance(tensor, Variable):
            raise TypeError(
                f"save_for_backward can only save variables, but argument {position} is of "
                f"type {type_name(tensor)}. Keep other things as attributes of ctx."
            )
    return [*ctx._to_save, *(ctx.saved_for_forward or ())]


def _marked_not_differentiable(ctx: FunctionNode) -> Sequence[Any]:
    marked, ctx.non_differentiable = ctx.non_differentiable or (), None
    for tensor in marked:
        if not isinstance(tensor, Variable):
            raise RuntimeError(
                "mark_non_differentiable only accepts variable arguments, but got "
                f"{type_name(tensor)}"
            )
    return marked


def _marked_dirty(ctx: FunctionNode) -> Sequence[Any]:
    marked, ctx.dirty_tensors = ctx.dirty_tensors or (), None
    for position, tensor in enumerate(marked):
        if not isinstance(tensor, Variable):
            raise RuntimeError(
                f"mark_dirty can only accept variables, but argument {position} is of type "
                f"{type_name(tensor)}"
            )
        tensor._bump_version()
    return marked


def _refuse_saved_input() -> None:
    raise RuntimeError(
        "An input that has been returned as-is as output is being saved for backward. This is not "
        "supported if you override setup_context. You should return and save a view of the input "
        "instead, e.g. with x.view_as(x) or setup ctx inside the forward function itself."
    )


def _set_edge(output: Any, ctx: FunctionNode, output_nr: int) -> None:
    output._edge = (ctx, output_nr)
    if output._view is not None:
        output._view.stale, output._view.edge = False, None


def _without_gradient(output: Any, is_input: bool) -> Any:
    """Let an output that is not differentiable require no gradient."""
    if is_input:
        return output.detach()
    # A view of an input says that it requires a gradient, as one made under no_grad does.
    return output.detach_() if output._view is None else output


def _change_history(
    tensor: Any, ctx: FunctionNode, output_nr: int, is_input: bool, count: int
) -> None:
    """Make the node the history of an input that forward changed in place."""
    if tensor.requires_grad and tensor.is_leaf:
        raise RuntimeError(
            "a leaf Variable that requires grad has been used in an in-place operation."
        )
    if not is_input:
        warnings.warn(
            "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that "
            "have been mutated should be passed to ctx.mark_dirty().",
            UserWarning,
            stacklevel=4,
        )
    if tensor._view is not None and count > 1:
        raise RuntimeError(
            "If your Function modifies inplace an input that is a view of another Tensor, your "
            "Function cannot return more than one Tensor. This is not supported by the current "
            "autograd engine. You should either make sure the input is not a view (using .clone() "
            "for example) or make your Function only return one Tensor (potentially splitting it "
            "into two Functions: one doing the inplace that returns a single Tensor and a second "
            "one that does the other operations). You can ask on the forum "
            "https://discuss.pytorch.org/ if you need help to do this change."
        )
    tensor._grad = None
    rebase_history(tensor, ctx, output_nr)
