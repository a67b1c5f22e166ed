"""Measure how far a prediction is from its target: the losses as modules."""

from __future__ import annotations

from minigrad.nn import functional as F
from minigrad.nn.modules.module import Module
from minigrad.tensor import Tensor


class _Loss(Module):
    """What the losses share: how the losses of single elements become one number.

    Args:
        reduction: `"mean"`, `"sum"` or `"none"`.
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction


class MSELoss(_Loss):
    r"""The squared error $(x - y)^2$, averaged over all elements.

    Args:
        reduction: `"mean"`, `"sum"` or `"none"`.

    Shape:
        - input and target: the same shape
        - output: () with a reduction, else the shape of the input

    Example:
        >>> import minigrad as torch
        >>> torch.nn.MSELoss()(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        tensor(2.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss."""
        return F.mse_loss(input, target, reduction=self.reduction)


class L1Loss(_Loss):
    """The absolute error $|x - y|$, averaged over all elements.

    Args:
        reduction: `"mean"`, `"sum"` or `"none"`.

    Shape:
        - input and target: the same shape
        - output: () with a reduction, else the shape of the input

    Example:
        >>> import minigrad as torch
        >>> torch.nn.L1Loss()(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        tensor(1.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss."""
        return F.l1_loss(input, target, reduction=self.reduction)


class NLLLoss(_Loss):
    r"""The negative log-likelihood $-x_{n, y_n}$ of the right classes, averaged.

    Args:
        reduction: `"mean"`, `"sum"` or `"none"`.

    Shape:
        - input: (N, C) logarithms of probabilities, or (C,)
        - target: (N,) class numbers, or ()
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss."""
        return F.nll_loss(input, target, reduction=self.reduction)


class CrossEntropyLoss(_Loss):
    r"""The negative logarithm of the softmax at the right class, averaged.

    Args:
        reduction: `"mean"`, `"sum"` or `"none"`.

    Shape:
        - input: (N, C) scores, or (C,)
        - target: (N,) class numbers, or (); or the shape of the input, with probabilities

    Example:
        >>> import minigrad as torch
        >>> torch.nn.CrossEntropyLoss()(torch.zeros(1, 2), torch.tensor([0]))
        tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss."""
        return F.cross_entropy(input, target, reduction=self.reduction)
