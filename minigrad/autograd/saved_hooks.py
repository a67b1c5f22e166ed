"""Take hold of what operations save for backward: pack it when saved, unpack it when used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from minigrad.autograd.leaves import resolve_edge, wrapped_number
from minigrad.autograd.modes import grad_mode, no_grad, stop_watching, watch_nodes
from minigrad.autograd.node import Node
from minigrad.autograd.saved import OwnResult, PackedTensor, SavedTensor
from minigrad.autograd.variable import Variable
from minigrad.autograd.versions import counter_of

Pack = Callable[[Any], Any]
Unpack = Callable[[Any], Any]


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
        if grad_mode.hooks_forbidden is not None:
            raise RuntimeError(grad_mode.hooks_forbidden)
        pair = (self.pack_hook, self.unpack_hook)
        if not all(map(callable, pair)):
            raise TypeError(
                "_push_saved_tensors_default_hooks(): incompatible function arguments. The "
                "following argument types are supported:\n    1. (arg0: "
                "collections.abc.Callable, arg1: collections.abc.Callable) -> None\n\nInvoked "
                f"with: {', '.join(map(repr, pair))}"
            )
        if not grad_mode.saved_hooks:
            watch_nodes(pack_saved)
        grad_mode.saved_hooks = (*grad_mode.saved_hooks, pair)

    def __exit__(self, *exception: object) -> None:
        """Let the pair of the surrounding block count again."""
        if not grad_mode.saved_hooks:
            raise RuntimeError(
                "saved_tensors_hooks was left more often than entered; a hook must not leave the "
                "block that it serves"
            )
        grad_mode.saved_hooks = grad_mode.saved_hooks[:-1]
        if not grad_mode.saved_hooks:
            stop_watching(pack_saved)


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
        def pack(tensor: Any) -> Any:
            return tensor.clone() if pin_memory else tensor.detach()

        super().__init__(pack, lambda packed: packed)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
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
    if grad_mode.saved_hooks:
        raise RuntimeError(error_message)
    previous, grad_mode.hooks_forbidden = grad_mode.hooks_forbidden, error_message
    try:
        yield
    finally:
        grad_mode.hooks_forbidden = previous


def pack_saved(node: Node, outputs: tuple[Any, ...]) -> None:
    """Let the innermost pair of hooks pack what a new node has saved.

    Args:
        node: The node, with saved values in place.
        outputs: Its results, some of which it may have saved.
    """
    saved = getattr(node, "_saved", None)  # some nodes are shown before they save: no tensors
    if not saved or not grad_mode.saved_hooks:
        return
    hooks = grad_mode.saved_hooks[-1]
    packed = list(saved)
    for place, entry in enumerate(saved):
        if isinstance(entry, SavedTensor) and entry.tensor is None:
            result = outputs[node._result_nr(place)]
            packed[place] = pack(result, None, node._result_nr(place), hooks)
            if hasattr(entry, "place"):
                packed[place].place = entry.place
        elif isinstance(entry, (SavedTensor, Variable)):
            tensor: Any = entry if isinstance(entry, Variable) else entry.tensor
            if tensor._meta is not wrapped_number:
                edge = gradient_edge(tensor)
                packed[place] = pack(tensor, edge[0], edge[1], hooks)
    node._saved = tuple(packed)


def gradient_edge(tensor: Variable) -> tuple[Node | None, int]:
    """Give the edge at which a tensor's gradient arrives; no node if it needs none."""
    return (tensor._edge or resolve_edge(tensor)) if tensor.requires_grad else (None, 0)


def pack(
    tensor: Variable, node: Node | None, output_nr: int, hooks: tuple[Pack, Unpack]
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
