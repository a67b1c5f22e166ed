"""Backward passes of all scenarios, event by event, are PyTorch's, or the difference is listed."""

from __future__ import annotations

import json

import pytest

from . import store
from .compare import differences as told_apart
from .compare import worded
from .passes import FILE, differences, recorded_run
from .scenarios import FAMILIES

LISTED = json.loads(FILE.read_text(encoding="utf-8"))
# They print what a node carries, and a recorded node carries its label.
SHOWN = {"anomaly_details.notes_on_nodes"}


@pytest.mark.examples
@pytest.mark.parametrize("family", FAMILIES)
def test_passes_part_only_where_it_is_listed(family: str) -> None:
    """Each scenario leaves the same log on both libraries, or the one difference that is listed."""
    torch = pytest.importorskip("torch")
    assert differences(family, torch) == LISTED.get(family, {})


# Families of operations check rules, which know nothing of the pass.
@pytest.mark.examples
@pytest.mark.parametrize("family", [each for each in FAMILIES if not each.startswith("operations")])
def test_recording_changes_nothing_in_pytorch(family: str) -> None:
    """Hooks, errors, values, gradients and lifetimes are PyTorch's own while a log is written."""
    torch = pytest.importorskip("torch")
    recorded = store.read(family)["scenarios"]
    found = {}
    for name, scenario in FAMILIES[family].items():
        told, _ = recorded_run(scenario, torch)
        if f"{family}.{name}" not in SHOWN:
            found[name] = told_apart(recorded[name], told, words=worded(family))
    assert {name: each for name, each in found.items() if each} == {}
