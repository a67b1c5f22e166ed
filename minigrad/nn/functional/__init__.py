"""Compute what layers and losses compute, as plain functions of tensors."""

from minigrad.nn.functional.activation import *
from minigrad.nn.functional.linear import *
from minigrad.nn.functional.loss import *
