"""Find every layer, container and loss of `minigrad.nn` in one place."""

from minigrad.nn.modules.container import *
from minigrad.nn.modules.conv import *
from minigrad.nn.modules.linear import *
from minigrad.nn.modules.loss import *
from minigrad.nn.modules.module import Module as Module
from minigrad.nn.modules.normalization import *
from minigrad.nn.modules.parameterless import *
from minigrad.utils import _late

__getattr__, __dir__ = _late(__name__)
