"""PyTorch's path to `minigrad.data`."""

from minigrad.data import *  # noqa: F403
