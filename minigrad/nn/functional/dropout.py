"""Set entries or whole channels to zero at random while a network is trained."""

from __future__ import annotations

from typing import Any

from minigrad.autograd.messages import warn
from minigrad.core.tensor import Tensor
from minigrad.faces import FACES
from minigrad.ops import dropout as _dropout  # noqa: F401 - says the faces

__all__ = [
    "alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout",
]  # fmt: skip


def _check_probability(p: Any) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
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
    _check_probability(p)
    call = FACES["dropout_" if inplace else "dropout"].function
    return call(input, p, training)


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Set entries at random to the value that selu has far on the left; mean and variance stay.

    Source: Klambauer et al., *Self-normalizing neural networks*, 2017. Arguments as for `dropout`.
    """
    _check_probability(p)
    call = FACES["alpha_dropout_" if inplace else "alpha_dropout"].function
    return call(input, p, training)


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Do what `alpha_dropout` does, for whole channels (dimension 1)."""
    _check_probability(p)
    call = FACES["feature_alpha_dropout_" if inplace else "feature_alpha_dropout"].function
    return call(input, p, training)


def _channels(input: Tensor, p: float, training: bool, inplace: bool, batched: bool) -> Tensor:
    call = FACES["feature_dropout_" if inplace else "feature_dropout"].function
    if batched:
        return call(input, p, training)
    if inplace:
        return call(input.unsqueeze_(0), p, training).squeeze_(0)
    return call(input.unsqueeze(0), p, training).squeeze(0)


def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Set whole channels to zero at random, and divide the rest by 1 - p.

    Source: Tompson et al., *Efficient object localization using convolutional networks*, 2014.
    Arguments as for `dropout`.

    Shape:
        - input: (N, C, L), or (C, L)
        - output: the same

    Raises:
        RuntimeError: If the input has neither 2 nor 3 dimensions.
        ValueError: If `p` is not between 0 and 1.
    """
    _check_probability(p)
    ndim = input.dim()
    if ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {ndim}D input. "
            + _meant_for(1, "2D or 3D")
        )
    return _channels(input, p, training, inplace, ndim == 3)


def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Do what `dropout1d` does, for channels of two dimensions.

    Shape:
        - input: (N, C, H, W), or (N, C, L)
        - output: the same
    """
    _check_probability(p)
    ndim = input.dim()
    if ndim not in (3, 4):
        _discourage("dropout2d", ndim, 2, "3D or 4D")
    if ndim == 3:
        warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout "
            "behavior is desired - input is interpreted as shape (N, C, L), where C is the channel "
            "dim. This behavior will change in a future release to interpret the input as one "
            "without a batch dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise "
            "dropout behavior, please switch to using dropout1d instead.",
            UserWarning,
        )
    return _channels(input, p, training, inplace, True)


def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Do what `dropout1d` does, for channels of three dimensions.

    Shape:
        - input: (N, C, D, H, W), or (C, D, H, W)
        - output: the same
    """
    _check_probability(p)
    ndim = input.dim()
    if ndim not in (4, 5):
        _discourage("dropout3d", ndim, 3, "4D or 5D")
    return _channels(input, p, training, inplace, ndim == 5)


def _meant_for(spatial: int, shapes: str) -> str:
    return (
        f"Note that dropout{spatial}d exists to provide channel-wise dropout on inputs with "
        f"{spatial} spatial dimension{'s' * (spatial > 1)}, a channel dimension, and an optional "
        f"batch dimension (i.e. {shapes} inputs)."
    )


def _discourage(name: str, ndim: int, spatial: int, shapes: str) -> None:
    warn(
        f"{name}: Received a {ndim}-D input to {name}, which is deprecated and will result in an "
        "error in a future release. To retain the behavior and silence this warning, please use "
        f"dropout instead. {_meant_for(spatial, shapes)}",
        UserWarning,
    )
