"""PyTorch's path to `minigrad.saving.checkpoint`."""

from minigrad.saving.checkpoint import *  # noqa: F403
