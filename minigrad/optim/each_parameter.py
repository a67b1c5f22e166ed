"""Write an optimizer by saying what becomes of one parameter; the rest of a step is here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from minigrad import dtypes
from minigrad.autograd.modes import enable_grad
from minigrad.creation import full_like, tensor, zeros_like
from minigrad.optim.arithmetic import is_plain, number, setting, written
from minigrad.optim.checks import check_fused_parameter
from minigrad.optim.optimizer import Optimizer, _use_grad_for_differentiable
from minigrad.tensor import Tensor

Values = dict[str, Any]

_DEVICES = ["cuda", "xpu", "hpu", "privateuseone"]


class EachParameter(Optimizer):
    """Base class of optimizers whose step treats each parameter by itself.

    A subclass names its running averages in `averages`, and defines `_update`, its formula. The
    gradient that `_update` is given has its sign turned for `maximize` and weight decay added.
    """

    # What is kept of each parameter in its shape, beside the count of steps, beginning at zero.
    averages: ClassVar[tuple[str, ...]] = ()
    # Settings that saved groups of old may lack.
    _usual: ClassVar[Values] = {
        "foreach": None,
        "maximize": False,
        "differentiable": False,
        "capturable": False,
    }
    # What PyTorch's refusal of `capturable` names: with foreach or without.
    _captured: ClassVar[tuple[str, str]] = ("params and state_steps",) * 2
    _captured_devices: ClassVar[tuple[bool, bool]] = (True, False)  # whether xla is among them

    def _update(self, parameter: Any, gradient: Any, state: Values, group: Values, lr: Any) -> None:
        """Change a parameter and its state, in place: arrays or, if recorded, tensors."""
        raise NotImplementedError

    def _new_state(self, parameter: Tensor, group: Values) -> Values:
        """Give the state of a parameter before its first step."""
        return {"step": count(0.0, group), **{n: zeros_like(parameter) for n in self.averages}}

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
                ready = [p for p in group["params"] if p.grad is not None]
                for parameter in ready:
                    if not self.state[parameter]:
                        if group.get("fused"):
                            check_fused_parameter(parameter)
                        self.state[parameter].update(self._new_state(parameter, group))
                if ready:
                    self._refuse_settings(group)
                for parameter in ready:
                    self._step_of(parameter, group)
        return loss

    def _step_of(self, parameter: Tensor, group: Values) -> None:
        """Make the step of one parameter, on its array if nothing is recorded."""
        gradient: Any = parameter.grad
        state: Values = self.state[parameter]
        plain = is_plain(parameter, gradient)
        values, target = state, parameter
        if plain:
            target, gradient = parameter._array, gradient._array  # type: ignore[assignment]
            values = {k: v._array if isinstance(v, Tensor) else v for k, v in state.items()}
        if group["maximize"]:
            gradient = -gradient
        decay = group.get("weight_decay", 0)
        if decay != 0 and not group.get("decoupled_weight_decay"):
            factor = setting(decay)
            if isinstance(factor, Tensor):
                gradient = gradient + parameter.clone() * factor  # a copy: the step changes it
            elif plain:
                gradient = gradient + target * factor
            else:
                gradient = gradient.add(parameter, alpha=number(decay))
        self._update(target, gradient, values, group, setting(group["lr"]))
        if plain:
            written(parameter)
            for value in state.values():
                if isinstance(value, Tensor):
                    written(value)

    def _refuse_settings(self, group: Values) -> None:
        """Refuse what PyTorch cannot do on a processor either."""
        many = bool(group.get("foreach"))
        if many and group["differentiable"]:
            raise AssertionError("_foreach ops don't support autograd")
        if group.get("capturable"):
            devices = [*_DEVICES, "xla"] if self._captured_devices[many] else _DEVICES
            raise AssertionError(
                f"If capturable=True, {self._captured[many]} must be on supported devices: "
                f"{devices}."
            )

    def __setstate__(self, state: Values) -> None:
        """Take the state of a pickle, a copy or a file; what an old one lacks is the usual."""
        super().__setstate__(state)
        for group in self.param_groups:
            for name, usual in self._usual.items():
                group.setdefault(name, usual)
            for parameter in group["params"]:
                kept = self.state.get(parameter, {})
                if kept and not isinstance(kept.get("step", kept), Tensor):
                    kept["step"] = count(float(kept["step"]), group)


def count(value: float, group: Values) -> Tensor:
    """Make a number that is counted or multiplied up, such as the number of steps: a tensor."""
    wide = dtypes.get_default_dtype() is dtypes.float64 and not group.get("fused")
    return tensor(value, dtype=dtypes.float64 if wide else dtypes.float32)


def filled_like(parameter: Tensor, value: Any) -> Tensor:
    """Make a tensor in the shape and type of a parameter, filled with one number."""
    return full_like(parameter, number(value))


def advance(state: Values) -> Any:
    """Count a step, and give its number."""
    step = state["step"]
    step += 1
    return step.item()
