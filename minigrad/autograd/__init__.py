"""Gradients: the graph, the engine that runs it backward, hooks, modes, custom functions."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from minigrad.autograd import anomaly_mode as anomaly_mode
from minigrad.autograd import attributes as _attributes
from minigrad.autograd import grad_mode as grad_mode
from minigrad.autograd import graph as graph
from minigrad.autograd.anomaly_mode import detect_anomaly as detect_anomaly
from minigrad.autograd.anomaly_mode import set_detect_anomaly as set_detect_anomaly
from minigrad.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from minigrad.autograd.gradcheck import gradcheck as gradcheck
from minigrad.autograd.gradcheck import gradgradcheck as gradgradcheck
from minigrad.autograd.gradients import backward as backward
from minigrad.autograd.gradients import grad as grad
from minigrad.autograd.saved_names import RawSavedTensor as SavedTensor
from minigrad.core.modes import is_grad_enabled as is_grad_enabled

if _TYPE_CHECKING:
    from minigrad.autograd import functional as functional
    from minigrad.autograd.function import Function as Function
    from minigrad.autograd.legacy_variable import Variable as Variable

_LATER = {"Function": "function", "Variable": "legacy_variable"}

__all__ = ["SavedTensor", "anomaly_mode", "backward", "detect_anomaly", "grad", "grad_mode"]
__all__ += ["gradcheck", "gradgradcheck", "graph", "is_grad_enabled", "set_detect_anomaly"]
__all__ += ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]
__all__ += ["Function", "Variable", "functional"]  # loaded when they are first asked for


def __getattr__(name: str) -> _Any:
    """Load what importing need not wait for when it is first asked for."""
    file = _LATER.get(name, name)
    if file not in ("function", "functional", "legacy_variable"):
        raise AttributeError(f"module 'minigrad.autograd' has no attribute {name!r}")
    module = _import_module(f"minigrad.autograd.{file}")
    return module if file == name else getattr(module, name)
