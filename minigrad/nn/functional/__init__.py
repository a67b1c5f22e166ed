"""Compute what layers and losses compute, as plain functions of tensors."""

from typing import Any as _Any

from minigrad.faces.face import functions as _functions
from minigrad.faces.face import in_functional as _in_functional
from minigrad.nn.functional.attention import *
from minigrad.nn.functional.convolution import *
from minigrad.nn.functional.dropout import *
from minigrad.nn.functional.image import *
from minigrad.nn.functional.linear import *
from minigrad.nn.functional.normalization import *
from minigrad.nn.functional.pooling import *
from minigrad.ops import classification_losses as _classification_losses
from minigrad.ops import losses as _losses
from minigrad.ops import margin_losses as _margin_losses
from minigrad.ops import probability_losses as _probability_losses
from minigrad.ops import rectifiers as _rectifiers

globals().update(_in_functional)
globals().update({name: _functions[name] for name in ("hardshrink", "prelu", "relu_")})


def __getattr__(name: str) -> _Any:
    """Say what is missing, and let type checkers know that names come from the faces."""
    raise AttributeError(f"module 'minigrad.nn.functional' has no attribute {name!r}")
