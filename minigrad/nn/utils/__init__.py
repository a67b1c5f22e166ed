"""Work on networks and their parameters: clip gradients, normalize weights."""

from minigrad.nn.utils.clip_grad import clip_grad_norm as clip_grad_norm
from minigrad.nn.utils.clip_grad import clip_grad_norm_ as clip_grad_norm_
from minigrad.nn.utils.clip_grad import clip_grad_value_ as clip_grad_value_
from minigrad.nn.utils.clip_grad import clip_grads_with_norm_ as clip_grads_with_norm_
from minigrad.nn.utils.clip_grad import get_total_norm as get_total_norm
from minigrad.nn.utils.convert_parameters import parameters_to_vector as parameters_to_vector
from minigrad.nn.utils.convert_parameters import vector_to_parameters as vector_to_parameters
from minigrad.nn.utils.init import skip_init as skip_init
from minigrad.utils import _late

_OLD = ("weight_norm", "remove_weight_norm", "spectral_norm", "remove_spectral_norm")
_found = dict.fromkeys(_OLD, "extra.weight_norms")
__getattr__, __dir__ = _late(__name__, lambda: _found)
