"""Compute what layers and losses compute, as plain functions of tensors."""

from minigrad.nn.functional.activation import *
from minigrad.nn.functional.attention import *
from minigrad.nn.functional.convolution import *
from minigrad.nn.functional.distance_loss import *
from minigrad.nn.functional.dropout import *
from minigrad.nn.functional.image import *
from minigrad.nn.functional.linear import *
from minigrad.nn.functional.loss import *
from minigrad.nn.functional.normalization import *
from minigrad.nn.functional.pooling import *
