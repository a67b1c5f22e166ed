"""Make a module without drawing its parameters."""

from __future__ import annotations

import inspect
from typing import Any

from minigrad.nn.modules.module import Module
from minigrad.random import fork_rng


def skip_init(module_cls: type[Module], *args: Any, **kwargs: Any) -> Module:
    """Make a module whose parameters are anything; no random numbers are drawn for them.

    Raises:
        RuntimeError: If the class is none of modules, or takes no `device`.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.utils.skip_init(torch.nn.Linear, 2, 3)
        Linear(in_features=2, out_features=3, bias=True)
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    with fork_rng():
        return module_cls(*args, **kwargs)
