"""PyTorch's path to `minigrad.data`."""

from minigrad.data import *  # noqa: F403
from minigrad.faces.lazy_loading import late

__getattr__, __dir__ = late(__name__)
