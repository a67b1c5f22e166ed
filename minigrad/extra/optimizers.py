"""Give each weight a step of its own size: the rarer optimizers, akin to Adam, and averaged SGD."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from minigrad.core.tensor import Tensor
from minigrad.creation.factories import full_like
from minigrad.optim import each_parameter as either
from minigrad.optim.adam import averaged
from minigrad.optim.each_parameter import EachParameter, Values, number


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
        differentiable: Must be False: a step records nothing.
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
        either.lerp_(average, gradient, 1 - beta1)
        largest *= beta2
        size = abs(gradient)
        size += group["eps"]
        np.maximum(largest, size, out=largest)
        either.addcdiv_(parameter, average, largest, -(lr / (1 - beta1 ** state["step"].item())))


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
        differentiable: Must be False: a step records nothing.

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

    _counts: ClassVar = {"step": 0.0, "mu_product": 1.0}
    _averages = ("exp_avg", "exp_avg_sq")

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        beta1, beta2 = group["betas"]
        steps, decay = state["step"].item(), group["momentum_decay"]
        now, then = (beta1 * (1 - 0.5 * 0.96 ** (at * decay)) for at in (steps, steps + 1))
        state["mu_product"] *= now
        product = state["mu_product"].item()
        average, square = averaged(gradient, state, group)
        divisor = np.sqrt(square / (1 - beta2**steps)) + group["eps"]
        either.addcdiv_(parameter, gradient * (-lr * (1 - now) / (1 - product)), divisor)
        either.addcdiv_(parameter, average * (-lr * then / (1 - product * then)), divisor)


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
        differentiable: Must be False: a step records nothing.

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

    _averages = ("exp_avg", "exp_avg_sq")

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        beta1, beta2 = group["betas"]
        steps = state["step"].item()
        average, square = averaged(gradient, state, group)
        change = average / (1 - beta1**steps) * lr
        known, most = 1 - beta2**steps, 2 / (1 - beta2) - 1
        length = most - 2 * steps * beta2**steps / known
        if length > 5:
            change *= known**0.5 / (np.sqrt(square) + group["eps"])
            rest = (length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length)
            change *= rest**0.5
        either.add_(parameter, change, -1)


class Adadelta(
    EachParameter,
    settings="lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, capturable=False, "
    "maximize=False, differentiable=False",
):
    r"""Adadelta.

    With running averages $v_t$ of the squared gradient and $u_t$ of the squared steps:

    $$v_t = \rho v_{t-1} + (1 - \rho) g_t^2, \quad
    \Delta_t = \frac{\sqrt{u_{t-1} + \epsilon}}{\sqrt{v_t + \epsilon}} g_t,$$

    $$u_t = \rho u_{t-1} + (1 - \rho) \Delta_t^2, \quad
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
        differentiable: Must be False: a step records nothing.

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

    _averages = ("square_avg", "acc_delta")

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        rho, eps = group["rho"], group["eps"]
        square, steps = state["square_avg"], state["acc_delta"]
        square *= rho
        either.addcmul_(square, gradient, gradient, 1 - rho)
        delta = np.sqrt(steps + eps) / np.sqrt(square + eps) * gradient
        steps *= rho
        either.addcmul_(steps, delta, delta, 1 - rho)
        either.add_(parameter, delta, -lr)


class Rprop(
    EachParameter,
    settings="lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, foreach=None, maximize=False, "
    "differentiable=False, capturable=False",
):
    r"""Rprop: resilient propagation.

    Each weight has a size of step $\eta_t$. Where the gradient kept its sign it is multiplied by
    $\eta_+$; where it turned, by $\eta_-$, and the weight stays for this once. It has limits.

    $$\theta_t = \theta_{t-1} - \eta_t \operatorname{sign}(g_t).$$

    Source: Riedmiller and Braun, *A direct adaptive method for faster backpropagation learning*,
    1993.

    Args:
        params: The parameters, or pairs of name and parameter, or dictionaries that define groups.
        lr: The size of the first step.
        etas: The factors $\eta_-$ and $\eta_+$.
        step_sizes: The smallest and the largest size.
        capturable: For graphs of a graphics card: True is refused at the first step.
        foreach: Accepted; the numbers are the same.
        maximize: Go uphill instead.
        differentiable: Must be False: a step records nothing.

    Raises:
        ValueError: If a number is out of range.

    Example:
        >>> import minigrad as torch
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.Rprop([w], lr=0.25)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w.detach()
        tensor([0.7500])
    """

    _averages = ("prev",)

    def _new_state(self, parameter: Tensor, group: Values) -> Values:
        state = super()._new_state(parameter, group)
        return {**state, "step_size": full_like(parameter, number(group["lr"]))}

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        shrink, grow = group["etas"]
        before, size = state["prev"], state["step_size"]
        sign = np.sign(gradient * before)
        turned = sign < 0
        factor = np.where(sign > 0, grow, np.where(turned, shrink, 1.0)).astype(size.dtype)
        direction = np.where(turned, 0, np.sign(gradient)).astype(size.dtype)
        least, most = group["step_sizes"]
        size[...] = np.clip(size * factor, number(least), number(most))
        either.addcmul_(parameter, direction, size, -1)
        before[...] = np.where(turned, 0, gradient)


class ASGD(
    EachParameter,
    settings="lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, "
    "maximize=False, differentiable=False, capturable=False",
):
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
        differentiable: Must be False: a step records nothing.
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

    _counts: ClassVar = {"step": 0.0, "eta": 0.0, "mu": 1.0}
    _averages = ("ax",)

    def _new_state(self, parameter: Tensor, group: Values) -> Values:
        state = super()._new_state(parameter, group)
        state["eta"].fill_(number(group["lr"]))
        return state

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        lambd, eta, mu = group["lambd"], state["eta"].item(), state["mu"].item()
        parameter *= 1 - lambd * eta
        either.add_(parameter, gradient, -eta)
        average = state["ax"]
        if mu == 1:
            average[...] = parameter
        else:
            either.add_(average, (parameter - average) * mu)
        rate, steps = number(lr), state["step"].item()
        state["eta"][...] = rate / (1 + lambd * rate * steps) ** group["alpha"]
        state["mu"][...] = 1 / max(1, steps - group["t0"])
