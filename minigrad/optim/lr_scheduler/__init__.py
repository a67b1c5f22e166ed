"""Change the learning rate while training goes on: schedules, alone or put together."""

from minigrad.optim.lr_scheduler import base, combined, waves
from minigrad.optim.lr_scheduler.base import *
from minigrad.optim.lr_scheduler.base import _LRScheduler as _LRScheduler
from minigrad.optim.lr_scheduler.combined import *
from minigrad.optim.lr_scheduler.waves import *

__all__ = ["_LRScheduler"]
__all__ += base.__all__
__all__ += combined.__all__
__all__ += waves.__all__

for _name in __all__:  # programs tell a schedule by its module
    globals()[_name].__module__ = __name__
