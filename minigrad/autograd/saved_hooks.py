"""Take hold of what operations save for backward: pack it when saved, unpack it when used."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary

from minigrad.autograd.grad_mode import INFERENCE, OBSERVERS, choose_observers, no_grad
from minigrad.autograd.views import write_watchers
from minigrad.core.engine import AccumulateGrad, resolve_edge
from minigrad.core.modes import modes
from minigrad.core.node import NO_EDGE, Node
from minigrad.core.tensor import (
    AutogradMeta,
    SavedTensor,
    Tensor,
    VersionCounter,
    counter_of,
    made_by,
    wrap_as_normal,
)

Pack = Callable[[Any], Any]
Unpack = Callable[[Any], Any]


class OwnResult:
    """A node's own result that a pack hook returned as it was: kept without its place."""

    __slots__ = ("array", "counter")

    def __init__(self, tensor: Tensor) -> None:
        self.array = tensor._array
        self.counter = tensor._version_counter

    def tensor(self, saved_by: Node, output_nr: int) -> Any:
        """Give the result with its place in the graph."""
        tensor = wrap_as_normal(self.array)
        tensor._version_counter = self.counter
        set_grad_fn(tensor, saved_by, output_nr)
        return tensor


def set_grad_fn(tensor: Tensor, node: Node, output_nr: int) -> None:
    """Let a tensor be an output of a node, or the leaf of an accumulate node."""
    if isinstance(node, AccumulateGrad):
        tensor._edge = None
        tensor._autograd_meta().accumulator = weakref.ref(node)
    else:
        tensor._edge = (node, output_nr)


# The `_meta` of a Python number that became a tensor to meet another one.
wrapped_number = AutogradMeta()


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

    _version_counter = INFERENCE  # not None: so that the tape asks for unpacking
    place: Callable[[], Any]

    def __init__(
        self, packed: Any, unpack: Unpack, node: Node | None, output_nr: int, tensor: Tensor
    ) -> None:
        self.packed = packed
        self.unpack = unpack
        self.node = node
        self.output_nr = output_nr
        self.requires_grad = tensor.requires_grad
        self.dtype, self.shape = tensor._array.dtype, tensor._array.shape

    def unpack_array(self, node: Node) -> Any:
        """Give the array, in the dtype that was saved: that of the gradients' tensors."""
        array = self.unpack_tensor(node)._array
        return array if array.dtype == self.dtype else array.astype(self.dtype)

    def unpack_tensor(self, node: Node) -> Any:
        """Call the unpack hook, and give what it returned its place in the graph."""
        packed = self.packed
        if packed.__class__ is OwnResult:
            packed = packed.tensor(made_by(self, node), self.output_nr)
        tensor = self.unpack(packed)
        if not isinstance(tensor, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of "
                f"type {type(tensor).__name__}"
            )
        if tensor._array.shape != self.shape:
            raise RuntimeError(
                f"{type(node).__name__} saved a tensor of {list(self.shape)}, but the unpack hook "
                f"gave {list(tensor._array.shape)}: it has to give back what the pack hook got"
            )
        if not self.requires_grad:
            return tensor
        placed = wrap_as_normal(tensor._array)
        placed._version_counter = counter_of(tensor)
        set_grad_fn(placed, self.node or made_by(self, node), self.output_nr)
        return placed


