"""Make what a custom function's forward returned the results of its node."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from minigrad.autograd.function_node import FunctionNode
from minigrad.autograd.messages import can_require_grad, type_name
from minigrad.autograd.views import mark_views_stale, rebase_history
from minigrad.core.tensor import Tensor, make_view, wrap_as_normal


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
        NotImplementedError: If an output that would require a gradient is complex.
    """
    saved = _tensors_to_save(ctx, recording)
    not_differentiable = _NOTHING if ctx.non_differentiable is None else _undifferentiable(ctx)
    dirty = _NOTHING if ctx.dirty_tensors is None else _changed_in_place(ctx)
    given = list(outputs) if dirty else _NOTHING
    places = {id(tensor) for tensor in inputs}
    shapes: list[Any] = []
    dtypes: list[Any] = []
    views: list[tuple[Any, Any]] = []
    differentiable_outputs = 0
    for output_nr, output in enumerate(outputs):
        if not isinstance(output, Tensor):
            shapes.append(None)
            dtypes.append(None)
            continue
        array = output._array
        shapes.append(array.shape)
        dtypes.append(array.dtype)
        is_input = id(output) in places
        is_dirty = bool(dirty) and _among(output, dirty)
        differentiable = (
            recording
            and not (not_differentiable and _among(output, not_differentiable))
            and (array.dtype.kind == "f" or can_require_grad(array.dtype))
        )
        if is_input and not is_dirty and (differentiable or not output.requires_grad):
            if in_setup and _among(output, saved):
                _refuse_saved_input()
            output = _as_a_view(output)
        if not differentiable:
            output = _without_gradient(output, is_input) if output.requires_grad else output
        elif is_dirty:
            _change_history(output, ctx, output_nr, inputs, len(outputs))
        else:
            output._edge = (ctx, output_nr)
        differentiable_outputs += differentiable
        if not differentiable and not ctx._materialize_all:
            ctx._without_zeros = (*ctx._without_zeros, output_nr)
        view = output._view
        if view is not None and not (is_input and is_dirty):
            view.origin = "one"
            if differentiable:
                views.append((output, output._edge))
        outputs[output_nr] = output
    for output, edge in views:  # their place is up to date, whatever was changed in place
        output._edge, output._view.stale, output._view.edge = edge, False, None
    if differentiable_outputs > 1:
        for output in outputs:
            if isinstance(output, Tensor) and output._view is not None:
                output._view.origin = "several"
    if not all(_among(tensor, given) for tensor in dirty):
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. "
            "The inputs that are modified inplace must all be outputs of the Function."
        )
    ctx._shape, ctx._dtype = tuple(shapes), tuple(dtypes)
    if ctx.saved_for_forward is not None:
        ctx.saved_for_forward = None


_NOTHING: Sequence[Any] = ()


def _among(tensor: Any, tensors: Sequence[Any]) -> bool:
    return any(tensor is other for other in tensors)


def _tensors_to_save(ctx: FunctionNode, recording: bool) -> Sequence[Any]:
    for position, tensor in enumerate(ctx._to_save):
        if recording and tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"save_for_backward can only save variables, but argument {position} is of "
                f"type {type_name(tensor)}. Keep other things as attributes of ctx."
            )
    return ctx._to_save + (ctx.saved_for_forward or ())


def _undifferentiable(ctx: FunctionNode) -> Sequence[Any]:
    marked, ctx.non_differentiable = ctx.non_differentiable or (), None
    for tensor in marked:
        if not isinstance(tensor, Tensor):
            raise RuntimeError(
                "mark_non_differentiable only accepts variable arguments, but got "
                f"{type_name(tensor)}"
            )
    return marked


def _changed_in_place(ctx: FunctionNode) -> Sequence[Any]:
    marked, ctx.dirty_tensors = ctx.dirty_tensors or (), None
    for position, tensor in enumerate(marked):
        if not isinstance(tensor, Tensor):
            raise RuntimeError(
                f"mark_dirty can only accept variables, but argument {position} is of type "
                f"{type_name(tensor)}"
            )
        tensor._bump_version()
        mark_views_stale(tensor)
    return marked


def _refuse_saved_input() -> None:
    raise RuntimeError(
        "An input that has been returned as-is as output is being saved for backward. This is not "
        "supported if you override setup_context. You should return and save a view of the input "
        "instead, e.g. with x.view_as(x) or setup ctx inside the forward function itself."
    )


def _as_a_view(source: Any) -> Any:
    """Give an input that forward returned as it is a face of its own: another tensor, a view."""
    view = wrap_as_normal(source._array)
    make_view(view, source, _same)
    return view


def _same(base: Any) -> Any:
    return base.view_as(base) if isinstance(base, Tensor) else base[...]


def _without_gradient(output: Any, is_input: bool) -> Any:
    """Let an output that is not differentiable require no gradient."""
    if is_input:
        return output.detach()
    # A view of an input says that it requires a gradient, as one made under no_grad does.
    return output.detach_() if output._view is None else output


def _change_history(
    tensor: Any, ctx: FunctionNode, output_nr: int, inputs: Sequence[Any], count: int
) -> None:
    """Make the node the history of an input that forward changed in place."""
    if tensor.requires_grad and not tensor._has_node():
        raise RuntimeError(
            "a leaf Variable that requires grad has been used in an in-place operation."
        )
    if not _among(tensor, inputs):
        text = (
            "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that "
            "have been mutated should be passed to ctx.mark_dirty()."
        )
        if tensor._view is not None:
            raise RuntimeError(text)
        warnings.warn(text, UserWarning, stacklevel=4)
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
    ctx._changed_first = next((t for t in inputs if isinstance(t, Tensor)), None) is tensor
    rebase_history(tensor, ctx, output_nr)
