"""Change tensors that backward needs and still get right gradients, at the cost of copies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary

from minigrad.autograd.saved_hooks import saved_tensors_hooks
from minigrad.autograd.variable import Variable
from minigrad.autograd.versions import VersionCounter, counter_of
from minigrad.autograd.views import write_watchers


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
            table.clear()  # type: ignore[attr-defined]

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

    def _before_write(self, tensor: Variable) -> None:
        for handle in self._memory.pop(counter_of(tensor), ()):
            self.cloned[handle] = self.original.pop(handle).clone()


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
