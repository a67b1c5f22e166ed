"""Change the learning rate while training goes on: schedules."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product
from typing import TYPE_CHECKING, Any, SupportsFloat

from minigrad.autograd.messages import warn
from minigrad.nn.modules.layer import constructor
from minigrad.optim.optimizer import Optimizer

__all__ = [
    "ConstantLR", "CosineAnnealingLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR",
    "MultiStepLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "StepLR", "_LRScheduler",
]  # fmt: skip


class LRScheduler:
    """Base class of schedules: subclasses define `get_lr`, which gives the next learning rates.

    Every schedule takes the optimizer first and `last_epoch` last; it says only what is its own.

    Args:
        optimizer: Whose learning rates are changed.
        last_epoch: The epoch after which to go on; -1 to begin.

    Attributes:
        base_lrs: The learning rate of each group in the beginning.
        last_epoch: How many times `step` was called.

    Raises:
        TypeError: If it isn't an optimizer.
        KeyError: If it is to go on, but the groups do not know how they began.

    Example:
        >>> import minigrad as torch
        >>> class OneOverN(LRScheduler):
        ...     def get_lr(self):
        ...         return [lr / (self.last_epoch + 1) for lr in self.base_lrs]
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.6)
        >>> scheduler = OneOverN(optimizer)
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr()
        [0.3]
    """

    # What is left out of the state dict, or saved in a form of its own.
    _apart: tuple[str, ...] = ("optimizer",)
    _is_initial: bool = False

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
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for group in optimizer.param_groups if last_epoch == -1 else ():
            group.setdefault("initial_lr", group["lr"])
        self.base_lrs: list[Any] = values_of(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        self.optimizer._opt_called = False
        self._step_count = 0
        self._is_initial = True
        self.step()
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

    def step(self) -> None:
        """Set the learning rates of the next epoch; call it after `optimizer.step()`."""
        if self._step_count == 1 and not self.optimizer._opt_called:
            warn("`lr_scheduler.step()` before `optimizer.step()`: the first rate is never used.")
        self._step_count += 1
        self.last_epoch += 1
        for group, value in zip(self.optimizer.param_groups, self.get_lr(), strict=True):
            group["lr"] = value
        self._last_lr = values_of(self.optimizer, "lr")


class _LRScheduler(LRScheduler):
    """The old name of `LRScheduler`, of which older programs derive."""


def values_of(optimizer: Optimizer, name: str) -> list[Any]:
    """Give a setting of each group."""
    return [group[name] for group in optimizer.param_groups]


def one_for_each_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """Give a setting for each group: the same for all, or one each.

    Raises:
        ValueError: If there are more or fewer than groups.
    """
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * groups
    if len(value) != groups:
        raise ValueError(f"{name} has {len(value)} values for {groups} groups of parameters")
    return list(value)


class LambdaLR(LRScheduler, settings="lr_lambda, last_epoch=-1"):
    r"""The first learning rate times a function of the epoch: $\gamma_t = \gamma_0 f(t)$.

    Args:
        lr_lambda: The function, or one for each group.

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
        functions = one_for_each_group("lr_lambda", optimizer, settings.pop("lr_lambda"))
        super()._begin(optimizer, {**settings, "lr_lambdas": functions})

    def state_dict(self) -> dict[str, Any]:
        """Give all that the schedule remembers; instead of functions there is None."""
        return {**super().state_dict(), "lr_lambdas": [None] * len(self.lr_lambdas)}

    def get_lr(self) -> list[Any]:
        """Compute the next learning rates."""
        pairs = zip(self.lr_lambdas, self.base_lrs, strict=True)
        return [base * function(self.last_epoch) for function, base in pairs]


class _ByFactors(LRScheduler):
    """The part that schedules of factors share.

    A subclass defines `_factor(epoch)`: that of the last learning rate, or None to leave it.
    """

    def get_lr(self) -> list[Any]:
        """Compute the next learning rates."""
        factor = self._factor(self.last_epoch)
        if factor is None:
            return values_of(self.optimizer, "lr")
        return [group["lr"] * factor for group in self.optimizer.param_groups]


