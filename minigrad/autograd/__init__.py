"""Gradients: the graph, the engine that runs it backward, hooks, modes, custom functions."""

from minigrad.autograd import graph
from minigrad.autograd.function import Function
from minigrad.autograd.gradients import backward, grad
from minigrad.autograd.modes import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from minigrad.autograd.variable import Variable

__all__ = [
    "Function",
    "Variable",
    "backward",
    "enable_grad",
    "grad",
    "graph",
    "is_grad_enabled",
    "no_grad",
    "set_grad_enabled",
]
