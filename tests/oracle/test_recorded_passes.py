"""A backward pass that is written down is the same pass: every scenario runs under `record`."""

from __future__ import annotations

import pytest

import minigrad
from minigrad.viz import record

from . import store
from .compare import differences, worded
from .log import run
from .not_yet import NOT_YET
from .scenarios import FAMILIES


# Families of operations check rules, which know nothing of the pass.
@pytest.mark.parametrize("family", [each for each in FAMILIES if not each.startswith("operations")])
def test_recording_changes_nothing(family: str) -> None:
    """Hooks, errors, values, gradients and lifetimes are PyTorch's also while a log is written."""
    recorded = store.read(family)["scenarios"]
    found = {}
    for name, scenario in FAMILIES[family].items():
        with record():
            events = run(scenario, minigrad)
        if f"{family}.{name}" not in NOT_YET:
            found[name] = differences(recorded[name], events, words=worded(family))
    assert {name: each for name, each in found.items() if each} == {}
