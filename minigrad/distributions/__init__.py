"""Describe random numbers by their distributions: sample, log_prob, entropy.

`sample()` draws without a graph. `rsample()` draws by a formula of the parameters, so that their
gradients are known (Kingma and Welling, 2013); where there is none, differentiate `log_prob`.
"""

import sys

from minigrad.breadth import constraints as constraints
from minigrad.breadth import distribution, families
from minigrad.breadth.distribution import Distribution
from minigrad.breadth.families import *

__all__ = ["Distribution"]
__all__ += families.__all__

# Programs also import from PyTorch's files: `from torch.distributions.normal import Normal`.
_FAMILIES = "bernoulli binomial categorical exponential independent multinomial"
_FAMILIES += " multivariate_normal normal poisson uniform"
for _module, _names in {
    families: _FAMILIES,
    constraints: "constraints",
    distribution: "distribution utils",
}.items():
    for _name in _names.split():
        sys.modules[f"{__name__}.{_name}"] = globals()[_name] = _module
del sys, families
