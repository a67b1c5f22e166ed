"""Set entries or whole channels to zero at random while a network is trained."""

from __future__ import annotations

from minigrad.nn import functional as F
from minigrad.nn.modules.module import Module
from minigrad.tensor import Tensor

__all__ = [
    "AlphaDropout",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "FeatureAlphaDropout",
]


class _DropoutNd(Module):
    """What these layers share: a probability, and whether to overwrite the input."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        """Give the settings."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """Sets entries to zero at random, and divides the rest by 1 - p.

    Source: Srivastava et al., *Dropout: a simple way to prevent neural networks from overfitting*,
    2014.

    Args:
        p: The probability of being set to zero.
        inplace: Overwrite the input.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.Dropout(0.2).eval()(torch.ones(3))
        tensor([1., 1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Drop while the module is trained; else give the input itself."""
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Sets whole channels of 1 dimension to zero at random, and divides the rest by 1 - p.

    Source: Tompson et al., *Efficient object localization using convolutional networks*, 2014.

    Args:
        p: The probability of being set to zero.
        inplace: Overwrite the input.

    Shape:
        - input: (N, C, L), or (C, L)
        - output: the same
    """

    def forward(self, input: Tensor) -> Tensor:
        """Drop while the module is trained; else give the input itself."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Sets whole channels of 2 dimensions to zero at random, and divides the rest by 1 - p.

    Source: Tompson et al., *Efficient object localization using convolutional networks*, 2014.

    Args:
        p: The probability of being set to zero.
        inplace: Overwrite the input.

    Shape:
        - input: (N, C, H, W), or (N, C, L)
        - output: the same
    """

    def forward(self, input: Tensor) -> Tensor:
        """Drop while the module is trained; else give the input itself."""
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Sets whole channels of 3 dimensions to zero at random, and divides the rest by 1 - p.

    Source: Tompson et al., *Efficient object localization using convolutional networks*, 2014.

    Args:
        p: The probability of being set to zero.
        inplace: Overwrite the input.

    Shape:
        - input: (N, C, D, H, W), or (C, D, H, W)
        - output: the same
    """

    def forward(self, input: Tensor) -> Tensor:
        """Drop while the module is trained; else give the input itself."""
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Sets entries at random to the value that selu has far on the left; mean and variance stay.

    Source: Klambauer et al., *Self-normalizing neural networks*, 2017.

    Args:
        p: The probability of being set to zero.
        inplace: Overwrite the input.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Drop while the module is trained; else give the input itself."""
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """Does what `AlphaDropout` does, to whole channels (dimension 1).

    Args:
        p: The probability of being set to zero.
        inplace: Overwrite the input.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Drop while the module is trained; else give the input itself."""
        return F.feature_alpha_dropout(input, self.p, self.training)
