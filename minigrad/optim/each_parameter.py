"""Write an optimizer by saying what happens to one parameter: first of all `SGD`."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import starmap
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from minigrad.autograd.grad_mode import INFERENCE, enable_grad
from minigrad.autograd.rules import ignore_errstate
from minigrad.autograd.views import write_watchers
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.creation.construction import tensor
from minigrad.creation.factories import zeros_like
from minigrad.nn.modules.layer import written as written_function
from minigrad.optim.optimizer import Optimizer
from minigrad.signatures.out import refuse_repeats

Values = dict[str, Any]


_silently = ignore_errstate(
    lambda step, *given: step(*given)
)  # like PyTorch, of infinities and NaN


# What a setting must fulfill.
_CONDITIONS: dict[str, Callable[[Any], bool]] = {
    "betas": lambda betas: all(0.0 <= beta < 1.0 for beta in betas),
    "rho": lambda rho: 0.0 <= rho <= 1.0,
    "etas": lambda etas: 0.0 < etas[0] < 1.0 < etas[1],
}
_AMOUNTS = "lr eps weight_decay momentum momentum_decay lr_decay initial_accumulator_value"
_CONDITIONS |= dict.fromkeys(_AMOUNTS.split(), lambda value: bool(number(value) >= 0))


def check(settings: Values) -> None:
    """Refuse settings that make no sense.

    Raises:
        ValueError: If one does not fulfill its condition.
    """
    for name in settings.keys() & _CONDITIONS.keys():
        if not _CONDITIONS[name](settings[name]):
            raise ValueError(f"Invalid {name}: {settings[name]}")


class EachParameter(Optimizer):
    """Base class of optimizers whose step treats each parameter by itself.

    A subclass tells its settings as `__init__` takes them, and defines `_update`, its formula. The
    gradient that `_update` is given has its sign turned for `maximize` and weight decay added, and
    the step is counted.
    """

    # What is kept of each parameter: numbers with their first values, and tensors in its shape
    # that begin with zeros.
    _counts: ClassVar[dict[str, float]] = {"step": 0.0}
    _averages: ClassVar[tuple[str, ...]] = ()
    _averages_for: ClassVar[dict[str, str]] = {}  # by the setting that asks for one more

    if TYPE_CHECKING:

        def __init__(self, params: Any, *values: Any, **settings: Any) -> None: ...

    def __init_subclass__(cls, settings: str | None = None, **others: Any) -> None:
        """Write `__init__` and `step` for a class: errors name it."""
        super().__init_subclass__(settings=settings, **others)
        if settings is not None:
            globals = {"__name__": cls.__module__}
            head = f"{cls.__qualname__}.step(self, closure=None)"
            lines, doc = ["return self._step(closure)"], cls.step.__doc__
            cls.step = written_function(head, lines, globals, doc)  # type: ignore[method-assign]

    def _set_up(self, params: Any, given: Values) -> None:
        """Check the settings and keep them as defaults.

        Raises:
            ValueError: If a setting does not fulfill its condition.
            RuntimeError: If ways of stepping exclude each other.
            NotImplementedError: If a step is to be recorded.
        """
        settings = dict(given)
        self._check(settings)
        Optimizer.__init__(self, params, settings)
        for other in ("differentiable", "foreach") if settings.get("fused") else ():
            if settings[other]:
                raise RuntimeError(f"`fused` does not support `{other}`")
        if settings["differentiable"]:
            raise NotImplementedError(
                "a step changes the parameters' memory, and records nothing here: leave out "
                "differentiable=True, or write the step in operations, as in p - lr * p.grad"
            )

    def _check(self, settings: Values) -> None:
        check(settings)

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        """Change the arrays of a parameter and of its state, in place."""
        raise NotImplementedError

    def _new_state(self, parameter: Tensor, group: Values) -> Values:
        """Give the state of a parameter before its first step."""
        numbers = {name: count(value) for name, value in self._counts.items()}
        asked = (name for setting, name in self._averages_for.items() if group[setting])
        return numbers | {name: zeros_like(parameter) for name in (*self._averages, *asked)}

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient, in place.

        Args:
            closure: Computes the loss again, with gradients; called first, if given.

        Returns:
            The loss that the closure returned, or None.
        """
        raise NotImplementedError

    def _step(self, closure: Callable[[], Any] | None) -> Any:
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            ready = [(p, grad) for p in group["params"] if (grad := p.grad) is not None]
            if group.get("capturable"):
                raise AssertionError("capturable=True is for parameters on a graphics card")
            if ready:
                _silently(self._step_group, group, ready)
        return loss

    def _state_of(self, parameter: Tensor, group: Values) -> Values:
        """Give the state of a parameter; a new one, if it has none."""
        state: Values | None = self.state.get(parameter)
        if state:
            return state
        state = self._new_state(parameter, group)
        if state:
            self.state[parameter] = state
        return state

    def _step_group(self, group: Values, ready: list[tuple[Tensor, Any]]) -> None:
        """Make the step of each parameter."""
        lr, decay = number(group["lr"]), number(group.get("weight_decay", 0))
        for parameter, given in ready:
            kept = self._state_of(parameter, group)
            values: Values = {name: getattr(value, "_array", value) for name, value in kept.items()}
            array, gradient = arrays_of(parameter, given)
            if group["maximize"]:
                gradient = -gradient
            if decay != 0:
                if group.get("decoupled_weight_decay"):
                    array *= 1 - lr * decay
                else:
                    gradient = gradient + array * decay
            if "step" in self._counts:
                values["step"] += 1
            self._update(array, gradient, values, group, lr)
            for name, value in values.items():
                held = kept.get(name)
                if isinstance(held, Tensor) and held._array is value:
                    held._bump_version()
                elif isinstance(value, np.ndarray):
                    kept[name] = wrap(value)


