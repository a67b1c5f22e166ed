"""Mark a backward that must not be differentiated once more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from minigrad.autograd.leaves import resolve_edge
from minigrad.autograd.modes import grad_mode, no_grad
from minigrad.autograd.node import NO_EDGE, Edge, Node, next_priority
from minigrad.autograd.variable import Variable


class Error(Node):
    """A node that refuses to run: where it stands, the chain rule ends."""

    __slots__ = ("message",)

    _multiple = True

    def __init__(self, edges: Sequence[Edge], outputs: Sequence[Any], message: str) -> None:
        self.next_functions = tuple(edges)
        self._saved = ()
        self._broadcast = None
        self._hooks = None
        self._shape = tuple(None if t is None else t._array.shape for t in outputs)
        self._dtype = tuple(None if t is None else t._array.dtype for t in outputs)
        self._priority = next_priority()
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
        if not grad_mode.enabled:
            return outputs
        # Whether fn used tensors that require a gradient is not known; its arguments must do.
        if not any(isinstance(arg, Variable) and arg.requires_grad for arg in args):
            return outputs
        several = isinstance(outputs, tuple)
        guarded = _guarded(outputs if several else (outputs,))
        return guarded if several else guarded[0]

    return wrapper


def _guarded(outputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Give the outputs a node that raises when somebody wants to go on from them."""
    leaves = [None if t is None else t.detach().requires_grad_() for t in outputs]
    edges = [NO_EDGE if leaf is None else resolve_edge(leaf) for leaf in leaves]
    node = Error(
        edges,
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