class saved_tensors_hooks:
    """Call a pair of hooks for each tensor that an operation in the block saves for backward.

    Of nested blocks the innermost counts. Numbers that became tensors are not packed.

    Args:
        pack_hook: Gets the tensor, once, when it is saved; returns whatever is to be kept in its
            place. It must not change the tensor.
        unpack_hook: Gets what was kept, each time the tensor is used; returns a tensor of the
            same values.

    Raises:
        RuntimeError: Upon entering, if `disable_saved_tensors_hooks` forbids it; when saving, if
            the pack hook changed the tensor.
        TypeError: Upon entering, if a hook is not callable; when unpacking, if the unpack hook
            does not return a tensor.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([3.0], requires_grad=True)
        >>> def pack(tensor):
        ...     print("saving", tensor.tolist())
        ...     return tensor.numpy(force=True)
        >>> with torch.autograd.graph.saved_tensors_hooks(pack, torch.tensor):
        ...     y = x.exp()
        saving [20.08553695678711]
        >>> y.backward()
        >>> x.grad
        tensor([20.0855])
    """

    def __init__(self, pack_hook: Pack, unpack_hook: Unpack) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        """Let the pair count from here on."""
        if modes.hooks_forbidden is not None:
            raise RuntimeError(modes.hooks_forbidden)
        pair = (self.pack_hook, self.unpack_hook)
        if not all(map(callable, pair)):
            raise TypeError(f"saved_tensors_hooks takes two functions, not {pair!r}")
        modes.saved_hooks = (*modes.saved_hooks, pair)
        choose_observers()

    def __exit__(self, *exception: object) -> None:
        """Let the pair of the surrounding block count again."""
        if not modes.saved_hooks:
            raise RuntimeError(
                "saved_tensors_hooks was left more often than entered; a hook must not leave "
                "the block that it serves"
            )
        modes.saved_hooks = modes.saved_hooks[:-1]
        choose_observers()


class save_on_cpu(saved_tensors_hooks):
    """Keep what operations in the block save in the memory of the CPU.

    There it is in minigrad anyway: the class is here for code that is written for PyTorch, where
    it moves saved tensors off a GPU until backward needs them.

    Args:
        pin_memory: Whether to keep copies, in memory that a GPU could reach quickly.
        device_type: The type of device that would hold the tensors.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([3.0], requires_grad=True)
        >>> with torch.autograd.graph.save_on_cpu():
        ...     y = x * x
        >>> y.backward()
        >>> x.grad
        tensor([6.])
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(
            lambda tensor: tensor.clone() if pin_memory else tensor.detach(), lambda packed: packed
        )


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Generator[None]:
    """Forbid `saved_tensors_hooks` within a block.

    Args:
        error_message: The text of the error that entering such hooks raises.

    Raises:
        RuntimeError: With that message, also if hooks are active already.

    Example:
        >>> hooks = saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor)
        >>> with disable_saved_tensors_hooks("not within this block"), hooks:
        ...     pass
        Traceback (most recent call last):
        RuntimeError: not within this block
    """
    if modes.saved_hooks:
        raise RuntimeError(error_message)
    previous, modes.hooks_forbidden = modes.hooks_forbidden, error_message
    try:
        yield
    finally:
        modes.hooks_forbidden = previous


def pack_saved(node: Node, outputs: tuple[Any, ...]) -> None:
    """Let the innermost pair of hooks pack what a new node has saved.

    Args:
        node: The node, with saved values in place.
        outputs: Its results, some of which it may have saved.
    """
    saved = getattr(node, "_saved", None)  # some nodes are shown before they save: no tensors
    if not saved or not modes.saved_hooks:
        return
    hooks = modes.saved_hooks[-1]
    packed = list(saved)
    for place, entry in enumerate(saved):
        if isinstance(entry, SavedTensor) and entry.tensor is None:
            result = outputs[node._result_nr(place)]
            packed[place] = pack(result, None, node._result_nr(place), hooks)
            if hasattr(entry, "place"):
                packed[place].place = entry.place
        elif isinstance(entry, (SavedTensor, Tensor)):
            tensor: Any = entry if isinstance(entry, Tensor) else entry.tensor
            if tensor._meta is not wrapped_number:
                edge = gradient_edge(tensor)
                packed[place] = pack(tensor, edge[0], edge[1], hooks)
    node._saved = tuple(packed)


OBSERVERS.append((lambda: modes.saved_hooks, pack_saved))


def gradient_edge(tensor: Tensor) -> tuple[Node | None, int]:
    """Give the edge at which a tensor's gradient arrives; no node if it needs none."""
    return (tensor._edge or resolve_edge(tensor)) if tensor.requires_grad else NO_EDGE


