"""Step by sizes that grow while a gradient keeps its sign and shrink when it turns."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.optim.arithmetic import addcmul_, copy_, number
from minigrad.optim.checks import check_rate
from minigrad.optim.each_parameter import EachParameter, Values, advance, filled_like
from minigrad.tensor import Tensor, wrap

__all__ = ["Rprop"]


class Rprop(EachParameter):
    r"""Rprop: resilient propagation.

    Each weight has a size of step $\eta_t$. Where the gradient kept its sign it is multiplied by
    $\eta_+$; where it turned, by $\eta_-$, and the weight stays for this once. It has limits.

    $$\theta_t = \theta_{t-1} - \eta_t \operatorname{sign}(g_t).$$

    Source: Riedmiller and Braun, *A direct adaptive method for faster backpropagation learning*,
    1993.

    Args:
        params: The parameters, or pairs of name and parameter, or dictionaries that define groups.
        lr: The size of the first step.
        etas: The factors $\eta_-$ and $\eta_+$.
        step_sizes: The smallest and the largest size.
        capturable: For graphs of a graphics card: True is refused at the first step.
        foreach: Accepted; the numbers are the same.
        maximize: Go uphill instead.
        differentiable: Record the step, so that it can be differentiated through.

    Raises:
        ValueError: If a number is out of range.

    Example:
        >>> import minigrad as torch
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.Rprop([w], lr=0.25)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w.detach()
        tensor([0.7500])
    """

    averages = ("prev",)
    _captured_devices = (True, True)

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_rate(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _new_state(self, parameter: Tensor, group: Values) -> Values:
        state = super()._new_state(parameter, group)
        return {**state, "step_size": filled_like(parameter, number(group["lr"]))}

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        advance(state)
        shrink, grow = group["etas"]
        before, size = state["prev"], state["step_size"]
        # signs have no slope: they are numbers also in a step that is recorded
        now = gradient._array if isinstance(gradient, Tensor) else gradient
        sign = np.sign(now * (before._array if isinstance(before, Tensor) else before))
        turned = sign < 0
        factor = np.where(sign > 0, grow, np.where(turned, shrink, 1.0)).astype(now.dtype)
        direction = np.where(turned, 0, np.sign(now)).astype(now.dtype)
        if isinstance(gradient, Tensor):
            size.mul_(wrap(factor)).clamp_(*group["step_sizes"])
            addcmul_(parameter, wrap(direction), size.clone(), -1)
            before.copy_(gradient.masked_fill(wrap(turned), 0))
            return
        size *= factor
        np.clip(size, *group["step_sizes"], out=size)
        addcmul_(parameter, direction, size, -1)
        copy_(before, np.where(turned, 0, gradient))
