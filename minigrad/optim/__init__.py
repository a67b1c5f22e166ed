"""Improve parameters step by step along their gradients."""

from minigrad.optim import optimizer, sgd
from minigrad.optim.optimizer import Optimizer
from minigrad.optim.sgd import SGD

__all__ = ["SGD", "Optimizer"]

# As in PyTorch, these are imported from (`from torch.optim.optimizer import ...`), not reached as
# attributes: code that did so would not run there.
del optimizer, sgd
