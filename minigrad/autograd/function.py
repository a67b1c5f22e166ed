"""Write an operation of your own: subclass `Function`, give it `forward` and `backward`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from minigrad.autograd.modes import grad_mode, no_grad
from minigrad.autograd.node import NO_EDGE, Edge, Node, next_priority
from minigrad.autograd.reduce import sum_to_shape
from minigrad.autograd.saved import RELEASED, SavedTensor, counter_of, unpack_array
from minigrad.autograd.variable import Variable, resolve_edge
from minigrad.autograd.views import View, list_view, rebase_history


class FunctionNode(Node):
    """The node of a custom `Function`; it is also the `ctx` that forward and backward get.

    Attributes:
        needs_input_grad: For each argument of forward whether it needs a gradient.
    """

    function: ClassVar[type[Function]]
    multiple = True
    runs_without_gradient = True
    keeps_tensors = True

    def __init__(self) -> None:
        self.saved = ()
        self.broadcast = None
        self.hooks = None
        self.shape = ()
        self.dtype = ()
        self.next_functions = ()
        self.needs_input_grad: tuple[bool, ...] = ()
        self._to_save: tuple[Any, ...] = ()
        self._dirty: tuple[Any, ...] = ()
        self._not_differentiable: tuple[Any, ...] = ()
        self._materialize = True

    # ------------------------------------------------------------------ what forward may call

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors for backward, where `ctx.saved_tensors` gives them.

        Raises:
            TypeError: If an argument is neither a tensor nor None.
        """
        for position, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, Variable):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {position} is of "
                    f"type {type(tensor).__name__}. Keep other things as attributes of ctx."
                )
        self._to_save = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """Say which inputs forward changed in place; they must be returned as well."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Say which outputs have no gradient."""
        self._not_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Choose whether missing gradients arrive in backward as zeros (the default) or None."""
        self._materialize = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors that forward saved.

        Raises:
            RuntimeError: If they were released, or changed in place since.
        """
        if self.saved is None:
            raise RuntimeError(RELEASED)
        return tuple(None if saved is None else self._unpacked(*saved) for saved in self.saved)

    def _unpacked(self, saved: SavedTensor, output_nr: int | None) -> Any:
        array = unpack_array(saved, self)
        if saved.tensor is not None:
            return saved.tensor
        tensor = self.wrap(array)
        tensor._edge = (self, output_nr or 0)
        tensor._version_counter = saved._version_counter
        return tensor

    # ------------------------------------------------------------------ what the engine calls

    def run(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Call the function's backward with arrays put into tensors."""
        tensors = [None if g is None else self.wrap(g) for g in gradient]
        results = self._call_backward(tensors)
        if not keep:
            self.saved = None
        return [None if result is None else result._array for result in results]

    def run_recorded(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Call the function's backward; what it does is recorded."""
        results = self._call_backward(list(gradient))
        if not keep:
            self.saved = None
        return results

    def _call_backward(self, gradients: list[Any]) -> list[Any]:
        if self._materialize:
            for position, gradient in enumerate(gradients):
                if gradient is None and self.shape[position] is not None:
                    zeros = np.zeros(self.shape[position], self.dtype[position])
                    gradients[position] = self.wrap(zeros)
        results = self.function.backward(self, *gradients)
        return self._checked(results if isinstance(results, tuple) else (results,))

    def _checked(self, results: tuple[Any, ...]) -> list[Any]:
        """Check the gradients that backward gave, one for each argument of forward."""
        name, expected = type(self).__name__, len(self.needs_input_grad)
        while len(results) > expected and results[-1] is None:
            results = results[:-1]
        if len(results) != expected:
            raise RuntimeError(
                f"function {name} returned an incorrect number of gradients (expected {expected}, "
                f"got {len(results)}). backward returns one for each argument of forward; None "
                "for those without a gradient."
            )
        checked = []
        for position, (result, slot) in enumerate(zip(results, self._tensor_slots, strict=True)):
            if slot is None:
                if result is not None:
                    raise RuntimeError(
                        f"function {name} returned a gradient different than None at position "
                        f"{position + 1}, but the corresponding forward input was not a Variable"
                    )
                continue
            if result is not None and not isinstance(result, Variable):
                raise RuntimeError(f"expected Variable or None (got {type(result).__name__})")
            checked.append(None if result is None else self._fitted(result, slot, position))
        return checked

    def _fitted(self, result: Any, slot: tuple[Any, Any], position: int) -> Any:
        shape, dtype = slot
        if result._array.shape != shape:
            try:
                fits = np.broadcast_shapes(result._array.shape, shape) == result._array.shape
            except ValueError:
                fits = False
            if not fits:
                raise RuntimeError(
                    f"Function {type(self).__name__} returned an invalid gradient at index "
                    f"{position} - got {list(result._array.shape)} but expected shape compatible "
                    f"with {list(shape)}"
                )
            result = sum_to_shape(result, shape)
        return result if result._array.dtype == dtype else result._to_numpy_dtype(dtype)

    # ------------------------------------------------------------------ setting up

    def _record_inputs(self, arguments: Sequence[Any]) -> None:
        edges: list[Edge] = []
        slots: list[Any] = []
        for argument in arguments:
            if isinstance(argument, Variable):
                needs = argument.requires_grad
                edges.append(argument._edge or resolve_edge(argument) if needs else NO_EDGE)
                slots.append((argument._array.shape, argument._array.dtype))
            else:
                slots.append(None)
        self.next_functions = tuple(edges)
        self._tensor_slots = slots
        self._priority = next_priority()

    def _record_saved(self, outputs: Sequence[Any]) -> None:
        saved: list[Any] = []
        for tensor in self._to_save:
            if tensor is None:
                saved.append(None)
                continue
            output_nr = next((i for i, output in enumerate(outputs) if output is tensor), None)
            own = output_nr is not None and tensor._edge is not None and tensor._edge[0] is self
            saved.append((SavedTensor(tensor, is_result=own), output_nr))
        self.saved = tuple(saved)
        self._to_save = ()


class Function:
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

    _node: ClassVar[type[FunctionNode]] = FunctionNode

    def __init_subclass__(cls) -> None:
        """Make the class of the function's nodes, `<name>Backward`."""
        super().__init_subclass__()
        name = f"{cls.__name__}Backward"
        cls._node = type(name, (FunctionNode,), {"function": cls, "__module__": cls.__module__})

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
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Keep what backward needs, if `forward` has no `ctx`."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Give the gradients of the inputs; define this in the subclass."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run forward, and record the function if an input requires a gradient.

        Args:
            *args: The arguments of forward (without `ctx`).

        Returns:
            What forward returned: a tensor or a tuple. An input that is returned as it is
            becomes a view, so that the function is its `grad_fn`.

        Raises:
            TypeError: If forward does not take these arguments.
        """
        ctx = cls._node()
        ctx.needs_input_grad = tuple(
            isinstance(argument, Variable) and argument.requires_grad for argument in args
        )
        recording = grad_mode.enabled and any(ctx.needs_input_grad)
        if recording:
            ctx._record_inputs(args)
        else:
            ctx.next_functions = ()
        with no_grad():
            if _has_setup_context(cls):
                returned = cls.forward(*args)
                cls.setup_context(ctx, args, returned)
            else:
                returned = cls.forward(ctx, *args)
        several = isinstance(returned, tuple)
        outputs = list(returned) if several else [returned]
        _wrap_outputs(ctx, args, outputs, recording)
        if recording:
            ctx._record_saved(outputs)
        return tuple(outputs) if several else outputs[0]


def _has_setup_context(cls: type[Function]) -> bool:
    return cls.setup_context is not Function.setup_context


def _wrap_outputs(
    ctx: FunctionNode, inputs: Sequence[Any], outputs: list[Any], recording: bool
) -> None:
    """Make the outputs of forward results of the node, in the list itself."""
    views: list[Variable] = []
    shapes: list[Any] = []
    node_dtypes: list[Any] = []
    for output_nr, output in enumerate(outputs):
        if not isinstance(output, Variable):
            shapes.append(None)
            node_dtypes.append(None)
            continue
        shapes.append(output._array.shape)
        node_dtypes.append(output._array.dtype)
        differentiable = (
            recording
            and output._array.dtype.kind in "fcO"
            and not _among(output, ctx._not_differentiable)
        )
        if _among(output, ctx._dirty):
            if differentiable:
                _rebase_dirty(output, ctx, output_nr)
            continue
        if _among(output, inputs):
            if _among(output, ctx._not_differentiable):
                output = output.detach() if output.requires_grad else output  # type: ignore[attr-defined]
            else:
                output = _view_of_input(output)
            outputs[output_nr] = output
        if differentiable:
            output._edge = (ctx, output_nr)
            if output._view is not None:
                views.append(output)
    for view in views:
        assert view._view is not None
        view._view.origin = "several" if len(outputs) > 1 else "one"
        edge = view._edge
        assert edge is not None
        view._view.made_by = (type(ctx).__name__.removesuffix("Backward"), edge[1])
    ctx.shape, ctx.dtype = tuple(shapes), tuple(node_dtypes)


def _among(tensor: Any, tensors: Sequence[Any]) -> bool:
    return any(tensor is other for other in tensors)


def _view_of_input(source: Any) -> Any:
    """Give an input that forward returned as it is a face of its own."""
    view = Node.wrap(source._array)
    counter = view._version_counter = counter_of(source)
    outer = source._view
    base, replay = (source, _same) if outer is None else (outer.base, outer.replay)
    view._view = View(base, replay)
    list_view(view, counter)
    return view


def _same(base: Any) -> Any:
    return base.view_as(base) if isinstance(base, Variable) else base[...]


def _rebase_dirty(tensor: Any, ctx: FunctionNode, output_nr: int) -> None:
    """Make the node the history of an input that forward changed in place."""
    if tensor.requires_grad and tensor.is_leaf:
        raise RuntimeError(
            "a leaf Variable that requires grad has been used in an in-place operation."
        )
    tensor._bump_version()
    if tensor._view is None:
        tensor._edge = (ctx, output_nr)
    rebase_history(tensor, ctx)
