"""Gradients: the graph, the engine that runs it backward, hooks, modes, custom functions."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from minigrad.autograd import attributes, grad_mode
from minigrad.autograd.grad_mode import (
    enable_grad,
    inference_mode,
    is_multithreading_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from minigrad.autograd.gradcheck import gradcheck, gradgradcheck
from minigrad.autograd.gradients import backward, grad
from minigrad.autograd.saved_names import RawSavedTensor as SavedTensor
from minigrad.core.node import is_grad_enabled

if _TYPE_CHECKING:
    from minigrad.autograd import anomaly_mode, functional, graph, legacy_variable
    from minigrad.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
    from minigrad.autograd.function import Function
    from minigrad.autograd.legacy_variable import Variable

_FILES: tuple[str, ...] = ("anomaly_mode", "function", "functional", "graph", "legacy_variable")
_FILES += ("forward_ad", "profiler")  # see minigrad.breadth.paths
_LATER = {"Function": "function", "Variable": "legacy_variable"}
_LATER |= {"detect_anomaly": "anomaly_mode", "set_detect_anomaly": "anomaly_mode"}

__all__ = ["SavedTensor", "backward", "grad", "gradcheck", "gradgradcheck", "is_grad_enabled"]
__all__ += ["enable_grad", "grad_mode", "inference_mode", "no_grad", "set_grad_enabled"]
__all__ += ["Function", "Variable", "anomaly_mode", "detect_anomaly", "functional", "graph"]
__all__ += ["is_multithreading_enabled", "set_detect_anomaly", "set_multithreading_enabled"]


def __dir__() -> list[str]:
    """List what is loaded later, too."""
    return sorted({*globals(), *_FILES, *_LATER})


def __getattr__(name: str) -> _Any:
    """Load what importing need not wait for when it is first asked for."""
    file = _LATER.get(name, name)
    if file not in _FILES:
        raise AttributeError(f"module 'minigrad.autograd' has no attribute {name!r}")
    module = _import_module(f"minigrad.autograd.{file}")
    return module if file == name else getattr(module, name)
