"""Hold examples, take them in any order and go through them in batches."""

from minigrad.data import dataset, loader
from minigrad.data.dataset import *
from minigrad.data.loader import *

__all__ = dataset.__all__ + loader.__all__
