"""Keep the values that a backward rule will need, and notice when one was changed meanwhile."""

from __future__ import annotations

from typing import Any

from minigrad.core.node import Node
from minigrad.core.plugs import plugs
from minigrad.core.tensor import Tensor, VersionCounter, wrap_as_normal


class SavedTensor:
    """A tensor as it was when an operation saved it, with the version that it had then.

    An operation's own result is saved without the tensor around it: the tensor refers to the
    node, so a node that referred to the tensor would keep both alive for ever. If the operation
    changed a view in place, `place` is a weak reference to the node that the view came from then.
    """

    __slots__ = ("_version_counter", "array", "place", "tensor", "version")

    place: Any

    def __init__(self, tensor: Tensor, is_result: bool = False) -> None:
        counter = tensor._version_counter
        if counter is None:  # as `counter_of` does, but without a call: this is the hot path
            counter = tensor._version_counter = VersionCounter()
        self._version_counter = counter
        self.version = counter.value
        self.array = tensor._array
        self.tensor = None if is_result else tensor

    def unpack_array(self, node: Node) -> Any:
        """Give the array, or raise if it was written to since."""
        counter, tensor = self._version_counter, self.tensor
        if tensor is not None and tensor._version_counter is not counter:
            _refuse_detached(tensor, node)
        if counter.value != self.version:
            raise plugs.messages.stale(self, node)
        return self.array if tensor is None else tensor._array  # `.data` may be another one now

    def unpack_tensor(self, node: Node) -> Tensor:
        """Give the tensor with its place in the graph, or raise if it was written to since."""
        array = self.unpack_array(node)
        if self.tensor is not None:
            return self.tensor
        tensor = wrap_as_normal(array)
        tensor._edge = (made_by(self, node), 0)
        tensor._version_counter = self._version_counter
        return tensor


def unpack_array(saved: Any, node: Node) -> Any:
    """Give back the array of a saved value, or raise if it was written to since.

    Args:
        saved: A `SavedTensor` or the like, or a tensor that had version 0 when it was saved.
        node: The node that saved it.

    Raises:
        RuntimeError: If the value was modified by an in-place operation, or detached.
    """
    if not isinstance(saved, Tensor):
        return saved.unpack_array(node)
    counter = saved._version_counter
    if counter is not None:
        if counter.detached:
            _refuse_detached(saved, node)
        if counter.value != 0:
            raise plugs.messages.stale(saved, node)
    return saved._array


def unpack_tensor(saved: Any, node: Node) -> Any:
    """Give back a saved value as a tensor with its place in the graph, or raise if it is stale."""
    if isinstance(saved, Tensor):
        unpack_array(saved, node)
        return saved
    return saved.unpack_tensor(node)


def made_by(result: Any, node: Node) -> Node:
    """Tell which node a result comes from that `node` saved."""
    place = getattr(result, "place", None)
    return (place and place()) or node


def _refuse_detached(tensor: Tensor, node: Node) -> None:
    """Raise if a tensor that was saved with its place in the graph has none any more."""
    if not (tensor._has_node() or node._takes_detached):
        raise plugs.messages.detached()
