"""Keep the values that a backward rule will need, and notice when one was changed meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from minigrad.autograd.node import Node
    from minigrad.autograd.variable import Variable

RELEASED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already been freed). Saved intermediate values of the graph are freed when you "
    "call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward "
    "through the graph a second time or if you need to access saved tensors after calling "
    "backward."
)


class VersionCounter:
    """How often the memory of a tensor was written to; views and `detach()` share one counter.

    A tensor gets its counter when it first needs one. Until then it has version 0.
    """

    __slots__ = ("value", "views")

    def __init__(self) -> None:
        self.value = 0
        # weak references to the views of this memory; see autograd/views.py
        self.views: list[Any] | None = None


def counter_of(tensor: Variable) -> VersionCounter:
    """Give the version counter of a tensor, making it if there is none yet."""
    counter = tensor._version_counter
    if counter is None:
        counter = tensor._version_counter = VersionCounter()
    return counter


class SavedTensor:
    """A tensor as it was when an operation saved it, with the version that it had then.

    An operation's own result is saved without the tensor around it: the tensor refers to the
    node, so a node that referred to the tensor would keep both alive for ever.
    """

    __slots__ = ("_version_counter", "array", "tensor", "version")

    def __init__(self, tensor: Variable, is_result: bool = False) -> None:
        counter = tensor._version_counter
        if counter is None:  # as `counter_of` does, but without a call: this is the hot path
            counter = tensor._version_counter = VersionCounter()
        self._version_counter = counter
        self.version = counter.value
        self.array = tensor._array
        self.tensor = None if is_result else tensor


def unpack_array(saved: Any, node: Node) -> Any:
    """Give back the array of a saved value, or raise if it was written to since.

    Args:
        saved: A `SavedTensor`, or a tensor that had version 0 when it was saved.
        node: The node that saved it.

    Raises:
        RuntimeError: If the value was modified by an in-place operation.
    """
    if saved.__class__ is SavedTensor:
        if saved._version_counter.value != saved.version:
            raise _stale(saved, node)
        return saved.array
    if saved._version_counter.value != 0:
        raise _stale(saved, node)
    return saved._array


def unpack_tensor(saved: Any, node: Node) -> Variable:
    """Give back a saved value as a tensor with its place in the graph, or raise if it is stale."""
    array = unpack_array(saved, node) if saved._version_counter is not None else None
    if saved.__class__ is not SavedTensor:
        return saved  # type: ignore[no-any-return]
    if saved.tensor is not None:
        return saved.tensor
    tensor = node.wrap(array)
    tensor._edge = (node, 0)
    tensor._version_counter = saved._version_counter
    return tensor


def _stale(saved: Any, node: Node) -> RuntimeError:
    if saved.__class__ is SavedTensor:
        tensor, expected, array = saved.tensor, saved.version, saved.array
        source = (node, 0) if tensor is None else tensor._resolved_edge()
    else:
        expected, source, array = 0, saved._resolved_edge(), saved._array
    origin = ""
    if source is not None and source[0] is not None:
        name = source[0].name().removesuffix("0").removesuffix("Backward")
        origin = f", which is output {source[1]} of {name},"
    kind = node.wrap(array).type()
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [{kind} {list(array.shape)}]{origin} is at version "
        f"{saved._version_counter.value}; expected version {expected} instead. Hint: enable "
        "anomaly detection to find the operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True, check_nan=False). "
        f"{type(node).__name__} saved this tensor to compute its gradient. Use an out-of-place "
        "operation, or change a clone() of the tensor."
    )
