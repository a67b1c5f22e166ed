"""Take Adam's steps with Nesterov's momentum."""

from __future__ import annotations

from typing import Any, ClassVar

from minigrad.optim.arithmetic import addcdiv_, addcmul_, lerp_, setting, sqrt
from minigrad.optim.checks import check_betas, check_not_negative, check_rate
from minigrad.optim.each_parameter import EachParameter, Values, advance, count
from minigrad.tensor import Tensor

__all__ = ["NAdam"]


class NAdam(EachParameter):
    r"""NAdam: Adam with Nesterov's momentum.

    With Adam's averages $m_t$ and $v_t$, and momentum
    $\mu_t = \beta_1 (1 - \frac{1}{2} 0.96^{t \psi})$, which grows to $\beta_1$:

    $$\theta_t = \theta_{t-1} - \gamma
    \left( \frac{(1 - \mu_t) g_t}{1 - \prod_{i \le t} \mu_i}
    + \frac{\mu_{t+1} m_t}{1 - \prod_{i \le t+1} \mu_i} \right)
    \Big/ \left( \sqrt{v_t / (1 - \beta_2^t)} + \epsilon \right).$$

    Source: Dozat, *Incorporating Nesterov momentum into Adam*, 2016.

    Args:
        params: The parameters, or pairs of name and parameter, or dictionaries that define groups.
        lr: The learning rate $\gamma$.
        betas: How much of the running averages stays: $\beta_1$ and $\beta_2$.
        eps: $\epsilon$, which keeps the divisor away from zero.
        weight_decay: The factor $\lambda$; $\lambda \theta_{t-1}$ is added to the gradient.
        momentum_decay: How fast the momentum grows: $\psi$.
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
        >>> optimizer = torch.optim.NAdam([w], lr=0.1)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w.detach()
        tensor([0.8944])
    """

    averages = ("exp_avg", "exp_avg_sq")
    _usual: ClassVar[Values] = {**EachParameter._usual, "decoupled_weight_decay": False}
    _captured = (
        "params, mu_products and state_steps",
        "params, mu_products, and state_steps",
    )

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
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
        check_not_negative(weight_decay=weight_decay, momentum_decay=momentum_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _new_state(self, parameter: Tensor, group: Values) -> Values:
        state = super()._new_state(parameter, group)
        return {"step": state.pop("step"), "mu_product": count(1.0, group), **state}

    def __setstate__(self, state: Values) -> None:
        """Take a state; a product that an old one keeps as a number becomes a tensor."""
        super().__setstate__(state)
        for group in self.param_groups:
            for parameter in group["params"]:
                kept = self.state.get(parameter, {})
                if kept and not isinstance(kept["mu_product"], Tensor):
                    kept["mu_product"] = count(float(kept["mu_product"]), group)

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        beta1, beta2 = group["betas"]
        steps = advance(state)
        decay = group["weight_decay"]
        if decay != 0 and group["decoupled_weight_decay"]:
            parameter *= 1 - lr * setting(decay)
        mu, mu_next = (
            beta1 * (1.0 - 0.5 * 0.96 ** (step * group["momentum_decay"]))
            for step in (steps, steps + 1)
        )
        product = state["mu_product"]
        product *= mu
        average, square = state["exp_avg"], state["exp_avg_sq"]
        lerp_(average, gradient, 1 - beta1)
        square *= beta2
        addcmul_(square, gradient, gradient, 1 - beta2)
        divisor = sqrt(square / (1 - beta2**steps))
        divisor = divisor + group["eps"]
        if group["differentiable"] and isinstance(parameter, Tensor):
            product = product.clone()  # a copy, for it is multiplied on
            addcdiv_(parameter, gradient * (-lr * (1.0 - mu) / (1.0 - product)), divisor)
            addcdiv_(parameter, average * (-lr * mu_next / (1.0 - product * mu_next)), divisor)
            return
        product = product.item()
        addcdiv_(parameter, gradient, divisor, -lr * (1.0 - mu) / (1.0 - product))
        addcdiv_(parameter, average, divisor, -lr * mu_next / (1.0 - product * mu_next))
