"""Put schedules together, one after the other; or let a measure decide."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from math import inf
from typing import Any, SupportsFloat

from minigrad.optim.lr_scheduler import base
from minigrad.optim.lr_scheduler.base import LRScheduler, check_optimizer, set_lr, values_of

__all__ = ["ChainedScheduler", "ReduceLROnPlateau", "SequentialLR"]


class ReduceLROnPlateau(
    LRScheduler,
    settings="mode='min', factor=0.1, patience=10, threshold=1e-4, threshold_mode='rel', "
    "cooldown=0, min_lr=0, eps=1e-8",
):
    """When a measure has not improved for `patience` epochs, the learning rate is reduced.

    Args:
        optimizer: Whose learning rates are changed.
        mode: Whether the measure is to become small ("min") or large ("max").
        factor: What the rate is multiplied by, below 1.
        patience: How many epochs without improvement are allowed.
        threshold: How much better counts as better.
        threshold_mode: Whether the threshold is relative ("rel") or absolute ("abs").
        cooldown: How many epochs after a reduction are not counted.
        min_lr: The lowest rate, or one for each group.
        eps: A reduction smaller than this is left out.

    Raises:
        TypeError: If it is no optimizer.
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
        if settings["factor"] >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        self.optimizer, groups = check_optimizer(optimizer), len(optimizer.param_groups)
        least = settings.pop("min_lr")
        several = isinstance(least, (list, tuple))
        if several and len(least) != groups:
            raise ValueError(f"expected {groups} min_lrs, got {len(least)}")
        better = [settings.pop(name) for name in ("mode", "threshold", "threshold_mode")]
        self.factor = settings.pop("factor")
        self.default_min_lr = None if several else least
        self.min_lrs = list(least) if several else [least] * groups
        self.__dict__.update(settings, last_epoch=0)
        self._last_lr = values_of(optimizer, "lr")
        self._init_is_better(*better)
        self._reset()

    def _reset(self) -> None:
        """Forget what was seen so far."""
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def step(  # type: ignore[override]
        self, metrics: SupportsFloat, epoch: int | None = None
    ) -> None:
        """Look at the measure of an epoch, and reduce the learning rates if it is time to.

        Args:
            metrics: The measure.
            epoch: The epoch to go to, if not the next. It is deprecated.
        """
        current = float(metrics)
        if epoch is not None:
            base.warn_of_epoch(epoch)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current, self.best):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = values_of(self.optimizer, "lr")

    def _reduce_lr(self) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs) and self.default_min_lr is not None:
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs, strict=True):
            before = float(group["lr"])
            after = max(before * self.factor, least)
            if before - after > self.eps:
                set_lr(group, after)

    @property
    def in_cooldown(self) -> bool:
        """Whether epochs are not counted at the moment."""
        return self.cooldown_counter > 0

    def _is_better(self, a: float, best: float) -> bool:
        change = 0.0 - self.threshold if self.mode == "min" else self.threshold
        bound = best * (1.0 + change) if self.threshold_mode == "rel" else best + change
        return a < bound if self.mode == "min" else a > bound

    def _init_is_better(self, mode: str, threshold: float, threshold_mode: str) -> None:
        if mode not in {"min", "max"} or threshold_mode not in {"rel", "abs"}:
            raise ValueError(f"There is no mode={mode!r} with threshold_mode={threshold_mode!r}")
        self.mode_worse: Any = inf if mode == "min" else -inf
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        self.__dict__.update(state_dict)
        self._init_is_better(self.mode, self.threshold, self.threshold_mode)


class _Together(LRScheduler):
    """The part that schedules made of schedules share."""

    _apart = ("optimizer", "_schedulers")
    _schedulers: Sequence[Any]

    def _check(self, schedulers: Sequence[Any], optimizer: Any) -> None:
        if not schedulers:
            raise ValueError(f"{type(self).__name__} needs at least one scheduler")
        for scheduler in schedulers:
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError("ReduceLROnPlateau is stepped by a measure: step it by itself")
            if optimizer != scheduler.optimizer:
                raise ValueError("All schedulers must belong to the same optimizer")

    def state_dict(self) -> dict[str, Any]:
        """Give all that the schedule and those in it remember."""
        schedulers = [scheduler.state_dict() for scheduler in self._schedulers]
        return {**super().state_dict(), "_schedulers": schedulers}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        super().load_state_dict(state_dict)
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(state)


class SequentialLR(_Together, settings="schedulers, milestones, last_epoch=-1"):
    """Follow one schedule after the other.

    Args:
        optimizer: Whose learning rates are changed.
        schedulers: The schedules, all of this optimizer.
        milestones: The epochs at which the next one takes over; one less than schedules.
        last_epoch: The epoch after which to go on; -1 to begin.

    Raises:
        ValueError: If the schedules do not fit together.
        TypeError: If one is no schedule.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.optim.lr_scheduler import ConstantLR, ExponentialLR, SequentialLR
        >>> optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
        >>> parts = [ConstantLR(optimizer, factor=0.5), ExponentialLR(optimizer, gamma=0.25)]
        >>> schedule = SequentialLR(optimizer, parts, milestones=[2])
        >>> rates = []
        >>> for epoch in range(4):
        ...     rates += schedule.get_last_lr()
        ...     optimizer.step()
        ...     schedule.step()
        >>> rates
        [0.5, 0.5, 1.0, 0.25]
    """

    def _begin(self, optimizer: Any, settings: dict[str, Any]) -> None:
        schedulers, milestones, last_epoch = settings.values()
        self._check(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                f"{len(schedulers)} schedulers take one milestone less, not {len(milestones)}"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # each schedule has made its first step: take that back, and let the first one make it
        for group in optimizer.param_groups:
            set_lr(group, group["initial_lr"])
        self.recursive_undo()
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched: Any = None) -> None:
        """Take back the first step of all schedules, also of those within others."""
        scheduler = self if sched is None else sched
        if hasattr(scheduler, "_schedulers"):
            for inner in scheduler._schedulers:
                self.recursive_undo(inner)
        elif hasattr(scheduler, "last_epoch"):
            scheduler.last_epoch -= 1

    def step(self) -> None:  # type: ignore[override]
        """Set the learning rates of the next epoch."""
        self.last_epoch += 1
        index = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[index]
        if index > 0 and self._milestones[index - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Together):
    """Several schedules step together: their factors multiply.

    Args:
        schedulers: The schedules, of one optimizer.
        optimizer: The optimizer, if it is to be checked.

    Raises:
        ValueError: If there is none, or they do not belong together.
        TypeError: If one is no schedule.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.optim.lr_scheduler import ChainedScheduler, ConstantLR, ExponentialLR
        >>> optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
        >>> schedules = [ConstantLR(optimizer, 0.5, 1), ExponentialLR(optimizer, 0.25)]
        >>> schedule = ChainedScheduler(schedules)
        >>> optimizer.step()
        >>> schedule.step()
        >>> schedule.get_last_lr()
        [0.25]
    """

    def __init__(self, schedulers: Sequence[Any], optimizer: Any = None) -> None:
        first: Any = next(iter(schedulers), None)
        owner: Any = optimizer or getattr(first, "optimizer", None)
        self._check(schedulers, owner)
        self.optimizer = owner
        self._schedulers = schedulers
        self._last_lr = values_of(self.optimizer, "lr")

    def step(self) -> None:  # type: ignore[override]
        """Let every schedule set the learning rates of the next epoch from the last one's."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = values_of(self.optimizer, "lr")
