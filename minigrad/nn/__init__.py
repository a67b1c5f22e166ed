"""Build networks: modules with parameters and hooks, layers, losses, initialization."""

from importlib import import_module as _import_module
from typing import Any as _Any

from minigrad.nn import functional as functional
from minigrad.nn import init as init
from minigrad.nn.modules import *
from minigrad.nn.modules import Module as Module
from minigrad.nn.parameter import Buffer as Buffer
from minigrad.nn.parameter import Parameter as Parameter
from minigrad.nn.parameter import UninitializedBuffer as UninitializedBuffer
from minigrad.nn.parameter import UninitializedParameter as UninitializedParameter
from minigrad.utils import _late as _make_late

# isort: split
from minigrad.nn import utils as utils  # after the layers, which it works on

# Files of ours that came with the layers: PyTorch has others at these names.
for _file in ("attention", "parallel"):
    del globals()[_file]


def _late() -> dict[str, _Any]:
    """Give layers that are seldom used."""
    return dict.fromkeys(_import_module("minigrad.breadth.layers").NAMES, "breadth.layers")


__getattr__, __dir__ = _make_late(__name__, _late)
