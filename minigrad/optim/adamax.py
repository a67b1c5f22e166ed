"""Take Adam's steps with the largest gradient lately in the place of the root of the average."""

from __future__ import annotations

from typing import Any

from minigrad.optim.arithmetic import addcdiv_, lerp_, maximum_
from minigrad.optim.checks import check_betas, check_not_negative, check_rate
from minigrad.optim.each_parameter import EachParameter, Values, advance
from minigrad.tensor import Tensor

__all__ = ["Adamax"]


class Adamax(EachParameter):
    r"""Adamax: Adam with the infinity norm.

    $$m_t = \beta_1 m_{t-1} + (1 - \beta_1) g_t, \quad
    u_t = \max(\beta_2 u_{t-1}, |g_t| + \epsilon), \qquad
    \theta_t = \theta_{t-1} - \frac{\gamma}{1 - \beta_1^t} \frac{m_t}{u_t}.$$

    Source: Kingma and Ba, *Adam: a method for stochastic optimization*, 2014, section 7.

    Args:
        params: The parameters, or pairs of name and parameter, or dictionaries that define groups.
        lr: The learning rate $\gamma$.
        betas: How much stays of the running average and of the maximum.
        eps: $\epsilon$, which keeps the divisor away from zero.
        weight_decay: The factor $\lambda$; $\lambda \theta_{t-1}$ is added to the gradient.
        foreach: Accepted; the numbers are the same.
        maximize: Go uphill instead.
        differentiable: Record the step, so that it can be differentiated through.
        capturable: For graphs of a graphics card: True is refused at the first step.

    Raises:
        ValueError: If a number is out of range.

    Example:
        >>> import minigrad as torch
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.Adamax([w], lr=0.5)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w.detach()
        tensor([0.5000])
    """

    averages = ("exp_avg", "exp_inf")

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_rate(lr)
        check_not_negative(eps=eps)
        check_betas(betas)
        check_not_negative(weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        beta1, beta2 = group["betas"]
        steps = advance(state)
        average, largest = state["exp_avg"], state["exp_inf"]
        lerp_(average, gradient, 1 - beta1)
        largest *= beta2
        size = abs(gradient)
        size += group["eps"]
        maximum_(largest, size)
        divisor = largest
        if isinstance(parameter, Tensor):  # recorded: copies, for the next step changes both
            average, divisor = average.clone(), largest.clone()
        addcdiv_(parameter, average, divisor, -lr / (1 - beta1**steps))
