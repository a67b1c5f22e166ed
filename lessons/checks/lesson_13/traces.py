"""Run an answer among no other hook, and count the hooks that it leaves behind."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom.execution import as_usual
from minigrad.nn.modules import module as everywhere

Answer = Callable[..., Any]

_TABLES = ("forward_pre", "forward", "backward_pre", "backward")
_OF_TENSORS = ("_backward_hooks", "_post_accumulate_grad_hooks")


@contextmanager
def quietly() -> Iterator[None]:
    """Set all global hooks aside for a while, and hold warnings back; keep the default dtype."""
    dtype = torch.get_default_dtype()
    with as_usual(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.set_default_dtype(dtype)
        yield


def hooks_on(*models: nn.Module) -> int:
    """Count the global hooks, and the hooks on these models' modules and parameters."""
    modules = [module for model in models for module in model.modules()]
    tables = [getattr(everywhere, f"_global_{name}_hooks") for name in _TABLES]
    tables += [getattr(module, f"_{name}_hooks") for module in modules for name in _TABLES]
    parameters = [p for model in models for p in model.parameters()]
    tables += [getattr(each, name, None) for each in parameters for name in _OF_TENSORS]
    return sum(len(table) for table in tables if table)


def chain(**layers: nn.Module) -> nn.Sequential:
    """Put named layers behind one another."""
    return nn.Sequential(OrderedDict(layers))


def numbers(*shape: int, seed: int = 0, scale: float = 1.0) -> Tensor:
    """Give distinct numbers between -1 and 1, the same for each call; they are not random."""
    count = 1
    for size in shape:
        count *= size
    row = torch.arange(1, count + 1).to(torch.get_default_dtype())
    return ((row * (1.7 + 0.31 * seed) + seed).sin() * scale).reshape(*shape)


def filled(module: nn.Module, seed: int = 0, scale: float = 0.8) -> Any:
    """Give the parameters of a module numbers that are the same for each call."""
    with torch.no_grad():
        for place, parameter in enumerate(module.parameters()):
            parameter.copy_(numbers(*parameter.shape, seed=seed + 3 * place, scale=scale))
    return module
