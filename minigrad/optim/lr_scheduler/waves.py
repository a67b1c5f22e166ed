"""Let the learning rate go along a wave: fall like a cosine, or rise and fall once."""

from __future__ import annotations

import math
from typing import Any

from minigrad.optim.lr_scheduler.base import LRScheduler, check_optimizer, own, values_of
from minigrad.optim.optimizer import Optimizer


class CosineAnnealingLR(LRScheduler, settings="T_max, eta_min=0.0, last_epoch=-1"):
    r"""The learning rate falls from its first value to `eta_min` within `T_max` epochs.

    $$\gamma_t = \eta_{\min} + \tfrac{1}{2} (\gamma_0 - \eta_{\min})
    \left( 1 + \cos \frac{\pi t}{T_{\max}} \right).$$

    Source: Loshchilov and Hutter, *SGDR: stochastic gradient descent with warm restarts*, 2016.

    Args:
        optimizer: Whose learning rates are changed.
        T_max: After how many epochs it is lowest; it rises again later.
        eta_min: The lowest value.
        last_epoch: The epoch after which to go on; -1 to begin.

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
        self._warn_if_asked_directly()
        if self._is_initial:
            return values_of(self.optimizer, "lr")
        epoch, half = self.last_epoch, self.T_max
        if self._step_count == 1 and epoch > 0:
            return self._get_closed_form_lr()
        groups = self.optimizer.param_groups
        if (epoch - 1 - half) % (2 * half) == 0:  # from the lowest point a ratio leads nowhere
            rise = 1 - math.cos(math.pi / half)
            pairs = zip(self.base_lrs, groups, strict=True)
            return [group["lr"] + (base - self.eta_min) * rise / 2 for base, group in pairs]
        now, before = (1 + math.cos(math.pi * at / half) for at in (epoch, epoch - 1))
        return [now / before * (group["lr"] - self.eta_min) + self.eta_min for group in groups]

    def _get_closed_form_lr(self) -> list[Any]:
        wave = 1 + math.cos(self.last_epoch * math.pi / self.T_max)
        return [self.eta_min + (rate - self.eta_min) * wave / 2 for rate in self.base_lrs]


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
        optimizer: Whose learning rates are changed.
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
        last_epoch: The step after which to go on; -1 to begin.

    Raises:
        TypeError: If it is no optimizer.
        ValueError: If a number makes no sense, or there is no momentum to lead.

    Example:
        >>> import minigrad as torch
        >>> optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0, momentum=0.9)
        >>> schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.5, total_steps=20)
        >>> [round(rate, 8) for rate in schedule.get_last_lr()]
        [0.02]
    """

    def _begin(self, optimizer: Any, settings: dict[str, Any]) -> None:
        self.optimizer = check_optimizer(optimizer)
        given, share, ways = settings, settings["pct_start"], settings["anneal_strategy"]
        if given["total_steps"] is not None:
            total = _positive("total_steps", given["total_steps"])
        elif given["epochs"] is not None and given["steps_per_epoch"] is not None:
            epochs = _positive("epochs", given["epochs"])
            total = epochs * _positive("steps_per_epoch", given["steps_per_epoch"])
        else:
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        turn, last = float(share * total) - 1, total - 1
        phases = [(turn, _RISE), (last, _FALL_TO_THE_END)]
        if given["three_phase"]:
            phases[1:] = [(float(2 * share * total) - 2, _FALL), (last, _END)]
        if share < 0 or share > 1 or not isinstance(share, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {share}")
        if ways not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {ways}"
            )
        names = ("start_lr", "end_lr", "start_momentum", "end_momentum")
        self.total_steps = total
        self._schedule_phases: list[dict[str, Any]] = [
            {"end_step": end, **dict(zip(names, parts, strict=True))} for end, parts in phases
        ]
        self._anneal_func_type = ways
        self.cycle_momentum = given["cycle_momentum"]
        begins = given["last_epoch"] == -1
        max_lrs = one_for_each_group("max_lr", optimizer, given["max_lr"])
        for group, highest in zip(optimizer.param_groups, max_lrs, strict=True) if begins else ():
            group["initial_lr"] = highest / given["div_factor"]
            group["max_lr"] = highest
            group["min_lr"] = group["initial_lr"] / given["final_div_factor"]
        if self.cycle_momentum:
            self._begin_momentum(given["base_momentum"], given["max_momentum"], begins)
        super()._begin(optimizer, {"last_epoch": given["last_epoch"]})

    def _begin_momentum(self, base: Any, most: Any, begins: bool) -> None:
        """Check that there is momentum, and set that of the first epoch."""
        optimizer = self.optimizer
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError(
                "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
            )
        self.use_beta1 = "betas" in optimizer.defaults
        lows = one_for_each_group("base_momentum", optimizer, base)
        highs = one_for_each_group("max_momentum", optimizer, most)
        limits = zip(optimizer.param_groups, lows, highs, strict=True)
        for group, low, high in limits if begins else ():
            self._set_momentum(group, high)
            group |= {"max_momentum": high, "base_momentum": low}

    def _set_momentum(self, group: dict[str, Any], momentum: Any) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum

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
        self._warn_if_asked_directly()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        start = 0.0
        phase = self._schedule_phases[-1]
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
                self._set_momentum(group, self._between(first, last, share))
        return rates


def _positive(name: str, value: Any) -> int:
    if not isinstance(value, int) or value <= 0:
        raise ValueError(f"Expected positive integer {name}, but got {value}")
    return value


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
    return [own(entry) for entry in value]
