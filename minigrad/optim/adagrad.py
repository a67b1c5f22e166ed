"""Divide each gradient by the root of the sum of its squares so far."""

from __future__ import annotations

from typing import Any, ClassVar

from minigrad.optim.arithmetic import addcdiv_, addcmul_, sqrt
from minigrad.optim.checks import check_fused, check_not_negative, check_rate
from minigrad.optim.each_parameter import EachParameter, Values, advance, count, filled_like
from minigrad.tensor import Tensor

__all__ = ["Adagrad"]


class Adagrad(EachParameter):
    r"""Adagrad: adaptive subgradients.

    $$s_t = s_{t-1} + g_t^2, \qquad
    \theta_t = \theta_{t-1} - \frac{\gamma}{1 + (t - 1) \eta} \frac{g_t}{\sqrt{s_t} + \epsilon}.$$

    Source: Duchi et al., *Adaptive subgradient methods for online learning and stochastic
    optimization*, 2011.

    Args:
        params: The parameters, or pairs of name and parameter, or dictionaries that define groups.
        lr: The learning rate $\gamma$.
        lr_decay: How fast it falls: $\eta$.
        weight_decay: The factor $\lambda$; $\lambda \theta_{t-1}$ is added to the gradient.
        initial_accumulator_value: The sum $s_0$.
        eps: $\epsilon$, which keeps the divisor away from zero.
        foreach: Accepted; the numbers are the same.
        maximize: Go uphill instead.
        differentiable: Record the step, so that it can be differentiated through.
        fused: Accepted; the numbers are the same.

    Raises:
        ValueError: If a number is out of range.
        RuntimeError: If ways of stepping exclude each other.

    Example:
        >>> import minigrad as torch
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.Adagrad([w], lr=0.5)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w.detach()
        tensor([0.5000])
    """

    averages = ("sum",)
    _usual: ClassVar[Values] = {
        "foreach": None,
        "maximize": False,
        "differentiable": False,
        "fused": None,
    }

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_rate(lr)
        check_not_negative(
            lr_decay=lr_decay,
            weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value,
            eps=eps,
        )
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        check_fused(fused, foreach, differentiable)
        for group in self.param_groups:
            for parameter in group["params"]:
                start = filled_like(parameter, initial_accumulator_value)
                self.state[parameter].update(step=count(0.0, group), sum=start)

    def share_memory(self) -> None:
        """Let several processes share the sums: there is one process only, so nothing is done."""

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        rate = lr / (1 + (advance(state) - 1) * group["lr_decay"])
        total = state["sum"]
        addcmul_(total, gradient, gradient)
        divisor = sqrt(total)
        if group["differentiable"]:
            divisor = divisor + group["eps"]
        else:
            divisor += group["eps"]
        addcdiv_(parameter, gradient, divisor, -rate)
