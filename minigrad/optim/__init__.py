"""Improve parameters step by step along their gradients."""

from minigrad.optim import (
    adadelta,
    adagrad,
    adam,
    adamax,
    adamw,
    asgd,
    lbfgs,
    line_search,
    nadam,
    optimizer,
    radam,
    rmsprop,
    rprop,
    sgd,
)
from minigrad.optim import lr_scheduler as lr_scheduler
from minigrad.optim import swa_utils as swa_utils
from minigrad.optim.adadelta import Adadelta
from minigrad.optim.adagrad import Adagrad
from minigrad.optim.adam import Adam
from minigrad.optim.adamax import Adamax
from minigrad.optim.adamw import AdamW
from minigrad.optim.asgd import ASGD
from minigrad.optim.lbfgs import LBFGS
from minigrad.optim.nadam import NAdam
from minigrad.optim.optimizer import Optimizer
from minigrad.optim.radam import RAdam
from minigrad.optim.rmsprop import RMSprop
from minigrad.optim.rprop import Rprop
from minigrad.optim.sgd import SGD

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "lr_scheduler",
    "swa_utils",
]

# As in PyTorch, these are imported from (`from torch.optim.optimizer import ...`), not reached as
# attributes: code that did so would not run there.
del (
    adadelta,
    adagrad,
    adam,
    adamax,
    adamw,
    asgd,
    lbfgs,
    line_search,
    nadam,
    optimizer,
    radam,
    rmsprop,
    rprop,
    sgd,
)
