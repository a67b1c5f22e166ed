"""Describe random numbers by their distributions: sample, log_prob, entropy.

`sample()` draws without a graph. `rsample()` draws by a formula of the parameters, so that their
gradients are known (Kingma and Welling, 2013); where there is none, differentiate `log_prob`.
"""

import sys

from minigrad.breadth import constraints as constraints
from minigrad.breadth import scalars
from minigrad.breadth.distribution import Distribution
from minigrad.breadth.scalars import Bernoulli, Categorical, Normal

__all__ = ["Bernoulli", "Categorical", "Distribution", "Normal"]

# Programs also import from PyTorch's files: `from torch.distributions.normal import Normal`.
for _name, _module in {
    "bernoulli": scalars,
    "categorical": scalars,
    "constraints": constraints,
    "normal": scalars,
}.items():
    sys.modules[f"{__name__}.{_name}"] = _module
del sys, scalars
