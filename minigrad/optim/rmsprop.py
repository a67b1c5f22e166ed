"""Divide each gradient by the root of the running average of its square."""

from __future__ import annotations

from typing import Any, ClassVar

from minigrad.creation import zeros_like
from minigrad.optim.arithmetic import add_, addcdiv_, addcmul_, lerp_, sqrt
from minigrad.optim.checks import check_not_negative, check_rate
from minigrad.optim.each_parameter import EachParameter, Values, advance
from minigrad.tensor import Tensor

__all__ = ["RMSprop"]


class RMSprop(EachParameter):
    r"""RMSprop: root mean square propagation.

    $$v_t = \alpha v_{t-1} + (1 - \alpha) g_t^2, \qquad
    \theta_t = \theta_{t-1} - \gamma \frac{g_t}{\sqrt{v_t} + \epsilon},$$

    where `centered` takes the square of the average gradient off $v_t$ under the root, and with
    momentum $\mu$ the steps $b_t = \mu b_{t-1} + g_t / (\sqrt{v_t} + \epsilon)$ are taken.

    Source: Hinton, lecture 6 of *Neural networks for machine learning*, 2012; `centered`: Graves,
    *Generating sequences with recurrent neural networks*, 2013.

    Args:
        params: The parameters, or pairs of name and parameter, or dictionaries that define groups.
        lr: The learning rate $\gamma$.
        alpha: How much of the running average stays.
        eps: $\epsilon$, which keeps the divisor away from zero.
        weight_decay: The factor $\lambda$; $\lambda \theta_{t-1}$ is added to the gradient.
        momentum: The factor $\mu$.
        centered: Divide by the root of the variance.
        capturable: For graphs of a graphics card: True is refused at the first step.
        foreach: Accepted; the numbers are the same.
        maximize: Go uphill instead.
        differentiable: Record the step, so that it can be differentiated through.

    Raises:
        ValueError: If a number is out of range.

    Example:
        >>> import minigrad as torch
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.RMSprop([w], lr=0.1, alpha=0.75)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w.detach()
        tensor([0.8000])
    """

    averages = ("square_avg",)
    _usual: ClassVar[Values] = {**EachParameter._usual, "momentum": 0, "centered": False}
    _captured_devices = (True, True)

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_rate(lr)
        check_not_negative(eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _new_state(self, parameter: Tensor, group: Values) -> Values:
        state = super()._new_state(parameter, group)
        if group["momentum"] > 0:
            state["momentum_buffer"] = zeros_like(parameter)
        if group["centered"]:
            state["grad_avg"] = zeros_like(parameter)
        return state

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        advance(state)
        alpha, square = group["alpha"], state["square_avg"]
        square *= alpha
        addcmul_(square, gradient, gradient, 1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"]
            lerp_(mean, gradient, 1 - alpha)
            recorded = isinstance(square, Tensor)
            square = square.addcmul(mean, mean, value=-1) if recorded else square - mean * mean
        divisor = sqrt(square)
        if group["differentiable"]:
            divisor = divisor + group["eps"]
        else:
            divisor += group["eps"]
        if group["momentum"] > 0:
            velocity = state["momentum_buffer"]
            velocity *= group["momentum"]
            addcdiv_(velocity, gradient, divisor)
            add_(parameter, velocity, -lr)
        else:
            addcdiv_(parameter, gradient, divisor, -lr)