class StepLR(_ByFactors, settings="step_size, gamma=0.1, last_epoch=-1"):
    r"""Every `step_size` epochs the learning rate is multiplied by `gamma`.

    Args:
        step_size: After how many epochs it falls.
        gamma: The factor.
    """

    def _factor(self, epoch: int) -> float | None:
        return 1.0 * self.gamma if epoch != 0 and epoch % self.step_size == 0 else None


class MultiStepLR(_ByFactors, settings="milestones, gamma=0.1, last_epoch=-1"):
    """At each milestone the learning rate is multiplied by `gamma`.

    Args:
        milestones: The epochs at which it falls; one named twice counts twice.
        gamma: The factor.
    """

    def _begin(self, optimizer: Any, settings: dict[str, Any]) -> None:
        super()._begin(optimizer, settings | {"milestones": Counter(settings["milestones"])})

    def _factor(self, epoch: int) -> float | None:
        return self.gamma ** self.milestones[epoch] if epoch in self.milestones else None


class ConstantLR(_ByFactors, settings="factor=1.0 / 3, total_iters=5, last_epoch=-1"):
    """The learning rate is multiplied by a factor until `total_iters` epochs have passed.

    Args:
        factor: The factor, from 0 to 1.
        total_iters: When it is taken back.
    """

    def _factor(self, epoch: int) -> float | None:
        if epoch == 0:
            return self.factor
        return 1.0 / self.factor if epoch == self.total_iters else None


class LinearLR(
    _ByFactors, settings="start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1"
):
    """The learning rate's factor goes along a straight line from one value to another.

    Args:
        start_factor: The factor of the first epoch, above 0 and up to 1.
        end_factor: The factor from `total_iters` on, from 0 to 1.
        total_iters: How long it takes.

    Raises:
        ValueError: If the first factor is out of range.
    """

    def _begin(self, optimizer: Any, settings: dict[str, Any]) -> None:
        if not 0 < settings["start_factor"] <= 1.0:
            raise ValueError("start_factor must be above 0 and up to 1")
        super()._begin(optimizer, settings)

    def _factor(self, epoch: int) -> float | None:
        if epoch == 0:
            return self.start_factor
        if self._is_initial or epoch > self.total_iters:
            return None
        rise = self.end_factor - self.start_factor
        return 1.0 + rise / (self.total_iters * self.start_factor + (epoch - 1) * rise)


class ExponentialLR(_ByFactors, settings="gamma, last_epoch=-1"):
    r"""In every epoch the learning rate is multiplied by `gamma`: $\gamma_0 \gamma^t$.

    Args:
        gamma: The factor.
    """

    def _factor(self, epoch: int) -> float | None:
        return None if self._is_initial else 1.0 * self.gamma


class PolynomialLR(_ByFactors, settings="total_iters=5, power=1.0, last_epoch=-1"):
    r"""The learning rate falls to zero by a power: $\gamma_0 (1 - t / T)^p$.

    Args:
        total_iters: When it is zero: $T$.
        power: The power $p$.
    """

    def _factor(self, epoch: int) -> float | None:
        if self._is_initial or epoch > self.total_iters:
            return None
        left, before = (1.0 - at / self.total_iters for at in (epoch, epoch - 1))
        return (left / before) ** self.power


class CosineAnnealingLR(_ByFactors, settings="T_max, eta_min=0.0, last_epoch=-1"):
    r"""The learning rate falls from its first value to `eta_min` within `T_max` epochs.

    $$\gamma_t = \eta_{\min} + \tfrac{1}{2} (\gamma_0 - \eta_{\min})
    \left( 1 + \cos \frac{\pi t}{T_{\max}} \right).$$

    Source: Loshchilov and Hutter, *SGDR: stochastic gradient descent with warm restarts*, 2016.

    Args:
        T_max: After how many epochs it is lowest; it rises again later.
        eta_min: The lowest value.

    Example:
        >>> import minigrad as torch
        >>> optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
        >>> schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
        >>> optimizer.step()
        >>> schedule.step()
        >>> schedule.get_last_lr()
        [0.5]
    """

    def get_lr(self) -> list[Any]:
        """Compute the next learning rates from the present ones."""
        if self._is_initial:
            return values_of(self.optimizer, "lr")
        epoch, half = self.last_epoch, self.T_max
        groups = self.optimizer.param_groups
        if (epoch - 1 - half) % (2 * half) == 0:  # from the lowest point a ratio leads nowhere
            rise = 1 - math.cos(math.pi / half)
            pairs = zip(self.base_lrs, groups, strict=True)
            return [group["lr"] + (base - self.eta_min) * rise / 2 for base, group in pairs]
        now, before = (1 + math.cos(math.pi * at / half) for at in (epoch, epoch - 1))
        return [now / before * (group["lr"] - self.eta_min) + self.eta_min for group in groups]


