"""minigrad: autograd on NumPy with PyTorch's names and PyTorch's behavior.

`import minigrad as torch`, and code written for PyTorch's tensors, autograd and hooks runs.
"""

import warnings as _warnings
from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi
from typing import TYPE_CHECKING as _TYPE_CHECKING

import minigrad.requirements as _requirements  # first: it says if NumPy is missing

from minigrad import fast as _fast  # isort: skip  # before operations are declared
from minigrad import autograd as autograd
from minigrad import ops as ops
from minigrad import random as random
from minigrad.autograd.grad_mode import *
from minigrad.autograd.grad_mode import is_inference as is_inference
from minigrad.autograd.grad_mode import is_inference_mode_enabled as is_inference_mode_enabled
from minigrad.core.modes import is_grad_enabled as is_grad_enabled
from minigrad.core.tensor import Tensor as Tensor
from minigrad.creation.construction import *
from minigrad.creation.dtypes import *
from minigrad.creation.dtypes import dtype as dtype
from minigrad.creation.factories import *
from minigrad.creation.layout import Size as Size
from minigrad.creation.layout import keep_freed_memory as _keep_freed_memory
from minigrad.extra import paths as _paths
from minigrad.random import Generator as Generator
from minigrad.random import default_generator as default_generator
from minigrad.random import get_rng_state as get_rng_state
from minigrad.random import initial_seed as initial_seed
from minigrad.random import manual_seed as manual_seed
from minigrad.random import seed as seed
from minigrad.random import set_rng_state as set_rng_state
from minigrad.signatures.lazy_loading import WAITING as _waiting
from minigrad.signatures.variants import functions as _functions
from minigrad.utils import _late

__version__ = "0.1.0"

newaxis = None

# As in PyTorch, 1 / 0 is inf and log(-1) is nan, without a word. This silences NumPy's warnings
# about such values only where minigrad's own files compute.
_own = r"minigrad\.(ops|nn\.functional)\."
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=_own)

for _kind in (Tensor, Size, dtype):
    _kind.__module__ = __name__  # where PyTorch has them, and prints that it has

if _fast.on:  # these join in once what they make faster is there
    from minigrad.fast import engine as _engine
    from minigrad.fast import linear as _linear
_keep_freed_memory()
globals().update(_functions)

if _TYPE_CHECKING:
    from minigrad import linalg as linalg
    from minigrad import nn as nn
    from minigrad import optim as optim
    from minigrad import special as special
    from minigrad._functions import *
    from minigrad.autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled
    from minigrad.creation.devices import *
    from minigrad.creation.printing import *
    from minigrad.extra.transforms import vmap as vmap
    from minigrad.saving import load as load
    from minigrad.saving import save as save

# These rooms are loaded when they are first asked for (`minigrad.nn`), so that importing is quick.
_rooms = "linalg nn optim special symbolic utils viz"
_functions_loaded_later = {"load": "saving", "save": "saving", "vmap": "extra.transforms"}
_functions_loaded_later["set_printoptions"] = "creation.printing"
_functions_loaded_later |= {"Future": "extra.paths"}
_anomaly = ("is_anomaly_check_nan_enabled", "is_anomaly_enabled")
_functions_loaded_later |= dict.fromkeys(_anomaly, "autograd.anomaly_mode")
_all_loaded_later = {**_functions_loaded_later, **_waiting}
_all_loaded_later |= {_room: _room for _room in _rooms.split()}
__getattr__, __dir__ = _late(__name__, lambda: _all_loaded_later)
