"""Let the learning rate fall along half a wave of the cosine, once or again and again."""

from __future__ import annotations

import math
from typing import Any

from minigrad.optim.lr_scheduler.base import LRScheduler
from minigrad.optim.optimizer import Optimizer


class CosineAnnealingLR(LRScheduler):
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

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Compute the next learning rates from the present ones."""
        self._warn_if_asked_directly()
        if self._is_initial:
            return self._present()
        epoch, half = self.last_epoch, self.T_max
        lowest = self.eta_min
        if self._step_count == 1 and epoch > 0:
            wave = 1 + math.cos(epoch * math.pi / half)
            return [lowest + (base - lowest) * wave / 2 for base in self.base_lrs]
        groups = self.optimizer.param_groups
        if (epoch - 1 - half) % (2 * half) == 0:  # from the lowest point a ratio leads nowhere
            rise = 1 - math.cos(math.pi / half)
            pairs = zip(self.base_lrs, groups, strict=True)
            return [group["lr"] + (base - lowest) * rise / 2 for base, group in pairs]
        now, before = (1 + math.cos(math.pi * at / half) for at in (epoch, epoch - 1))
        return [now / before * (group["lr"] - lowest) + lowest for group in groups]

    def _get_closed_form_lr(self) -> list[Any]:
        wave = 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        return [self.eta_min + (base - self.eta_min) * wave / 2 for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    r"""The learning rate falls along the cosine and jumps back, the next time `T_mult` times later.

    $$\gamma_t = \eta_{\min} + \tfrac{1}{2} (\gamma_0 - \eta_{\min})
    \left( 1 + \cos \frac{\pi T_{\text{cur}}}{T_i} \right).$$

    Source: Loshchilov and Hutter, *SGDR: stochastic gradient descent with warm restarts*, 2016.

    Args:
        optimizer: Whose learning rates are changed.
        T_0: How many epochs the first fall takes.
        T_mult: The factor by which each fall takes longer.
        eta_min: The lowest value.
        last_epoch: The epoch after which to go on; -1 to begin.

    Raises:
        ValueError: If a number makes no sense.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(
                f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}"
            )
        self.T_0 = T_0
        self.T_i: Any = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: Any = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Compute the learning rates."""
        self._warn_if_asked_directly()
        wave = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (base - self.eta_min) * wave / 2 for base in self.base_lrs]

    def step(self, epoch: Any = None) -> None:
        """Set the next learning rates; may be called within an epoch, too.

        Args:
            epoch: Where to go to; a fraction of an epoch is possible.

        Raises:
            ValueError: If the epoch is negative.
        """
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        elif epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        elif epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            falls = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            growth = self.T_mult**falls
            self.T_cur = epoch - self.T_0 * (growth - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * growth
        self.last_epoch = math.floor(epoch)
        with self._asking():
            values = self.get_lr()
        self._set(values)