_RISE = ("initial_lr", "max_lr", "max_momentum", "base_momentum")
_FALL = ("max_lr", "initial_lr", "base_momentum", "max_momentum")
_FALL_TO_THE_END = ("max_lr", "min_lr", "base_momentum", "max_momentum")
_END = ("initial_lr", "min_lr", "max_momentum", "max_momentum")


class OneCycleLR(
    LRScheduler,
    settings="max_lr, total_steps=None, epochs=None, steps_per_epoch=None, pct_start=0.3, "
    "anneal_strategy='cos', cycle_momentum=True, base_momentum=0.85, max_momentum=0.95, "
    "div_factor=25.0, final_div_factor=1e4, three_phase=False, last_epoch=-1",
):
    """The learning rate rises once, and falls to far below its beginning; call it at every step.

    Source: Smith and Topin, *Super-convergence: very fast training of neural networks using large
    learning rates*, 2017.

    Args:
        max_lr: The highest value, or one for each group.
        total_steps: How many steps there will be; or give `epochs` and `steps_per_epoch`.
        epochs: How many epochs there will be.
        steps_per_epoch: How many steps each has.
        pct_start: The part of all steps in which it rises, from 0 to 1.
        anneal_strategy: "cos" for waves of the cosine, "linear" for straight lines.
        cycle_momentum: Lead the momentum the other way.
        base_momentum: The lowest momentum, or one for each group.
        max_momentum: The highest momentum, or one for each group.
        div_factor: How many times the first value is below the highest.
        final_div_factor: How many times the last value is below the first.
        three_phase: Fall to the first value as fast as it rose, and only then to the last one.

    Raises:
        TypeError: If it isn't an optimizer.
        ValueError: If a number makes no sense, or there is no momentum to lead.

    Example:
        >>> import minigrad as torch
        >>> optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0, momentum=0.9)
        >>> schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.5, total_steps=20)
        >>> [round(rate, 8) for rate in schedule.get_last_lr()]
        [0.02]
    """

    def _begin(self, optimizer: Any, settings: dict[str, Any]) -> None:
        self.optimizer = optimizer
        given, share, ways = settings, settings["pct_start"], settings["anneal_strategy"]
        total = given["total_steps"] or (given["epochs"] or 0) * (given["steps_per_epoch"] or 0)
        if total < 1 or not 0 <= share <= 1 or ways not in ("cos", "linear"):
            raise ValueError("OneCycleLR needs total_steps, pct_start in [0, 1], cos or linear")
        turn, last = float(share * total) - 1, total - 1
        phases = [(turn, _RISE), (last, _FALL_TO_THE_END)]
        if given["three_phase"]:
            phases[1:] = [(float(2 * share * total) - 2, _FALL), (last, _END)]
        names = ("start_lr", "end_lr", "start_momentum", "end_momentum")
        self.total_steps = total
        self._schedule_phases: list[dict[str, Any]] = [
            {"end_step": end, **dict(zip(names, parts, strict=True))} for end, parts in phases
        ]
        self._anneal_func_type = ways
        self.cycle_momentum = given["cycle_momentum"]
        limits = ["max_lr"]
        if self.cycle_momentum:
            limits += ["max_momentum", "base_momentum"]
            self.use_beta1 = "betas" in optimizer.defaults
            if not self.use_beta1 and "momentum" not in optimizer.defaults:
                raise ValueError("cycle_momentum=True needs an optimizer with momentum or betas")
        of_groups = zip(*(one_for_each_group(n, optimizer, given[n]) for n in limits), strict=True)
        for group, (high, *momenta) in zip(optimizer.param_groups, of_groups, strict=True):
            if given["last_epoch"] == -1:
                low = high / given["div_factor"]
                group.update(initial_lr=low, max_lr=high, min_lr=low / given["final_div_factor"])
                group |= zip(limits[1:], momenta, strict=True)
        super()._begin(optimizer, {"last_epoch": given["last_epoch"]})

    def _between(self, start: Any, end: Any, share: float) -> Any:
        """Give the value at a share of the way from start to end."""
        if self._anneal_func_type == "linear":
            return (end - start) * share + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)

    def get_lr(self) -> list[Any]:
        """Compute the next learning rates, and set the momentum.

        Raises:
            ValueError: If there were more steps than planned.
        """
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"step {step} is after the last of total_steps={self.total_steps}")
        start = 0.0
        for phase in self._schedule_phases:
            if step <= phase["end_step"] or phase is self._schedule_phases[-1]:
                break
            start = phase["end_step"]
        share = (step - start) / (phase["end_step"] - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], share))
            if self.cycle_momentum:
                first, last = group[phase["start_momentum"]], group[phase["end_momentum"]]
                momentum = self._between(first, last, share)
                own = {"betas": (momentum, *group["betas"][1:])} if self.use_beta1 else {}
                group |= own or {"momentum": momentum}
        return rates


