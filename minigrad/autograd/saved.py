"""Keep the values that a backward rule will need, and notice when one was changed meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minigrad.autograd.anomaly_mode import watch
from minigrad.autograd.versions import INFERENCE, VersionCounter, counter_of

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


class SavedTensor:
    """A tensor as it was when an operation saved it, with the version that it had then.

    An operation's own result is saved without the tensor around it: the tensor refers to the
    node, so a node that referred to the tensor would keep both alive for ever. If the operation
    changed a view in place, `place` is a weak reference to the node that the view came from then.
    """

    __slots__ = ("_version_counter", "array", "place", "tensor", "version")

    place: Callable[[], Any]

    def __init__(self, tensor: Variable, is_result: bool = False) -> None:
        counter = tensor._version_counter
        if counter is None:  # as `counter_of` does, but without a call: this is the hot path
            counter = tensor._version_counter = VersionCounter()
        self._version_counter = counter
        self.version = counter.value
        self.array = tensor._array
        self.tensor = None if is_result else tensor


class OwnResult:
    """A node's own result that a pack hook returned as it was: kept without its place."""

    __slots__ = ("array", "counter")

    def __init__(self, tensor: Variable) -> None:
        self.array = tensor._array
        self.counter = tensor._version_counter

    def tensor(self, saved_by: Node, output_nr: int) -> Any:
        """Give the result with its place in the graph."""
        tensor = type(saved_by).wrap(self.array)
        tensor._version_counter = self.counter
        saved_by._place(tensor, output_nr)
        return tensor


class PackedTensor:
    """A saved tensor that a pack hook took, and that an unpack hook will give back.

    Attributes:
        packed: What the pack hook returned.
        unpack: Gives a tensor for it.
        node: The node that made the tensor; None for a result of the node that saved it.
        output_nr: Which output of that node the tensor is.
        requires_grad: Whether a gradient flows to the tensor.
        dtype: The NumPy dtype of the tensor.
        place: For a view that was changed in place, as in `SavedTensor`.
    """

    __slots__ = (
        "_version_counter",
        "dtype",
        "node",
        "output_nr",
        "packed",
        "place",
        "requires_grad",
        "unpack",
    )

    place: Callable[[], Any]

    def __init__(
        self,
        packed: Any,
        unpack: Callable[[Any], Any],
        node: Node | None,
        output_nr: int,
        tensor: Variable,
    ) -> None:
        self._version_counter = INFERENCE  # not None: so that the tape asks for unpacking
        self.packed = packed
        self.unpack = unpack
        self.node = node
        self.output_nr = output_nr
        self.requires_grad = tensor.requires_grad
        self.dtype = tensor._array.dtype

    def unpacked(self, saved_by: Node) -> Any:
        """Call the unpack hook, and give what it returned its place in the graph."""
        packed = self.packed
        if packed.__class__ is OwnResult:
            packed = packed.tensor(_made_by(self, saved_by), self.output_nr)
        tensor = self.unpack(packed)
        if not hasattr(tensor, "_array"):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of "
                f"type {type(tensor).__name__}"
            )
        if not self.requires_grad:
            return tensor
        placed = type(saved_by).wrap(tensor._array)
        placed._version_counter = counter_of(tensor)
        node = _made_by(self, saved_by) if self.node is None else self.node
        node._place(placed, self.output_nr)
        return placed


def unpack_array(saved: Any, node: Node) -> Any:
    """Give back the array of a saved value, or raise if it was written to since.

    Args:
        saved: A `SavedTensor`, a `PackedTensor`, or a tensor that had version 0 when it was saved.
        node: The node that saved it.

    Raises:
        RuntimeError: If the value was modified by an in-place operation, or detached.
    """
    if saved.__class__ is SavedTensor:
        counter, tensor = saved._version_counter, saved.tensor
        if tensor is not None and tensor._version_counter is not counter:
            _refuse_detached(tensor, node)
        if counter.value != saved.version:
            raise _stale(saved, node)
        return saved.array if tensor is None else tensor._array  # `.data` may be another one now
    if saved.__class__ is PackedTensor:
        array = saved.unpacked(node)._array
        # so that gradients have the dtype of what they are gradients of
        return array if array.dtype == saved.dtype else array.astype(saved.dtype)
    counter = saved._version_counter
    if counter.detached:
        _refuse_detached(saved, node)
    if counter.value != 0:
        raise _stale(saved, node)
    return saved._array


