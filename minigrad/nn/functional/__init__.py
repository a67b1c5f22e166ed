"""Compute what layers and losses compute, as plain functions of tensors."""

from minigrad.nn.functional.activation import *
from minigrad.nn.functional.adaptive_pooling import *
from minigrad.nn.functional.attention import *
from minigrad.nn.functional.batch_normalization import *
from minigrad.nn.functional.class_margin_loss import *
from minigrad.nn.functional.convolution import *
from minigrad.nn.functional.distance import *
from minigrad.nn.functional.dropout import *
from minigrad.nn.functional.embedding import *
from minigrad.nn.functional.encoding import *
from minigrad.nn.functional.grid import *
from minigrad.nn.functional.hard_activation import *
from minigrad.nn.functional.linear import *
from minigrad.nn.functional.loss import *
from minigrad.nn.functional.margin_loss import *
from minigrad.nn.functional.multi_head_attention import *
from minigrad.nn.functional.normalization import *
from minigrad.nn.functional.padding import *
from minigrad.nn.functional.pixel_shuffle import *
from minigrad.nn.functional.pooling import *
from minigrad.nn.functional.probability_loss import *
from minigrad.nn.functional.regression_loss import *
from minigrad.nn.functional.resizing import *
