"""Go downhill: stochastic gradient descent, with momentum if wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.modes import enable_grad, is_grad_enabled
from minigrad.optim.arithmetic import add_, is_plain, number, written
from minigrad.optim.checks import check_fused_parameter
from minigrad.optim.optimizer import Optimizer, _use_grad_for_differentiable
from minigrad.tensor import Tensor, wrap


class SGD(Optimizer):
    r"""Stochastic gradient descent.

    With gradient $g_t$ (to which weight decay adds $\lambda \theta_{t-1}$), momentum $\mu$,
    dampening $\tau$ and learning rate $\gamma$:

    $$b_t = \mu b_{t-1} + (1 - \tau) g_t, \quad b_1 = g_1, \qquad
    \theta_t = \theta_{t-1} - \gamma b_t,$$

    or, with Nesterov's momentum, $\theta_t = \theta_{t-1} - \gamma (g_t + \mu b_t)$.

    Source: Sutskever et al., *On the importance of initialization and momentum in deep learning*,
    2013, with the learning rate outside of the momentum.

    Args:
        params: The parameters, or pairs of name and parameter, or dictionaries that define groups.
        lr: The learning rate $\gamma$.
        momentum: The factor $\mu$.
        dampening: The share $\tau$ of the gradient that momentum ignores.
        weight_decay: The factor $\lambda$; like the rate it may be a tensor.
        nesterov: Whether to use Nesterov's momentum.
        maximize: Go uphill instead.
        foreach: Accepted and kept, without effect.
        differentiable: Record the step, so that it can be differentiated through.
        fused: Accepted and kept, without effect.

    Raises:
        ValueError: If a number is out of range, or Nesterov's momentum lacks momentum.

    Example:
        >>> import minigrad as torch
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.SGD([w], lr=0.1)
        >>> (w**2).sum().backward()
        >>> optimizer.step()
        >>> w
        Parameter containing:
        tensor([0.8000], requires_grad=True)
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if lr < 0.0:  # type: ignore[operator]
            raise ValueError(f"Invalid learning rate: {lr}")
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:  # type: ignore[operator]
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        if fused and differentiable:
            raise RuntimeError("`fused` does not support `differentiable`")
        if fused and foreach:
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient, in place.

        Args:
            closure: Computes the loss anew, with gradients; called first, if given.

        Returns:
            The loss that the closure returned, or None.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with np.errstate(all="ignore"):
            for group in self.param_groups:
                for parameter in group["params"]:
                    gradient = parameter.grad
                    if gradient is None:
                        continue
                    if group["fused"]:
                        check_fused_parameter(parameter)
                    if is_plain(parameter, gradient):
                        _step_on_arrays(parameter, gradient._array, group, self.state)
                    else:
                        _step_on_tensors(parameter, group, self.state)
        return loss

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the state of a pickle or a copy; settings that an old one lacks are the usual."""
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("nesterov", False)
            group.setdefault("maximize", False)
            group.setdefault("foreach", None)
            group.setdefault("differentiable", False)
            group.setdefault("fused", False)


def _direction(parameter: Tensor, group: dict[str, Any], all_state: dict[Any, Any]) -> Any:
    """Give what is subtracted, before the learning rate is multiplied in."""
    gradient: Any = parameter.grad
    if group["maximize"]:
        gradient = -gradient
    decay = group["weight_decay"]
    if decay != 0:
        if _is_recorded(decay):
            gradient = gradient + parameter.clone() * decay  # a copy: the step changes it
        else:
            gradient = gradient.add(parameter, alpha=number(decay))
    momentum = group["momentum"]
    if momentum == 0:
        return gradient
    state = all_state[parameter]
    velocity = state.get("momentum_buffer")
    if velocity is None:
        velocity = state["momentum_buffer"] = gradient.detach().clone()
    else:
        velocity.mul_(momentum).add_(gradient, alpha=1 - number(group["dampening"]))
    return gradient.add(velocity, alpha=number(momentum)) if group["nesterov"] else velocity


def _step_on_tensors(parameter: Tensor, group: dict[str, Any], state: dict[Any, Any]) -> None:
    """Make a step that may be recorded."""
    rate = group["lr"]
    direction = _direction(parameter, group, state)
    if _is_recorded(rate):
        parameter.sub_(direction * rate)
    else:
        parameter.add_(direction, alpha=-number(rate))


def _step_on_arrays(
    parameter: Tensor, gradient: Any, group: dict[str, Any], all_state: dict[Any, Any]
) -> None:
    """Make a step where nothing is recorded: the same formula, on arrays."""
    array: Any = parameter._array
    if group["maximize"]:
        gradient = -gradient
    decay = group["weight_decay"]
    if decay != 0:
        gradient = gradient + array * number(decay)
    momentum = number(group["momentum"])
    if momentum == 0:
        array -= gradient * number(group["lr"])
        written(parameter)
        return
    state = all_state[parameter]
    buffer = state.get("momentum_buffer")
    if buffer is None:
        buffer = state["momentum_buffer"] = wrap(gradient.copy())
    else:
        velocity = buffer._array
        velocity *= momentum
        add_(velocity, gradient, 1 - number(group["dampening"]))
        written(buffer)
    velocity = buffer._array
    if group["nesterov"]:
        velocity = gradient + velocity * momentum
    array -= velocity * number(group["lr"])
    written(parameter)


def _is_recorded(value: Any) -> bool:
    """Tell whether a setting is a tensor with respect to which the step is to be differentiated."""
    return isinstance(value, Tensor) and value.requires_grad and is_grad_enabled()
