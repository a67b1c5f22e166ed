"""Describe random numbers by their distributions: sample, log_prob, entropy, kl_divergence.

`sample()` draws without a graph. `rsample()` draws by a formula of the parameters, so that their
gradients are known (Kingma and Welling, 2013); where there is none, differentiate `log_prob`.
"""

from minigrad.distributions import constraints as constraints
from minigrad.distributions import kl as kl
from minigrad.distributions.bernoulli import Bernoulli as Bernoulli
from minigrad.distributions.categorical import Categorical as Categorical
from minigrad.distributions.distribution import Distribution as Distribution
from minigrad.distributions.exponential import Exponential as Exponential
from minigrad.distributions.gumbel import Gumbel as Gumbel
from minigrad.distributions.independent import Independent as Independent
from minigrad.distributions.kl import kl_divergence as kl_divergence
from minigrad.distributions.kl import register_kl as register_kl
from minigrad.distributions.laplace import Laplace as Laplace
from minigrad.distributions.log_normal import LogNormal as LogNormal
from minigrad.distributions.multivariate_normal import MultivariateNormal as MultivariateNormal
from minigrad.distributions.normal import Normal as Normal
from minigrad.distributions.one_hot_categorical import OneHotCategorical as OneHotCategorical
from minigrad.distributions.uniform import Uniform as Uniform

__all__ = [
    "Bernoulli",
    "Categorical",
    "Distribution",
    "Exponential",
    "Gumbel",
    "Independent",
    "Laplace",
    "LogNormal",
    "MultivariateNormal",
    "Normal",
    "OneHotCategorical",
    "Uniform",
    "kl_divergence",
    "register_kl",
]
