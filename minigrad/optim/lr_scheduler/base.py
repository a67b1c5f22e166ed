"""Multiply learning rates by factors from epoch to epoch, and what all schedules share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, cast
from weakref import ref

from minigrad.autograd.messages import warn
from minigrad.core.tensor import Tensor
from minigrad.nn.signatures import constructor
from minigrad.optim.optimizer import Optimizer

__all__ = ["ConstantLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR"]
__all__ += ["MultiplicativeLR", "PolynomialLR", "StepLR"]

_SEE = "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"


def warn_of_epoch(epoch: Any) -> None:
    """Warn that an epoch was named."""
    warn(
        "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
        "possible. Please use `scheduler.step()` to step the scheduler. During the deprecation, if "
        "epoch is different from None, the closed form is used instead of the new chainable form, "
        "where available. Please open an issue if you are unable to replicate your use case: "
        "https://github.com/pytorch/pytorch/issues/new/choose."
    )


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

    if TYPE_CHECKING:

        def __init__(self, optimizer: Any, *values: Any, **settings: Any) -> None: ...
        def __getattr__(self, name: str) -> Any: ...

    else:

        def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
            self._begin(optimizer, {"last_epoch": last_epoch})

    def __init_subclass__(cls, settings: str | None = None, **others: Any) -> None:
        """Write `__init__` for a class.

        Args:
            settings: Its arguments after `optimizer`.
            **others: For other base classes.
        """
        super().__init_subclass__(**others)
        if settings is not None:
            constructor(cls, "self, optimizer", settings, "self._begin(optimizer, {settings})")

    def _begin(self, optimizer: Any, settings: dict[str, Any]) -> None:
        """Keep the settings and set the first rates; classes that check settings override this."""
        last_epoch = settings.pop("last_epoch")
        self.__dict__.update(settings)
        self.optimizer = check_optimizer(optimizer)
        for index, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", own(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{index}]: load the "
                    "optimizer's state first, or begin with last_epoch=-1"
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
        self.__dict__.update((k, v) for k, v in dict(state_dict).items() if k not in self._apart)

    def get_last_lr(self) -> list[Any]:
        """Give the learning rate of each group as it was last set."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """Compute the next learning rate of each group; every schedule defines its own."""
        raise NotImplementedError

    def step(self, epoch: int | None = None) -> None:
        """Set the learning rates of the next epoch; call it after `optimizer.step()`.

        Args:
            epoch: The epoch to go to, if not the next. It is deprecated.
        """
        if self._step_count == 1:
            step: Any = self.optimizer.step
            if not hasattr(step, "_wrapped_by_lr_sched"):
                warn(
                    "Seems like `optimizer.step()` has been overridden after learning rate "
                    "scheduler initialization. Please, make sure to call `optimizer.step()` "
                    f"before `lr_scheduler.step()`. {_SEE}"
                )
            elif not getattr(self.optimizer, "_opt_called", False):
                warn(
                    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch "
                    "1.1.0 and later, you should call them in the opposite order: "
                    "`optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will "
                    "result in PyTorch skipping the first value of the learning rate schedule. "
                    f"{_SEE}"
                )
        self._step_count += 1
        if epoch is not None:
            warn_of_epoch(epoch)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        """Set the learning rates of the next epoch, or of one that is told by its number."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        # what an epoch's rate is from the beginning, and not from the one before
        whole = epoch is not None and hasattr(self, "_get_closed_form_lr")
        ask: Callable[[], list[Any]] = self._get_closed_form_lr if whole else self.get_lr
        self._get_lr_called_within_step = True
        try:
            values = ask()
        finally:
            self._get_lr_called_within_step = False
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            set_lr(group, value)
        self._last_lr = values_of(self.optimizer, "lr")

    def _warn_if_asked_directly(self) -> None:
        if not self._get_lr_called_within_step:
            warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`."
            )


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


def own(value: Any) -> Any:
    """Copy a setting if it is a tensor, which may change in place."""
    return value.clone() if isinstance(value, Tensor) else value


def values_of(optimizer: Optimizer, name: str) -> list[Any]:
    """Give a setting of each group; tensors are copied."""
    return [own(group[name]) for group in optimizer.param_groups]


def set_lr(group: dict[str, Any], value: Any) -> None:
    """Change the learning rate of a group; a tensor keeps its place and changes its value."""
    if isinstance(group["lr"], Tensor):
        if isinstance(value, Tensor) and value.ndim:
            value = value.squeeze()
        group["lr"].fill_(value)
    else:
        group["lr"] = value


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


class LambdaLR(LRScheduler, settings="lr_lambda, last_epoch=-1"):
    r"""The first learning rate times a function of the epoch: $\gamma_t = \gamma_0 f(t)$.

    Args:
        optimizer: Whose learning rates are changed.
        lr_lambda: The function, or one for each group.
        last_epoch: The epoch after which to go on; -1 to begin.

    Example:
        >>> import minigrad as torch
        >>> optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
        >>> schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5**epoch)
        >>> optimizer.step()
        >>> schedule.step()
        >>> schedule.get_last_lr()
        [0.5]
    """

    _apart = ("optimizer", "lr_lambdas")

    def _begin(self, optimizer: Any, settings: dict[str, Any]) -> None:
        given, groups = settings.pop("lr_lambda"), len(optimizer.param_groups)
        if not isinstance(given, (list, tuple)):
            given = [given] * groups
        elif len(given) != groups:
            raise ValueError(f"Expected {groups} lr_lambdas, but got {len(given)}")
        if not all(map(callable, given)):
            raise TypeError(f"{type(self).__name__}: lr_lambda must be a function, or several")
        super()._begin(optimizer, {**settings, "lr_lambdas": list(given)})

    def state_dict(self) -> dict[str, Any]:
        """Give all that the schedule remembers; in the place of functions there is None."""
        return {**super().state_dict(), "lr_lambdas": [None] * len(self.lr_lambdas)}

    def get_lr(self) -> list[Any]:
        """Compute the next learning rates."""
        self._warn_if_asked_directly()
        pairs = zip(self.lr_lambdas, self.base_lrs, strict=True)
        return [base * function(self.last_epoch) for function, base in pairs]


class MultiplicativeLR(LambdaLR, settings="lr_lambda, last_epoch=-1"):
    r"""In every epoch the learning rate is multiplied by a function of it.

    $$\gamma_t = \gamma_{t-1} f(t).$$

    Args:
        optimizer: Whose learning rates are changed.
        lr_lambda: The function, or one for each group.
        last_epoch: The epoch after which to go on; -1 to begin.
    """

    def get_lr(self) -> list[Any]:
        """Compute the next learning rates from the present ones."""
        self._warn_if_asked_directly()
        rates = values_of(self.optimizer, "lr")
        if self._is_initial:
            return rates
        pairs = zip(self.lr_lambdas, rates, strict=True)
        return [rate * function(self.last_epoch) for function, rate in pairs]


class _ByFactors(LRScheduler):
    """The part that schedules of given factors share: subclasses tell the factors.

    `_factor(epoch)` is that of the last learning rate in an epoch, or None to leave it, and
    `_product(epoch)` that of the first one.
    """

    def _get_closed_form_lr(self) -> list[Any]:
        product = self._product(self.last_epoch)
        return [base * product for base in self.base_lrs]

    def get_lr(self) -> list[Any]:
        """Compute the next learning rates."""
        self._warn_if_asked_directly()
        factor = self._factor(self.last_epoch)
        if factor is None:
            return values_of(self.optimizer, "lr")
        return [group["lr"] * factor for group in self.optimizer.param_groups]


class StepLR(_ByFactors, settings="step_size, gamma=0.1, last_epoch=-1"):
    r"""Every `step_size` epochs the learning rate is multiplied by `gamma`.

    Args:
        optimizer: Whose learning rates are changed.
        step_size: After how many epochs it falls.
        gamma: The factor.
        last_epoch: The epoch after which to go on; -1 to begin.
    """

    def _factor(self, epoch: int) -> float | None:
        return 1.0 * self.gamma if epoch != 0 and epoch % self.step_size == 0 else None

    def _product(self, epoch: int) -> float:
        return cast(float, self.gamma ** (epoch // self.step_size))


class MultiStepLR(_ByFactors, settings="milestones, gamma=0.1, last_epoch=-1"):
    """At each milestone the learning rate is multiplied by `gamma`.

    Args:
        optimizer: Whose learning rates are changed.
        milestones: The epochs at which it falls; one named twice counts twice.
        gamma: The factor.
        last_epoch: The epoch after which to go on; -1 to begin.
    """

    def _begin(self, optimizer: Any, settings: dict[str, Any]) -> None:
        super()._begin(optimizer, settings | {"milestones": Counter(settings["milestones"])})

    def _factor(self, epoch: int) -> float | None:
        return self.gamma ** self.milestones[epoch] if epoch in self.milestones else None

    def _product(self, epoch: int) -> float:
        passed = sum(count for at, count in self.milestones.items() if not epoch < at)
        return cast(float, self.gamma**passed)


class ConstantLR(_ByFactors, settings="factor=1.0 / 3, total_iters=5, last_epoch=-1"):
    """The learning rate is multiplied by a factor until `total_iters` epochs have passed.

    Args:
        optimizer: Whose learning rates are changed.
        factor: The factor, from 0 to 1.
        total_iters: When it is taken back.
        last_epoch: The epoch after which to go on; -1 to begin.

    Raises:
        ValueError: If the factor is out of range.
    """

    def _begin(self, optimizer: Any, settings: dict[str, Any]) -> None:
        if settings["factor"] > 1.0 or settings["factor"] < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        super()._begin(optimizer, settings)

    def _factor(self, epoch: int) -> float | None:
        if epoch == 0:
            return self.factor
        return 1.0 / self.factor if epoch == self.total_iters else None

    def _product(self, epoch: int) -> float:
        return self.factor + (epoch >= self.total_iters) * (1 - self.factor)


class LinearLR(
    _ByFactors, settings="start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1"
):
    """The learning rate's factor goes along a straight line from one value to another.

    Args:
        optimizer: Whose learning rates are changed.
        start_factor: The factor of the first epoch, above 0 and up to 1.
        end_factor: The factor from `total_iters` on, from 0 to 1.
        total_iters: How long it takes.
        last_epoch: The epoch after which to go on; -1 to begin.

    Raises:
        ValueError: If a factor is out of range.
    """

    def _begin(self, optimizer: Any, settings: dict[str, Any]) -> None:
        if not (0 < settings["start_factor"] <= 1.0 and 0 <= settings["end_factor"] <= 1.0):
            raise ValueError("start_factor and end_factor must be from 0 (excluded, included) to 1")
        super()._begin(optimizer, settings)

    def _factor(self, epoch: int) -> float | None:
        if epoch == 0:
            return self.start_factor
        if self._is_initial or epoch > self.total_iters:
            return None
        rise = self.end_factor - self.start_factor
        return 1.0 + rise / (self.total_iters * self.start_factor + (epoch - 1) * rise)

    def _product(self, epoch: int) -> float:
        rise = self.end_factor - self.start_factor
        return self.start_factor + rise * min(self.total_iters, epoch) / self.total_iters


class ExponentialLR(_ByFactors, settings="gamma, last_epoch=-1"):
    r"""In every epoch the learning rate is multiplied by `gamma`: $\gamma_0 \gamma^t$.

    Args:
        optimizer: Whose learning rates are changed.
        gamma: The factor.
        last_epoch: The epoch after which to go on; -1 to begin.
    """

    def _factor(self, epoch: int) -> float | None:
        return None if self._is_initial else 1.0 * self.gamma

    def _product(self, epoch: int) -> float:
        return cast(float, self.gamma**epoch)


class PolynomialLR(_ByFactors, settings="total_iters=5, power=1.0, last_epoch=-1"):
    r"""The learning rate falls to zero by a power: $\gamma_0 (1 - t / T)^p$.

    Args:
        optimizer: Whose learning rates are changed.
        total_iters: When it is zero: $T$.
        power: The power $p$.
        last_epoch: The epoch after which to go on; -1 to begin.
    """

    def _factor(self, epoch: int) -> float | None:
        if self._is_initial or epoch > self.total_iters:
            return None
        left, before = (1.0 - at / self.total_iters for at in (epoch, epoch - 1))
        return (left / before) ** self.power

    def _product(self, epoch: int) -> float:
        return (1.0 - min(self.total_iters, epoch) / self.total_iters) ** self.power
