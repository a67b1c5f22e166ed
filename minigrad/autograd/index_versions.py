"""Notice that indices which a node keeps as bare arrays were changed before the backward pass.

The rules of `gather`, `sort`, `x[index]` and the like need the places that the forward was given,
or gave. They keep them as arrays of NumPy's, which know of no versions. So the node is told which
tensors these arrays belong to, and looks at their versions before it runs.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from minigrad.core.node import Node
from minigrad.core.tensor import SavedTensor, unpack_array


def watched(result: Any, *indices: Any) -> Any:
    """Let the node of a new result refuse to run once one of the index tensors was changed.

    Args:
        result: What an operation has just given; nothing is done if it was not recorded.
        *indices: The tensors whose entries the node's rule will use.

    Returns:
        The result itself.

    Example:
        >>> import minigrad as torch
        >>> x, index = torch.ones(2, requires_grad=True), torch.tensor([0])
        >>> y = x.gather(0, index)
        >>> _ = index.add_(1)
        >>> y.backward()
        Traceback (most recent call last):
            ...
        RuntimeError: one of the variables needed for gradient computation has been modified ...
    """
    edge = result._edge
    if edge is not None and edge[0] is not None:
        node = edge[0]
        node._watched = tuple(map(SavedTensor, indices))
        kind: Any = type(node)
        node.__class__ = _watching(kind)
    return result


@functools.cache
def _watching(kind: type[Node]) -> type[Node]:
    """Make the kind of node that looks at versions first. To all who ask it is the same kind."""

    def run(node: Any, gradient: Any, keep: bool = True) -> Sequence[Any]:
        _look(node, keep)
        return kind._run(node, gradient, keep)

    def run_recorded(node: Any, gradient: Any, keep: bool = True) -> Sequence[Any]:
        _look(node, keep)
        return kind._run_recorded(node, gradient, keep)

    names = {"__slots__": (), "__doc__": kind.__doc__, "_run": run, "_run_recorded": run_recorded}
    return type(kind.__name__, (kind,), names)


def _look(node: Any, keep: bool) -> None:
    if node._saved is not None:
        for saved in node._watched:
            unpack_array(saved, node)
    if not keep:
        node._watched = ()
