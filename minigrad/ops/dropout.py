"""Set entries, or whole channels, to zero at random, and the derivative of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad import random
from minigrad.autograd.messages import warn
from minigrad.core.tensor import Tensor, wrap
from minigrad.ops import elementwise
from minigrad.ops.convolution import of_dimensions
from minigrad.ops.inplace import write
from minigrad.signatures import functional, variants

# Minus the value of selu far on the left: what takes the place of dropped entries, so that mean
# and variance stay. Source: Klambauer et al., Self-normalizing neural networks, 2017.
_ALPHA = 1.7580993408473766


def _keep_mask(like: Any, p: float) -> Any:
    """Draw what is kept: ones with probability 1 - p, else zeros. All masks are drawn here."""
    draw = random.stream().fractions
    mask = np.empty_like(like, order="C" if 0 in like.strides else "K")
    return random.in_order_of_memory(mask, lambda count: draw(count) < 1 - p)


def _drop(
    input: Tensor,
    p: float,
    training: bool,
    inplace: Any = False,
    dims: int = 0,
    alpha: bool = False,
) -> Tensor:
    """Multiply by a random mask, 0 or one over the probability of being kept.

    Args:
        input: The tensor.
        p: The probability of an entry to be set to zero.
        training: Whether to do it at all; if not, the input itself is the result.
        inplace: Overwrite the input.
        dims: How many dimensions number the channels that are dropped as a whole; 0 for entries.
        alpha: Whether to put what selu has far on the left, instead of 0, and to scale the result.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    array, dtype = input._array, input._array.dtype
    if p == 0 or not training or not array.size:
        return input
    if dtype.kind in "biuc":
        raise RuntimeError(f"dropout scales floats, got {input.dtype}")
    if dims:
        array = np.empty((*array.shape[:dims], *[1] * (array.ndim - dims)), dtype)
    mask = _keep_mask(array, p) if p < 1 else np.zeros((), dtype)
    scale = 1 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p)) if alpha and p < 1 else 1.0
    factor = mask * scale if alpha else mask / (1 - p or 1)
    change: Any = write if inplace else lambda operation, *given: operation(*given)
    result = change(elementwise.mul, input, wrap(factor))
    if alpha and p < 1:
        added = wrap((mask - 1) * (_ALPHA * scale) + _ALPHA * scale * p)
        result = change(elementwise.add, result, added)
    return result


@variants("dropout", method=False)
def dropped_if(input: Tensor, p: float, train: bool) -> Tensor:
    """Set entries to zero at random, and divide the rest by 1 - p; if not `train`, do nothing."""
    return _drop(input, p, train)


@variants("native_dropout", method=False)
def dropped_and_mask(input: Tensor, p: float, train: bool) -> tuple[Tensor, Tensor]:
    """Set entries to zero at random, and give the mask of those that were kept, too.

    Example:
        >>> import minigrad as torch
        >>> torch.native_dropout(torch.ones(2), 0.5, False)
        (tensor([1., 1.]), tensor([True, True]))
    """
    kept = _keep_mask(input._array, p if train else 0.0)
    scale = 1 / (1 - p or 1) if train else 1.0
    return input * wrap(kept * scale), wrap(kept.astype(bool))


# ---------------------------------------------------------------------- of layers


@functional("dropout")
def dropped(input: Any, p: float = 0.5, training: bool = True, inplace: Any = False) -> Tensor:
    """Set entries to zero at random, and divide the rest by 1 - p.

    Source: Srivastava et al., *Dropout: a simple way to prevent neural networks from overfitting*,
    2014.

    Args:
        input: The tensor.
        p: The probability of an entry to be set to zero.
        training: Whether to do it at all; if not, the input itself is the result.
        inplace: Overwrite the input.

    Raises:
        ValueError: If `p` is not between 0 and 1.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.functional.dropout(torch.ones(3), p=0.5, training=False)
        tensor([1., 1., 1.])
    """
    return _drop(input, p, training, inplace)


@functional("alpha_dropout")
def dropped_to_the_left(
    input: Any, p: float = 0.5, training: bool = False, inplace: Any = False
) -> Tensor:
    """Set entries at random to the value that selu has far on the left; mean and variance stay.

    Source: Klambauer et al., *Self-normalizing neural networks*, 2017. Arguments as for `dropout`.
    """
    return _drop(input, p, training, inplace, alpha=True)


@functional("feature_alpha_dropout")
def dropped_channels_to_the_left(
    input: Any, p: float = 0.5, training: bool = False, inplace: Any = False
) -> Tensor:
    """Set whole channels at random to the value that selu has far on the left."""
    return _drop(input, p, training, inplace, 2, alpha=True)


def _of_channels(
    name: str,
    spatial: int,
    input: Any,
    p: float = 0.5,
    training: bool = True,
    inplace: Any = False,
) -> Tensor:
    """Set whole channels to zero at random, and divide the rest by 1 - p.

    Source: Tompson et al., *Efficient object localization using convolutional networks*, 2014.

    Args:
        name: The function that is called.
        spatial: How many dimensions a channel has.
        input: The tensor.
        p: The probability of a channel to be set to zero.
        training: Whether to do it at all; if not, the input itself is the result.
        inplace: Overwrite the input.

    Shape:
        - input: (N, C, L), (N, C, H, W) or (N, C, D, H, W); or without N, but for images
        - output: the same

    Raises:
        RuntimeError: If signals have neither 2 nor 3 dimensions.
        ValueError: If `p` is not between 0 and 1.
    """
    ndim = input.ndim
    if spatial == 1 and ndim not in (2, 3):
        raise RuntimeError(f"{name} takes inputs of 2 or 3 dimensions, got {ndim}")
    if spatial == 2 and ndim == 3:
        warn("dropout2d takes a 3D input as (N, C, L), as dropout1d does; use that instead.")
    return _drop(input, p, training, inplace, 1 if spatial != 2 and ndim == spatial + 1 else 2)


for _spatial in (1, 2, 3):
    of_dimensions(_of_channels, _spatial, f"dropout{_spatial}d")
