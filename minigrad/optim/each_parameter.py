"""Write an optimizer by saying what becomes of one parameter; the rest of a step is here."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from minigrad.autograd.grad_mode import enable_grad
from minigrad.autograd.messages import type_name, wrong_type
from minigrad.autograd.rules import quietly
from minigrad.autograd.views import write_watchers
from minigrad.core.node import grad_mode
from minigrad.core.tensor import INFERENCE, Tensor, wrap
from minigrad.creation import dtypes
from minigrad.creation.construction import tensor
from minigrad.creation.factories import zeros_like
from minigrad.faces.arguments import is_operand, plain
from minigrad.nn.signatures import written as written_function
from minigrad.optim.optimizer import Optimizer, _use_grad_for_differentiable

Values = dict[str, Any]
Condition = tuple[str, Callable[[Any], bool]]


_silently = quietly(lambda step, *given: step(*given))  # like PyTorch, of infinities and NaN


def _not_negative(value: Any) -> bool:
    return not (value < 0.0 or value != value)


_AMOUNTS = "alpha initial_accumulator_value lr_decay momentum momentum_decay weight_decay"
# What a setting must fulfill, and what is said if it does not.
CONDITIONS: dict[str, Condition] = {
    "lr": ("learning rate: {}", _not_negative),
    "eps": ("epsilon value: {}", _not_negative),
    "rho": ("rho value: {}", lambda rho: 0.0 <= rho <= 1.0),
    "etas": ("eta values: {0[0]}, {0[1]}", lambda etas: 0.0 < etas[0] < 1.0 < etas[1]),
    **{name: (f"{name} value: {{}}", _not_negative) for name in _AMOUNTS.split()},
}


def check(settings: Values, names: str, nan: bool = False) -> None:
    """Refuse settings that make no sense, in PyTorch's words.

    Args:
        settings: The settings by name.
        names: Those to look at, in this order, parted by blanks.
        nan: Whether they may be NaN.

    Raises:
        ValueError: If one does not fulfill its condition.
    """
    for name in names.split():
        value = settings[name]
        if name == "betas":
            for index in (0, 1):
                if not 0.0 <= value[index] < 1.0:
                    raise ValueError(f"Invalid beta parameter at index {index}: {value[index]}")
            continue
        if name == "lr" and isinstance(value, Tensor) and value.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        words, fulfilled = CONDITIONS[name]
        try:
            fits = fulfilled(value)
        except TypeError as error:
            told = f"{error}: {name} must be a number, not {type_name(value)}"
            raise TypeError(told) from None
        if not (fits or (nan and value != value)):
            raise ValueError(f"Invalid {words.format(value)}")


class EachParameter(Optimizer):
    """Base class of optimizers whose step treats each parameter by itself.

    A subclass tells its settings as `__init__` takes them, and defines `_update`, its formula. The
    gradient that `_update` is given has its sign turned for `maximize` and weight decay added, and
    the step is counted.
    """

    # The settings in the order of `defaults`, if another than that of the signature, and those
    # with conditions in the order in which PyTorch checks them.
    _order: ClassVar[str] = ""
    _checked: ClassVar[str] = "lr eps betas weight_decay"
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
            step = written_function(head, ["return self._step(closure)"], globals, cls.step.__doc__)
            cls.step = _use_grad_for_differentiable(step)  # type: ignore[method-assign]

    def _set_up(self, params: Any, given: Values) -> None:
        """Check the settings and keep them as defaults.

        Raises:
            ValueError: If a setting does not fulfill its condition.
            RuntimeError: If ways of stepping exclude each other.
        """
        settings = {name: given[name] for name in self._order.split() or given}
        self._check(settings)
        Optimizer.__init__(self, params, settings)
        for other in ("differentiable", "foreach") if settings.get("fused") else ():
            if settings[other]:
                raise RuntimeError(f"`fused` does not support `{other}`")

    def _check(self, settings: Values) -> None:
        check(settings, self._checked)

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        """Change a parameter and its state, in place: arrays or, if recorded, tensors."""
        raise NotImplementedError

    def _new_state(self, parameter: Tensor, group: Values) -> Values:
        """Give the state of a parameter before its first step."""
        numbers = {name: count(value) for name, value in self._counts.items()}
        asked = (name for setting, name in self._averages_for.items() if group[setting])
        return numbers | {name: zeros_like(parameter) for name in (*self._averages, *asked)}

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient, in place.

        Args:
            closure: Computes the loss anew, with gradients; called first, if given.

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
            if ready:
                self._refuse_settings(group)
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
        """Make the step of each parameter, on its array if nothing is recorded."""
        lr, decay = setting(group["lr"]), group.get("weight_decay", 0)
        decoupled, maximize = group.get("decoupled_weight_decay"), group["maximize"]
        ordinary = decay is not True and all(map(is_ordinary, group.values()))
        if ordinary or getattr(decay, "requires_grad", False):
            decay = setting(decay)
        counted, numbers = "step" in self._counts, group.keys() & CONDITIONS.keys() - {"etas"}
        for name in () if ordinary else numbers:
            strange = isinstance(group[name], np.ndarray) and name not in ("lr", "lr_decay")
            if strange or not is_operand(group[name]):
                raise wrong_type("mul_", "other", "Tensor", group[name], 1)
        for parameter, gradient in ready:
            target: Any = parameter
            values = kept = self._state_of(parameter, group)
            bare = ordinary and is_plain(parameter, gradient)
            if bare:
                target, gradient = parameter._array, gradient._array
                if kept:
                    values = {k: getattr(v, "_array", v) for k, v in kept.items()}
            if maximize:
                gradient = -gradient
            if decay != 0:
                if decoupled:
                    target *= 1 - lr * decay
                elif getattr(decay, "requires_grad", False):
                    gradient = gradient + parameter.clone() * decay  # a copy: the step changes it
                else:
                    gradient = added(gradient, target, decay)
            if counted:
                values["step"] += 1
            self._update(target, gradient, values, group, lr)
            if bare:
                parameter._bump_version()
                for name, value in values.items():
                    held = kept.get(name)
                    if isinstance(held, Tensor):
                        held._bump_version()
                    elif isinstance(value, np.ndarray):
                        kept[name] = wrap(value)

    def _refuse_settings(self, group: Values) -> None:
        """Refuse what PyTorch cannot do on a processor either."""
        if group.get("foreach") and group["differentiable"]:
            raise AssertionError("_foreach ops don't support autograd")
        if group.get("capturable"):
            raise AssertionError("If capturable=True, params must be on another device than cpu.")


def count(value: float) -> Tensor:
    """Make a number that is counted or multiplied up, such as the number of steps: a tensor."""
    wide = dtypes.default.dtype is dtypes.float64
    return tensor(value, dtype=dtypes.float64 if wide else dtypes.float32)


# Arithmetic in place ----------------------------------------------------------------------------

# A rule of an optimizer is written once. Its operands are NumPy arrays where nothing is recorded,
# and tensors in a step that is differentiated through. `either` is their file: `either.add_`.


def number(value: Any) -> Any:
    """Give a setting as a number; it may be kept in a tensor, to be changed in place."""
    if type(value) is float:
        return value
    if isinstance(value, np.ndarray) and value.size != 1:
        raise wrong_type("add_", "alpha", "Number", value)
    value = value.item() if isinstance(value, (np.generic, Tensor, np.ndarray)) else value
    if isinstance(value, complex):
        raise RuntimeError("A setting of an optimizer must not be a complex number.")
    if not isinstance(value, (int, float)):
        raise wrong_type("mul_", "other", "Tensor", value, 1)
    return plain(value)


def is_ordinary(value: Any) -> bool:
    """Tell whether a step may compute with a setting on arrays; PyTorch may refuse another one."""
    if type(value) in (float, int):
        return bool(-1e18 < value < 1e18)
    if isinstance(value, Tensor):
        return value._array.dtype.kind == "f" and not (value.ndim or value.requires_grad)
    return value is None or isinstance(value, (bool, list, tuple))


def setting(value: Any) -> Any:
    """Give a setting as a number, or as the tensor it is if the step is to be differentiated.

    A number that a tensor keeps goes on in the tensor's precision.
    """
    if isinstance(value, Tensor):
        if value.requires_grad and grad_mode.enabled:
            return value if value.ndim == 0 else value.squeeze()
        if value._array.size != 1:
            raise wrong_type("add_", "alpha", "Number", value)
        found = value._array.reshape(())[()]
        return float(found) if isinstance(found, np.bool_) else found
    return value


def is_plain(parameter: Tensor, gradient: Tensor) -> bool:
    """Tell whether a step may change the arrays themselves: floats, and nothing is recorded."""
    array, other = parameter._array, gradient._array
    return (
        not grad_mode.enabled
        and type(array) is np.ndarray
        and array.dtype.kind == "f"
        and array.dtype == other.dtype
        and array.shape == other.shape
        and 0 not in array.strides
        and parameter._version_counter is not INFERENCE
        and not write_watchers
    )


def sqrt(value: Any) -> Any:
    """Give the square root, as something new."""
    return value.sqrt() if isinstance(value, Tensor) else np.sqrt(value)


def divided(value: Any, divisor: Any) -> Any:
    """Divide what the rule has just made: an array in place, a tensor not (it may be saved)."""
    if isinstance(value, Tensor):
        return value / divisor
    value /= divisor
    return value


def added(value: Any, other: Any, alpha: Any) -> Any:
    r"""Give $v + \alpha\, o$, as something new."""
    if isinstance(value, Tensor):
        return value.add(other, alpha=alpha)
    return value + other * number(alpha)


def add_(value: Any, other: Any, alpha: Any = 1) -> None:
    r"""Add in place: $v \leftarrow v + \alpha\, o$."""
    if isinstance(value, Tensor):
        value.add_(other, alpha=alpha)
        return
    alpha = number(alpha)  # NumPy's would change the type of an array
    value += other if alpha == 1 else other * alpha


def lerp_(value: Any, end: Any, weight: Any) -> None:
    r"""Move towards an end in place: $v \leftarrow v + w (e - v)$."""
    if isinstance(value, Tensor):
        value.lerp_(end, weight)
        return
    difference = end - value
    if weight < 0.5:
        difference *= weight
        value += difference
    else:
        difference *= 1 - weight
        np.subtract(end, difference, out=value)


def _adding(method: str, combine: Callable[..., Any], in_place: Callable[..., Any]) -> Any:
    def added_(value: Any, a: Any, b: Any, factor: Any = 1) -> None:
        if not isinstance(value, Tensor):
            value += in_place(a * number(factor), b)
        elif isinstance(factor, Tensor):
            value.add_(combine(a, b) * factor)
        else:
            getattr(value, method)(a, b, value=factor)

    return added_


# Add a product, or a quotient, in place, with a factor: of `v`, `a`, `b` and `f`, v += f a b.
addcmul_ = _adding("addcmul_", operator.mul, operator.imul)
addcdiv_ = _adding("addcdiv_", operator.truediv, operator.itruediv)


def maximum_(value: Any, other: Any) -> None:
    r"""Take the larger in place: $v \leftarrow \max(v, o)$."""
    if isinstance(value, Tensor):
        value.copy_(value.clone().maximum(other))
    else:
        np.maximum(value, other, out=value)


def copy_(value: Any, other: Any) -> None:
    """Take over the numbers of another one, in place."""
    if isinstance(value, Tensor):
        value.copy_(other)
    else:
        value[...] = other
