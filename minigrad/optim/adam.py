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


class _WithAverages(EachParameter):
    """The part that all kinds of Adam share: the running averages, the second one of squares."""

    _averages = ("exp_avg", "exp_avg_sq")

    def _averaged(self, gradient: Any, state: Values, beta1: Any, beta2: Any) -> tuple[Any, Any]:
        """Let a gradient go into the averages, and give them."""
        average, square = state["exp_avg"], state["exp_avg_sq"]
        lerp_(average, gradient, 1 - beta1)
        square *= beta2
        addcmul_(square, gradient, gradient, 1 - beta2)
        return average, square


class Adam(
    _WithAverages,
    settings="lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, "
    "maximize=False, foreach=None, capturable=False, differentiable=False, fused=None, "
    "decoupled_weight_decay=False",
):
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

    def _check(self, settings: Values) -> None:
        super()._check(settings)
        if not all(isinstance(beta, float) for beta in settings["betas"]):
            raise ValueError(
                "betas must be either both floats or both Tensors; minigrad takes floats only"
            )

    def _new_state(self, parameter: Tensor, group: Values) -> Values:
        state = super()._new_state(parameter, group)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = zeros_like(parameter)
        return state

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        beta1, beta2 = group["betas"]
        average, square = self._averaged(gradient, state, beta1, beta2)
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
        addcdiv_(parameter, average, divisor, -lr / (1 - beta1**steps))


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

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take a state, also one of old that says nothing of decoupled decay."""
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


class Adamax(
    EachParameter,
    settings="lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *, "
    "maximize=False, differentiable=False, capturable=False",
):
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
        addcdiv_(parameter, average, largest, -lr / (1 - beta1 ** state["step"].item()))


class NAdam(
    _WithAverages,
    settings="lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3, "
    "decoupled_weight_decay=False, *, maximize=False, foreach=None, capturable=False, "
    "differentiable=False",
):
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

    _checked = "lr eps betas weight_decay momentum_decay"
    _counts: ClassVar = {"step": 0.0, "mu_product": 1.0}

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        beta1, beta2 = group["betas"]
        steps = state["step"].item()
        mu, mu_next = (
            beta1 * (1.0 - 0.5 * 0.96 ** (step * group["momentum_decay"]))
            for step in (steps, steps + 1)
        )
        product = state["mu_product"]
        product *= mu
        average, square = self._averaged(gradient, state, beta1, beta2)
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


class RAdam(
    _WithAverages,
    settings="lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, "
    "decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False, "
    "differentiable=False",
):
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

    _order = (
        "lr betas eps weight_decay maximize foreach capturable decoupled_weight_decay "
        "differentiable"
    )

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        beta1, beta2 = group["betas"]
        steps = state["step"].item()
        average, square = self._averaged(gradient, state, beta1, beta2)
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
