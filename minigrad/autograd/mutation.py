"""Change tensors that backward needs and still get right gradients, at the cost of copies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from minigrad.autograd.saved import VersionCounter, counter_of
from minigrad.autograd.saved_hooks import saved_tensors_hooks
from minigrad.autograd.variable import Variable
from minigrad.autograd.views import write_watchers


class _Kept:
    """What an operation saved: the tensor's memory, or a copy as soon as that is written to."""

    __slots__ = ("__weakref__", "tensor")

    def __init__(self, tensor: Any) -> None:
        # detached: a result must not be held by the node that made it
        self.tensor = tensor.detach()


class SavedCopies:
    """What `allow_mutation_on_saved_tensors` gives: the saved tensors of its block."""

    def __init__(self) -> None:
        self._kept: WeakKeyDictionary[VersionCounter, WeakSet[_Kept]] = WeakKeyDictionary()

    def clear(self) -> None:
        """Forget all that was saved."""
        self._kept.clear()

    def _pack(self, tensor: Any) -> _Kept:
        kept = _Kept(tensor)
        self._kept.setdefault(counter_of(tensor), WeakSet()).add(kept)
        return kept

    def _unpack(self, kept: _Kept) -> Any:
        if _open_blocks != [self]:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
                "in which the graph was originally recorded."
            )
        return kept.tensor

    def _before_write(self, tensor: Variable) -> None:
        for kept in self._kept.pop(counter_of(tensor), ()):
            kept.tensor = kept.tensor.clone()


# the block that is open, if one is: they cannot be nested
_open_blocks: list[SavedCopies] = []


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[SavedCopies]:
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
    _open_blocks.append(copies)
    write_watchers.append(copies._before_write)
    try:
        with saved_tensors_hooks(copies._pack, copies._unpack):
            yield copies
    finally:
        copies.clear()
        write_watchers.remove(copies._before_write)
        _open_blocks.remove(copies)
