"""Name a place in the graph without keeping the tensor there: `GradientEdge`."""

from __future__ import annotations

from typing import Any, NamedTuple

from minigrad.autograd.accumulate import AccumulateGrad
from minigrad.autograd.leaves import resolve_edge
from minigrad.autograd.node import Node
from minigrad.autograd.variable import Variable


class _Fields(NamedTuple):
    node: Node
    output_nr: int
    ownership_token: Any = None


class GradientEdge(_Fields):
    """A place in the graph: `backward` and `grad` take it where they take a tensor.

    It keeps the graph from there on, but not the tensor with its values.

    Args:
        node: The tensor's `grad_fn`, or the accumulate node of a leaf.
        output_nr: Which output of the node it is.
        ownership_token: Unused here; PyTorch has it to keep nodes written in C++ alive.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([3.0], requires_grad=True)
        >>> y = x * x
        >>> edge = torch.autograd.graph.get_gradient_edge(y)
        >>> edge.node.name(), edge.output_nr
        ('MulBackward0', 0)
        >>> torch.autograd.grad((y * 2).sum(), edge)
        (tensor([2.]),)
    """

    # the tensor's shape and dtype, if the edge was made from one
    _layout: tuple[Any, Any] | None = None

    def __repr__(self) -> str:
        return (
            f"GradientEdge(node={self.node!r}, output_nr={self.output_nr!r}, "
            f"ownership_token={self.ownership_token!r})"
        )


def get_gradient_edge(tensor: Any) -> GradientEdge:
    """Give the place in the graph at which the gradient of a tensor arrives.

    `grad(loss, tensor)` and `grad(loss, get_gradient_edge(tensor))` compute the same.

    Args:
        tensor: A tensor that requires a gradient.

    Raises:
        RuntimeError: If it does not.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([3.0], requires_grad=True)
        >>> get_gradient_edge(x).node.name()
        'torch::autograd::AccumulateGrad'
    """
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    node, output_nr = tensor._edge or resolve_edge(tensor)
    assert node is not None
    edge = GradientEdge(node, output_nr)
    edge._layout = (tensor._array.shape, tensor._array.dtype)
    return edge


def layout_of(place: Any) -> tuple[Any, Any] | None:
    """Give shape and dtype of the gradient that belongs to a tensor or a gradient edge.

    Returns:
        None for an edge that was put together by hand, if its node does not know.
    """
    if isinstance(place, Variable):
        return place._array.shape, place._array.dtype
    node, output_nr, _ = place
    if place._layout is not None:
        return place._layout  # type: ignore[no-any-return]
    if isinstance(node, AccumulateGrad):
        return node.variable._array.shape, node.variable._array.dtype
    if node._multiple and node._shape[output_nr] is not None:
        return node._shape[output_nr], node._dtype[output_nr]
    return None
