r"""The derivative of weights that are given by length and direction.

.. math:: w = g \frac{v}{\lVert v \rVert}, \qquad
    \bar g = \frac{\langle \bar w, v \rangle}{\lVert v \rVert}, \qquad
    \bar v = \frac{g}{\lVert v \rVert} \left(\bar w - \frac{\langle \bar w, v \rangle}
    {\lVert v \rVert^2} v\right),

with norms and inner products over all dimensions but one. Source: Salimans and Kingma, "Weight
normalization" (2016).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.meeting import quietly
from minigrad.ops.tape import Array, differentiable


def _total(array: Any, axes: tuple[int, ...]) -> Any:
    return np.add.reduce(array, axis=axes, keepdims=True)


def _v_rule(grad: Any, v: Any, g: Any, axes: tuple[int, ...]) -> Any:
    square = _total(v * v, axes)
    return (grad - v * (_total(grad * v, axes) / square)) * (g / np.sqrt(square))


@differentiable(
    "WeightNormInterfaceBackward0",
    v=_v_rule,
    g=lambda grad, v, axes: _total(grad * v, axes) / np.sqrt(_total(v * v, axes)),
)
@quietly
def weight_norm(v: Array, g: Array, axes: Any) -> Array:
    r"""Weights :math:`g v / \lVert v \rVert`, with norms over the axes."""
    return v * (g / np.sqrt(_total(v * v, axes)))
