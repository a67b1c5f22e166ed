"""Multiply the learning rate by factors: given, or falling in steps, straight lines or powers."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from minigrad.optim.lr_scheduler.base import LRScheduler, state_of_callable
from minigrad.optim.optimizer import Optimizer

Factor = Callable[[int], float]


class _WithFunctions(LRScheduler):
    """The part that schedules with functions of the epoch share."""

    _apart = ("optimizer", "lr_lambdas")
    _must_be_functions = False

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Factor | list[Factor], last_epoch: int = -1
    ) -> None:
        self.optimizer = optimizer
        groups = len(optimizer.param_groups)
        if not isinstance(lr_lambda, (list, tuple)):
            lr_lambda = [lr_lambda] * groups
        elif len(lr_lambda) != groups:
            raise ValueError(f"Expected {groups} lr_lambdas, but got {len(lr_lambda)}")
        for function in lr_lambda:
            if self._must_be_functions and not callable(function):
                raise TypeError(
                    f"lr_lambda should be a function, but got {type(function).__name__}"
                )
        self.lr_lambdas = list(lr_lambda)
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Give all that the schedule remembers; of functions only what objects remember."""
        functions = [state_of_callable(function) for function in self.lr_lambdas]
        return {**super().state_dict(), "lr_lambdas": functions}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave; the functions themselves stay."""
        super().load_state_dict(state_dict)
        for own, saved in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if saved is not None:
                own.__dict__.update(saved)


class LambdaLR(_WithFunctions):
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

    def get_lr(self) -> list[Any]:
        """Compute the next learning rates."""
        self._warn_if_asked_directly()
        pairs = zip(self.lr_lambdas, self.base_lrs, strict=True)
        return [base * function(self.last_epoch) for function, base in pairs]


class MultiplicativeLR(_WithFunctions):
    r"""The learning rate times a function of the epoch: $\gamma_t = \gamma_{t-1} f(t)$.

    Args:
        optimizer: Whose learning rates are changed.
        lr_lambda: The function, or one for each group.
        last_epoch: The epoch after which to go on; -1 to begin.
    """

    _must_be_functions = True

    def get_lr(self) -> list[Any]:
        """Compute the next learning rates."""
        self._warn_if_asked_directly()
        if self._is_initial:
            return self._present()
        pairs = zip(self.lr_lambdas, self.optimizer.param_groups, strict=True)
        return [group["lr"] * function(self.last_epoch) for function, group in pairs]


class _ByFactors(LRScheduler):
    """The part that schedules of given factors share: subclasses tell the factors."""

    def _factor(self, epoch: int) -> float | None:
        """Give by what the last learning rate is multiplied in an epoch; None to leave it."""
        raise NotImplementedError

    def _product(self, epoch: int) -> float:
        """Give by what the first learning rate is multiplied until an epoch, in closed form."""
        raise NotImplementedError

    def get_lr(self) -> list[Any]:
        """Compute the next learning rates."""
        self._warn_if_asked_directly()
        factor = self._factor(self.last_epoch)
        if factor is None:
            return self._present()
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _get_closed_form_lr(self) -> list[Any]:
        product = self._product(self.last_epoch)
        return [base * product for base in self.base_lrs]


class StepLR(_ByFactors):
    r"""Every `step_size` epochs the learning rate is multiplied by `gamma`.

    Args:
        optimizer: Whose learning rates are changed.
        step_size: After how many epochs it falls.
        gamma: The factor.
        last_epoch: The epoch after which to go on; -1 to begin.
    """

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float | None:
        return self.gamma if epoch != 0 and epoch % self.step_size == 0 else None

    def _product(self, epoch: int) -> float:
        return self.gamma ** (epoch // self.step_size)


class MultiStepLR(_ByFactors):
    """At each milestone the learning rate is multiplied by `gamma`.

    Args:
        optimizer: Whose learning rates are changed.
        milestones: The epochs at which it falls; one named twice counts twice.
        gamma: The factor.
        last_epoch: The epoch after which to go on; -1 to begin.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float | None:
        return self.gamma ** self.milestones[epoch] if epoch in self.milestones else None

    def _product(self, epoch: int) -> float:
        return self.gamma ** bisect_right(sorted(self.milestones.elements()), epoch)


class ConstantLR(_ByFactors):
    """The learning rate is multiplied by a factor until `total_iters` epochs have passed.

    Args:
        optimizer: Whose learning rates are changed.
        factor: The factor, from 0 to 1.
        total_iters: When it is taken back.
        last_epoch: The epoch after which to go on; -1 to begin.

    Raises:
        ValueError: If the factor is out of range.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float | None:
        if epoch == 0:
            return self.factor
        return 1.0 / self.factor if epoch == self.total_iters else None

    def _product(self, epoch: int) -> float:
        return self.factor + (epoch >= self.total_iters) * (1 - self.factor)


class LinearLR(_ByFactors):
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

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal "
                "to 1."
            )
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

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


class ExponentialLR(_ByFactors):
    r"""In every epoch the learning rate is multiplied by `gamma`: $\gamma_0 \gamma^t$.

    Args:
        optimizer: Whose learning rates are changed.
        gamma: The factor.
        last_epoch: The epoch after which to go on; -1 to begin.
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float | None:
        return None if self._is_initial else self.gamma

    def _product(self, epoch: int) -> float:
        return self.gamma**epoch


class PolynomialLR(_ByFactors):
    r"""The learning rate falls to zero by a power: $\gamma_0 (1 - t / T)^p$.

    Args:
        optimizer: Whose learning rates are changed.
        total_iters: When it is zero: $T$.
        power: The power $p$.
        last_epoch: The epoch after which to go on; -1 to begin.
    """

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float | None:
        if self._is_initial or epoch > self.total_iters:
            return None
        left, before = (1.0 - at / self.total_iters for at in (epoch, epoch - 1))
        return (left / before) ** self.power

    def _product(self, epoch: int) -> float:
        return (1.0 - min(self.total_iters, epoch) / self.total_iters) ** self.power