class ReduceLROnPlateau(
    LRScheduler,
    settings="mode='min', factor=0.1, patience=10, threshold=1e-4, threshold_mode='rel', "
    "cooldown=0, min_lr=0, eps=1e-8",
):
    """When a measure has not improved for `patience` epochs, the learning rate is reduced.

    Args:
        mode: Whether the measure is to become small ("min") or large ("max").
        factor: What the rate is multiplied by, below 1.
        patience: How many epochs without improvement are allowed.
        threshold: How much better counts as better.
        threshold_mode: Whether the threshold is relative ("rel") or absolute ("abs").
        cooldown: How many epochs after a reduction are not counted.
        min_lr: The lowest rate, or one for each group.
        eps: A reduction smaller than this is left out.

    Raises:
        TypeError: If it isn't an optimizer.
        ValueError: If a setting makes no sense.

    Example:
        >>> import minigrad as torch
        >>> optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
        >>> schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1, factor=0.5)
        >>> for loss in (3.0, 2.0, 2.0, 2.0):
        ...     schedule.step(loss)
        >>> schedule.get_last_lr()
        [0.5]
    """

    def _begin(self, optimizer: Any, settings: dict[str, Any]) -> None:
        ways = settings["mode"], settings["threshold_mode"]
        if settings["factor"] >= 1.0 or ways not in product(("min", "max"), ("rel", "abs")):
            raise ValueError("factor is below 1, mode min or max, threshold_mode rel or abs")
        self.optimizer = optimizer
        self.min_lrs = one_for_each_group("min_lr", optimizer, settings.pop("min_lr"))
        self.__dict__.update(settings)
        self.last_epoch = self.cooldown_counter = self.num_bad_epochs = 0
        self.best = self.mode_worse = math.inf if self.mode == "min" else -math.inf
        self._last_lr = values_of(optimizer, "lr")

    def step(self, metrics: SupportsFloat) -> None:  # type: ignore[override]
        """Look at the measure of an epoch, and reduce the learning rates if it is time to.

        Args:
            metrics: The measure.
        """
        current = float(metrics)
        self.last_epoch += 1
        if self._is_better(current, self.best):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group, least in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
                before, after = group["lr"], max(group["lr"] * self.factor, least)
                group["lr"] = after if before - after > self.eps else before
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = values_of(self.optimizer, "lr")

    @property
    def in_cooldown(self) -> bool:
        """Whether epochs are not counted at the moment."""
        return self.cooldown_counter > 0

    def _is_better(self, a: float, best: float) -> bool:
        change = -self.threshold if self.mode == "min" else self.threshold
        bound = best * (1.0 + change) if self.threshold_mode == "rel" else best + change
        return a < bound if self.mode == "min" else a > bound
