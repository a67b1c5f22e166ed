"""Find every layer, container and loss of `minigrad.nn` in one place."""

from minigrad.nn.modules.activation import (
    ELU,
    LeakyReLU,
    LogSoftmax,
    ReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Tanh,
)
from minigrad.nn.modules.container import ModuleDict, ModuleList, Sequential
from minigrad.nn.modules.flatten import Flatten
from minigrad.nn.modules.linear import Identity, Linear
from minigrad.nn.modules.loss import CrossEntropyLoss, L1Loss, MSELoss, NLLLoss
from minigrad.nn.modules.module import Module

__all__ = [
    "ELU",
    "CrossEntropyLoss",
    "Flatten",
    "Identity",
    "L1Loss",
    "LeakyReLU",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "Module",
    "ModuleDict",
    "ModuleList",
    "NLLLoss",
    "ReLU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Tanh",
]
