"""Hold the handle of a hook, and remove the hook with it."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, MutableMapping
from typing import Any, ClassVar, TypeVar

Hook = TypeVar("Hook", bound=Callable[..., Any])


class RemovableHandle:
    """The receipt for a registered hook: call `remove()` and the hook is gone.

    A handle does not keep the table of hooks alive. It may be removed twice, also from inside
    its own hook, and it is a context manager that removes the hook at the end of the block.

    Args:
        hooks_dict: The table that holds the hook, keyed by the handle's `id`.
        extra_dict: One more table, or several, in which the same id stands.

    Example:
        >>> from collections import OrderedDict
        >>> table = OrderedDict()
        >>> handle = RemovableHandle(table)
        >>> table[handle.id] = print
        >>> with handle:
        ...     len(table)
        1
        >>> len(table)
        0
        >>> handle.remove()
    """

    next_id: ClassVar[int] = 0

    def __init__(self, hooks_dict: MutableMapping[int, Any], *, extra_dict: Any = None) -> None:
        self.hooks_dict_ref: weakref.ref[Any] = weakref.ref(hooks_dict)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        extras = extra_dict if isinstance(extra_dict, list) else [extra_dict]
        self.extra_dict_ref: tuple[weakref.ref[Any], ...] = tuple(
            weakref.ref(extra) for extra in extras if isinstance(extra, dict)
        )

    def remove(self) -> None:
        """Remove the hook. Doing so again is harmless."""
        for reference in (self.hooks_dict_ref, *self.extra_dict_ref):
            table = reference()
            if table is not None:
                table.pop(self.id, None)

    def __getstate__(self) -> tuple[Any, ...]:
        """Give what a pickle or a deep copy needs: the tables themselves, and the id."""
        return (self.hooks_dict_ref(), self.id, tuple(ref() for ref in self.extra_dict_ref))

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """Attach the copied handle to the copied tables."""
        hooks_dict, self.id, extras = state if len(state) == 3 else (*state, ())
        # The copy may come from another process: its id must not be given out again here.
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)
        self.hooks_dict_ref = weakref.ref(_ReferableDict() if hooks_dict is None else hooks_dict)
        self.extra_dict_ref = tuple(weakref.ref(extra) for extra in extras if extra is not None)

    def __enter__(self) -> RemovableHandle:
        """Enter a block at whose end the hook is removed."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Remove the hook."""
        self.remove()


class _ReferableDict(dict):  # type: ignore[type-arg]
    """A dict that can be weakly referenced."""


def unserializable_hook(f: Hook) -> Hook:
    """Mark a tensor's hook as one that may stay behind when the tensor is pickled.

    Args:
        f: The hook; the decorator returns it.

    Example:
        >>> @unserializable_hook
        ... def show(grad):
        ...     print(grad)
    """
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn of each hook of a tensor that would be lost in a pickle, and is not marked for that."""
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, "
                "you can decorate the function with @torch.utils.hooks.unserializable_hook to "
                "suppress this warning",
                UserWarning,
                stacklevel=2,
            )
