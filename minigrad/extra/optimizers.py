"""Take steps as the rarer optimizers do: Adadelta, and LBFGS with curvature."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.autograd.grad_mode import enable_grad, no_grad
from minigrad.optim.each_parameter import EachParameter, Values, addcmul_, check, number
from minigrad.optim.optimizer import Optimizer


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
        capturable: Accepted; it is for graphs of a graphics card.
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
        addcmul_(square, gradient, gradient, 1 - rho)
        delta = np.sqrt(steps + eps) / np.sqrt(square + eps) * gradient
        steps *= rho
        addcmul_(steps, delta, delta, 1 - rho)
        parameter -= delta * lr


class LBFGS(
    Optimizer,
    settings="lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9, "
    "history_size=100, line_search_fn=None",
):
    r"""Limited-memory BFGS.

    The direction is $d_k = -H_k g_k$. $H_k$, an approximation of the inverse of the Hessian, is
    never formed: it follows from the last `history_size` pairs of changes of the parameters and of
    the gradient by the two-loop recursion.

    Source: Nocedal and Wright, *Numerical optimization*, 2nd edition, algorithms 7.4 and 7.5.

    Args:
        params: The parameters, in one group.
        lr: The size of a step.
        max_iter: How many iterations make one step.
        max_eval: How many times one step may compute the loss; by default `max_iter * 5 // 4`.
        tolerance_grad: Stop when no entry of the gradient is larger.
        tolerance_change: Stop when parameters or the loss change less.
        history_size: How many pairs are remembered.
        line_search_fn: Must be None: steps are of size `lr`.

    Raises:
        ValueError: If the learning rate is out of range, or there are several groups.
        NotImplementedError: If a line search is asked for.

    Example:
        >>> import minigrad as torch
        >>> w = torch.nn.Parameter(torch.tensor([3.0, -1.0]))
        >>> optimizer = torch.optim.LBFGS([w])
        >>> def closure():
        ...     optimizer.zero_grad()
        ...     loss = ((w - 1) ** 2).sum()
        ...     loss.backward()
        ...     return loss
        >>> optimizer.step(closure)
        tensor(8., grad_fn=<SumBackward0>)
        >>> w.detach()
        tensor([1., 1.])
    """

    if TYPE_CHECKING:

        def __init__(self, params: Any, *values: Any, **settings: Any) -> None: ...

    def _set_up(self, params: Any, settings: dict[str, Any]) -> None:
        check(settings)
        if settings["line_search_fn"] is not None:
            raise NotImplementedError("there is no line search: leave out line_search_fn; set lr")
        if settings["max_eval"] is None:
            settings["max_eval"] = settings["max_iter"] * 5 // 4
        Optimizer.__init__(self, params, settings)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    @no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Make up to `max_iter` iterations.

        Args:
            closure: Clears the gradients, computes the loss and its gradients, returns the loss.

        Returns:
            The loss before the step.
        """
        with np.errstate(all="ignore"):
            return self._iterate(enable_grad()(closure))

    def _iterate(self, closure: Callable[[], Any]) -> Any:
        group = self.param_groups[0]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = closure()
        loss, evaluations = float(first_loss), 1
        state["func_evals"] += 1
        gradient = self._gradient()
        if abs(gradient).max() <= group["tolerance_grad"]:
            return first_loss
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            direction = self._direction(state, gradient, group["history_size"])
            state["prev_flat_grad"] = gradient.copy()
            state["prev_loss"] = previous_loss = loss
            size = number(group["lr"])
            if state["n_iter"] == 1:
                size *= min(1.0, 1.0 / np.abs(gradient).sum())
            state["t"] = size
            if gradient @ direction > -group["tolerance_change"]:
                break
            self._move(size, direction)
            if iteration != group["max_iter"]:
                loss = float(closure())
                gradient = self._gradient()
                evaluations += 1
                state["func_evals"] += 1
            if (
                evaluations >= group["max_eval"]
                or abs(gradient).max() <= group["tolerance_grad"]
                or abs(direction * size).max() <= group["tolerance_change"]
                or abs(loss - previous_loss) < group["tolerance_change"]
            ):
                break
        return first_loss

    def _direction(self, state: Any, gradient: Any, most: int) -> Any:
        """Give the way to go: two loops over the pairs that are remembered."""
        if state["n_iter"] == 1:
            state.update(d=-gradient, t=None, old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return state["d"]
        changes, steps, ro = state["old_dirs"], state["old_stps"], state["ro"]
        change = gradient - state["prev_flat_grad"]
        step = state["d"] * state["t"]
        product = change @ step
        if product > 1e-10:
            if len(changes) == most:
                for remembered in (changes, steps, ro):
                    remembered.pop(0)
            changes.append(change)
            steps.append(step)
            ro.append(1.0 / product)
            state["H_diag"] = product / (change @ change)
        factors = state.setdefault("al", [None] * most)
        direction = -gradient
        for i in reversed(range(len(changes))):
            factors[i] = (steps[i] @ direction) * ro[i]
            direction -= changes[i] * factors[i]
        direction *= state["H_diag"]
        for i in range(len(changes)):
            direction += steps[i] * (factors[i] - (changes[i] @ direction) * ro[i])
        state["d"] = direction
        return direction

    def _gradient(self) -> Any:
        """Give the gradients of all parameters in one vector."""
        pairs = ((each._array, each.grad) for each in self._params)
        gradients = (np.zeros_like(a) if grad is None else grad._array for a, grad in pairs)
        return np.concatenate([each.ravel() for each in gradients])

    def _move(self, size: Any, direction: Any) -> None:
        """Add a multiple of a direction to the parameters."""
        start = 0
        for parameter in self._params:
            array = parameter._array
            part = direction[start : start + array.size].reshape(array.shape)
            array += (part * size).astype(array.dtype, copy=False)
            parameter._bump_version()
            start += array.size