def pack(
    tensor: Tensor, node: Node | None, output_nr: int, hooks: tuple[Pack, Unpack]
) -> PackedTensor:
    """Call the pack hook with a tensor, and keep what it returns.

    Args:
        tensor: The tensor that is saved.
        node: The node that made it; None if it is a result of the node that saves it.
        output_nr: Which output of that node it is.
        hooks: The pack hook and the unpack hook.

    Raises:
        RuntimeError: If the pack hook changed the tensor.
    """
    counter = counter_of(tensor)
    before = counter.value
    with no_grad():
        packed = hooks[0](tensor)
    if counter.value != before:
        raise RuntimeError(
            "A saved tensor pack hook is modifying its input in place. Tensors provided as input "
            "to pack hook cannot be modified by in-place operations as this can lead to "
            "unexpected side-effects. Please open an issue if you need to perform in-place "
            "operations on the input to a pack hook."
        )
    if packed is tensor and node is None and tensor.requires_grad:
        # the tensor refers to the node that saves it: keep it without its place in the graph, so
        # that no cycle holds both
        packed = OwnResult(tensor)
    return PackedTensor(packed, hooks[1], node, output_nr, tensor)


class _Handle:
    """Stands for what operations saved: one tensor in one version."""

    __slots__ = ("__weakref__", "version")

    def __init__(self, version: int) -> None:
        self.version = version


class SavedCopies:
    """What `allow_mutation_on_saved_tensors` gives: the saved tensors of its block.

    Attributes:
        original: The tensors that were not written to since they were saved.
        cloned: Copies of those that were.
    """

    def __init__(self) -> None:
        self.original: WeakKeyDictionary[_Handle, Any] = WeakKeyDictionary()
        self.cloned: WeakKeyDictionary[_Handle, Any] = WeakKeyDictionary()
        self._known: WeakValueDictionary[tuple[int, int], _Handle] = WeakValueDictionary()
        self._memory: WeakKeyDictionary[VersionCounter, WeakSet[_Handle]] = WeakKeyDictionary()

    def clear(self) -> None:
        """Forget all that was saved."""
        for table in (self.original, self.cloned, self._known, self._memory):
            table.clear()

    def _pack(self, tensor: Any) -> _Handle:
        counter = counter_of(tensor)
        key = (id(tensor._array), counter.value)
        handle = self._known.get(key)
        if handle is None:
            handle = self._known[key] = _Handle(counter.value)
            # detached: a result must not be held by the node that made it
            self.original[handle] = tensor.detach()
            self._memory.setdefault(counter, WeakSet()).add(handle)
        return handle

    def _unpack(self, handle: _Handle) -> Any:
        tensor = self.cloned.get(handle)
        if tensor is None:
            tensor = self.original.get(handle)
        if tensor is None or _open_blocks != [self]:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
                "in which the graph was originally recorded."
            )
        if handle in self.original and tensor._version != handle.version:
            raise RuntimeError(
                "one of the variables needed for gradient computation was changed in a way that "
                "'allow_mutation_on_saved_tensors' did not notice"
            )
        return tensor

    def _before_write(self, tensor: Tensor) -> None:
        for handle in self._memory.pop(counter_of(tensor), ()):
            self.cloned[handle] = self.original.pop(handle).clone()


# the block that is open, if one is: they cannot be nested
_open_blocks: list[SavedCopies] = []


@contextmanager
def allow_mutation_on_saved_tensors() -> Generator[SavedCopies]:
    """Let tensors be changed in place though an operation in the block needs their old values.

    A saved tensor is copied just before it is changed, so the gradients are those of the values
    that were used. Run the backward pass within the block, too.

    Raises:
        RuntimeError: If such blocks are nested.
        AssertionError: When a graph that was recorded in the block runs backward outside of it.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([3.0], requires_grad=True)
        >>> with torch.autograd.graph.allow_mutation_on_saved_tensors():
        ...     y = x * 1
        ...     z = y * y
        ...     y.zero_()
        ...     z.backward()
        tensor([0.], grad_fn=<ZeroBackward0>)
        >>> x.grad
        tensor([6.])
    """
    if _open_blocks:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    copies = SavedCopies()
    with saved_tensors_hooks(copies._pack, copies._unpack):
        write_watchers.append(copies._before_write)
        _open_blocks.append(copies)
        try:
            yield copies
        finally:
            _open_blocks.pop()
            write_watchers.remove(copies._before_write)
            copies.clear()
