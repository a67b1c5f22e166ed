"""PyTorch's path to `minigrad.data`."""

from minigrad.data import *  # noqa: F403
from minigrad.utils import _late as late

__getattr__, __dir__ = late(__name__)
