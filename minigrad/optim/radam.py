"""Take Adam's steps, and plain ones at first, while the average of squares is not to be trusted."""

from __future__ import annotations

from typing import Any, ClassVar

from minigrad.optim.arithmetic import add_, addcmul_, lerp_, setting, sqrt
from minigrad.optim.checks import check_betas, check_not_negative, check_rate
from minigrad.optim.each_parameter import EachParameter, Values, advance
from minigrad.tensor import Tensor

__all__ = ["RAdam"]


class RAdam(EachParameter):
    r"""RAdam: rectified Adam.

    With $\rho_\infty = 2 / (1 - \beta_2) - 1$ and
    $\rho_t = \rho_\infty - 2 t \beta_2^t / (1 - \beta_2^t)$, the number of gradients that the
    average is worth: if $\rho_t > 5$, Adam's step is multiplied by

    $$r_t = \sqrt{\frac{(\rho_t - 4)(\rho_t - 2) \rho_\infty}
    {(\rho_\infty - 4)(\rho_\infty - 2) \rho_t}},$$

    otherwise $\theta_t = \theta_{t-1} - \gamma\, m_t / (1 - \beta_1^t)$.

    Source: Liu et al., *On the variance of the adaptive learning rate and beyond*, 2019.

    Args:
        params: The parameters, or pairs of name and parameter, or dictionaries that define groups.
        lr: The learning rate $\gamma$.
        betas: How much of the running averages stays: $\beta_1$ and $\beta_2$.
        eps: Keeps the divisor away from zero.
        weight_decay: The factor $\lambda$; $\lambda \theta_{t-1}$ is added to the gradient.
        decoupled_weight_decay: Shrink the weights by $1 - \gamma \lambda$ instead.
        foreach: Accepted; the numbers are the same.
        maximize: Go uphill instead.
        capturable: For graphs of a graphics card: True is refused at the first step.
        differentiable: Record the step, so that it can be differentiated through.

    Raises:
        ValueError: If a number is out of range.

    Example:
        >>> import minigrad as torch
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.RAdam([w], lr=0.25)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w.detach()
        tensor([0.5000])
    """

    averages = ("exp_avg", "exp_avg_sq")
    _usual: ClassVar[Values] = {**EachParameter._usual, "decoupled_weight_decay": False}

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
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
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        beta1, beta2 = group["betas"]
        steps = advance(state)
        decay = group["weight_decay"]
        if decay != 0 and group["decoupled_weight_decay"]:
            parameter *= 1 - lr * setting(decay)
        average, square = state["exp_avg"], state["exp_avg_sq"]
        lerp_(average, gradient, 1 - beta1)
        square *= beta2
        addcmul_(square, gradient, gradient, 1 - beta2)
        correction2 = 1 - beta2**steps
        direction = average / (1 - beta1**steps) * lr
        most = 2 / (1 - beta2) - 1
        worth = most - 2 * steps * beta2**steps / correction2
        if worth > 5.0:
            rectified = (worth - 4) * (worth - 2) * most / ((most - 4) * (most - 2) * worth)
            divisor = sqrt(square)
            divisor = divisor + group["eps"]
            direction = direction * (correction2**0.5 / divisor) * rectified**0.5
        add_(parameter, direction, -1)
