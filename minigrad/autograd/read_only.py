"""Let attributes that can only be read say so in PyTorch's words: `refuse_writing`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def refuse_writing(kind: type) -> None:
    """Give every property of a class, or of one it inherits from, that has no setter one.

    The new setter, and the new deleter, raise PyTorch's error. Reading stays as quick as it is.

    Example:
        >>> import minigrad as torch
        >>> torch.ones(2).shape = (1, 2)
        Traceback (most recent call last):
        AttributeError: attribute 'shape' of 'torch._C.TensorBase' objects is not writable
    """
    for owner in kind.__mro__[:-1]:
        for name, value in list(vars(owner).items()):
            if isinstance(value, property) and value.fset is None:
                refuse = _refusal(name)
                setattr(owner, name, property(value.fget, refuse, refuse, value.__doc__))


def _refusal(name: str) -> Callable[..., None]:
    def refuse(tensor: Any, value: Any = None) -> None:
        raise AttributeError(f"attribute '{name}' of 'torch._C.TensorBase' objects is not writable")

    return refuse
