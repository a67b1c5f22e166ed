"""Name the type of an object the way PyTorch's messages do."""

from __future__ import annotations

from typing import Any

from minigrad.tensor import Tensor


def typename(value: Any) -> str:
    """Give the name of a value's type: the element type for a tensor, the full path for others.

    Args:
        value: Any object.

    Returns:
        `torch.FloatTensor` and its like for tensors, the bare name for builtins, and the path
        with its module for everything else.

    Example:
        >>> import minigrad as torch
        >>> typename(3), typename(torch.ones(2))
        ('int', 'torch.FloatTensor')
    """
    if isinstance(value, Tensor):
        return value.type()  # type: ignore[no-any-return]
    # A class or a function is named itself; of any other object it is the class.
    named = value if hasattr(value, "__qualname__") or hasattr(value, "__name__") else type(value)
    name = getattr(named, "__qualname__", None) or named.__name__
    module = getattr(named, "__module__", None) or ""
    return name if module in ("", "builtins") else f"{module}.{name}"
