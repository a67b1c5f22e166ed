"""Small pieces that every other room may use, in the places where PyTorch keeps them."""

import sys as _sys
from importlib import import_module as _import_module
from typing import Any as _Any


def __getattr__(name: str) -> _Any:
    """Load these when they are first asked for: they build on tensors, the others do not."""
    if name in ("checkpoint", "data", "hooks") or f"minigrad.utils.{name}" in _sys.modules:
        return _import_module(f"minigrad.utils.{name}")
    raise AttributeError(f"module 'minigrad.utils' has no attribute {name!r}")
