"""Name an epoch, in the old way: the learning rate is that of going there step by step."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import minigrad

SCHEDULES: dict[str, dict[str, Any]] = {
    "StepLR": {"step_size": 2, "gamma": 0.5},
    "MultiStepLR": {"milestones": [1, 3, 3], "gamma": 0.5},
    "ConstantLR": {"factor": 0.25, "total_iters": 3},
    "LinearLR": {"start_factor": 0.25, "end_factor": 0.75, "total_iters": 4},
    "ExponentialLR": {"gamma": 0.75},
    "PolynomialLR": {"total_iters": 6, "power": 2.0},
    "CosineAnnealingLR": {"T_max": 7, "eta_min": 0.01},
    "LambdaLR": {"lr_lambda": lambda epoch: 1 / (1 + epoch)},
}


def rates(library: Any, name: str, epochs: list[int | None]) -> list[float]:
    """Give the learning rate after each step, to an epoch or to the next one."""
    optimizer = library.optim.SGD([library.ones(1, requires_grad=True)], lr=0.5)
    schedule = getattr(library.optim.lr_scheduler, name)(optimizer, **SCHEDULES[name])
    optimizer.step()
    found = []
    for epoch in epochs:
        schedule.step(epoch)
        found += map(float, schedule.get_last_lr())
    return found


@pytest.mark.parametrize("name", SCHEDULES)
def test_an_epoch_has_the_rate_of_going_there(name: str) -> None:
    """Jump to an epoch, ahead and back, and be warned; then go on from it."""
    by_steps = rates(minigrad, name, [None] * 5)
    with pytest.warns(UserWarning, match="epoch parameter in `scheduler.step"):
        jumping = rates(minigrad, name, [5, 2, 4])
    assert jumping == pytest.approx([by_steps[4], by_steps[1], by_steps[3]])


@pytest.mark.parametrize("name", SCHEDULES)
def test_jumps_are_pytorchs(name: str) -> None:
    """Mix steps and jumps, also where the step after a jump is not that of the way by steps."""
    torch = pytest.importorskip("torch")
    jumps = [3, None, None, 1, None, 0, None]
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        assert rates(minigrad, name, jumps) == pytest.approx(rates(torch, name, jumps))


def test_a_plateau_takes_an_epoch_too() -> None:
    """Tell the epoch of a measure."""
    optimizer = minigrad.optim.SGD([minigrad.ones(1, requires_grad=True)], lr=0.5)
    schedule = minigrad.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
    with pytest.warns(UserWarning, match="epoch parameter"):
        schedule.step(1.0, 7)
    assert schedule.last_epoch == 7
