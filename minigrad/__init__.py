"""minigrad: autograd on NumPy with PyTorch's names and PyTorch's behavior.

`import minigrad as torch`, and code written for PyTorch's tensors, autograd and hooks runs.
"""

import warnings as _warnings

from minigrad import autograd as autograd
from minigrad import nn as nn
from minigrad import ops as ops
from minigrad import optim as optim
from minigrad.autograd.modes import enable_grad as enable_grad
from minigrad.autograd.modes import is_grad_enabled as is_grad_enabled
from minigrad.autograd.modes import no_grad as no_grad
from minigrad.autograd.modes import set_grad_enabled as set_grad_enabled
from minigrad.creation import *
from minigrad.dtypes import *
from minigrad.ops.calling.arithmetic import *
from minigrad.ops.calling.choosing import *
from minigrad.ops.calling.products import *
from minigrad.ops.calling.reducing import *
from minigrad.ops.calling.shaping import *
from minigrad.ops.comparison import *
from minigrad.printing import get_printoptions as get_printoptions
from minigrad.printing import printoptions as printoptions
from minigrad.printing import set_printoptions as set_printoptions
from minigrad.tensor import Size as Size
from minigrad.tensor import Tensor as Tensor

__version__ = "0.1.0"

# As in PyTorch, 1 / 0 is inf and log(-1) is nan, without a word. This silences NumPy's warnings
# about such values only where minigrad's own files compute.
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"minigrad\.ops\.")
