"""Gradients: the graph, the engine that runs it backward, hooks, modes, custom functions."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from minigrad.autograd import anomaly_mode, attributes, grad_mode, graph, messages
from minigrad.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
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
from minigrad.core.modes import is_grad_enabled

if _TYPE_CHECKING:
    from minigrad.autograd import functional as functional
    from minigrad.autograd.function import Function as Function
    from minigrad.autograd.legacy_variable import Variable as Variable

_LATER = {"Function": "function", "Variable": "legacy_variable"}

__all__ = [
    "Function",
    "SavedTensor",
    "Variable",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_grad_enabled",
    "is_multithreading_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


def __getattr__(name: str) -> _Any:
    """Load what importing need not wait for when it is first asked for."""
    file = _LATER.get(name, name)
    if file not in ("function", "functional", "legacy_variable"):
        raise AttributeError(f"module 'minigrad.autograd' has no attribute {name!r}")
    module = _import_module(f"minigrad.autograd.{file}")
    return module if file == name else getattr(module, name)
