"""Improve parameters step by step along their gradients."""

from minigrad.optim import each_parameter, optimizer
from minigrad.optim import lr_scheduler as lr_scheduler
from minigrad.optim.each_parameter import SGD, Adagrad, Adam, AdamW, RMSprop
from minigrad.optim.optimizer import Optimizer
from minigrad.utils import _late

__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]

# As in PyTorch, these are imported from (`from torch.optim.optimizer import ...`), not reached as
# attributes: code that did so would not run there.
del each_parameter, optimizer

_found = dict.fromkeys(("Adadelta", "LBFGS"), "extra.optimizers")
__getattr__, __dir__ = _late(__name__, lambda: _found)
