"""Record operations that have no derivative: whoever asks for it is told so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad.core.leaves import resolve_edge
from minigrad.core.modes import attend, grad_mode
from minigrad.core.node import NO_EDGE, Node, next_priority
from minigrad.core.tensor import Tensor, wrap
from minigrad.faces.face import writer


def _refuse(node: Any, gradient: Any, keep: bool = True) -> Any:
    raise RuntimeError(f"derivative for aten::{node._saved[0]} is not implemented")


class _NoDerivative(Node):
    """Stands in the graph for an operation that has no derivative, as in PyTorch."""

    __slots__ = ()

    def name(self) -> str:
        return "torch::autograd::NotImplemented"

    _run = _run_recorded = _refuse


_NoDerivative.__name__ = "NotImplemented"


def _recorded(kind: type[Node], saved: Any, result: Tensor, inputs: tuple[Any, ...]) -> Tensor:
    given = (each for each in inputs if isinstance(each, Tensor))
    edges = tuple(each._edge or resolve_edge(each) for each in given) if grad_mode.enabled else ()
    edges = tuple(edge for edge in edges if edge is not NO_EDGE)
    if edges:
        node = object.__new__(kind)
        node.next_functions, node._saved = edges, saved
        node._hooks = node._broadcast = None
        node._priority = next_priority()
        result._edge = (node, 0)
        attend(node, result)
    return result


def without_derivative(name: str, result: Tensor, *inputs: Any) -> Tensor:
    """Record an operation whose gradient must not be asked for.

    Args:
        name: What the error calls the operation.
        result: Its result, a new tensor.
        *inputs: Its inputs.
    """
    return _recorded(_NoDerivative, (name,), result, inputs)


def in_place_without_derivative(function: Callable[..., Any]) -> Callable[..., Tensor]:
    """Make the method that does in place what such an operation on two does, and says its name."""
    name = f"{function.__name__}_"

    def operation(*arguments: Any) -> Any:
        result = function(*arguments)
        node = result is not NotImplemented and result._edge and result._edge[0]
        if node:
            node._saved = (name,)
        return result

    def method(input: Tensor, other: Any) -> Tensor:
        """Do it in place."""
        return writer[0](operation, input, other)

    method.__name__ = name
    return method


def not_differentiable(name: str, operation: str) -> Callable[[Any, Tensor], Tensor]:
    """Make what records an operation under a node of its own, which says that it has no rule.

    Args:
        name: The name of the node.
        operation: What the error calls the operation.

    Returns:
        A function of the result, an array, and the input.
    """

    def refuse(node: Any, gradient: Any, keep: bool = True) -> Any:
        raise NotImplementedError(f"the derivative for '{operation}' is not implemented.")

    doc = f"Backward of `{operation}`, which has no derivative."
    content = {"__slots__": (), "__doc__": doc, "_run": refuse, "_run_recorded": refuse}
    kind = type(name, (Node,), content)
    return lambda array, input: _recorded(kind, (), wrap(array), (input,))
