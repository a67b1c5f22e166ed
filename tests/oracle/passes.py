"""Record a scenario's backward passes on both libraries, and say where and why they part."""

from __future__ import annotations

from collections import Counter
from types import ModuleType
from typing import Any

import minigrad
from minigrad.viz import record
from minigrad.viz.comparison import first_difference

from .log import run
from .scenarios import FAMILIES


def recorded_run(scenario: Any, library: ModuleType) -> tuple[list[Any], Any]:
    """Run a scenario while its passes are recorded: what it tells, and the log of the passes."""
    library.manual_seed(0)
    with record() as log:
        told = run(scenario, library)
    return told, log


def reason(ours: Any, theirs: Any) -> str | None:
    """Say why two logs are not equal; None if they are."""
    place = first_difference(ours, theirs)
    if place is None:
        return None
    names = [Counter(event.node.name for event in log) for log in (ours, theirs)]
    only_ours, only_theirs = (sorted(set(a) - set(b)) for a, b in (names, names[::-1]))
    if only_theirs or only_ours:
        words = (" ".join(only) or "none" for only in (only_ours, only_theirs))
        return f"event {place}: nodes {next(words)} here, {next(words)} there"
    return f"event {place}: the same kinds of nodes"


def differences(family: str, torch: ModuleType) -> dict[str, str]:
    """Give for each scenario of a family whose passes are not equal the reason."""
    found = {}
    for name, scenario in FAMILIES[family].items():
        (_, ours), (_, theirs) = (recorded_run(scenario, each) for each in (minigrad, torch))
        why = reason(ours, theirs)
        if why is not None:
            found[name] = why
    return found
