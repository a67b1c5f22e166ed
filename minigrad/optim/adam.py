"""Give each weight a step of its own size, from what is known of its gradients.

Adam keeps running averages of gradients and of their squares, the others of the squares alone.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from minigrad.creation.factories import full_like
from minigrad.optim import each_parameter as either
from minigrad.optim.each_parameter import EachParameter, Values, count, number


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
        differentiable: Must be False: a step records nothing.
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
    _averages_for: ClassVar = {"amsgrad": "max_exp_avg_sq"}

    def _check(self, settings: Values) -> None:
        super()._check(settings)
        settings["betas"] = tuple(settings["betas"])

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        beta1, beta2 = group["betas"]
        average, square = averaged(gradient, state, group)
        if group["amsgrad"]:
            square = np.maximum(state["max_exp_avg_sq"], square, out=state["max_exp_avg_sq"])
        steps = state["step"].item()
        divisor = np.sqrt(square)
        divisor /= (1 - beta2**steps) ** 0.5
        divisor += group["eps"]
        either.addcdiv_(parameter, average, divisor, -(lr / (1 - beta1**steps)))


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
        differentiable: Must be False: a step records nothing.
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


class Adagrad(
    EachParameter,
    settings="lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, "
    "foreach=None, *, maximize=False, differentiable=False, fused=None",
):
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
        differentiable: Must be False: a step records nothing.
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

    def _set_up(self, params: Any, given: Values) -> None:
        super()._set_up(params, given)
        for group in self.param_groups:
            for parameter in group["params"]:
                start = full_like(parameter, number(given["initial_accumulator_value"]))
                self.state[parameter].update(step=count(0.0), sum=start)

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        rate = lr / (1 + (state["step"].item() - 1) * group["lr_decay"])
        total = state["sum"]
        either.addcmul_(total, gradient, gradient)
        either.addcdiv_(parameter, gradient, np.sqrt(total) + group["eps"], -rate)


class RMSprop(
    EachParameter,
    settings="lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, "
    "capturable=False, foreach=None, maximize=False, differentiable=False",
):
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
        differentiable: Must be False: a step records nothing.

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

    _averages = ("square_avg",)
    _averages_for: ClassVar = {"momentum": "momentum_buffer", "centered": "grad_avg"}

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        alpha, square = group["alpha"], state["square_avg"]
        square *= alpha
        either.addcmul_(square, gradient, gradient, 1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"]
            either.lerp_(mean, gradient, 1 - alpha)
            # rounded once, as PyTorch does: what is left may be tiny
            wide = mean.astype(np.promote_types(mean.dtype, np.float64))
            square = (square - wide * wide).astype(square.dtype)
        divisor = np.sqrt(square) + group["eps"]
        if group["momentum"] > 0:
            velocity = state["momentum_buffer"]
            velocity *= group["momentum"]
            either.addcdiv_(velocity, gradient, divisor)
            either.add_(parameter, velocity, -lr)
        else:
            either.addcdiv_(parameter, gradient, divisor, -lr)


def averaged(gradient: Any, state: Values, group: Values) -> tuple[Any, Any]:
    """Move the running averages towards a gradient and its square."""
    beta1, beta2 = group["betas"]
    average, square = state["exp_avg"], state["exp_avg_sq"]
    either.lerp_(average, gradient, 1 - beta1)
    square *= beta2
    either.addcmul_(square, gradient, gradient, 1 - beta2)
    return average, square
