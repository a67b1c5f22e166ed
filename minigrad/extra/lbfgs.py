"""Use what past steps tell of the curvature: limited-memory BFGS."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from minigrad.autograd.grad_mode import enable_grad, no_grad
from minigrad.optim.each_parameter import check, number
from minigrad.optim.optimizer import Optimizer

Measure = Callable[[Any, Any], tuple[float, Any]]


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
        line_search_fn: None for steps of size `lr`, or "strong_wolfe".

    Raises:
        ValueError: If the learning rate is out of range, or there are several groups.

    Example:
        >>> import minigrad as torch
        >>> w = torch.nn.Parameter(torch.tensor([3.0, -1.0]))
        >>> optimizer = torch.optim.LBFGS([w], line_search_fn="strong_wolfe")
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

        Raises:
            RuntimeError: If the line search is none that is known.
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
        if _largest(gradient) <= group["tolerance_grad"]:
            return first_loss
        memory = {name: state.get(name) for name in _MEMORY}
        iteration = 0
        while iteration < group["max_iter"]:
            iteration += 1
            state["n_iter"] += 1
            direction = self._direction(memory, gradient, state, group["history_size"])
            memory["prev_flat_grad"] = gradient.copy()
            memory["prev_loss"] = previous_loss = loss
            size = number(group["lr"])
            if state["n_iter"] == 1:
                size *= min(1.0, 1.0 / np.abs(gradient).sum())
            memory["t"] = size
            slope = gradient @ direction
            if slope > -group["tolerance_change"]:
                break
            used = 0
            if group["line_search_fn"] is not None:
                if group["line_search_fn"] != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                most = group["max_eval"] - evaluations
                given = self._measurement(closure), size, direction, loss, gradient, slope, most
                loss, gradient, size, used = strong_wolfe(*given)
                memory["t"] = size
                self._move(size, direction)
            else:
                self._move(size, direction)
                if iteration != group["max_iter"]:
                    loss, used = float(closure()), 1
                    gradient = self._gradient()
            evaluations += used
            state["func_evals"] += used
            if (
                evaluations >= group["max_eval"]
                or _largest(gradient) <= group["tolerance_grad"]
                or _largest(direction * size) <= group["tolerance_change"]
                or abs(loss - previous_loss) < group["tolerance_change"]
            ):
                break
        state.update(memory)
        return first_loss

    def _direction(self, memory: dict[str, Any], gradient: Any, state: Any, most: int) -> Any:
        """Give the way to go: two loops over the pairs that are remembered."""
        if state["n_iter"] == 1:
            memory.update(d=-gradient, old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return memory["d"]
        changes, steps, ro = memory["old_dirs"], memory["old_stps"], memory["ro"]
        change = gradient - memory["prev_flat_grad"]
        step = memory["d"] * memory["t"]
        product = change @ step
        if product > 1e-10:
            if len(changes) == most:
                for remembered in (changes, steps, ro):
                    remembered.pop(0)
            changes.append(change)
            steps.append(step)
            ro.append(1.0 / product)
            memory["H_diag"] = product / (change @ change)
        factors = state.setdefault("al", [None] * most)
        direction = -gradient
        for i in reversed(range(len(changes))):
            factor = (steps[i] @ direction) * ro[i]
            factors[i] = factor
            direction -= changes[i] * factor
        direction *= memory["H_diag"]
        for i in range(len(changes)):
            direction += steps[i] * (factors[i] - (changes[i] @ direction) * ro[i])
        memory["d"] = direction
        return direction

    def _gradient(self) -> Any:
        """Give the gradients of all parameters in one vector."""
        return np.concatenate(
            [
                np.zeros(p.numel(), p._array.dtype) if p.grad is None else p.grad._array.ravel()
                for p in self._params
            ]
        )

    def _move(self, size: Any, direction: Any) -> None:
        """Add a multiple of a direction to the parameters."""
        start = 0
        for parameter in self._params:
            array = parameter._array
            part = direction[start : start + array.size].reshape(array.shape)
            array += (part * size).astype(array.dtype, copy=False)
            parameter._bump_version()
            start += array.size

    def _measurement(self, closure: Callable[[], Any]) -> Measure:
        """Give what tells loss and gradient at a distance, and leaves the parameters in place."""
        home = [parameter._array.copy() for parameter in self._params]

        def measure(size: Any, direction: Any) -> tuple[float, Any]:
            self._move(size, direction)
            loss = float(closure())
            gradient = self._gradient()
            for parameter, values in zip(self._params, home, strict=True):
                parameter._array[...] = values
                parameter._bump_version()
            return loss, gradient

        return measure


# What is remembered from one step to the next, in PyTorch's names and order.
_MEMORY = ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")


def _largest(values: Any) -> Any:
    return np.abs(values).max()


class Place(NamedTuple):
    """What is known of one size of step: the loss there, its gradient and its slope."""

    size: Any
    loss: Any
    gradient: Any
    slope: Any


def strong_wolfe(
    measure: Measure, size: Any, direction: Any, loss: float, gradient: Any, slope: Any, most: int
) -> tuple[float, Any, Any, int]:
    r"""Search for a size $t$ of step that meets the strong Wolfe conditions.

    With $\varphi(t) = f(x + t d)$ they ask for enough descent,
    $\varphi(t) \le \varphi(0) + c_1 t \varphi'(0)$, and a slope that became small,
    $|\varphi'(t)| \le c_2 |\varphi'(0)|$. First the size grows until a good one is known to lie
    within an interval; then the interval shrinks, by cubic interpolation.

    Source: Nocedal and Wright, *Numerical optimization*, 2nd edition, algorithms 3.5 and 3.6.

    Args:
        measure: Gives loss and gradient for a size and the direction.
        size: The size to begin with.
        direction: Where to go.
        loss: The loss here.
        gradient: The gradient here.
        slope: The slope here along the direction.
        most: How many sizes may be tried.

    Returns:
        Loss, gradient and size found, and how often the loss was computed.
    """
    c1, c2, tolerance = 1e-4, 0.9, 1e-9  # the last: the width at which the interval is left alone
    start = Place(0, loss, gradient.copy(), slope)
    evaluations = 0

    def look(at: Any) -> Place:
        nonlocal evaluations
        evaluations += 1
        found, there = measure(at, direction)
        return Place(at, found, there, there @ direction)

    def too_high(place: Place) -> bool:
        return bool(place.loss > loss + c1 * place.size * slope)

    def flat_enough(place: Place) -> bool:
        return bool(abs(place.slope) <= -c2 * slope)

    previous, here = start, look(size)
    tries, done = 0, False
    bracket = [start, here]
    while tries < most:
        bracket = [previous, here]
        if too_high(here) or (tries > 1 and here.loss >= previous.loss):
            break
        if flat_enough(here):
            bracket, done = [here], True
            break
        if here.slope >= 0:
            break
        limits = (here.size + 0.01 * (here.size - previous.size), here.size * 10)
        previous, here = here, look(lowest_of_cubic(previous, here, limits))
        tries += 1
    if tries == most:
        bracket = [start, here]
    width = np.abs(direction).max()
    stuck = False
    low, high = (0, 1) if bracket[0].loss <= bracket[-1].loss else (1, 0)
    while not done and tries < most:
        a, b = (place.size for place in bracket)
        if abs(b - a) * width < tolerance:
            break
        smallest, largest = min(a, b), max(a, b)
        at = lowest_of_cubic(bracket[0], bracket[1])
        margin = 0.1 * (largest - smallest)
        # close to an end twice in a row, or beyond it: step away from that end
        close = min(largest - at, at - smallest) < margin
        if close and (stuck or at >= largest or at <= smallest):
            near_top = abs(at - largest) < abs(at - smallest)
            at = largest - margin if near_top else smallest + margin
            close = False
        stuck = close
        here = look(at)
        tries += 1
        if too_high(here) or here.loss >= bracket[low].loss:
            bracket[high] = here
            low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
        else:
            if flat_enough(here):
                done = True
            elif here.slope * (bracket[high].size - bracket[low].size) >= 0:
                bracket[high] = bracket[low]
            bracket[low] = here
    best = bracket[low]
    return best.loss, best.gradient, best.size, evaluations


def lowest_of_cubic(a: Place, b: Place, limits: tuple[Any, Any] | None = None) -> Any:
    """Give where the cubic through two places is lowest, within limits, or their middle.

    Source: Nocedal and Wright, *Numerical optimization*, 2nd edition, equation 3.59.
    """
    left, right = (a, b) if a.size <= b.size else (b, a)
    least, most = limits or (left.size, right.size)
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.size - b.size)
    square = d1**2 - a.slope * b.slope
    if not square >= 0:
        return (least + most) / 2.0
    d2 = np.sqrt(square)
    share = (right.slope + d2 - d1) / (right.slope - left.slope + 2 * d2)
    return min(max(right.size - (right.size - left.size) * share, least), most)
