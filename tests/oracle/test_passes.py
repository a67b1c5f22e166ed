"""Passes of scenarios are PyTorch's event by event, but for those that `parts.json` lists."""

from __future__ import annotations

import pytest

from . import store
from .compare import differences as told_apart
from .compare import worded
from .passes import family_parts, stored
from .reasons import REASONS, reasons_of
from .scenarios import FAMILIES

LISTED = stored()
# What recording shows: a recorded node carries its label, which the first one prints; and a table
# for hooks, so that PyTorch keeps the gradients for the one that the second one puts on late.
SHOWN = {
    "anomaly.notes_on_nodes",
    "module_fuzzed.a_hook_registered_by_a_hook_after_accumulation",
}


@pytest.mark.live
@pytest.mark.parametrize("family", FAMILIES)
def test_passes_leave_equal_logs(family: str) -> None:
    """Nodes, hooks, order, values: each event is the same on both libraries, or is listed.

    And hooks, errors, values, gradients and lifetimes are PyTorch's own while a log is written.
    """
    torch = pytest.importorskip("torch")
    found, told = family_parts(family, torch)
    recorded = store.read(family)["scenarios"]
    changed = {
        name: told_apart(recorded[name], each, words=worded(family))
        for name, each in told.items()
        if f"{family}.{name}" not in SHOWN
    }
    assert {name: each for name, each in changed.items() if each} == {}
    assert found == LISTED[family]  # python3 -m tests.oracle.passes


def test_each_scenario_that_parts_has_its_reasons() -> None:
    """Each node that only PyTorch has is in one of them, and none is listed for nothing."""
    parts = [(f, name, each) for f in LISTED for name, each in LISTED[f]["parts"].items()]
    assert [*LISTED] == sorted(FAMILIES)
    assert all(name in FAMILIES[family] for family, name, _ in parts)
    reasons = {(family, name): reasons_of(family, name, each) for family, name, each in parts}
    assert reasons == {(family, name): each["why"] for family, name, each in parts}
    assert all(reasons.values())
    assert {key for *_, each in parts for key in each["why"]} == {*REASONS}
