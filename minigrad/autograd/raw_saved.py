"""Handles on the values that a node saved: look at them, and pack them afterwards."""

from __future__ import annotations

from typing import Any

from minigrad.autograd.node import Node
from minigrad.autograd.saved import (
    RELEASED,
    OwnResult,
    PackedTensor,
    SavedTensor,
    detached_error,
    unpack_tensor,
)
from minigrad.autograd.saved_hooks import Unpack, gradient_edge, pack
from minigrad.autograd.variable import Variable


class RawSavedTensor:
    """A value that a node saved, as `node._raw_saved_<name>` gives it: it can be given hooks."""

    __slots__ = ("__weakref__", "_node", "_place")

    _node: Node
    _place: int

    def __init__(self) -> None:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")

    @property
    def data(self) -> Any:
        """What is kept: the tensor, or what a pack hook returned; None once it was released."""
        entry = self._entry()
        if isinstance(entry, PackedTensor):
            packed = entry.packed
            return Node.wrap(packed.array) if isinstance(packed, OwnResult) else packed
        if isinstance(entry, SavedTensor):
            return Node.wrap(entry.array) if entry.tensor is None else entry.tensor
        return entry

    @property
    def unpack_hook(self) -> Unpack | None:
        """The hook that gives the value back; None if there is none."""
        entry = self._entry()
        return entry.unpack if isinstance(entry, PackedTensor) else None

    def unpack(self) -> Any:
        """Give the saved tensor, as the node's rule would get it.

        Raises:
            RuntimeError: If it was released, or modified by an in-place operation, or if it is
                the node's own result, which has no place in the graph without the node.
        """
        if self._node._saved is None:
            raise RuntimeError(RELEASED)
        entry = self._entry()
        if isinstance(entry, SavedTensor) and entry.tensor is None:
            raise detached_error(" This is the node's own result: ask node._saved_result for it.")
        return entry if entry is None else unpack_tensor(entry, self._node)

    def _entry(self) -> Any:
        return None if self._node._saved is None else self._node._saved[self._place]

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
        if node._saved is None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved "
                "intermediate values of the graph are freed when you call .backward() or "
                "autograd.grad(). Specify retain_graph=True if you need to backward through the "
                "graph a second time or if you need to access saved variables after calling "
                "backward."
            )
        saved = list(node._saved)
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
            result = Node.wrap(entry.array)
            saved[self._place] = pack(result, None, node._result_nr(self._place), hooks)
            saved[self._place].requires_grad = True
        else:
            tensor = entry if isinstance(entry, Variable) else entry.tensor
            source, output_nr = gradient_edge(tensor)
            packed = pack(tensor.detach(), source, output_nr, hooks)
            packed.requires_grad = tensor.requires_grad
            saved[self._place] = packed
        node._saved = tuple(saved)


def raw_saved(node: Node, place: int) -> RawSavedTensor:
    """Give a handle on one of the values that a node saved."""
    raw = object.__new__(RawSavedTensor)
    raw._node = node
    raw._place = place
    return raw


Node._raw_saved = staticmethod(raw_saved)  # type: ignore[method-assign]
RawSavedTensor.__name__ = RawSavedTensor.__qualname__ = "SavedTensor"  # as in PyTorch
