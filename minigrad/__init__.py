"""minigrad: autograd on NumPy with PyTorch's names and PyTorch's behavior.

`import minigrad as torch`, and code written for PyTorch's tensors, autograd and hooks runs.
"""

import warnings as _warnings
from importlib import import_module as _import_module
from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from minigrad import autograd as autograd
from minigrad import ops as ops
from minigrad import random as random
from minigrad.autograd.anomaly_mode import (
    is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled,
)
from minigrad.autograd.anomaly_mode import is_anomaly_enabled as is_anomaly_enabled
from minigrad.autograd.inference import inference_mode as inference_mode
from minigrad.autograd.inference import is_inference as is_inference
from minigrad.autograd.inference import is_inference_mode_enabled as is_inference_mode_enabled
from minigrad.autograd.modes import enable_grad as enable_grad
from minigrad.autograd.modes import is_grad_enabled as is_grad_enabled
from minigrad.autograd.modes import no_grad as no_grad
from minigrad.autograd.modes import set_grad_enabled as set_grad_enabled
from minigrad.creation import *
from minigrad.dtypes import *
from minigrad.memory import keep_freed_memory as _keep_freed_memory
from minigrad.ops.calling.arithmetic import *
from minigrad.ops.calling.choosing import *
from minigrad.ops.calling.outputs import *
from minigrad.ops.calling.products import *
from minigrad.ops.calling.reducing import *
from minigrad.ops.calling.shaping import *
from minigrad.ops.comparison import allclose as allclose
from minigrad.ops.comparison import equal as equal
from minigrad.ops.comparison import isclose as isclose
from minigrad.ops.comparison import isfinite as isfinite
from minigrad.ops.comparison import isinf as isinf
from minigrad.ops.comparison import isnan as isnan
from minigrad.ops.later import function as _waiting_function
from minigrad.ops.later import functions as _waiting_functions
from minigrad.printing import get_printoptions as get_printoptions
from minigrad.printing import printoptions as printoptions
from minigrad.printing import set_printoptions as set_printoptions
from minigrad.random import Generator as Generator
from minigrad.random import default_generator as default_generator
from minigrad.random import get_rng_state as get_rng_state
from minigrad.random import initial_seed as initial_seed
from minigrad.random import manual_seed as manual_seed
from minigrad.random import seed as seed
from minigrad.random import set_rng_state as set_rng_state
from minigrad.tensor import Size as Size
from minigrad.tensor import Tensor as Tensor

__version__ = "0.1.0"

newaxis = None

# As in PyTorch, 1 / 0 is inf and log(-1) is nan, without a word. This silences NumPy's warnings
# about such values only where minigrad's own files compute.
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"minigrad\.ops\.")

_keep_freed_memory()

if _TYPE_CHECKING:
    # one line for each room of ops.later.ROOMS
    from minigrad import distributions as distributions
    from minigrad import linalg as linalg
    from minigrad import nn as nn
    from minigrad import optim as optim
    from minigrad import special as special
    from minigrad.function_transforms import vmap as vmap
    from minigrad.ops.calling.accumulating import *
    from minigrad.ops.calling.activating import *
    from minigrad.ops.calling.adding_products import *
    from minigrad.ops.calling.aliases import *
    from minigrad.ops.calling.assembling import *
    from minigrad.ops.calling.averaging import *
    from minigrad.ops.calling.comparing import *
    from minigrad.ops.calling.complex_parts import *
    from minigrad.ops.calling.contracting import *
    from minigrad.ops.calling.convolution import *
    from minigrad.ops.calling.counting import *
    from minigrad.ops.calling.decomposing import *
    from minigrad.ops.calling.determining import *
    from minigrad.ops.calling.differences import *
    from minigrad.ops.calling.distances import *
    from minigrad.ops.calling.distinct import *
    from minigrad.ops.calling.dividing import *
    from minigrad.ops.calling.dotting import *
    from minigrad.ops.calling.dropping import *
    from minigrad.ops.calling.exponentials import *
    from minigrad.ops.calling.factoring import *
    from minigrad.ops.calling.finding import *
    from minigrad.ops.calling.fitting import *
    from minigrad.ops.calling.foreign_memory import *
    from minigrad.ops.calling.gridding import *
    from minigrad.ops.calling.in_place_functions import *
    from minigrad.ops.calling.information import *
    from minigrad.ops.calling.integrating import *
    from minigrad.ops.calling.less_usual_creation import *
    from minigrad.ops.calling.limiting import *
    from minigrad.ops.calling.listing import *
    from minigrad.ops.calling.masking import *
    from minigrad.ops.calling.measuring import *
    from minigrad.ops.calling.mixing import *
    from minigrad.ops.calling.more_products import *
    from minigrad.ops.calling.norms import *
    from minigrad.ops.calling.parting import *
    from minigrad.ops.calling.patterns import *
    from minigrad.ops.calling.quantiles import *
    from minigrad.ops.calling.random_like import *
    from minigrad.ops.calling.ranking import *
    from minigrad.ops.calling.rearranging import *
    from minigrad.ops.calling.recurring import *
    from minigrad.ops.calling.repeating import *
    from minigrad.ops.calling.representation import *
    from minigrad.ops.calling.rounding import *
    from minigrad.ops.calling.sampling import *
    from minigrad.ops.calling.scattering import *
    from minigrad.ops.calling.scoring import *
    from minigrad.ops.calling.searching import *
    from minigrad.ops.calling.settings import *
    from minigrad.ops.calling.solving import *
    from minigrad.ops.calling.special import *
    from minigrad.ops.calling.stepping import *
    from minigrad.ops.calling.taking import *
    from minigrad.ops.calling.triangles import *
    from minigrad.ops.calling.trigonometry import *
    from minigrad.ops.calling.types import *
    from minigrad.ops.calling.windows import *
    from minigrad.serialization import load as load
    from minigrad.serialization import save as save

# These rooms are loaded when they are first asked for (`minigrad.nn`), so that importing is quick.
_loaded_later = (
    "distributions",
    "func",
    "linalg",
    "nn",
    "optim",
    "serialization",
    "special",
    "symbolic",
    "utils",
    "viz",
)
_functions_loaded_later = {
    "load": "serialization",
    "save": "serialization",
    "vmap": "function_transforms",
}


def __getattr__(name: str) -> _Any:
    """Load a room of the house, or an operation, when it is first asked for."""
    if name in _loaded_later:
        return _import_module(f"minigrad.{name}")
    if name in _functions_loaded_later:
        return getattr(_import_module(f"minigrad.{_functions_loaded_later[name]}"), name)
    function = _waiting_function(name)
    if function is not None:
        globals()[name] = function
        return function
    raise AttributeError(f"module 'minigrad' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the rooms that are loaded later, too."""
    return sorted({*globals(), *_loaded_later, *_functions_loaded_later, *_waiting_functions()})
