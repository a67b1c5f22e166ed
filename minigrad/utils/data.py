"""PyTorch's path to `minigrad.data`."""

from minigrad.data import *  # noqa: F403
from minigrad.late import late

__getattr__, __dir__ = late(__name__)
