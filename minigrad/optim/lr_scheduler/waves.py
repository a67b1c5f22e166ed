"""Let the learning rate go along a wave: fall like a cosine, or rise and fall once."""

from __future__ import annotations

import math
from typing import Any

from minigrad.optim.lr_scheduler.base import LRScheduler, check_optimizer, own, set_lr, values_of
from minigrad.optim.optimizer import Optimizer

__all__ = ["CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "OneCycleLR"]


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


class CosineAnnealingWarmRestarts(
    LRScheduler, settings="T_0, T_mult=1, eta_min=0.0, last_epoch=-1"
):
    r"""The learning rate falls like a cosine, again and again from its first value.

    $$\gamma_t = \eta_{\min} + \tfrac{1}{2} (\gamma_0 - \eta_{\min})
    \left( 1 + \cos \frac{\pi T_{\text{cur}}}{T_i} \right),$$

    where $T_{\text{cur}}$ counts epochs since the last restart and $T_i$ those to the next one.

    Source: Loshchilov and Hutter, *SGDR: stochastic gradient descent with warm restarts*, 2016.

    Args:
        optimizer: Whose learning rates are changed.
        T_0: After how many epochs it restarts first.
        T_mult: How many times longer each fall is than the one before.
        eta_min: The lowest value.
        last_epoch: The epoch after which to go on; -1 to begin.

    Raises:
        ValueError: If a number makes no sense.

    Example:
        >>> import minigrad as torch
        >>> optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
        >>> schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
        >>> rates = []
        >>> for _ in range(4):
        ...     rates += schedule.get_last_lr()
        ...     schedule.step()
        >>> rates
        [1.0, 0.5, 1.0, 0.5]
    """

    T_cur: float
    T_i: float

    def _begin(self, optimizer: Any, settings: dict[str, Any]) -> None:
        first, times, _, last_epoch = settings.values()
        for name, value in (("T_0", first), ("T_mult", times)):
            _positive(name, value)
        kept = {"T_0": first, "T_i": first, **settings, "T_cur": last_epoch}
        super()._begin(optimizer, kept)

    def get_lr(self) -> list[Any]:
        """Compute the next learning rates."""
        self._warn_if_asked_directly()
        wave = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (base - self.eta_min) * wave / 2 for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Set the learning rates of the next epoch.

        Args:
            epoch: The epoch to go to, if not the next; it may lie between two.

        Raises:
            ValueError: If the epoch is negative.
        """
        if epoch is None and self.last_epoch >= 0:
            epoch, since, fall = self.last_epoch + 1, self.T_cur + 1, self.T_i
            if since >= fall:
                since, fall = since % fall, fall * self.T_mult
        else:
            epoch = since = epoch or 0
            fall = self.T_0
            while since >= fall:
                since, fall = since - fall, fall * self.T_mult
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        self.T_cur, self.T_i = since, fall
        self._update_lr(math.floor(epoch))


class _WithMomentum(LRScheduler):
    """The part that schedules share which lead the momentum against the learning rate."""

    def _begin_momentum(self, base: Any, most: Any, begins: bool) -> tuple[list[Any], list[Any]]:
        """Check that there is momentum, and set that of the first epoch."""
        optimizer = self.optimizer
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError("cycle_momentum=True needs an optimizer with momentum or betas")
        self.use_beta1 = "betas" in optimizer.defaults
        lows = one_for_each_group("base_momentum", optimizer, base)
        highs = one_for_each_group("max_momentum", optimizer, most)
        limits = zip(optimizer.param_groups, lows, highs, strict=True)
        for group, low, high in limits if begins else ():
            self._set_momentum(group, high)
            group |= {"max_momentum": high, "base_momentum": low}
        return lows, highs

    def _set_momentum(self, group: dict[str, Any], momentum: Any) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class CyclicLR(
    _WithMomentum,
    settings="base_lr, max_lr, step_size_up=2000, step_size_down=None, mode='triangular', "
    "gamma=1.0, scale_fn=None, scale_mode='cycle', cycle_momentum=True, base_momentum=0.8, "
    "max_momentum=0.9, last_epoch=-1",
):
    """The learning rate goes up and down along straight lines; call it at every step.

    Source: Smith, *Cyclical learning rates for training neural networks*, 2015.

    Args:
        optimizer: Whose learning rates are changed.
        base_lr: The lowest value, or one for each group.
        max_lr: The highest value, or one for each group.
        step_size_up: How many steps it rises.
        step_size_down: How many steps it falls; as many, if None.
        mode: "triangular" for cycles of one height, "triangular2" to halve it from cycle to cycle,
            "exp_range" to multiply it by `gamma` from step to step.
        gamma: The factor.
        scale_fn: A function that gives the share of the height, in place of the mode.
        scale_mode: Whether it is given the number of the "cycle" or that of the step
            ("iterations").
        cycle_momentum: Lead the momentum the other way.
        base_momentum: The lowest momentum, or one for each group.
        max_momentum: The highest momentum, or one for each group.
        last_epoch: The step after which to go on; -1 to begin.

    Raises:
        TypeError: If it is no optimizer.
        ValueError: If a setting makes no sense, or there is no momentum to lead.

    Example:
        >>> import minigrad as torch
        >>> optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0, momentum=0.9)
        >>> schedule = torch.optim.lr_scheduler.CyclicLR(optimizer, 0.5, 1.5, step_size_up=2)
        >>> rates = []
        >>> for _ in range(5):
        ...     rates += schedule.get_last_lr()
        ...     optimizer.step()
        ...     schedule.step()
        >>> rates
        [0.5, 1.0, 1.5, 1.0, 0.5]
    """

    _apart = ("optimizer", "scale_fn")

    def _begin(self, optimizer: Any, settings: dict[str, Any]) -> None:
        self.optimizer = check_optimizer(optimizer)
        given, gamma, last_epoch = settings, settings["gamma"], settings.pop("last_epoch")
        begins = last_epoch == -1
        base_lrs = one_for_each_group("base_lr", optimizer, given.pop("base_lr"))
        for group, rate in zip(optimizer.param_groups, base_lrs, strict=True) if begins else ():
            set_lr(group, rate)
        self.max_lrs = one_for_each_group("max_lr", optimizer, given.pop("max_lr"))
        up, down = float(given.pop("step_size_up")), given.pop("step_size_down")
        self.total_size = up + (up if down is None else float(down))
        self.step_ratio = up / self.total_size
        if given["scale_fn"] is None:
            scales: dict[str, tuple[Any, str]] = {
                "triangular": (lambda cycle: 1.0, "cycle"),
                "triangular2": (lambda cycle: 1 / (2.0 ** (cycle - 1)), "cycle"),
                "exp_range": (lambda step: gamma**step, "iterations"),
            }
            if given["mode"] not in scales:
                raise ValueError("mode is invalid and scale_fn is None")
            given["scale_fn"], given["scale_mode"] = scales[given["mode"]]
        low, high = given.pop("base_momentum"), given.pop("max_momentum")
        self.__dict__.update(given)
        if self.cycle_momentum:
            limits = self._begin_momentum(low, high, begins)
            self.base_momentums, self.max_momentums = limits
        super()._begin(optimizer, {"last_epoch": last_epoch})
        self.base_lrs = base_lrs

    def get_lr(self) -> list[Any]:
        """Compute the next learning rates, and set the momentum."""
        self._warn_if_asked_directly()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        at = 1.0 + self.last_epoch / self.total_size - cycle
        rises = at <= self.step_ratio
        height = at / self.step_ratio if rises else (at - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        for group in self.optimizer.param_groups if self.cycle_momentum else ():
            low, high = group["base_momentum"], group["max_momentum"]
            self._set_momentum(group, high - (high - low) * height * scale)
        limits = zip(self.base_lrs, self.max_lrs, strict=True)
        return [low + (high - low) * height * scale for low, high in limits]


_RISE = ("initial_lr", "max_lr", "max_momentum", "base_momentum")
_FALL = ("max_lr", "initial_lr", "base_momentum", "max_momentum")
_FALL_TO_THE_END = ("max_lr", "min_lr", "base_momentum", "max_momentum")
_END = ("initial_lr", "min_lr", "max_momentum", "max_momentum")


class OneCycleLR(
    _WithMomentum,
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
        if not 0 <= share <= 1 or ways not in ("cos", "linear"):
            raise ValueError(
                f"pct_start={share} must be from 0 to 1, and anneal_strategy={ways!r} cos or linear"
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
        raise ValueError(f"{name} has {len(value)} values for {groups} groups of parameters")
    return [own(entry) for entry in value]
