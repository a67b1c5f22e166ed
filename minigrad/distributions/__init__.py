"""Describe random numbers by their distributions: sample, log_prob, entropy.

`sample()` draws without a graph. `rsample()` draws by a formula of the parameters, so that their
gradients are known (Kingma and Welling, 2013); where there is none, differentiate `log_prob`.
"""

import sys

from minigrad.breadth import constraints as constraints
from minigrad.breadth import continuous, counts, distribution, scalars
from minigrad.breadth.continuous import (
    Exponential,
    Independent,
    MultivariateNormal,
    Uniform,
)
from minigrad.breadth.counts import Multinomial, Poisson
from minigrad.breadth.distribution import Distribution
from minigrad.breadth.scalars import Bernoulli, Binomial, Categorical, Normal

__all__ = ["Bernoulli", "Binomial", "Categorical", "Distribution", "Exponential", "Independent"]
__all__ += ["Multinomial", "MultivariateNormal", "Normal", "Poisson", "Uniform"]

# Programs also import from PyTorch's files: `from torch.distributions.normal import Normal`.
for _module, _names in {
    scalars: "bernoulli binomial categorical normal",
    constraints: "constraints",
    continuous: "exponential independent multivariate_normal uniform",
    counts: "multinomial poisson",
    distribution: "distribution utils",
}.items():
    for _name in _names.split():
        sys.modules[f"{__name__}.{_name}"] = globals()[_name] = _module
del sys, continuous, counts, scalars
