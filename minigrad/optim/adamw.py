"""Take Adam's steps, and shrink the weights apart from them."""

from __future__ import annotations

from typing import Any

from minigrad.optim.adam import Adam
from minigrad.tensor import Tensor

__all__ = ["AdamW"]


class AdamW(Adam):
    r"""Adam with decoupled weight decay.

    Each step first shrinks the weights, $\theta \leftarrow (1 - \gamma \lambda) \theta$, then goes
    Adam's way with the gradient alone.

    Source: Loshchilov and Hutter, *Decoupled weight decay regularization*, 2017.

    Args:
        params: The parameters, or pairs of name and parameter, or dictionaries that define groups.
        lr: The learning rate $\gamma$.
        betas: How much of the running averages stays.
        eps: Keeps the divisor away from zero.
        weight_decay: The factor $\lambda$.
        amsgrad: Divide by the largest average of squares so far rather than by the present one.
        maximize: Go uphill instead.
        foreach: Accepted; the numbers are the same.
        capturable: For graphs of a graphics card: True is refused at the first step.
        differentiable: Record the step, so that it can be differentiated through.
        fused: Accepted; the numbers are the same.

    Raises:
        ValueError: If a number is out of range.
        RuntimeError: If ways of stepping exclude each other.

    Example:
        >>> import minigrad as torch
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.AdamW([w], lr=0.1, weight_decay=0.5)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w.detach()
        tensor([0.8500])
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take a state, also one of old that says nothing of decoupled decay."""
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True
