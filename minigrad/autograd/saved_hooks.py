"""Take hold of what operations save for backward: pack it when saved, unpack it when used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from minigrad.autograd.modes import grad_mode, no_grad, stop_watching, watch_nodes
from minigrad.autograd.node import Node
from minigrad.autograd.saved import OwnResult, PackedTensor, SavedTensor, counter_of
from minigrad.autograd.variable import Variable, resolve_edge, wrapped_number

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
    saved = getattr(node, "saved", None)  # some nodes are shown before they save: no tensors
    if not saved or not grad_mode.saved_hooks:
        return
    hooks = grad_mode.saved_hooks[-1]
    packed = list(saved)
    for place, entry in enumerate(saved):
        if isinstance(entry, SavedTensor) and entry.tensor is None:
            result = outputs[node.result_nr(place)]
            packed[place] = pack(result, None, node.result_nr(place), hooks)
        elif isinstance(entry, (SavedTensor, Variable)):
            tensor: Any = entry if isinstance(entry, Variable) else entry.tensor
            if tensor._meta is not wrapped_number:
                edge = _edge(tensor)
                packed[place] = pack(tensor, edge[0], edge[1], hooks)
    node.saved = tuple(packed)


def _edge(tensor: Variable) -> tuple[Node | None, int]:
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


class RawSavedTensor:
    """A value that a node saved, as `node._raw_saved_<name>` gives it: it can be given hooks."""

    __slots__ = ("__weakref__", "_node", "_place")

    _node: Node
    _place: int

    def __init__(self) -> None:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")

    def register_hooks(self, *hooks: Any) -> None:
        """Pack this saved value, now, with `pack_hook`; `unpack_hook` will give it back.

        Args:
            *hooks: The pack hook and the unpack hook, as for `saved_tensors_hooks`.

        Raises:
            TypeError: If the arguments are not two callables.
            RuntimeError: If the value has hooks already, is None, or was released.

        Example:
            >>> import minigrad as torch
            >>> x = torch.tensor([3.0], requires_grad=True)
            >>> y = x * x
            >>> y.grad_fn._raw_saved_self.register_hooks(lambda t: t * 10, lambda t: t)
            >>> y.backward()
            >>> x.grad
            tensor([33.])
        """
        if len(hooks) != 2 or not all(callable(hook) for hook in hooks):
            raise TypeError(
                "register_hooks(): incompatible function arguments. The following argument types "
                "are supported:\n    1. (self: torch._C._autograd.SavedTensor, arg0: "
                "collections.abc.Callable, arg1: collections.abc.Callable) -> None\n\nInvoked "
                f"with: {', '.join(map(repr, (self, *hooks)))}"
            )
        node = self._node
        if node.saved is None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved "
                "intermediate values of the graph are freed when you call .backward() or "
                "autograd.grad(). Specify retain_graph=True if you need to backward through the "
                "graph a second time or if you need to access saved variables after calling "
                "backward."
            )
        saved = list(node.saved)
        entry = saved[self._place]
        if isinstance(entry, PackedTensor):
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. "
                "Hint: only one pair of hooks is allowed at a time."
            )
        if entry is None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor with value None is forbidden"
            )
        if isinstance(entry, SavedTensor) and entry.tensor is None:
            result = node.wrap(entry.array)
            saved[self._place] = pack(result, None, node.result_nr(self._place), hooks)
            saved[self._place].requires_grad = True
        else:
            tensor = entry if isinstance(entry, Variable) else entry.tensor
            source, output_nr = _edge(tensor)
            packed = pack(tensor.detach(), source, output_nr, hooks)
            packed.requires_grad = tensor.requires_grad
            saved[self._place] = packed
        node.saved = tuple(saved)


def raw_saved(node: Node, place: int) -> RawSavedTensor:
    """Give a handle on one of the values that a node saved."""
    raw = object.__new__(RawSavedTensor)
    raw._node = node
    raw._place = place
    return raw


Node.raw_saved = staticmethod(raw_saved)  # type: ignore[method-assign]
RawSavedTensor.__name__ = RawSavedTensor.__qualname__ = "SavedTensor"  # as in PyTorch
