"""Small pieces that every other room may use, in the places where PyTorch keeps them."""

import sys as _sys
from importlib import import_module as _import_module
from typing import Any as _Any

_LATE = ("checkpoint", "data", "hooks")


def __dir__() -> list[str]:
    """List what is loaded later, too."""
    below = {name.split(".")[2] for name in _sys.modules if name.startswith(f"{__name__}.")}
    return sorted({*globals(), *_LATE, *below})


def __getattr__(name: str) -> _Any:
    """Load these when they are first asked for: they build on tensors, the others do not."""
    if name in _LATE or f"minigrad.utils.{name}" in _sys.modules:
        return _import_module(f"minigrad.utils.{name}")
    raise AttributeError(f"module 'minigrad.utils' has no attribute {name!r}")
