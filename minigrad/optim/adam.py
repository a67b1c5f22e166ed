"""Give each weight a step of its own size, from running averages of its gradient and its square."""

from __future__ import annotations

from typing import Any, ClassVar

from minigrad.creation import zeros_like
from minigrad.optim.arithmetic import (
    addcdiv_,
    addcmul_,
    divided,
    lerp_,
    maximum_,
    setting,
    sqrt,
)
from minigrad.optim.checks import check_betas, check_fused, check_not_negative, check_rate
from minigrad.optim.each_parameter import EachParameter, Values, advance
from minigrad.tensor import Tensor

__all__ = ["Adam"]


class Adam(EachParameter):
    r"""Adam: adaptive moments.

    With gradient $g_t$ and running averages $m_t$ of it and $v_t$ of its square:

    $$m_t = \beta_1 m_{t-1} + (1 - \beta_1) g_t, \quad
    v_t = \beta_2 v_{t-1} + (1 - \beta_2) g_t^2, \qquad
    \theta_t = \theta_{t-1} - \gamma \frac{m_t / (1 - \beta_1^t)}
    {\sqrt{v_t / (1 - \beta_2^t)} + \epsilon}.$$

    Source: Kingma and Ba, *Adam: a method for stochastic optimization*, 2014; `amsgrad`: Reddi et
    al., *On the convergence of Adam and beyond*, 2018.

    Args:
        params: The parameters, or pairs of name and parameter, or dictionaries that define groups.
        lr: The learning rate $\gamma$.
        betas: How much of the running averages stays: $\beta_1$ and $\beta_2$.
        eps: $\epsilon$, which keeps the divisor away from zero.
        weight_decay: The factor $\lambda$; $\lambda \theta_{t-1}$ is added to the gradient.
        amsgrad: Divide by the largest $v$ so far rather than by the present one.
        foreach: Accepted; the numbers are the same.
        maximize: Go uphill instead.
        capturable: For graphs of a graphics card: True is refused at the first step.
        differentiable: Record the step, so that it can be differentiated through.
        fused: Accepted; the numbers are the same.
        decoupled_weight_decay: Shrink the weights by $1 - \gamma \lambda$ instead, as `AdamW` does.

    Raises:
        ValueError: If a number is out of range.
        RuntimeError: If ways of stepping exclude each other.

    Example:
        >>> import minigrad as torch
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.Adam([w], lr=0.1)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w
        Parameter containing:
        tensor([0.9000], requires_grad=True)
    """

    averages = ("exp_avg", "exp_avg_sq")
    _usual: ClassVar[Values] = {
        **EachParameter._usual,
        "amsgrad": False,
        "decoupled_weight_decay": False,
        "fused": None,
    }

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError(
                "lr as a Tensor is not supported for capturable=False and foreach=True"
            )
        check_rate(lr)
        check_not_negative(eps=eps)
        check_betas(betas)
        check_not_negative(weight_decay=weight_decay)
        _check_kinds_of_betas(betas, bool(foreach) and not capturable)
        defaults = {
            "lr": lr,
            "betas": tuple(_without_dimensions(beta) for beta in betas),
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)
        check_fused(fused, foreach, differentiable)

    def _new_state(self, parameter: Tensor, group: Values) -> Values:
        state = super()._new_state(parameter, group)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = zeros_like(parameter)
        return state

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        beta1, beta2 = map(setting, group["betas"])
        steps = advance(state)
        decay = group["weight_decay"]
        if decay != 0 and group["decoupled_weight_decay"]:
            parameter *= 1 - lr * setting(decay)
        average, square = state["exp_avg"], state["exp_avg_sq"]
        lerp_(average, gradient, 1 - beta1)
        square *= beta2
        addcmul_(square, gradient, gradient, 1 - beta2)
        if group["amsgrad"]:
            maximum_(state["max_exp_avg_sq"], square)
            square = state["max_exp_avg_sq"]
        if group["differentiable"] and isinstance(parameter, Tensor):
            # the count is a tensor here, as lr and the betas may be; copies, for both are changed
            steps = state["step"].clone()
            size = -(lr / (1 - beta1**steps))
            divisor = square.sqrt() / ((1 - beta2**steps).sqrt() * size) + group["eps"] / size
            addcdiv_(parameter, average.clone(), divisor)
            return
        divisor = divided(sqrt(square), (1 - beta2**steps) ** 0.5)
        divisor += group["eps"]
        addcdiv_(parameter, average, divisor, -lr / (1 - beta1**steps))


def _check_kinds_of_betas(betas: Any, many: bool) -> None:
    """Refuse a mixture of numbers and tensors, and tensors that do not fit."""
    if [isinstance(beta, float) for beta in betas] == [True, True]:
        return
    if not all(isinstance(beta, Tensor) for beta in betas):
        raise ValueError("betas must be either both floats or both Tensors")
    for index, beta in enumerate(betas):
        if many:
            raise ValueError(
                f"betas[{index}] as a Tensor is not supported for capturable=False and foreach=True"
            )
        if beta.numel() != 1:
            raise ValueError(f"Tensor betas[{index}] must be 1-element")


def _without_dimensions(beta: Any) -> Any:
    """Give a tensor of one entry as one without dimensions; a number as it is."""
    return beta.squeeze() if isinstance(beta, Tensor) and beta.ndim else beta
