"""Describe random numbers by their distributions, under PyTorch's paths."""

import sys

from minigrad.extra import distributions
from minigrad.extra.distributions import *  # noqa: F403
from minigrad.extra.distributions import __all__ as __all__

# Programs also import from PyTorch's files: `from torch.distributions.normal import Normal`.
_FILES = "bernoulli categorical distribution exponential"
_FILES += " multivariate_normal normal uniform utils"
for _name in _FILES.split():
    sys.modules[f"{__name__}.{_name}"] = globals()[_name] = distributions
del sys, distributions
