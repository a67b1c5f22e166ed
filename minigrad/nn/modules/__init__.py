"""Find every layer, container and loss of `minigrad.nn` in one place."""

from minigrad.nn.modules.activation import *
from minigrad.nn.modules.attention import *
from minigrad.nn.modules.batchnorm import *
from minigrad.nn.modules.container import *
from minigrad.nn.modules.conv import *
from minigrad.nn.modules.conv_transpose import *
from minigrad.nn.modules.distance import *
from minigrad.nn.modules.dropout import *
from minigrad.nn.modules.flatten import *
from minigrad.nn.modules.fold import *
from minigrad.nn.modules.gated_rnn import *
from minigrad.nn.modules.hard_activation import *
from minigrad.nn.modules.instancenorm import *
from minigrad.nn.modules.lazy import *
from minigrad.nn.modules.linear import *
from minigrad.nn.modules.loss import *
from minigrad.nn.modules.margin_loss import *
from minigrad.nn.modules.module import Module as Module
from minigrad.nn.modules.normalization import *
from minigrad.nn.modules.padding import *
from minigrad.nn.modules.parameter_containers import *
from minigrad.nn.modules.pixelshuffle import *
from minigrad.nn.modules.pooling import *
from minigrad.nn.modules.probability_loss import *
from minigrad.nn.modules.rnn import *
from minigrad.nn.modules.rnn_cell import *
from minigrad.nn.modules.simple_activation import *
from minigrad.nn.modules.sparse import *
from minigrad.nn.modules.transformer import *
from minigrad.nn.modules.transformer_layers import *
from minigrad.nn.modules.transformer_stacks import *
from minigrad.nn.modules.upsampling import *
