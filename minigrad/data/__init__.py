"""Hold examples, take them in any order and go through them in batches."""

from minigrad.data import dataset, loader, sampler
from minigrad.data.dataset import *
from minigrad.data.loader import *
from minigrad.data.sampler import *

__all__ = dataset.__all__ + loader.__all__ + sampler.__all__
