"""Set entries, or whole channels, to zero at random, and the derivative of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import random
from minigrad.autograd.messages import warn
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor, wrap
from minigrad.ops import elementwise
from minigrad.ops.convolution import of_dimensions
from minigrad.ops.inplace import write
from minigrad.signatures import VARIANTS, functional, variants

# Minus the value of selu far on the left: what takes the place of dropped entries, so that mean
# and variance stay. Source: Klambauer et al., Self-normalizing neural networks, 2017.
_ALPHA = 1.7580993408473766


@operation("NativeDropoutBackward0", self=lambda grad, mask: grad * mask)
def native_dropout(self: Array, mask: Any) -> Array:
    """Entries times a random mask, 0 or one over the probability of being kept: so :math:`g`."""
    return self * mask


def _keep_mask(like: Any, p: float) -> Any:
    """Draw what is kept: ones with probability 1 - p, else zeros. All masks are drawn here."""
    draw = random.stream().fractions
    mask = np.empty_like(like, order="C" if 0 in like.strides else "K")
    return random.in_order_of_memory(mask, lambda count: draw(count) < 1 - p)


def _noise(input: Tensor, p: float, feature: bool, alpha: bool) -> tuple[Tensor, Tensor | None]:
    """Give what the input is multiplied by, and what is added to it."""
    array, dtype = input._array, input._array.dtype
    if feature:
        if array.ndim < 2:
            raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
        array = np.empty((*array.shape[:2], *[1] * (array.ndim - 2)), dtype)
    if dtype.kind in "biuc":
        raise RuntimeError(f"dropout scales floats, got {input.dtype}")
    mask = _keep_mask(array, p)
    if not alpha:
        return wrap(mask / (1 - p)), None
    scale = 1 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
    return wrap(mask * scale), wrap((mask - 1) * (_ALPHA * scale) + _ALPHA * scale * p)


def _dropping(name: str, feature: bool, alpha: bool) -> Callable[[Any], None]:
    """Make a function, and its counterpart in place; what is decorated says what it is."""

    def make(name: str, apply: Any) -> Any:
        def drop(input: Tensor, p: float, train: bool) -> Tensor:
            if not 0 <= p <= 1:
                raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
            if p == 0 or not train or not input._array.size:
                return input
            factor, added = wrap(np.zeros((), input._array.dtype)), None
            if p < 1:
                factor, added = _noise(input, p, feature, alpha)
            result = apply(elementwise.mul, input, factor)
            return result if added is None else apply(elementwise.add, result, added)

        return drop

    def decorate(said: Any) -> None:
        plain = make(name, lambda operation, *given: operation(*given))
        for called, function in ((name, plain), (f"{name}_", make(f"{name}_", write))):
            function.__doc__, function.__module__ = said.__doc__, said.__module__
            variants(called, method=False)(function)

    return decorate


@_dropping("dropout", False, False)
def _drop_entries() -> None:
    """Set entries to zero at random, and divide the rest by 1 - p; if not `train`, do nothing.

    Raises:
        RuntimeError: If `p` is not between 0 and 1.
    """


@_dropping("feature_dropout", True, False)
def _drop_channels() -> None:
    """Set whole channels (dimension 1) to zero at random, and divide the rest by 1 - p."""


@_dropping("alpha_dropout", False, True)
def _drop_to_the_left() -> None:
    """Set entries at random to what selu has far on the left; mean and variance stay."""


@_dropping("feature_alpha_dropout", True, True)
def _drop_channels_to_the_left() -> None:
    """Set whole channels at random to what selu has far on the left."""


@variants("native_dropout", method=False)
def dropped_and_mask(input: Tensor, p: float, train: bool) -> tuple[Tensor, Tensor]:
    """Set entries to zero at random, and give the mask of those that were kept, too.

    Example:
        >>> import minigrad as torch
        >>> torch.native_dropout(torch.ones(2), 0.5, False)
        (tensor([1., 1.]), tensor([True, True]))
    """
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={1 - p:g}")
    array = input._array
    if train is False and array.size:
        kept = wrap(np.ones(array.shape, bool))
        return native_dropout(input, np.ones((), array.dtype)), kept
    mask = _keep_mask(array, p)
    scale = 1 / (1 - p) if p < 1 else 0.0
    kept = wrap(mask.astype(bool) if mask.size else mask)
    return native_dropout(input, mask * scale), kept


# ---------------------------------------------------------------------- of layers


def _check_range(p: Any) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _drop(name: str, input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    _check_range(p)
    return VARIANTS[f"{name}_" if inplace else name].function(input, p, training)


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
    return _drop("dropout", input, p, training, inplace)


@functional("alpha_dropout")
def dropped_to_the_left(
    input: Any, p: float = 0.5, training: bool = False, inplace: Any = False
) -> Tensor:
    """Set entries at random to the value that selu has far on the left; mean and variance stay.

    Source: Klambauer et al., *Self-normalizing neural networks*, 2017. Arguments as for `dropout`.
    """
    return _drop("alpha_dropout", input, p, training, inplace)


@functional("feature_alpha_dropout")
def dropped_channels_to_the_left(
    input: Any, p: float = 0.5, training: bool = False, inplace: Any = False
) -> Tensor:
    """Set whole channels at random to the value that selu has far on the left."""
    return _drop("feature_alpha_dropout", input, p, training, inplace)


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
    _check_range(p)
    ndim = input.ndim
    if ndim not in (spatial + 1, spatial + 2):
        told = f"{name} takes inputs of {spatial + 1} or {spatial + 2} dimensions, got {ndim}."
        if spatial == 1:
            raise RuntimeError(told)
        warn(f"{told} This is deprecated; use dropout instead.")
    elif spatial == 2 and ndim == 3:
        warn("dropout2d takes a 3D input as (N, C, L), as dropout1d does; use that instead.")
    call = VARIANTS["feature_dropout_" if inplace else "feature_dropout"].function
    if spatial == 2 or ndim == spatial + 2:
        return call(input, p, training)
    if inplace:
        return call(input.unsqueeze_(0), p, training).squeeze_(0)
    return call(input.unsqueeze(0), p, training).squeeze(0)


for _spatial in (1, 2, 3):
    of_dimensions(_of_channels, _spatial, f"dropout{_spatial}d")
