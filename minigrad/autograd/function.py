"""Write an operation of your own: subclass `Function`, give it `forward` and `backward`.

What `ctx` offers in the two is in `FunctionCtx`; it is the function's node in the graph as well.
`place_outputs` makes what forward returned the results of that node.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ClassVar

import numpy as np

from minigrad.autograd.custom_nodes import NoDerivative, lead_back, unpacked
from minigrad.autograd.grad_mode import no_grad
from minigrad.autograd.messages import RELEASED, can_require_grad, refuse_complex, type_name, warn
from minigrad.autograd.saved_hooks import gradient_edge, raw_saved
from minigrad.autograd.views import rebase_history
from minigrad.core.engine import resolve_edge
from minigrad.core.modes import is_grad_enabled, modes, notify
from minigrad.core.node import NO_EDGE, Node, next_priority, sum_to_shape
from minigrad.core.tensor import SavedTensor, Tensor, make_view, wrap_as_normal

__all__ = ["Function", "FunctionCtx", "FunctionMeta", "once_differentiable"]


# ------------------------------------------------------------------ the node is the ctx


class FunctionCtx:
    """What a custom `Function` may say about its tensors, through `ctx`.

    Attributes:
        needs_input_grad: For each argument of forward whether it needs a gradient.
        dirty_tensors: What `mark_dirty` was given, until forward is over.
        non_differentiable: What `mark_non_differentiable` was given, until forward is over.
    """

    needs_input_grad: tuple[bool, ...] | None = None
    dirty_tensors: tuple[Any, ...] | None = None
    non_differentiable: tuple[Any, ...] | None = None
    _to_save: tuple[Any, ...] = ()
    _materialize = True

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

    def set_materialize_grads(self, value: bool) -> None:
        """Choose whether missing gradients arrive in backward as zeros (the default) or None."""
        self._materialize = bool(value)


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

    def __init__(self) -> None:
        self._saved = ()
        self._hooks = None
        self._edges = ()

    def __call__(self, *gradients: Any) -> Any:
        """Refuse: the node of a custom function is not called, its `apply` is."""
        raise TypeError(f"'{type(self).__name__}' object is not callable. It has apply(*gradients)")

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{type(self).__name__} object at {id(self):#x}>"

    # ------------------------------------------------------------------ what forward saved

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors that forward saved.

        Raises:
            RuntimeError: If they were released, or changed in place since.
        """
        if self._saved is None:
            raise RuntimeError(RELEASED)
        saved = enumerate(self._saved)
        return tuple(None if each is None else unpacked(self, n, each) for n, each in saved)

    @property
    def _raw_saved_tensors(self) -> tuple[Any, ...]:
        """Handles on the saved tensors, which take hooks."""
        if self._saved is None:
            raise RuntimeError(RELEASED)
        return tuple(raw_saved(self, index) for index in range(len(self._saved)))

    def _result_nr(self, index: int) -> int:
        """Tell which output of the function a saved tensor is."""
        return self._outputs_saved[index] or 0

    # ------------------------------------------------------------------ what the engine calls

    def _run(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Call the function's backward with arrays put into tensors."""
        gradients = [None if g is None else wrap_as_normal(g) for g in gradient]
        results = self._run_recorded(gradients, keep)
        return [None if result is None else result._array for result in results]

    def _run_recorded(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Call the function's backward; what it does is recorded."""
        gradients = list(gradient)
        for position, each in enumerate(gradients if self._materialize else ()):
            if each is None and self._shape[position] is not None:
                shape, dtype = self._shape[position], self._dtype[position]
                gradients[position] = wrap_as_normal(np.zeros(shape, dtype))
        results = self.apply(*gradients)
        checked = self._checked(results if isinstance(results, tuple) else (results,))
        if not keep:
            self._saved = None
        return checked

    def apply(self, *args: Any) -> Any:
        """Call the backward that the function's class defines, with `self` as its `ctx`."""
        kind = self._forward_cls
        return (kind.backward if kind.vjp is Function.vjp else kind.vjp)(self, *args)

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
                index = len(checked)
                unused = result is None or self.next_functions[index][0] is None
                checked.append(result if unused else self._fitted(result, slot, index))
            elif result is not None:
                raise RuntimeError(
                    f"function {name} returned a gradient different than None at position "
                    f"{position + 1}, but the corresponding forward input was not a Variable"
                )
        return checked

    def _fitted(self, result: Any, slot: tuple[Any, Any], index: int) -> Any:
        (shape, dtype), given = slot, result._array.shape
        if given != shape:
            sizes = zip(reversed(given), reversed(shape), strict=False)
            if len(given) < len(shape) or any(size not in (1, other) for other, size in sizes):
                raise RuntimeError(
                    f"Function {type(self).__name__} returned an invalid gradient at index "
                    f"{index} - got {list(given)} but expected shape compatible with {list(shape)}"
                )
            result = sum_to_shape(result, shape)
        refuse_complex(result._array.dtype)
        return result if result._array.dtype == dtype else result._to_numpy_dtype(dtype)

    # ------------------------------------------------------------------ setting up

    def _record_inputs(self, arguments: Sequence[Any]) -> None:
        self._edges = tuple(gradient_edge(each) for each in arguments if isinstance(each, Tensor))
        self._tensor_slots = [
            (each._array.shape, each._array.dtype) if isinstance(each, Tensor) else None
            for each in arguments
        ]
        self._priority = next_priority()

    def _record_saved(self, outputs: Sequence[Any]) -> None:
        # Let go of them at once: if a pack hook raises, node and result would hold each other.
        to_save, self._to_save = self._to_save, ()
        numbers = {id(output): number for number, output in enumerate(outputs)}
        self._outputs_saved = [numbers.get(id(tensor)) for tensor in to_save]
        # the node must not hold its own result: they would keep each other alive
        self._saved = tuple(
            None
            if tensor is None
            else SavedTensor(tensor, is_result=number is not None and tensor._has_node())
            for tensor, number in zip(to_save, self._outputs_saved, strict=True)
        )
        notify(self, *outputs)


# ------------------------------------------------------------------ what forward returned


def place_outputs(
    ctx: FunctionNode, inputs: Sequence[Any], outputs: list[Any], *, recording: bool, in_setup: bool
) -> None:
    """Give each output its edge in the graph, in the list itself.

    An input returned as it is becomes a view of that input, so that the function can be its
    `grad_fn`; an input marked as dirty gets the function as its new history instead.

    Args:
        ctx: The node.
        inputs: The arguments of forward.
        outputs: What forward returned.
        recording: Whether the node is part of a graph.
        in_setup: Whether `setup_context` said what is saved, rather than forward.

    Raises:
        TypeError: If something is saved that isn't a tensor.
        RuntimeError: If marks and outputs contradict each other.
        NotImplementedError: If an output that would require a gradient is complex.
    """
    saved = ctx._to_save
    if recording:
        _check_tensors(saved, TypeError, _NOT_SAVED, (Tensor, type(None)))
    not_differentiable, dirty = ctx.non_differentiable or (), ctx.dirty_tensors or ()
    ctx.non_differentiable = ctx.dirty_tensors = None
    _check_tensors(not_differentiable, RuntimeError, _NOT_MARKED)
    _check_tensors(dirty, RuntimeError, _NOT_DIRTY)
    for tensor in dirty:
        tensor._bump_version()
    input_ids, dirty_ids, returned_ids = (set(map(id, each)) for each in (inputs, dirty, outputs))
    arrays = [getattr(output, "_array", None) for output in outputs]
    ctx._shape = tuple(None if array is None else array.shape for array in arrays)
    ctx._dtype = tuple(None if array is None else array.dtype for array in arrays)
    views: list[tuple[Any, Any]] = []
    differentiable_outputs = 0
    for output_nr, output in enumerate(outputs):
        if not isinstance(output, Tensor):
            continue
        array = output._array
        is_input = id(output) in input_ids
        is_dirty = id(output) in dirty_ids
        differentiable = (
            recording
            and id(output) not in map(id, not_differentiable)
            and (array.dtype.kind == "f" or can_require_grad(array.dtype))
        )
        if is_input and not is_dirty and (differentiable or not output.requires_grad):
            if in_setup and id(output) in map(id, saved):
                raise RuntimeError(_SAVED_INPUT)
            source, output = output, wrap_as_normal(array)  # a tensor of its own: a view
            make_view(output, source)
        if not differentiable:
            if output.requires_grad and is_input:
                output = output.detach()
            elif output.requires_grad and output._view is None:
                output.detach_()  # a view of an input requires a gradient, as under no_grad
        elif is_dirty:
            _change_history(output, ctx, output_nr, inputs, len(outputs))
        else:
            output._edge = (ctx, output_nr)
        differentiable_outputs += differentiable
        view = output._view
        if view is not None and not (is_input and is_dirty):
            view.origin = "one"
            if differentiable:
                views.append((output, output._edge))
        outputs[output_nr] = output
    for output, edge in views:  # their edge is up to date, whatever was changed in place
        output._edge, output._view.stale, output._view.edge = edge, False, None
    if differentiable_outputs > 1:
        for output in outputs:
            if isinstance(output, Tensor) and output._view is not None:
                output._view.origin = "several"
    if not dirty_ids <= returned_ids:
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. "
            "The inputs that are modified inplace must all be outputs of the Function."
        )


def _check_tensors(
    given: Sequence[Any], error: type[Exception], words: str, kinds: Any = Tensor
) -> None:
    """Raise if one of the things that forward gave to `ctx` is no tensor."""
    for position, tensor in enumerate(given):
        if not isinstance(tensor, kinds):
            raise error(words.format(position, type_name(tensor)))


_NOT_SAVED = (
    "save_for_backward can only save variables, but argument {} is of type {}. Keep other things "
    "as attributes of ctx."
)
_NOT_MARKED = "mark_non_differentiable only accepts variable arguments, but got {1}"
_NOT_DIRTY = "mark_dirty can only accept variables, but argument {} is of type {}"
_SAVED_INPUT = (
    "An input that has been returned as-is as output is being saved for backward. This is not "
    "supported if you override setup_context. You should return and save a view of the input "
    "instead, e.g. with x.view_as(x) or setup ctx inside the forward function itself."
)


def _change_history(
    tensor: Any, ctx: FunctionNode, output_nr: int, inputs: Sequence[Any], count: int
) -> None:
    """Make the node the history of an input that forward changed in place."""
    if tensor.requires_grad and not tensor._has_node():
        raise RuntimeError(
            "a leaf Variable that requires grad has been used in an in-place operation."
        )
    if id(tensor) not in map(id, inputs):
        text = (
            "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that "
            "have been mutated should be passed to ctx.mark_dirty()."
        )
        if tensor._view is not None:
            raise RuntimeError(text)
        warn(text)
    if tensor._view is not None and next(t for t in inputs if isinstance(t, Tensor)) is not tensor:
        raise RuntimeError(
            f"{type(ctx).__name__}: forward changed a view in place (mark_dirty), and that view is "
            "not its first tensor argument. The gradients would go to the wrong inputs. Make it "
            "the first argument, or change a clone() of it."
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


# ------------------------------------------------------------------ the class to subclass


class FunctionMeta(type):
    """The class of `Function` classes: it makes for each the class of its nodes."""

    _backward_cls: type[FunctionNode]

    def __init__(cls, name: str, bases: tuple[type, ...], attributes: dict[str, Any]) -> None:
        """Make the class of the function's nodes, `<name>Backward`."""
        super().__init__(name, bases, attributes)
        members = {"_forward_cls": cls, "__module__": cls.__module__}
        cls._backward_cls = type(f"{name}Backward", (FunctionNode,), members)


class Function(FunctionCtx, metaclass=FunctionMeta):
    """An operation with a backward rule of its own.

    Subclass it and define two static methods: `forward(ctx, *args)`, which computes with tensors
    and is not recorded, and `backward(ctx, *grad_outputs)`, which gives one gradient for each
    argument of forward. Call it through `apply`. Alternatively `forward(*args)` does without
    `ctx`, and `setup_context(ctx, inputs, output)` keeps what backward needs.

    Example:
        >>> import minigrad as torch
        >>> class Cube(torch.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x * x * x
        ...
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         (x,) = ctx.saved_tensors
        ...         return grad * 3 * x * x
        >>> x = torch.tensor([2.0], requires_grad=True)
        >>> y = Cube.apply(x)
        >>> y
        tensor([8.], grad_fn=<CubeBackward>)
        >>> y.backward()
        >>> x.grad
        tensor([12.])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself. Instantiating an autograd "
            "function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse to be called through an instance."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use "
            "new-style autograd function with static forward method. "
            "(Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result; define this in the subclass."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Keep what backward needs, if `forward` has no `ctx`."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Give the gradients of the inputs; define this, or `vjp`, in the subclass."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    vjp = backward

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward, and record the function if an input requires a gradient.

        Args:
            *args: The arguments of forward (without `ctx`).
            **kwargs: Arguments of forward by name; backward counts them by position.

        Returns:
            What forward returned: a tensor or a tuple. An input that is returned as it is
            becomes a view, so that the function is its `grad_fn`.

        Raises:
            TypeError: If forward does not take these arguments.
            RuntimeError: If what forward said to `ctx` does not fit what it returned.
        """
        in_setup = cls.setup_context is not Function.setup_context
        if in_setup or kwargs:
            given = args if in_setup else (None, *args)
            bound = inspect.signature(cls.forward).bind(*given, **kwargs)
            if in_setup:
                bound.apply_defaults()
            args, kwargs = bound.args[not in_setup :], bound.kwargs
        if kwargs:  # there is one gradient for each position
            name = next(iter(kwargs))
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        ctx = cls._backward_cls()
        ctx.needs_input_grad = tuple(isinstance(x, Tensor) and x.requires_grad for x in args)
        recording = any(ctx.needs_input_grad) and is_grad_enabled()
        if recording:
            ctx._record_inputs(args)
        recording_outside, asked = modes.recording, modes.asked
        modes.set_recording(False)
        try:
            if in_setup:
                returned = cls.forward(*args)
                cls.setup_context(ctx, args, returned)
            else:
                returned = cls.forward(ctx, *args)
        finally:
            modes.recording, modes.asked = recording_outside, asked
        several = isinstance(returned, tuple)
        outputs = list(returned) if several else [returned]
        place_outputs(ctx, args, outputs, recording=recording, in_setup=in_setup)
        if recording:
            ctx._record_saved(outputs)
        return tuple(outputs) if several else outputs[0]


class Error(NoDerivative):
    """A node that refuses to run: where it stands, the chain rule ends."""

    __slots__ = ()

    _multiple = True
    _refusal = (
        "trying to differentiate twice a function that was marked with @once_differentiable. "
        "Its backward is not recorded; without the mark it may use tensor operations only, "
        "and is."
    )


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Let the backward of a `Function` compute outside of the graph.

    For a backward that uses NumPy, or otherwise could not be differentiated itself. Its results
    are numbers; a second derivative through them raises instead of being silently wrong.

    Args:
        fn: The method `backward(ctx, *grad_outputs)`.

    Returns:
        A backward that runs with grad mode off. Where the pass is recorded, what it gives has a
        node `Error` as its `grad_fn`.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.autograd.function import once_differentiable
        >>> class Square(torch.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x * x
        ...
        ...     @staticmethod
        ...     @once_differentiable
        ...     def backward(ctx, grad):
        ...         (x,) = ctx.saved_tensors
        ...         return torch.tensor(2 * grad.numpy() * x.detach().numpy())
        >>> x = torch.tensor([3.0], requires_grad=True)
        >>> Square.apply(x).backward()
        >>> x.grad
        tensor([6.])
    """

    @wraps(fn)
    def wrapper(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with no_grad():
            outputs = fn(ctx, *args, **kwargs)
        if not modes.recording:
            return outputs
        # Whether fn used tensors that require a gradient is not known; its arguments must do.
        if not any(isinstance(arg, Tensor) and arg.requires_grad for arg in args):
            return outputs
        results = outputs if isinstance(outputs, tuple) else (outputs,)
        leaves = [None if each is None else each.detach().requires_grad_() for each in results]
        node = Error()
        node._set_up([NO_EDGE if leaf is None else resolve_edge(leaf) for leaf in leaves])
        guarded = [leaf if leaf is None else leaf.detach() for leaf in leaves]
        blank = wrap_as_normal(np.empty(0))  # None is an output of the node, too
        lead_back(node, [blank if each is None else each for each in guarded])
        return tuple(guarded) if isinstance(outputs, tuple) else guarded[0]

    return wrapper