def count(value: float) -> Tensor:
    """Make a number that is counted or multiplied up, such as the number of steps: a tensor."""
    wide = dtypes.default.dtype is dtypes.float64
    return tensor(value, dtype=dtypes.float64 if wide else dtypes.float32)


# Arithmetic in place ----------------------------------------------------------------------------


def number(value: Any) -> Any:
    """Give a setting as a number; it may be kept in a tensor, to be changed in place.

    Raises:
        ValueError: If it is kept in a tensor of several entries.
    """
    if not isinstance(value, (Tensor, np.ndarray, np.generic)):
        return value
    if math.prod(value.shape) != 1:
        raise ValueError("A setting of an optimizer is one number; a tensor must have one entry")
    return value.item()


def is_plain(parameter: Tensor, gradient: Tensor) -> bool:
    """Tell whether nothing has to be looked at before a step changes the array of a parameter."""
    array, other = parameter._array, gradient._array
    return (
        type(array) is np.ndarray
        and array.dtype.kind == "f"
        and array.dtype == other.dtype
        and 0 not in array.strides
        and parameter._version_counter is not INFERENCE
        and not write_watchers
    )


def arrays_of(parameter: Tensor, gradient: Tensor) -> tuple[Any, Any]:
    """Give the arrays of a parameter that is about to be changed, and of its gradient."""
    for watcher in write_watchers:
        watcher(parameter)
    parameter._bump_version()
    refuse_repeats(parameter._array)
    return parameter._array, gradient._array


def add_(value: Any, other: Any, alpha: Any = 1) -> None:
    r"""Add in place: $v \leftarrow v + \alpha\, o$."""
    alpha = number(alpha)  # NumPy's would change the type of an array
    value += other if alpha == 1 else other * alpha


def lerp_(value: Any, end: Any, weight: Any) -> None:
    r"""Move towards an end in place: $v \leftarrow v + w (e - v)$."""
    difference = end - value
    if weight < 0.5:
        difference *= weight
        value += difference
    else:
        difference *= 1 - weight
        np.subtract(end, difference, out=value)


def addcmul_(value: Any, a: Any, b: Any, factor: Any = 1) -> None:
    r"""Add a product in place: $v \leftarrow v + f a b$."""
    product = a * number(factor)
    product *= b
    value += product


def addcdiv_(value: Any, a: Any, b: Any, factor: Any = 1) -> None:
    r"""Add a quotient in place: $v \leftarrow v + f a / b$."""
    quotient = a * number(factor)
    quotient /= b
    value += quotient


# Stochastic gradient descent --------------------------------------------------------------------


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
                add_(velocity, gradient, 1 - number(group["dampening"]))
            gradient = gradient + velocity * number(momentum) if group["nesterov"] else velocity
        add_(parameter, gradient, -lr)
