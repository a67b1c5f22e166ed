"""Cases for activation functions, dropout, lookups in tables and what compares vectors."""

from __future__ import annotations

import math

import numpy as np

from .cases import Case, V, case, sigmoid_of

E8 = (8,)
# settings are arrays of float32, so that they widen nothing
ROWS = np.array([[0, 2], [2, 1]])

_erf = np.vectorize(math.erf)
_phi = 1 / math.sqrt(2 * math.pi)


def probability(x):
    return (1 + _erf(x / math.sqrt(2))) / 2


def bent(x):
    return (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


def gelu_slope(x):
    return probability(x) + x * np.exp(-x * x / 2) * _phi


def bent_slope(x):
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    steep = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x**2)
    return bent(x) + x * steep / (2 * np.cosh(inner) ** 2)


def elu_of(x, alpha, scale, inner):
    return np.where(x > 0, scale * x, scale * alpha * (np.exp(inner * x) - 1))


def elu_slope(x, alpha, scale, inner):
    return np.where(x > 0, scale, scale * alpha * inner * np.exp(inner * x))


def inside(x, low, high):
    return (x > low) & (x < high)


SCALED = (1.3, 1.2, 0.8)

CASES: dict[str, list[Case]] = {
    "hardtanh": [case(lambda x: np.clip(x, -0.9, 1.1), E8, then=(-0.9, 1.1))],
    "hardtanh_backward": [case(lambda g, x: g * inside(x, -0.9, 1.1), E8, E8, then=(-0.9, 1.1))],
    "hardtanh_in_place": [case(lambda x: np.clip(x, -0.9, 1.1), E8, then=(-0.9, 1.1))],
    "hardsigmoid_backward": [case(lambda g, x: g * inside(x, -3, 3) / 6, E8, E8)],
    "threshold_rule": [case(lambda g, x: g * (x > 0.5), E8, E8, then=(0.5,))],
    "shrink_rule": [case(lambda g, x: g * (np.abs(x) > 0.9), E8, E8, then=(0.9,))],
    "hardsigmoid": [case(lambda x: np.clip(x + 3, 0, 6) / 6, E8)],
    "hardswish": [case(lambda x: x * np.clip(x + 3, 0, 6) / 6, E8)],
    "hardshrink": [case(lambda x: np.where(np.abs(x) > 0.9, x, 0), E8, then=(0.9,))],
    "softshrink": [case(lambda x: x - np.clip(x, -0.9, 0.9), E8, then=(0.9,))],
    "mish": [case(lambda x: x * np.tanh(np.log(1 + np.exp(x))), V)],
    "threshold": [case(lambda x: np.where(x > 0.5, x, 7), E8, then=(0.5, 7))],
    "threshold_in_place": [case(lambda x: np.where(x > -0.5, x, 7), E8, then=(-0.5, 7))],
    "prelu_kernel": [
        case(lambda x, w: x * np.where(x > 0, 1, w), (4, 3), (3,)),
        case(lambda x, w: x * np.where(x > 0, 1, w), E8, (1,)),
    ],
    "scaled_elu": [case(lambda x: elu_of(x, *SCALED), E8, then=SCALED)],
    "scaled_elu_in_place": [case(lambda x: elu_of(x, *SCALED), E8, then=SCALED)],
    "celu": [case(lambda x: elu_of(x, 1.5, 1, 1 / 1.5), E8, then=(1.5,))],
    "celu_in_place": [case(lambda x: elu_of(x, 1.5, 1, 1 / 1.5), E8, then=(1.5,))],
    "gelu": [
        case(lambda x: x * probability(x), V, then=("none",)),
        case(lambda x: x * bent(x), V, then=("tanh",)),
    ],
    "log_sigmoid": [case(lambda x: np.log(sigmoid_of(x)), V)],
    "embedding": [
        case(lambda x: x[ROWS], (3, 2), then=(ROWS, -1)),
    ],
}
