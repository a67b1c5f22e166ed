"""Gradients: the graph, the engine that runs it backward, hooks, modes, custom functions."""

from minigrad.autograd import anomaly_mode, attributes, functional, grad_mode, graph
from minigrad.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from minigrad.autograd.function import Function
from minigrad.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from minigrad.autograd.gradcheck import gradcheck, gradgradcheck
from minigrad.autograd.gradients import backward, grad
from minigrad.autograd.graph import Variable
from minigrad.autograd.saved_hooks import RawSavedTensor as SavedTensor
from minigrad.core.modes import is_grad_enabled
from minigrad.utils import _late

__all__ = ["SavedTensor", "backward", "grad", "gradcheck", "gradgradcheck", "is_grad_enabled"]
__all__ += ["enable_grad", "grad_mode", "inference_mode", "no_grad", "set_grad_enabled"]
__all__ += ["Function", "Variable", "anomaly_mode", "detect_anomaly", "functional", "graph"]
__all__ += ["set_detect_anomaly"]

__getattr__, __dir__ = _late(__name__)  # PyTorch's paths inside, such as `autograd.profiler`
