"""Go downhill and keep the average of all places on the way."""

from __future__ import annotations

from typing import Any

from minigrad.optim.arithmetic import add_, copy_, number
from minigrad.optim.checks import check_not_negative, check_rate
from minigrad.optim.each_parameter import EachParameter, Values, advance, count
from minigrad.tensor import Tensor

__all__ = ["ASGD"]


class ASGD(EachParameter):
    r"""Averaged stochastic gradient descent.

    With the falling rate $\eta_t = \gamma / (1 + \lambda \gamma t)^\alpha$:

    $$\theta_t = (1 - \lambda \eta_t) \theta_{t-1} - \eta_t g_t, \qquad
    a_t = a_{t-1} + \mu_t (\theta_t - a_{t-1}), \quad \mu_t = 1 / \max(1, t - t_0).$$

    The average $a_t$ is kept as `"ax"` in the state of each parameter.

    Source: Polyak and Juditsky, *Acceleration of stochastic approximation by averaging*, 1992.

    Args:
        params: The parameters, or pairs of name and parameter, or dictionaries that define groups.
        lr: The learning rate $\gamma$.
        lambd: The factor $\lambda$.
        alpha: The power $\alpha$ with which the rate falls.
        t0: After how many steps averaging begins.
        weight_decay: What is multiplied by the parameter and added to the gradient.
        foreach: Accepted; the numbers are the same.
        maximize: Go uphill instead.
        differentiable: Record the step, so that it can be differentiated through.
        capturable: For graphs of a graphics card: True is refused at the first step.

    Raises:
        ValueError: If a number is out of range.

    Example:
        >>> import minigrad as torch
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.ASGD([w], lr=0.25)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w.detach()
        tensor([0.5000])
    """

    averages = ("ax",)
    _captured = ("params, mus, etas, and state_steps",) * 2

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_rate(lr)
        check_not_negative(weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _new_state(self, parameter: Tensor, group: Values) -> Values:
        state = super()._new_state(parameter, group)
        first = {"step": state.pop("step"), "eta": count(float(number(group["lr"])), group)}
        return {**first, "mu": count(1.0, group), **state}

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        steps = advance(state)
        lambd, eta, mu = group["lambd"], state["eta"].item(), state["mu"].item()
        parameter *= 1 - lambd * eta
        add_(parameter, gradient, -eta)
        average = state["ax"]
        if mu == 1:
            copy_(average, parameter)
        else:
            add_(average, (parameter - average) * mu)
        rate = number(lr)
        copy_(state["eta"], rate / (1 + lambd * rate * steps) ** group["alpha"])
        copy_(state["mu"], 1 / max(1, steps - group["t0"]))
