"""PyTorch's path to `minigrad.data`."""

from minigrad.data import *  # noqa: F403
from minigrad.data import _DatasetKind as _DatasetKind
