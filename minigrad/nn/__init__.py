"""Build networks: modules with parameters and hooks, layers, losses, initialization."""

import sys as _sys
from importlib import import_module as _import_module
from typing import Any as _Any

from minigrad.faces import lazy_loading as _lazy_loading
from minigrad.nn import functional as functional
from minigrad.nn import init as init
from minigrad.nn.modules import *
from minigrad.nn.modules import Module as Module
from minigrad.nn.parameter import Buffer as Buffer
from minigrad.nn.parameter import Parameter as Parameter
from minigrad.nn.parameter import UninitializedBuffer as UninitializedBuffer
from minigrad.nn.parameter import UninitializedParameter as UninitializedParameter

# isort: split
from minigrad.nn import utils as utils  # after the layers, which it works on

# Paths of PyTorch's without a file of ours (see minigrad.breadth.paths) are attributes, too.
for _path, _module in [*_sys.modules.items()]:
    _room, _, _name = _path.rpartition(".")
    if _room in ("minigrad.nn", "minigrad.nn.modules", "minigrad.nn.utils"):
        setattr(_sys.modules[_room], _name, _module)


def _late() -> list[str]:
    return [*_import_module("minigrad.breadth.layers").NAMES]


__dir__ = _lazy_loading.listing(globals(), _late)


def __getattr__(name: str) -> _Any:
    """Load a layer that is seldom used, or say what is missing."""
    if not name.startswith("_"):
        layers = _import_module("minigrad.breadth.layers")
        if name in layers.NAMES:
            return getattr(layers, name)
    raise AttributeError(f"module 'minigrad.nn' has no attribute {name!r}")
