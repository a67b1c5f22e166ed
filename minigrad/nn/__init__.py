"""Build networks: modules with parameters and hooks, layers, losses, initialization."""

import sys as _sys

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

parallel = _sys.modules["minigrad.nn.parallel"]  # no file of ours: see minigrad.breadth.paths
