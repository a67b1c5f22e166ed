"""Let the size of past steps take the place of a learning rate."""

from __future__ import annotations

from typing import Any

from minigrad.optim.arithmetic import add_, addcmul_, sqrt
from minigrad.optim.checks import check_not_negative, check_rate
from minigrad.optim.each_parameter import EachParameter, Values, advance
from minigrad.tensor import Tensor

__all__ = ["Adadelta"]


class Adadelta(EachParameter):
    r"""Adadelta.

    With running averages $v_t$ of the squared gradient and $u_t$ of the squared steps:

    $$v_t = \rho v_{t-1} + (1 - \rho) g_t^2, \quad
    \Delta_t = \frac{\sqrt{u_{t-1} + \epsilon}}{\sqrt{v_t + \epsilon}} g_t, \quad
    u_t = \rho u_{t-1} + (1 - \rho) \Delta_t^2, \quad
    \theta_t = \theta_{t-1} - \gamma \Delta_t.$$

    Source: Zeiler, *Adadelta: an adaptive learning rate method*, 2012.

    Args:
        params: The parameters, or pairs of name and parameter, or dictionaries that define groups.
        lr: The factor $\gamma$.
        rho: How much of the running averages stays.
        eps: $\epsilon$.
        weight_decay: The factor $\lambda$; $\lambda \theta_{t-1}$ is added to the gradient.
        foreach: Accepted; the numbers are the same.
        capturable: For graphs of a graphics card: True is refused at the first step.
        maximize: Go uphill instead.
        differentiable: Record the step, so that it can be differentiated through.

    Raises:
        ValueError: If a number is out of range.

    Example:
        >>> import minigrad as torch
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.Adadelta([w], eps=0.25)
        >>> w.grad = torch.tensor([3.0])
        >>> optimizer.step()
        >>> w.detach()
        tensor([-0.3988])
    """

    averages = ("square_avg", "acc_delta")
    _captured_devices = (False, False)

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_rate(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_not_negative(eps=eps, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        advance(state)
        rho, eps = group["rho"], group["eps"]
        square, steps = state["square_avg"], state["acc_delta"]
        square *= rho
        addcmul_(square, gradient, gradient, 1 - rho)
        delta = sqrt(steps + eps) / sqrt(square + eps) * gradient
        steps *= rho
        addcmul_(steps, delta, delta, 1 - rho)
        add_(parameter, delta, -lr)
