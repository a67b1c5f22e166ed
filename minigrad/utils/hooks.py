"""Find the handle of a hook where PyTorch has it, and what concerns hooks and pickles."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from minigrad.core.node import RemovableHandle as RemovableHandle

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


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn of each hook of a tensor that would be lost in a pickle, and is not marked for that."""
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, "
                "you can decorate the function with @torch.utils.hooks.unserializable_hook to "
                "suppress this warning",
                stacklevel=2,
            )
