"""Write an optimizer by saying what becomes of one parameter; the rest of a step is here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from minigrad.autograd.grad_mode import enable_grad
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.creation.factories import zeros_like
from minigrad.creation.from_data import tensor
from minigrad.nn.signatures import written as written_function
from minigrad.optim.arithmetic import added, is_plain, number, setting, written
from minigrad.optim.optimizer import Optimizer, _use_grad_for_differentiable

Values = dict[str, Any]
Condition = tuple[str, Callable[[Any], bool]]


def _not_negative(value: Any) -> bool:
    return not (value < 0.0 or value != value)


def _share(value: Any) -> bool:
    return bool(0.0 <= value < 1.0)


# What a setting must fulfill, and what is said if it does not.
CONDITIONS: dict[str, Condition] = {
    "lr": ("learning rate: {}", _not_negative),
    "eps": ("epsilon value: {}", _not_negative),
    "rho": ("rho value: {}", lambda rho: 0.0 <= rho <= 1.0),
    "etas": ("eta values: {0[0]}, {0[1]}", lambda etas: 0.0 < etas[0] < 1.0 < etas[1]),
    **{
        name: (f"{name} value: {{}}", _not_negative)
        for name in (
            "alpha",
            "initial_accumulator_value",
            "lr_decay",
            "momentum",
            "momentum_decay",
            "weight_decay",
        )
    },
}
_DEVICES = ["cuda", "xpu", "hpu", "privateuseone"]


def check(settings: Values, names: str, takes_nan: bool = False) -> None:
    """Refuse settings that make no sense, in PyTorch's words.

    Args:
        settings: The settings by name.
        names: Those to look at, in this order, parted by blanks.
        takes_nan: Whether NaN passes, as PyTorch lets it where it asks for `< 0` only.

    Raises:
        ValueError: If one does not fulfill its condition.
    """
    for name in names.split():
        value = settings[name]
        if name == "betas":
            for index in (0, 1):
                if not _share(value[index]):
                    raise ValueError(f"Invalid beta parameter at index {index}: {value[index]}")
            continue
        if name == "lr" and isinstance(value, Tensor) and value.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        words, fulfilled = CONDITIONS[name]
        if not (fulfilled(value) or (takes_nan and value != value)):
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
    _settings: ClassVar[tuple[str, ...]]
    _checked: ClassVar[str] = "lr eps betas weight_decay"
    _takes_nan: ClassVar[bool] = False
    # What is kept of each parameter: numbers with their first values, and tensors in its shape
    # that begin with zeros.
    _counts: ClassVar[dict[str, float]] = {"step": 0.0}
    _averages: ClassVar[tuple[str, ...]] = ()
    # What settings are that a group saved long ago may lack.
    _usual: ClassVar[Values] = {
        "amsgrad": False,
        "capturable": False,
        "centered": False,
        "decoupled_weight_decay": False,
        "differentiable": False,
        "foreach": None,
        "fused": None,
        "maximize": False,
        "momentum": 0,
        "nesterov": False,
    }
    # What PyTorch's refusal of `capturable` names: with foreach or without; and whether xla is
    # among the devices.
    _captured: ClassVar[tuple[str, str]] = ("params and state_steps",) * 2
    _captured_on_xla: ClassVar[tuple[bool, bool]] = (True, False)

    if TYPE_CHECKING:

        def __init__(self, params: Any, *values: Any, **settings: Any) -> None: ...

    def __init_subclass__(cls, settings: str | None = None, **others: Any) -> None:
        """Write `__init__` and `step` for a class: errors name it.

        Args:
            settings: Its arguments after `params`.
            **others: For other base classes.
        """
        super().__init_subclass__(**others)
        if settings is not None:
            names = {"__name__": cls.__module__}
            head = f"{cls.__qualname__}.__init__(self, params, {settings})"
            init = written_function(head, ["self._set_up(params, locals())"], names)
            cls.__init__ = init  # type: ignore[method-assign]
            head = f"{cls.__qualname__}.step(self, closure=None)"
            step = written_function(head, ["return self._step(closure)"], names, cls.step.__doc__)
            cls.step = _use_grad_for_differentiable(step)  # type: ignore[method-assign]
            cls._settings = tuple(cls._order.split()) or init.__code__.co_varnames[2:]

    def _set_up(self, params: Any, given: Values) -> None:
        """Check the settings and keep them as defaults.

        Raises:
            ValueError: If a setting does not fulfill its condition.
            RuntimeError: If ways of stepping exclude each other.
        """
        settings = {name: given[name] for name in self._settings}
        self._check(settings)
        Optimizer.__init__(self, params, settings)
        if settings.get("fused"):
            if settings["differentiable"]:
                raise RuntimeError("`fused` does not support `differentiable`")
            if settings["foreach"]:
                raise RuntimeError("`fused` and `foreach` cannot be `True` together.")

    def _check(self, settings: Values) -> None:
        check(settings, self._checked, self._takes_nan)

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        """Change a parameter and its state, in place: arrays or, if recorded, tensors."""
        raise NotImplementedError

    def _new_state(self, parameter: Tensor, group: Values) -> Values:
        """Give the state of a parameter before its first step."""
        numbers = {name: count(value, group) for name, value in self._counts.items()}
        return {**numbers, **{name: zeros_like(parameter) for name in self._averages}}

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
        with np.errstate(all="ignore"):
            for group in self.param_groups:
                ready = [
                    (parameter, gradient, self._state_of(parameter, group))
                    for parameter in group["params"]
                    if (gradient := parameter.grad) is not None
                ]
                if ready:
                    self._refuse_settings(group)
                    self._step_group(group, ready)
        return loss

    def _state_of(self, parameter: Tensor, group: Values) -> Values:
        """Give the state of a parameter; a new one, if it has none."""
        state: Values | None = self.state.get(parameter)
        if state:
            return state
        if group.get("fused") and not parameter.is_floating_point():
            raise RuntimeError(
                "`fused=True` requires all the params to be floating point Tensors of supported "
                "devices: ['mps', 'cuda', 'xpu', 'hpu', 'cpu', 'mtia', 'privateuseone'] but "
                f"{parameter.dtype} and cpu"
            )
        state = self._new_state(parameter, group)
        if state:
            self.state[parameter] = state
        return state

    def _step_group(self, group: Values, ready: list[tuple[Tensor, Any, Values]]) -> None:
        """Make the step of each parameter, on its array if nothing is recorded."""
        lr, decay = setting(group["lr"]), setting(group.get("weight_decay", 0))
        decoupled, maximize = group.get("decoupled_weight_decay"), group["maximize"]
        counted = "step" in self._counts
        for parameter, gradient, kept in ready:
            target: Any = parameter
            values = kept
            plain = is_plain(parameter, gradient)
            if plain:
                target, gradient = parameter._array, gradient._array
                if kept:
                    values = {k: getattr(v, "_array", v) for k, v in kept.items()}
            if maximize:
                gradient = -gradient
            if decay != 0:
                if decoupled:
                    target *= 1 - lr * decay
                elif isinstance(decay, Tensor):
                    gradient = gradient + parameter.clone() * decay  # a copy: the step changes it
                else:
                    gradient = added(gradient, target, number(decay))
            if counted:
                values["step"] += 1
            self._update(target, gradient, values, group, lr)
            if plain:
                written(parameter)
                for name, value in values.items():
                    held = kept.get(name)
                    if isinstance(held, Tensor):
                        written(held)
                    elif isinstance(value, np.ndarray):
                        kept[name] = wrap(value)

    def _refuse_settings(self, group: Values) -> None:
        """Refuse what PyTorch cannot do on a processor either."""
        many = bool(group.get("foreach"))
        if many and group["differentiable"]:
            raise AssertionError("_foreach ops don't support autograd")
        if group.get("capturable"):
            devices = [*_DEVICES, "xla"] if self._captured_on_xla[many] else _DEVICES
            raise AssertionError(
                f"If capturable=True, {self._captured[many]} must be on supported devices: "
                f"{devices}."
            )

    def __setstate__(self, state: Values) -> None:
        """Take the state of a pickle, a copy or a file; what an old one lacks is the usual."""
        super().__setstate__(state)
        for group in self.param_groups:
            for name in self._settings:
                if name in self._usual:
                    group.setdefault(name, self._usual[name])
            for parameter in group["params"]:
                kept = self.state.get(parameter, {})
                for name in self._counts:
                    if name in kept and not isinstance(kept[name], Tensor):
                        kept[name] = count(float(kept[name]), group)


def count(value: float, group: Values) -> Tensor:
    """Make a number that is counted or multiplied up, such as the number of steps: a tensor."""
    wide = dtypes.get_default_dtype() is dtypes.float64 and not group.get("fused")
    return tensor(value, dtype=dtypes.float64 if wide else dtypes.float32)
