"""The node that a custom `Function` leaves in the graph; it is also the `ctx` of its methods.

What `ctx` offers in `forward` and `backward` is in `FunctionCtx`. `place_outputs` makes what
forward returned the results of the node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from minigrad.autograd.custom_nodes import unpacked
from minigrad.autograd.messages import RELEASED, can_require_grad, type_name, warn
from minigrad.autograd.saved_names import raw_saved
from minigrad.autograd.views import rebase_history
from minigrad.core.engine import resolve_edge
from minigrad.core.modes import notify
from minigrad.core.node import NO_EDGE, Edge, Node, next_priority, sum_to_shape
from minigrad.core.tensor import SavedTensor, Tensor, make_view, wrap_as_normal


class FunctionCtx:
    """What a custom `Function` may say about its tensors, through `ctx`.

    Attributes:
        needs_input_grad: For each argument of forward whether it needs a gradient.
        to_save: What `save_for_backward` was given, until forward is over.
        dirty_tensors: What `mark_dirty` was given, until forward is over.
        non_differentiable: What `mark_non_differentiable` was given, until forward is over.
    """

    needs_input_grad: tuple[bool, ...] | None = None
    saved_for_forward: tuple[Any, ...] | None = None
    dirty_tensors: tuple[Any, ...] | None = None
    non_differentiable: tuple[Any, ...] | None = None
    _to_save: tuple[Any, ...] = ()
    _materialize = True
    _materialize_all = True

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors for backward, where `ctx.saved_tensors` gives them.

        What is no tensor is kept as an attribute: `ctx.factor = factor`. A second call replaces
        what the first one kept.

        Args:
            *tensors: Inputs, outputs or others; None is allowed.

        Raises:
            TypeError: When forward is over, if one of them is neither a tensor nor None.
        """
        self._to_save = tensors

    @property
    def to_save(self) -> tuple[Any, ...] | None:
        """What waits for the end of forward to be saved; None if nothing does."""
        return self._to_save or None

    @to_save.setter
    def to_save(self, tensors: tuple[Any, ...] | None) -> None:
        self._to_save = tensors or ()

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for `jvp`. It is here so that code with a `jvp` runs; nothing calls `jvp`.

        Raises:
            AssertionError: If an argument is neither a tensor nor None.
        """
        for tensor in tensors:
            if not (isinstance(tensor, Tensor) or tensor is None):
                raise AssertionError(
                    "save_for_forward expects all arguments to be tensors; you should save "
                    "non-tensors as attributes on ctx."
                )
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Say which inputs forward changed in place; forward must return them as well.

        Raises:
            RuntimeError: When forward is over, if one of them is no tensor, was not returned, or
                must not be changed (a leaf that requires a gradient).
        """
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Say which outputs have no gradient: they will not require one.

        Raises:
            RuntimeError: When forward is over, if one of them is no tensor.
        """
        self.non_differentiable = args

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Do nothing, with a warning: tensors that share memory are known without it."""
        warn(
            "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically "
            "tracked. Note that calls to `set_()` are not tracked",
            FutureWarning,
        )

    def set_materialize_grads(self, value: bool) -> None:
        """Choose whether missing gradients arrive in backward as zeros (the default) or None.

        Raises:
            TypeError: If `value` is no bool.
        """
        self._materialize = _flag("set_materialize_grads", value)

    materialize_grads = property(None, set_materialize_grads)

    def _set_materialize_non_diff_grads(self, value: bool) -> None:
        """Choose whether also outputs that have no gradient get zeros (the default) or None."""
        self._materialize_all = _flag("set_materialize_non_diff_grads", value)

    _materialize_non_diff_grads = property(None, _set_materialize_non_diff_grads)


def _flag(method: str, value: bool) -> bool:
    if isinstance(value, bool):
        return value
    raise TypeError(
        f"{method} received an invalid combination of arguments - got (), but expected (bool). "
        f"Got {value!r}."
    )


