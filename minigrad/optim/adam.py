"""Give each weight a step of its own size, from running averages of its gradient and its square."""

from __future__ import annotations

from typing import Any, ClassVar

from minigrad.core.tensor import Tensor
from minigrad.creation.factories import zeros_like
from minigrad.optim.each_parameter import (
    EachParameter,
    Values,
    add_,
    addcdiv_,
    addcmul_,
    divided,
    lerp_,
    maximum_,
    sqrt,
)


class Adam(
    EachParameter,
    settings="lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, "
    "maximize=False, foreach=None, capturable=False, differentiable=False, fused=None, "
    "decoupled_weight_decay=False",
):
    r"""Adam: adaptive moments.

    With gradient $g_t$ and running averages $m_t$ of it and $v_t$ of its square:

    $$m_t = \beta_1 m_{t-1} + (1 - \beta_1) g_t, \quad
    v_t = \beta_2 v_{t-1} + (1 - \beta_2) g_t^2,$$

    $$\theta_t = \theta_{t-1} - \gamma \frac{m_t / (1 - \beta_1^t)}
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

    _averages = ("exp_avg", "exp_avg_sq")

    def _check(self, settings: Values) -> None:
        super()._check(settings)
        if not all(isinstance(beta, float) for beta in settings["betas"]):
            raise ValueError(
                "betas must be either both floats or both Tensors; minigrad takes floats only"
            )
        settings["betas"] = tuple(settings["betas"])

    def _new_state(self, parameter: Tensor, group: Values) -> Values:
        state = super()._new_state(parameter, group)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = zeros_like(parameter)
        return state

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        beta1, beta2 = group["betas"]
        average, square = _averaged(gradient, state, group)
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
        steps = state["step"].item()
        divisor = divided(sqrt(square), (1 - beta2**steps) ** 0.5)
        divisor += group["eps"]
        addcdiv_(parameter, average, divisor, -(lr / (1 - beta1**steps)))


class AdamW(
    Adam,
    settings="lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *, "
    "maximize=False, foreach=None, capturable=False, differentiable=False, fused=None",
):
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

    def _set_up(self, params: Any, given: Values) -> None:
        super()._set_up(params, {**given, "decoupled_weight_decay": True})


class Adamax(
    EachParameter,
    settings="lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *, "
    "maximize=False, differentiable=False, capturable=False",
):
    r"""Adamax: Adam with the infinity norm.

    $$m_t = \beta_1 m_{t-1} + (1 - \beta_1) g_t, \quad
    u_t = \max(\beta_2 u_{t-1}, |g_t| + \epsilon),$$

    $$\theta_t = \theta_{t-1} - \frac{\gamma}{1 - \beta_1^t} \frac{m_t}{u_t}.$$

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

    _averages = ("exp_avg", "exp_inf")

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        beta1, beta2 = group["betas"]
        average, largest = state["exp_avg"], state["exp_inf"]
        lerp_(average, gradient, 1 - beta1)
        largest *= beta2
        size = abs(gradient)
        size += group["eps"]
        maximum_(largest, size)
        if isinstance(parameter, Tensor):  # recorded: copies, for the next step changes both
            average, largest = average.clone(), largest.clone()
        addcdiv_(parameter, average, largest, -(lr / (1 - beta1 ** state["step"].item())))


class NAdam(
    EachParameter,
    settings="lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3, "
    "decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False, "
    "differentiable=False",
):
    r"""NAdam: Adam with Nesterov's momentum.

    With the running averages $m_t$ and $v_t$ of `Adam`, and a momentum that grows towards
    $\beta_1$, $\mu_t = \beta_1 (1 - \tfrac{1}{2} 0.96^{t \psi})$:

    $$\theta_t = \theta_{t-1} - \gamma \left( \frac{1 - \mu_t}{1 - \prod_{i \le t} \mu_i} g_t
    + \frac{\mu_{t+1}}{1 - \prod_{i \le t+1} \mu_i} m_t \right) \Big/
    \left( \sqrt{v_t / (1 - \beta_2^t)} + \epsilon \right).$$

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

    _order = (
        "lr betas eps weight_decay momentum_decay decoupled_weight_decay maximize foreach "
        "capturable differentiable"
    )
    _checked = "lr eps betas weight_decay momentum_decay"
    _counts: ClassVar = {"step": 0.0, "mu_product": 1.0}
    _averages = ("exp_avg", "exp_avg_sq")

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        beta1, beta2 = group["betas"]
        steps, decay = state["step"].item(), group["momentum_decay"]
        now, then = (beta1 * (1 - 0.5 * 0.96 ** (at * decay)) for at in (steps, steps + 1))
        state["mu_product"] *= now
        product = state["mu_product"].item()
        average, square = _averaged(gradient, state, group)
        divisor = sqrt(square / (1 - beta2**steps)) + group["eps"]
        addcdiv_(parameter, gradient * (-lr * (1 - now) / (1 - product)), divisor)
        addcdiv_(parameter, average * (-lr * then / (1 - product * then)), divisor)


class RAdam(
    EachParameter,
    settings="lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, "
    "decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False, "
    "differentiable=False",
):
    r"""RAdam: Adam that divides only when enough steps tell the size of the gradient.

    With the running averages $m_t$ and $v_t$ of `Adam`, over about $\rho_t$ steps,
    $\rho_\infty = 2 / (1 - \beta_2) - 1$ and
    $\rho_t = \rho_\infty - 2 t \beta_2^t / (1 - \beta_2^t)$, the weights move by $-\gamma$ times

    $$\frac{m_t}{1 - \beta_1^t} \quad \text{while } \rho_t \le 5, \qquad
    \frac{m_t}{1 - \beta_1^t} \frac{\sqrt{1 - \beta_2^t}}{\sqrt{v_t} + \epsilon}
    \sqrt{\frac{(\rho_t - 4) (\rho_t - 2) \rho_\infty}
    {(\rho_\infty - 4) (\rho_\infty - 2) \rho_t}} \quad \text{then}.$$

    Source: Liu et al., *On the variance of the adaptive learning rate and beyond*, 2019.

    Args:
        params: The parameters, or pairs of name and parameter, or dictionaries that define groups.
        lr: The learning rate $\gamma$.
        betas: How much of the running averages stays: $\beta_1$ and $\beta_2$.
        eps: $\epsilon$, which keeps the divisor away from zero.
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
        >>> optimizer = torch.optim.RAdam([w], lr=0.125)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w.detach()
        tensor([0.7500])
    """

    _order = (
        "lr betas eps weight_decay maximize foreach capturable decoupled_weight_decay "
        "differentiable"
    )
    _averages = ("exp_avg", "exp_avg_sq")

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        beta1, beta2 = group["betas"]
        steps = state["step"].item()
        average, square = _averaged(gradient, state, group)
        change = average / (1 - beta1**steps) * lr
        known, most = 1 - beta2**steps, 2 / (1 - beta2) - 1
        length = most - 2 * steps * beta2**steps / known
        if length > 5:
            change *= known**0.5 / (sqrt(square) + group["eps"])
            rest = (length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length)
            change *= rest**0.5
        add_(parameter, change, -1)


def _averaged(gradient: Any, state: Values, group: Values) -> tuple[Any, Any]:
    """Move the running averages towards a gradient and its square."""
    beta1, beta2 = group["betas"]
    average, square = state["exp_avg"], state["exp_avg_sq"]
    lerp_(average, gradient, 1 - beta1)
    square *= beta2
    addcmul_(square, gradient, gradient, 1 - beta2)
    return average, square
