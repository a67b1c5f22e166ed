"""Random numbers in the place of a tensor: no gradient passes, but the graph tells of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.tape import Array, differentiable


def _no_gradient(grad: Any) -> Any:
    return np.zeros_like(grad)


@differentiable("UniformBackward0", self=_no_gradient)
def uniform_draw(self: Array, values: Any) -> Array:
    """Uniform numbers, drawn before, in the place of a tensor."""
    return values.astype(self.dtype)


@differentiable("NormalBackward0", self=_no_gradient)
def normal_draw(self: Array, values: Any) -> Array:
    """Normal numbers, drawn before, in the place of a tensor."""
    return values.astype(self.dtype)


@differentiable("RandomBackward0", self=_no_gradient)
def random_between(self: Array, values: Any) -> Array:
    """Whole numbers between two bounds."""
    return values.astype(self.dtype)


@differentiable("RandomBackward1", self=_no_gradient)
def random_below(self: Array, values: Any) -> Array:
    """Whole numbers below a bound."""
    return values.astype(self.dtype)


@differentiable("RandomBackward2", self=_no_gradient)
def random_draw(self: Array, values: Any) -> Array:
    """Whole numbers, drawn before, in the place of a tensor."""
    return values.astype(self.dtype)


@differentiable("ExponentialBackward0", self=_no_gradient)
def exponential_draw(self: Array, values: Any) -> Array:
    """Exponential numbers, drawn before, in the place of a tensor."""
    return values.astype(self.dtype)


@differentiable("CauchyBackward0", self=_no_gradient)
def cauchy_draw(self: Array, values: Any) -> Array:
    """Cauchy numbers, drawn before, in the place of a tensor."""
    return values.astype(self.dtype)


@differentiable("LogNormalBackward0", self=_no_gradient)
def log_normal_draw(self: Array, values: Any) -> Array:
    """Numbers whose logarithms are normal, drawn before, in the place of a tensor."""
    return values.astype(self.dtype)


@differentiable("GeometricBackward0", self=_no_gradient)
def geometric_draw(self: Array, values: Any) -> Array:
    """Geometric numbers, drawn before, in the place of a tensor."""
    return values.astype(self.dtype)


@differentiable("BernoulliBackward2", self=_no_gradient)
def bernoulli_draw(self: Array, values: Any) -> Array:
    """Zeros and ones, drawn before, in the place of a tensor."""
    return values.astype(self.dtype)


@differentiable("BernoulliBackward0", self=_no_gradient)
def bernoulli(self: Array, values: Any) -> Array:
    """Zeros and ones, drawn before with the input as probabilities: no gradient passes."""
    return values.astype(self.dtype)
