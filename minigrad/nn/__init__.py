"""Build networks: modules with parameters and hooks, layers, losses, initialization."""

from importlib import import_module as _import_module
from typing import Any as _Any

from minigrad.nn import functional as functional
from minigrad.nn import init as init
from minigrad.nn.modules import *
from minigrad.nn.modules import Module as Module
from minigrad.nn.parameter import Buffer as Buffer
from minigrad.nn.parameter import Parameter as Parameter
from minigrad.utils import _late as _make_late

# isort: split
from minigrad.nn import utils as utils  # after the layers, which it works on


def _late() -> dict[str, _Any]:
    """Give layers that are seldom used."""
    rooms = ("lazy", "recurrent", "transformers")
    found = {room: _import_module(f"minigrad.extra.{room}").NAMES for room in rooms}
    layers = {name: f"extra.{room}" for room, names in found.items() for name in names}
    return {**layers, "DataParallel": "extra.paths", "SyncBatchNorm": "extra.paths"}


__getattr__, __dir__ = _make_late(__name__, _late)