class FunctionNode(Node, FunctionCtx):
    """The node of a custom `Function`. PyTorch calls it `BackwardCFunction`.

    Attributes that forward sets on `ctx` are attributes of `grad_fn`.
    """

    _forward_cls: ClassVar[Any]
    _multiple = True
    _broadcast = None
    _runs_without_gradient = True
    _computes = "always"
    _keeps_tensors = True
    _takes_detached = True

    requires_grad = True
    _outputs_saved: Sequence[int | None] = ()
    _cleared_on_access = False
    _without_zeros: Sequence[int] = ()  # outputs for which None stays None
    _changed_first = True  # whether the view that forward changed in place came first

    def __init__(self) -> None:
        self._saved = ()
        self._hooks = None
        self._edges = ()

    def __call__(self, *gradients: Any) -> Any:
        """Refuse: the node of a custom function is not called, its `apply` is."""
        raise TypeError(
            f"'{type(self).__name__}' object is not callable. Its method apply(*gradients) runs "
            "the backward that the Function defines."
        )

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{type(self).__name__} object at {id(self):#x}>"

    # ------------------------------------------------------------------ what forward saved

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors that forward saved.

        Raises:
            RuntimeError: If they were released, or changed in place since; or if the class says
                `clear_saved_tensors_on_access = True` and they were asked for before.
        """
        if self.saved_for_forward is not None:
            return self.saved_for_forward
        if self._cleared_on_access:
            raise RuntimeError(
                "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True "
                "is set on the autograd.Function. Either access saved_tensors only once, or set "
                "clear_saved_tensors_on_access=False."
            )
        if self._saved is None:
            raise RuntimeError(RELEASED)
        places = enumerate(self._saved)
        tensors = tuple(None if each is None else unpacked(self, n, each) for n, each in places)
        if self._forward_cls.clear_saved_tensors_on_access:
            self._saved, self._cleared_on_access = (), True
        return tensors

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """The same as `saved_tensors`, with a warning: it is the old name."""
        warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple[Any, ...]:
        """Handles on the saved tensors, which take hooks."""
        if self._saved is None:
            raise RuntimeError(RELEASED)
        return tuple(raw_saved(self, place) for place in range(len(self._saved)))

    def _result_nr(self, place: int) -> int:
        """Tell which output of the function the tensor is that was saved at a place."""
        return self._outputs_saved[place] or 0

    # ------------------------------------------------------------------ what the engine calls

    def _run(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Call the function's backward with arrays put into tensors."""
        if gradient.__class__ is not list:
            gradient = self._of_changed_view(gradient)
        gradients = [None if g is None else wrap_as_normal(g) for g in gradient]
        results = self._run_recorded(gradients, keep)
        return [None if result is None else result._array for result in results]

    def _run_recorded(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Call the function's backward; what it does is recorded."""
        if gradient.__class__ is not list:
            gradient = self._of_changed_view(gradient)
        results = self._call_backward(list(gradient))
        if not keep:
            self._saved = None
        return results

    def _of_changed_view(self, gradient: Any) -> list[Any]:
        """Take the gradient of a view that forward changed in place, from `CopySlices`.

        That node gives the first gradient that backward returns to the view's place in its base.
        """
        if not self._changed_first:
            raise RuntimeError(
                f"{type(self).__name__}: forward changed a view in place (mark_dirty), and that "
                "view is not its first tensor argument. The gradients would go to the wrong "
                "inputs. Make it the first argument, or change a clone() of it."
            )
        return [gradient]

    def apply(self, *args: Any) -> Any:
        """Call the backward that the function's class defines, with `self` as its `ctx`."""
        rule = self._forward_cls._rule()
        return rule(self, list(args)) if self._forward_cls.boxed_grads_call else rule(self, *args)

    def _call_backward(self, gradients: list[Any]) -> list[Any]:
        if self._materialize:
            for position, gradient in enumerate(gradients):
                if gradient is None and self._shape[position] is not None:
                    if position in self._without_zeros:
                        continue
                    shape, dtype = self._shape[position], self._dtype[position]
                    gradients[position] = wrap_as_normal(np.zeros(shape, dtype))
        results = self.apply(*gradients)
        return self._checked(results if isinstance(results, tuple) else (results,))

    def _checked(self, results: tuple[Any, ...]) -> list[Any]:
        """Check the gradients that backward gave, one for each argument of forward."""
        name, expected = type(self).__name__, len(self._tensor_slots)
        if len(results) > expected and all(result is None for result in results[expected:]):
            results = results[:expected]
        if len(results) != expected:
            raise RuntimeError(
                f"function {name} returned an incorrect number of gradients (expected {expected}, "
                f"got {len(results)}). backward returns one for each argument of forward; None "
                "for those without a gradient."
            )
        checked: list[Any] = []
        for position, (result, slot) in enumerate(zip(results, self._tensor_slots, strict=True)):
            if slot is not None:
                if result is not None and not isinstance(result, Tensor):
                    raise RuntimeError(f"expected Variable or None (got {type_name(result)})")
                checked.append(result)
            elif result is not None:
                raise RuntimeError(
                    f"function {name} returned a gradient different than None at position "
                    f"{position + 1}, but the corresponding forward input was not a Variable"
                )
        slots = [slot for slot in self._tensor_slots if slot is not None]
        for index, (result, edge) in enumerate(zip(checked, self.next_functions, strict=True)):
            if result is not None and edge[0] is not None:  # others are dropped as they are
                checked[index] = self._fitted(result, slots[index], index)
        return checked

    def _fitted(self, result: Any, slot: tuple[Any, Any], index: int) -> Any:
        shape, dtype = slot
        if result._array.shape != shape:
            try:
                fits = np.broadcast_shapes(result._array.shape, shape) == result._array.shape
            except ValueError:
                fits = False
            if not fits:
                raise RuntimeError(
                    f"Function {type(self).__name__} returned an invalid gradient at index "
                    f"{index} - got {list(result._array.shape)} but expected shape compatible "
                    f"with {list(shape)}"
                )
            result = sum_to_shape(result, shape)
        if result._array.dtype == dtype:
            return result
        if result._array.dtype.kind == "c":
            raise RuntimeError(
                "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == "
                "grad_is_complex) to be true, but got false. Function "
                f"{type(self).__name__} returned a complex gradient at index {index} for a real "
                "input."
            )
        return result._to_numpy_dtype(dtype)

    # ------------------------------------------------------------------ setting up

    def _record_inputs(self, arguments: Sequence[Any]) -> None:
        edges: list[Edge] = []
        slots: list[Any] = []
        for argument in arguments:
            if isinstance(argument, Tensor):
                needs = argument.requires_grad
                edges.append(argument._edge or resolve_edge(argument) if needs else NO_EDGE)
                slots.append((argument._array.shape, argument._array.dtype))
            else:
                slots.append(None)
        self._edges = tuple(edges)
        self._tensor_slots = slots
        self._priority = next_priority()

    def _record_saved(self, outputs: Sequence[Any]) -> None:
        saved: list[SavedTensor | None] = []
        numbers: list[int | None] = []
        # Let go of them at once: if a pack hook raises, node and result would hold each other.
        to_save, self._to_save = self._to_save, ()
        for tensor in to_save:
            places = [place for place, output in enumerate(outputs) if output is tensor]
            numbers.append(places[-1] if places else None)  # the last, if it was returned twice
            # the node must not hold its own result: they would keep each other alive
            own = tensor is not None and bool(places) and tensor._has_node()
            saved.append(None if tensor is None else SavedTensor(tensor, is_result=own))
        self._saved = tuple(saved)
        self._outputs_saved = numbers
        notify(self, *outputs)


# ------------------------------------------------------------------ what forward returned


def place_outputs(
    ctx: FunctionNode, inputs: Sequence[Any], outputs: list[Any], *, recording: bool, in_setup: bool
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
    not_differentiable = dirty = _NOTHING
    if ctx.non_differentiable is not None:
        not_differentiable = _marked(ctx, "non_differentiable", _NOT_MARKED)
    if ctx.dirty_tensors is not None:
        dirty = _marked(ctx, "dirty_tensors", _NOT_DIRTY)
        for tensor in dirty:
            tensor._bump_version()
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
                raise RuntimeError(_SAVED_INPUT)
            source, output = output, wrap_as_normal(array)  # a face of its own: a view
            make_view(output, source)
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


def _marked(ctx: FunctionNode, how: str, wrong: str) -> Sequence[Any]:
    """Take the tensors that `forward` marked; raise if one of them is none."""
    marked = getattr(ctx, how) or ()
    setattr(ctx, how, None)
    for position, tensor in enumerate(marked):
        if not isinstance(tensor, Tensor):
            raise RuntimeError(f"{wrong.format(position)} {type_name(tensor)}")
    return marked


_NOT_MARKED = "mark_non_differentiable only accepts variable arguments, but got"
_NOT_DIRTY = "mark_dirty can only accept variables, but argument {} is of type"
_SAVED_INPUT = (
    "An input that has been returned as-is as output is being saved for backward. This is not "
    "supported if you override setup_context. You should return and save a view of the input "
    "instead, e.g. with x.view_as(x) or setup ctx inside the forward function itself."
)


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
        warn(text)
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
