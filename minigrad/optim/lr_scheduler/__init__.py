"""Change the learning rate while training goes on: schedules, alone or put together."""

from minigrad.optim.lr_scheduler.base import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    LRScheduler,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
    _LRScheduler,
)  # fmt: skip
from minigrad.optim.lr_scheduler.combined import ChainedScheduler, ReduceLROnPlateau, SequentialLR
from minigrad.optim.lr_scheduler.waves import (
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    CyclicLR,
    OneCycleLR,
)  # fmt: skip

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
    "CyclicLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR",
    "MultiplicativeLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR",
    "StepLR", "_LRScheduler",
]  # fmt: skip
for _name in __all__:  # programs tell a schedule by its module
    globals()[_name].__module__ = __name__
