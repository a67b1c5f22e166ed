"""Improve parameters step by step along their gradients."""

from minigrad.optim import adam, each_parameter, optimizer, sgd
from minigrad.optim import lr_scheduler as lr_scheduler
from minigrad.optim.adam import Adadelta, Adagrad, Adam, Adamax, AdamW, NAdam, RAdam, RMSprop, Rprop
from minigrad.optim.optimizer import Optimizer
from minigrad.optim.sgd import ASGD, SGD
from minigrad.utils import _late

__all__ = ["ASGD", "SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam",
    "Optimizer", "RAdam", "RMSprop", "Rprop", "lr_scheduler"]  # fmt: skip

# As in PyTorch, these are imported from (`from torch.optim.optimizer import ...`), not reached as
# attributes: code that did so would not run there.
del adam, each_parameter, optimizer, sgd

__getattr__, __dir__ = _late(__name__, lambda: {"LBFGS": "breadth.lbfgs"})
