"""Improve parameters step by step along their gradients."""

from minigrad.optim.optimizer import Optimizer
from minigrad.optim.sgd import SGD

__all__ = ["SGD", "Optimizer"]
