"""The derivatives of what two vectors make together: their distance, their bilinear form."""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.meeting import applied, quietly
from minigrad.ops.reduction import vector_norm
from minigrad.ops.tape import Array, differentiable


@differentiable("NormBackward1", self=vector_norm.rules["self"])
@quietly
def norm_dim(self: Array, ord: Any, dim: Any, keepdim: Any) -> Array:
    r"""Norm along a dimension, under the name that the node of a distance has."""
    return vector_norm.forward(self, ord, dim, keepdim)


@differentiable(
    "TrilinearBackward0",
    i1=lambda grad, i2, i3, expand1, expand2, expand3, sumdim: applied(
        trilinear, grad, i2, i3, sumdim, expand2, expand3, expand1
    ),
    i2=lambda grad, i1, i3, expand1, expand2, expand3, sumdim: applied(
        trilinear, i1, grad, i3, expand1, sumdim, expand3, expand2
    ),
    i3=lambda grad, i1, i2, expand1, expand2, expand3, sumdim: applied(
        trilinear, i1, i2, grad, expand1, expand2, sumdim, expand3
    ),
)
def trilinear(
    i1: Array, i2: Array, i3: Array, expand1: Any, expand2: Any, expand3: Any, sumdim: Any
) -> Array:
    r"""Product of three, summed over dimensions: the gradient takes the place of one of them.

    Each of the three is without some of the dimensions of the product, which are `expand1`,
    `expand2` and `expand3`; the sum takes away `sumdim`. So :math:`\sum_{ab} x_{na} w_{oab} y_{nb}`
    has the dimensions n, o, a, b, and expands are (1, 3), (0,) and (1, 2).
    """
    every = range(i1.ndim + len(expand1))
    first, second, third, left = (
        [dim for dim in every if dim not in gone] for gone in (expand1, expand2, expand3, sumdim)
    )
    return np.einsum(i1, first, i2, second, i3, third, left, optimize=True)
