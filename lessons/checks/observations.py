"""Find in what a scenario observed of an answer what a wrong one brings about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minigrad.classroom.behaviors import Trial
from minigrad.classroom.values import alike

Answer = Callable[..., Any]


def observed(found: Sequence[Trial], name: str) -> Any:
    """Give what was observed under a name."""
    return next(trial.result for trial in found if trial.gave == f"{name} is")


def partly(
    scenario: Callable[[Answer], dict[str, Any]], wrong: Answer, *names: str
) -> Callable[[Sequence[Trial]], bool]:
    """Recognize a wrong answer by some of the observations, whatever became of the others."""

    def detector(found: Sequence[Trial]) -> bool:
        seen = scenario(wrong)
        return all(alike(observed(found, name), seen[name]) for name in names)

    return detector
