"""Call the operations that set entries, or whole channels, to zero at random."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import random
from minigrad.ops import elementwise
from minigrad.ops.calling.arguments import check_tensor
from minigrad.ops.dropout import native_dropout as _native_dropout
from minigrad.ops.inplace import write
from minigrad.tensor import Tensor, wrap

__all__ = [
    "alpha_dropout",
    "alpha_dropout_",
    "dropout",
    "dropout_",
    "feature_alpha_dropout",
    "feature_alpha_dropout_",
    "feature_dropout",
    "feature_dropout_",
    "native_dropout",
]

# Minus the value of selu far on the left: what takes the place of dropped entries, so that mean
# and variance stay. Source: Klambauer et al., Self-normalizing neural networks, 2017.
_ALPHA = 1.7580993408473766


def _keep_mask(shape: tuple[int, ...], p: float, dtype: Any) -> Any:
    """Draw what is kept: ones with probability 1 - p, else zeros. All masks are drawn here."""
    return wrap((random.stream().fractions(math.prod(shape)) < 1 - p).astype(dtype).reshape(shape))


def _noise(input: Tensor, p: float, feature: bool, alpha: bool) -> tuple[Tensor, Tensor | None]:
    """Give what the input is multiplied by, and what is added to it."""
    sizes, dtype = input._array.shape, input._array.dtype
    if feature:
        if len(sizes) < 2:
            raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
        sizes = (*sizes[:2], *(1 for _ in sizes[2:]))
    if dtype.kind in "iub":
        # as PyTorch divides the mask in place, which holds integers too
        name = "Long" if alpha and dtype.kind == "b" else input.dtype.tensor_type
        raise RuntimeError(f"result type Float can't be cast to the desired output type {name}")
    array = input._array
    order = sorted(range(array.ndim), key=lambda dim: -array.strides[dim])
    in_memory = array.transpose(order)
    if feature or array.flags.c_contiguous or not in_memory.flags.c_contiguous:
        mask = _keep_mask(sizes, p, dtype)._array
    else:  # drawn in the order of memory, as in PyTorch
        drawn = _keep_mask(in_memory.shape, p, dtype)._array
        mask = drawn.transpose(tuple(np.argsort(order)))
    if not alpha:
        return wrap(mask / (1 - p)), None
    scale = 1 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
    return wrap(mask * scale), wrap((mask - 1) * (_ALPHA * scale) + _ALPHA * scale * p)


def _dropping(name: str, feature: bool, alpha: bool, text: str) -> tuple[Any, Any]:
    """Make a function and its counterpart in place."""

    def apply(input: Tensor, p: Any, train: Any, in_place: bool) -> Tensor:
        check_tensor(name + "_" * in_place, input)
        if isinstance(p, (str, bool)) or p is None:
            raise TypeError(
                f"{name}{'_' * in_place}(): argument 'p' (position 2) must be float, not "
                f"{type(p).__name__}"
            )
        if not 0 <= p <= 1:
            raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
        if p == 0 or not train or not input._array.size:
            return input
        added = None
        if p == 1:
            factor = wrap(np.zeros((), input._array.dtype))
        else:
            factor, added = _noise(input, p, feature, alpha)
        multiply: Callable[..., Tensor] = elementwise.mul
        result = write(multiply, input, factor) if in_place else multiply(input, factor)
        if added is None:
            return result
        if in_place:
            return write(elementwise.add, result, added)
        return elementwise.add(result, added)  # type: ignore[no-any-return]

    def function(input: Tensor, p: float, train: bool) -> Tensor:
        return apply(input, p, train, False)

    def in_place(input: Tensor, p: float, train: bool) -> Tensor:
        return apply(input, p, train, True)

    function.__name__ = function.__qualname__ = name
    in_place.__name__ = in_place.__qualname__ = f"{name}_"
    function.__doc__ = f"""{text}

    Args:
        input: The tensor.
        p: The probability of being dropped.
        train: Whether to drop at all; if not, the input itself is the result.

    Raises:
        RuntimeError: If `p` is not between 0 and 1.
    """
    in_place.__doc__ = f"Do what `{name}` does, in place."
    return function, in_place


dropout, dropout_ = _dropping(
    "dropout", False, False, "Set entries to zero at random, and divide the rest by 1 - p."
)
feature_dropout, feature_dropout_ = _dropping(
    "feature_dropout",
    True,
    False,
    "Set whole channels (dimension 1) to zero at random, and divide the rest by 1 - p.",
)
alpha_dropout, alpha_dropout_ = _dropping(
    "alpha_dropout",
    False,
    True,
    "Set entries at random to the value that selu has far on the left; mean and variance stay.",
)
feature_alpha_dropout, feature_alpha_dropout_ = _dropping(
    "feature_alpha_dropout",
    True,
    True,
    "Set whole channels at random to the value that selu has far on the left.",
)


def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """Set entries to zero at random, and give the mask of those that were kept, too.

    Example:
        >>> import minigrad as torch
        >>> torch.native_dropout(torch.ones(2), 0.5, False)
        (tensor([1., 1.]), tensor([True, True]))
    """
    check_tensor("native_dropout", input)
    if isinstance(p, str) or p is None:
        raise TypeError(
            f"native_dropout(): argument 'p' (position 2) must be float, not {type(p).__name__}"
        )
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={1 - p:g}")
    array = input._array
    if train is False:
        kept = wrap(np.ones(array.shape, bool))
        return _native_dropout(input, np.ones((), array.dtype)), kept
    mask = _keep_mask(array.shape, p, array.dtype)._array
    scale = 1 / (1 - p) if p < 1 else 0.0
    return _native_dropout(input, mask * scale), wrap(mask.astype(bool))


methods: dict[str, Any] = {}
