"""Find the handle of a hook where PyTorch has it, and what concerns hooks and pickles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from minigrad.core.hooks import RemovableHandle as RemovableHandle
from minigrad.creation.layout import warn_if_has_hooks as warn_if_has_hooks

Hook = TypeVar("Hook", bound=Callable[..., Any])


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
