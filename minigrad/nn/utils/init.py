"""Make a layer without initializing its parameters."""

from __future__ import annotations

import inspect
from typing import Any

from minigrad import random
from minigrad.nn.modules.module import Module

__all__ = ["skip_init"]


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """Make a layer whose parameters have arbitrary values, without drawing random numbers.

    Args:
        module_cls: The class of the layer, which must have an argument `device`.
        *args: What to make it with.
        **kwargs: What to make it with.

    Raises:
        RuntimeError: If it is no class of modules, or has no argument `device`.

    Example:
        >>> from minigrad import nn
        >>> nn.utils.skip_init(nn.Linear, 2, 3)
        Linear(in_features=2, out_features=3, bias=True)
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    state = random.get_rng_state()
    try:
        return module_cls(*args, **kwargs)
    finally:
        random.set_rng_state(state)
