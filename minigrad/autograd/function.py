"""Write an operation of your own: subclass `Function`, give it `forward` and `backward`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ClassVar

from minigrad.autograd.function_node import FunctionCtx, FunctionNode, place_outputs
from minigrad.autograd.grad_mode import no_grad
from minigrad.autograd.messages import type_name, warn
from minigrad.core.engine import resolve_edge
from minigrad.core.modes import is_grad_enabled, modes
from minigrad.core.node import NO_EDGE, Edge, Node
from minigrad.core.tensor import Tensor

__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "FunctionMeta", "InplaceFunction"]
__all__ += ["once_differentiable"]

BackwardCFunction = FunctionNode


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

    Attributes:
        clear_saved_tensors_on_access: Set it to True to let go of the saved tensors as soon as
            backward asked for them; it may then ask once.
        boxed_grads_call: Set it to True to get the gradients in one list, from which backward can
            take them out to free their memory early.
        generate_vmap_rule: Here so that code which sets it runs; there is no `vmap` in minigrad.

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

    clear_saved_tensors_on_access: ClassVar[bool] = False
    boxed_grads_call: ClassVar[bool] = False
    generate_vmap_rule: ClassVar[bool] = False

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

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Stand in for the rule of forward mode, which minigrad does not have."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Stand in for the rule of `vmap`, which minigrad does not have."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod "
            "or set generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward, and record the function if an input requires a gradient.

        Args:
            *args: The arguments of forward (without `ctx`).
            **kwargs: Arguments of forward by name; backward counts them by their places.

        Returns:
            What forward returned: a tensor or a tuple. An input that is returned as it is
            becomes a view, so that the function is its `grad_fn`.

        Raises:
            TypeError: If forward does not take these arguments.
            RuntimeError: If what forward told `ctx` does not fit what it returned.
        """
        in_setup = cls.setup_context is not Function.setup_context
        if in_setup:
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        if kwargs:
            args = _by_place(cls.forward, args, kwargs, skip=0 if in_setup else 1)
        ctx = cls._backward_cls()
        ctx.needs_input_grad = tuple(isinstance(x, Tensor) and x.requires_grad for x in args)
        recording = any(ctx.needs_input_grad) and is_grad_enabled()
        if recording:
            ctx._record_inputs(args)
        if cls.clear_saved_tensors_on_access is not False or cls.boxed_grads_call is not False:
            _check_options(cls)
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

    @classmethod
    def _rule(cls) -> Callable[..., Any]:
        """Give the backward that the subclass defines, under either of its names."""
        if cls.vjp is Function.vjp:
            return cls.backward
        if cls.backward is not Function.backward:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
                "should only implement one of them."
            )
        return cls.vjp


def _check_options(cls: type[Function]) -> None:
    for option in ("clear_saved_tensors_on_access", "boxed_grads_call"):
        value = getattr(cls, option)
        if not isinstance(value, bool):
            raise RuntimeError(f"{option} must be a bool, got {type_name(value)}")


def _by_place(
    forward: Any, args: tuple[Any, ...], kwargs: dict[str, Any], skip: int
) -> tuple[Any, ...]:
    """Put arguments given by name in their places, as there is one gradient for each place.

    Raises:
        TypeError: If a name is not known, was given by place too, or leaves a gap before it.
    """
    code = forward.__code__
    names = code.co_varnames[skip : code.co_argcount]
    for name in kwargs:
        if name not in names:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        if names.index(name) < len(args):
            raise TypeError(f"forward() got multiple values for argument '{name}'")
    last = max(names.index(name) for name in kwargs)
    for place, name in enumerate(names[len(args) : last], start=len(args)):
        if name not in kwargs:
            raise TypeError(f"forward() missing required argument: '{name}' (position {place})")
    return (*args, *(kwargs[name] for name in names[len(args) : last + 1]))


class InplaceFunction(Function):
    """A `Function` that may remember whether it works in place; kept for old code."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class Error(Node):
    """A node that refuses to run: where it stands, the chain rule ends."""

    __slots__ = ("message",)

    _multiple = True

    def __init__(self, edges: Sequence[Edge], outputs: Sequence[Any], message: str) -> None:
        self._set_up(edges)
        self._shape = tuple(None if t is None else t._array.shape for t in outputs)
        self._dtype = tuple(None if t is None else t._array.dtype for t in outputs)
        self.message = message

    def name(self) -> str:
        """Give the name that PyTorch prints."""
        return "torch::autograd::Error"

    def _run(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Raise the error."""
        raise RuntimeError(self.message)

    _run_recorded = _run


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
        several = isinstance(outputs, tuple)
        guarded = _guarded(outputs if several else (outputs,))
        return guarded if several else guarded[0]

    return wrapper


def _guarded(outputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Give the outputs a node that raises when somebody wants to go on from them."""
    leaves = [None if t is None else t.detach().requires_grad_() for t in outputs]
    node = Error(
        [NO_EDGE if leaf is None else resolve_edge(leaf) for leaf in leaves],
        outputs,
        "trying to differentiate twice a function that was marked with @once_differentiable. Its "
        "backward is not recorded; without the mark it may use tensor operations only, and is.",
    )
    results = []
    for output_nr, leaf in enumerate(leaves):
        result = None if leaf is None else leaf.detach()
        if result is not None:
            result._edge = (node, output_nr)
        results.append(result)
    return tuple(results)