def _refuse_detached(tensor: Variable, node: Node) -> None:
    """Raise if a tensor that was saved with its place in the graph has none any more."""
    if not (tensor._has_node() or node._takes_detached):
        raise detached_error()


def unpack_tensor(saved: Any, node: Node) -> Variable:
    """Give back a saved value as a tensor with its place in the graph, or raise if it is stale."""
    if saved.__class__ is PackedTensor:
        return saved.unpacked(node)  # type: ignore[no-any-return]
    array = unpack_array(saved, node) if saved._version_counter is not None else None
    if saved.__class__ is not SavedTensor:
        return saved  # type: ignore[no-any-return]
    if saved.tensor is not None:
        return saved.tensor
    tensor = type(node).wrap(array)
    tensor._edge = (_made_by(saved, node), 0)
    tensor._version_counter = saved._version_counter
    return tensor


def _made_by(result: SavedTensor | PackedTensor, node: Node) -> Node:
    """Tell which node a result comes from that `node` saved."""
    place = getattr(result, "place", None)
    return (place and place()) or node


def look_at(saved: Any, node: Node) -> Any:
    """Give a saved value to somebody who looks at a node: its rule would refuse a detached one."""
    if saved.__class__ is PackedTensor or (saved.__class__ is SavedTensor and saved.tensor is None):
        return unpack_tensor(saved, node)
    counter = saved._version_counter
    if counter is not None and counter.value != getattr(saved, "version", 0):
        raise _stale(saved, node)
    return saved.tensor if saved.__class__ is SavedTensor else saved


def detached_error(advice: str = "") -> RuntimeError:
    """Make the error for a saved tensor whose place in the graph is lost."""
    return RuntimeError(
        "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_()."
        f"This is not supported, please use out-of-place `.detach()` instead{advice}"
    )


def forward_name(node: Node) -> str:
    """Name the operation that a node is the backward of: `Squeeze1` for `SqueezeBackward1`."""
    operation, _, number = node.name().rpartition("Backward")
    if number not in _NUMBERS:
        return node.name()
    return operation + number.removesuffix("0")


_NUMBERS = {"", *"0123456789"}


def _stale(saved: Any, node: Node) -> RuntimeError:
    if saved.__class__ is SavedTensor:
        tensor, expected = saved.tensor, saved.version
        array = saved.array if tensor is None else tensor._array
        source: Any
        if tensor is None:
            place = next(n for n, each in enumerate(node._saved or (saved,)) if each is saved)
            source = (_made_by(saved, node), getattr(node, "_result_nr", lambda _: 0)(place))
        else:
            source = tensor._resolved_edge()
    else:
        expected, source, array = 0, saved._resolved_edge(), saved._array
    origin = ""
    if source is not None and source[0] is not None:
        name = forward_name(source[0])
        number = source[1] if saved.__class__ is SavedTensor and tensor is None else 0
        # of an input PyTorch forgets which output it was
        origin = f", which is output {number} of {name},"
    kind = "CPUBoolType" if array.dtype.kind == "b" else type(node).wrap(array).type()
    hint = (
        "Hint: the backtrace further above shows the operation that failed to compute its "
        "gradient. The variable in question was changed in there or anywhere later. Good luck!"
        if watch.enabled
        else "Hint: enable anomaly detection to find the operation that failed to compute its "
        "gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [{kind} {list(array.shape)}]{origin} is at version "
        f"{saved._version_counter.value}; expected version {expected} instead. {hint} "
        f"{type(node).__name__} saved this tensor to compute its gradient. Use an out-of-place "
        "operation, or change a clone() of the tensor."
    )
