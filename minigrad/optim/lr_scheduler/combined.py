"""Put schedules together: one after the other, or all at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from minigrad.optim.lr_scheduler.base import LRScheduler, update, values_of
from minigrad.optim.lr_scheduler.plateau import ReduceLROnPlateau
from minigrad.optim.optimizer import Optimizer


class _OfSchedulers(LRScheduler):
    """The part that both share: what they are given, and what they save."""

    _schedulers: Sequence[Any]

    def _check(self, schedulers: Sequence[Any], optimizer: Any) -> None:
        name = type(self).__name__
        for index, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(
                    f"{name} at index {index} should have `optimizer` as its attribute."
                )
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires "
                    "additional kwargs to be specified when calling `step`, but got one at index "
                    f"{index} in the given schedulers sequence."
                )
            if optimizer != scheduler.optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got "
                    f"scheduler {type(scheduler).__name__} at index {index} has "
                    f"{scheduler.optimizer}, which is different from {type(optimizer).__name__}."
                )

    def state_dict(self) -> dict[str, Any]:
        """Give all that the schedule and those in it remember."""
        left_out = ("optimizer", "_schedulers")
        state = {name: value for name, value in self.__dict__.items() if name not in left_out}
        state["_schedulers"] = [scheduler.state_dict() for scheduler in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        saved = state_dict["_schedulers"]
        self.__dict__.update({k: v for k, v in state_dict.items() if k != "_schedulers"})
        for scheduler, state in zip(self._schedulers, saved, strict=True):
            scheduler.load_state_dict(state)


class SequentialLR(_OfSchedulers):
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

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[LRScheduler],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError(
                f"{type(self).__name__} expects at least one scheduler, but got no scheduler."
            )
        self._check(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than "
                "the number of milestone points, but got number of schedulers "
                f"{len(schedulers)} and the number of milestones to be equal to {len(milestones)}"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # each schedule has made its first step: take that back, and let the first one make it
        for group in optimizer.param_groups:
            update(group, "lr", group["initial_lr"])
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


class ChainedScheduler(_OfSchedulers):
    """Follow several schedules at once: each goes on from what the one before it has set.

    Args:
        schedulers: The schedules, all of one optimizer.
        optimizer: The optimizer; by default that of the first schedule.

    Raises:
        ValueError: If the schedules do not fit together.
        TypeError: If one is no schedule.
    """

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError(
                f"{type(self).__name__} expects at least one scheduler to be chained, but got no "
                "scheduler."
            )
        optimizer = optimizer or schedulers[0].optimizer
        self._check(schedulers, optimizer)
        self._schedulers = schedulers
        self.optimizer = optimizer
        self._last_lr = values_of(schedulers[-1].optimizer, "lr")

    def step(self) -> None:  # type: ignore[override]
        """Let each schedule set the learning rates of the next epoch."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = values_of(self._schedulers[-1].optimizer, "lr")
