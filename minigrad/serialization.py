"""PyTorch's path to `minigrad.saving`."""

from minigrad.saving import load as load
from minigrad.saving import save as save
