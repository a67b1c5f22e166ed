"""Small pieces that every other room may use, in the places where PyTorch keeps them."""

from importlib import import_module as _import_module
from typing import Any as _Any


def __getattr__(name: str) -> _Any:
    """Load `checkpoint` when it is first asked for: it builds on tensors, the others do not."""
    if name == "checkpoint":
        return _import_module("minigrad.utils.checkpoint")
    raise AttributeError(f"module 'minigrad.utils' has no attribute {name!r}")
