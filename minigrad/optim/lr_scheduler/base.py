"""Change an optimizer's learning rates from epoch to epoch: what all schedules share."""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import wraps
from typing import Any
from weakref import ref

from minigrad.autograd.messages import warn
from minigrad.core.tensor import Tensor
from minigrad.optim.optimizer import Optimizer

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
    "possible. Please use `scheduler.step()` to step the scheduler. During the deprecation, if "
    "epoch is different from None, the closed form is used instead of the new chainable form, "
    "where available. Please open an issue if you are unable to replicate your use case: "
    "https://github.com/pytorch/pytorch/issues/new/choose."
)
_SEE = "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"


class LRScheduler:
    """Base class of schedules: subclasses define `get_lr`, which gives the next learning rates.

    Args:
        optimizer: Whose learning rates are changed.
        last_epoch: The epoch after which to go on; -1 to begin.

    Attributes:
        base_lrs: The learning rate of each group in the beginning.
        last_epoch: How many times `step` was called.

    Raises:
        TypeError: If it is no optimizer.
        KeyError: If it is to go on, but the groups do not know how they began.
    """

    # What is left out of the state dict, or saved in a form of its own.
    _apart: tuple[str, ...] = ("optimizer",)
    _get_lr_called_within_step: bool = False
    _is_initial: bool = False
    _last_lr: list[Any]
    _step_count: int

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = check_optimizer(optimizer)
        for index, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _own(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{index}] when resuming "
                    "scheduler with last_epoch >= 0.\nThis typically happens when:\n"
                    "1. You're trying to resume training from a checkpoint but haven't properly "
                    "loaded the optimizer state\n"
                    "2. You're using last_epoch >= 0 for a fresh training run (not recommended)"
                )
        self.base_lrs: list[Any] = values_of(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        _notice_steps(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        """Set the learning rates of the first epoch."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """Give all that the schedule remembers, but not the optimizer."""
        return {name: value for name, value in self.__dict__.items() if name not in self._apart}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave. The optimizer's own state is loaded apart from it."""
        self.__dict__.update((k, v) for k, v in state_dict.items() if k not in self._apart)

    def get_last_lr(self) -> list[Any]:
        """Give the learning rate of each group as it was last set."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """Compute the next learning rate of each group; every schedule defines its own."""
        raise NotImplementedError

    def step(self, epoch: int | None = None) -> None:
        """Set the learning rates of the next epoch; call it after `optimizer.step()`.

        Args:
            epoch: The epoch to go to; deprecated.
        """
        if self._step_count == 1:
            step: Any = self.optimizer.step
            if not hasattr(step, "_wrapped_by_lr_sched"):
                warn(
                    "Seems like `optimizer.step()` has been overridden after learning rate "
                    "scheduler initialization. Please, make sure to call `optimizer.step()` "
                    f"before `lr_scheduler.step()`. {_SEE}",
                    UserWarning,
                )
            elif not getattr(self.optimizer, "_opt_called", False):
                warn(
                    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch "
                    "1.1.0 and later, you should call them in the opposite order: "
                    "`optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will "
                    "result in PyTorch skipping the first value of the learning rate schedule. "
                    f"{_SEE}",
                    UserWarning,
                )
        self._step_count += 1
        if epoch is not None:
            warn(EPOCH_DEPRECATION_WARNING, UserWarning)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        """Go one epoch on, or to a given one, and set the learning rates."""
        if epoch is None:
            self.last_epoch += 1
            self._set(self.get_lr)
        else:
            self.last_epoch = epoch
            self._set(getattr(self, "_get_closed_form_lr", self.get_lr))

    def _set(self, ask: Callable[[], list[Any]]) -> None:
        """Ask for the learning rate of each group, and set it."""
        self._get_lr_called_within_step = True
        try:
            values = ask()
        finally:
            self._get_lr_called_within_step = False
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            update(group, "lr", value)
        self._last_lr = self._present()

    def _warn_if_asked_directly(self) -> None:
        if not self._get_lr_called_within_step:
            warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`.",
                UserWarning,
            )

    def _present(self) -> list[Any]:
        """Give the learning rates as they are."""
        return values_of(self.optimizer, "lr")


class _LRScheduler(LRScheduler):
    """The old name of `LRScheduler`, of which older programs derive."""


def check_optimizer(optimizer: Any) -> Optimizer:
    """Give back an optimizer.

    Raises:
        TypeError: If it is none.
    """
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
    return optimizer


def _own(value: Any) -> Any:
    return value.clone() if isinstance(value, Tensor) else value


def values_of(optimizer: Optimizer, name: str) -> list[Any]:
    """Give a setting of each group; tensors are copied."""
    return [_own(group[name]) for group in optimizer.param_groups]


def update(group: dict[str, Any], name: str, value: Any) -> None:
    """Change a setting; a tensor keeps its place and changes its value."""
    if isinstance(group[name], Tensor):
        if isinstance(value, Tensor) and value.ndim:
            value = value.squeeze()
        group[name].fill_(value)
    else:
        group[name] = value


def one_for_each_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """Give a setting for each group: the same for all, or one each.

    Raises:
        ValueError: If there are more or fewer than groups.
    """
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        value = [value] * groups
    elif len(value) != groups:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} "
            f"values, param_groups has {groups}."
        )
    return [_own(entry) for entry in value]


def _notice_steps(optimizer: Optimizer) -> None:
    """Let the optimizer remember that it made a step."""
    step: Any = optimizer.step
    if hasattr(step, "_wrapped_by_lr_sched"):
        return
    # no reference to the optimizer itself: it would keep itself alive
    reference, function = ref(optimizer), step.__func__

    @wraps(function)
    def noticed(*args: Any, **kwargs: Any) -> Any:
        owner: Any = reference()
        owner._opt_called = True
        return function.__get__(owner, owner.__class__)(*args, **kwargs)

    noticed._wrapped_by_lr_sched = True  # type: ignore[attr-defined]
    optimizer.step = noticed  # type: ignore[method-assign]


def state_of_callable(function: Callable[..., Any]) -> dict[str, Any] | None:
    """Give what an object that is called remembers; a plain function has nothing to save."""
    return None if isinstance(function, types.FunctionType) else function.__dict__.copy()
