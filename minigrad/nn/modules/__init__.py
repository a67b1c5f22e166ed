"""Find every layer, container and loss of `minigrad.nn` in one place."""

from minigrad.nn.modules.activation import *
from minigrad.nn.modules.container import *
from minigrad.nn.modules.flatten import *
from minigrad.nn.modules.linear import *
from minigrad.nn.modules.loss import *
from minigrad.nn.modules.module import Module as Module
