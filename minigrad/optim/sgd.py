"""Go downhill: stochastic gradient descent, with momentum if wanted."""

from __future__ import annotations

from itertools import starmap
from typing import Any, ClassVar

import numpy as np

from minigrad.core.tensor import Tensor
from minigrad.optim import each_parameter as either
from minigrad.optim.each_parameter import EachParameter, Values, is_plain, number


class SGD(
    EachParameter,
    settings="lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, "
    "maximize=False, foreach=None, differentiable=False, fused=None",
):
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
        differentiable: Must be False: a step records nothing.
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

    _counts: ClassVar = {}

    def _check(self, settings: Values) -> None:
        super()._check(settings)
        if settings["nesterov"] and (settings["momentum"] <= 0 or settings["dampening"] != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")

    def _new_state(self, parameter: Tensor, group: Values) -> Values:
        return {"momentum_buffer": None} if group["momentum"] != 0 else {}

    def _step_group(self, group: Values, ready: list[tuple[Tensor, Any]]) -> None:
        rate, bare = group["lr"], group["momentum"] == group["weight_decay"] == 0
        bare = bare and type(rate) is float and rate < 65504 and not group["maximize"]
        if not (bare and all(starmap(is_plain, ready))):
            super()._step_group(group, ready)
            return
        for parameter, gradient in ready:  # the commonest step, at once
            array = parameter._array
            if getattr(rate, "dtype", None) is not array.dtype:  # NumPy converts a float each time
                rate = np.array(group["lr"], array.dtype)
            array -= gradient._array * rate
            parameter._bump_version()

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        momentum = group["momentum"]
        if momentum != 0:
            velocity = state.get("momentum_buffer")
            if velocity is None:
                velocity = state["momentum_buffer"] = np.array(gradient)
            else:
                velocity *= number(momentum)
                either.add_(velocity, gradient, 1 - number(group["dampening"]))
            gradient = gradient + velocity * number(momentum) if group["nesterov"] else velocity
        either.add_(parameter, gradient, -lr)
