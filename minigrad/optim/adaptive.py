"""Divide each gradient by what is known of its size, or heed its sign alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.core.tensor import Tensor, wrap
from minigrad.creation.factories import full_like, zeros_like
from minigrad.optim.each_parameter import (
    EachParameter,
    Values,
    add_,
    addcdiv_,
    addcmul_,
    copy_,
    count,
    lerp_,
    number,
    sqrt,
)


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

    _order = (
        "lr lr_decay eps weight_decay initial_accumulator_value "
        "foreach maximize differentiable fused"
    )
    _checked = "lr lr_decay weight_decay initial_accumulator_value eps"

    def _set_up(self, params: Any, given: Values) -> None:
        super()._set_up(params, given)
        for group in self.param_groups:
            for parameter in group["params"]:
                start = full_like(parameter, number(given["initial_accumulator_value"]))
                self.state[parameter].update(step=count(0.0), sum=start)

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        rate = lr / (1 + (state["step"].item() - 1) * group["lr_decay"])
        total = state["sum"]
        addcmul_(total, gradient, gradient)
        addcdiv_(parameter, gradient, _root(total, group), -rate)


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
        differentiable: Record the step, so that it can be differentiated through.

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

    _order = "lr rho eps weight_decay maximize capturable foreach differentiable"
    _checked = "lr rho eps weight_decay"
    _averages = ("square_avg", "acc_delta")

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        rho, eps = group["rho"], group["eps"]
        square, steps = state["square_avg"], state["acc_delta"]
        square *= rho
        addcmul_(square, gradient, gradient, 1 - rho)
        delta = sqrt(steps + eps) / sqrt(square + eps) * gradient
        steps *= rho
        addcmul_(steps, delta, delta, 1 - rho)
        add_(parameter, delta, -lr)


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

    _order = (
        "lr momentum alpha eps centered weight_decay capturable foreach maximize differentiable"
    )
    _checked = "lr eps momentum weight_decay alpha"
    _averages = ("square_avg",)

    def _new_state(self, parameter: Tensor, group: Values) -> Values:
        state = super()._new_state(parameter, group)
        if group["momentum"] > 0:
            state["momentum_buffer"] = zeros_like(parameter)
        if group["centered"]:
            state["grad_avg"] = zeros_like(parameter)
        return state

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        alpha, square = group["alpha"], state["square_avg"]
        square *= alpha
        addcmul_(square, gradient, gradient, 1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"]
            lerp_(mean, gradient, 1 - alpha)
            recorded = isinstance(square, Tensor)
            if recorded:
                square = square.addcmul(mean, mean, value=-1)
            else:  # rounded once, as PyTorch does: what is left may be tiny
                square = (square - np.square(mean, dtype=np.float64)).astype(square.dtype)
        divisor = _root(square, group)
        if group["momentum"] > 0:
            velocity = state["momentum_buffer"]
            velocity *= group["momentum"]
            addcdiv_(velocity, gradient, divisor)
            add_(parameter, velocity, -lr)
        else:
            addcdiv_(parameter, gradient, divisor, -lr)


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
        differentiable: Record the step, so that it can be differentiated through.

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

    _checked = "lr etas"
    _averages = ("prev",)

    def _new_state(self, parameter: Tensor, group: Values) -> Values:
        state = super()._new_state(parameter, group)
        return {**state, "step_size": full_like(parameter, number(group["lr"]))}

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        shrink, grow = group["etas"]
        before, size = state["prev"], state["step_size"]
        # signs have no slope: they are numbers also in a step that is recorded
        now = gradient._array if isinstance(gradient, Tensor) else gradient
        sign = np.sign(now * (before._array if isinstance(before, Tensor) else before))
        turned = sign < 0
        factor = np.where(sign > 0, grow, np.where(turned, shrink, 1.0)).astype(now.dtype)
        direction = np.where(turned, 0, np.sign(now)).astype(now.dtype)
        least, most = group["step_sizes"]
        least, most = number(least), number(most)
        if isinstance(gradient, Tensor):
            size.mul_(wrap(factor)).clamp_(least, most)
            addcmul_(parameter, wrap(direction), size.clone(), -1)
            before.copy_(gradient.masked_fill(wrap(turned), 0))
            return
        size *= factor
        np.clip(size, least, most, out=size)
        addcmul_(parameter, direction, size, -1)
        copy_(before, np.where(turned, 0, gradient))


def _root(square: Any, group: Values) -> Any:
    """Give the root of squares and a little more, to divide by."""
    divisor = sqrt(square)
    if group["differentiable"]:
        return divisor + group["eps"]
    divisor += group["eps"]
    return divisor
