"""Check that the comparison can fail: planted differences of every kind are caught, allowed ones
are not.
"""

from __future__ import annotations

import copy
import math
from types import ModuleType
from typing import Any

import pytest

import minigrad

from . import store
from .compare import ULPS, differences, worded
from .log import number, run
from .scenarios import FAMILIES
from .scenarios.tools import numbers

LOG: list[Any] = [
    ["y", {"float32[2] MulBackward0": [0.5, -3.0]}],
    [{"warning": "FutureWarning", "message": "Old ways are leaving."}],
    ["error", {"error": "RuntimeError", "message": "The sizes do not fit"}],
    ["double", {"float64[2]": [1.0, 2.0]}],
    ["flag", True, 1, None],
    ["nan", {"float32[2]": ["nan", "inf"]}],
]


def planted(position: int, event: Any) -> list[Any]:
    """Give the log with one event replaced."""
    changed = copy.deepcopy(LOG)
    changed[position] = event
    return changed


@pytest.mark.parametrize(
    "changed",
    [
        planted(0, ["y", {"float32[2] MulBackward0": [0.5, -3.00001]}]),
        planted(0, ["y", {"float32[2] MulBackward0": [0.5, 3.0]}]),
        planted(0, ["y", {"float32[2] AddBackward0": [0.5, -3.0]}]),
        planted(0, ["y", {"float64[2] MulBackward0": [0.5, -3.0]}]),
        planted(0, ["y", {"float32[2]": [0.5, -3.0]}]),
        planted(0, ["y", {"float32[2] MulBackward0": [0.5, "nan"]}]),
        planted(0, ["z", {"float32[2] MulBackward0": [0.5, -3.0]}]),
        planted(0, ["y", None]),
        planted(1, [{"warning": "UserWarning", "message": "Old ways are leaving."}]),
        planted(1, [{"warning": "FutureWarning", "message": "Old ways are leaving"}]),
        planted(2, ["error", {"error": "ValueError", "message": "The sizes do not fit"}]),
        planted(2, ["error", {"error": "RuntimeError", "message": "Sorry. The sizes do not fit"}]),
        planted(2, ["error", "no error", None]),
        planted(3, ["double", {"float64[2]": [1.0, 2.0 + 1e-12]}]),
        planted(4, ["flag", 1, 1, None]),
        planted(4, ["flag", True, 1.0, None]),
        planted(5, ["nan", {"float32[2]": ["inf", "nan"]}]),
        LOG[:-1],
        [*LOG, ["one more"]],
        [LOG[1], LOG[0], *LOG[2:]],
    ],
)
def test_a_planted_difference_is_caught(changed: list[Any]) -> None:
    """Whatever a reader could see differs is reported."""
    assert differences(LOG, changed)


@pytest.mark.parametrize(
    "changed",
    [
        LOG,
        planted(0, ["y", {"float32[2] MulBackward0": [0.5 + 2**-22, -3.0 - 2**-22]}]),
        planted(
            1, [{"warning": "FutureWarning", "message": "Old ways are leaving. Take the new one."}]
        ),
        planted(
            2,
            ["error", {"error": "RuntimeError", "message": "The sizes do not fit: make them fit."}],
        ),
        planted(3, ["double", {"float64[2]": [1.0, math.nextafter(2.0, 3.0)]}]),
    ],
)
def test_an_allowed_difference_passes(changed: list[Any]) -> None:
    """Last bits and an extra sentence are allowed."""
    assert differences(LOG, changed) == []


def test_the_tolerance_is_what_it_says() -> None:
    """An entry may be off by the stated number of units in the last place of the largest entry, not
    by more.
    """
    unit = 2.0**-23 * 4.0
    for off, caught in ((ULPS - 1, False), (ULPS + 1, True)):
        changed = [["x", {"float32[2]": [0.25 + off * unit, 4.0]}]]
        assert bool(differences([["x", {"float32[2]": [0.25, 4.0]}]], changed)) is caught


def test_the_report_shows_both_sides() -> None:
    """A report names the event, the reason and both values."""
    (report,) = differences(LOG, planted(0, ["y", {"float32[2] MulBackward0": [0.5, -2.0]}]))
    assert "event 0" in report
    assert "-2.0 instead of -3.0" in report
    assert "expected" in report and "got" in report


class Planted(ModuleType):
    """minigrad with one function replaced by a wrong one."""

    def __init__(self, name: str, wrong: str) -> None:
        """Let the function of the first name be the one of the second."""
        super().__init__("planted")
        setattr(self, name, getattr(minigrad, wrong))

    def __getattr__(self, name: str) -> Any:
        """Give everything else as minigrad has it."""
        return getattr(minigrad, name)


def test_a_planted_wrong_function_is_caught() -> None:
    """A scenario run with sin instead of tanh does not match its recording."""
    record = store.read("higher_derivatives")["scenarios"]["tanh"]
    assert differences(record, run(FAMILIES["higher_derivatives"]["tanh"], Planted("tanh", "sin")))


def test_an_exception_in_a_scenario_is_an_event() -> None:
    """A scenario that breaks off is a difference, not a crash of the comparison."""

    def broken(torch: ModuleType, log: Any) -> None:
        log("start")
        raise ValueError("broken off at 0x7f00aa")

    stopped = ["stopped by", {"error": "ValueError", "message": "broken off at 0x..."}]
    assert run(broken, minigrad) == [["start"], stopped]


def test_numbers_are_the_same_everywhere() -> None:
    """The generator gives these numbers on every platform, exact in float32, and float32 is written
    shortest.
    """
    assert numbers((2, 2), 1) == [[-1.66796875, 1.052734375], [0.564453125, -1.611328125]]
    assert all(value * 512 == int(value * 512) for row in numbers((20, 20), 3) for value in row)
    assert number(0.10000000149011612, "float32") == 0.1
    assert number(float("nan")) == "nan"


def test_elsewhere_errors_are_compared_in_type_and_place() -> None:
    """Words of our own are fine there; another type, or no error, is not."""
    told = ["error", {"error": "RuntimeError", "message": "The sizes do not fit"}]
    ours = ["error", {"error": "RuntimeError", "message": "add: sizes 2 and 3"}]
    other = ["error", {"error": "ValueError", "message": "The sizes do not fit"}]
    assert differences([told], [ours]) and not differences([told], [ours], words=False)
    assert differences([told], [other], words=False)
    assert differences([told], [["error", "no error", None]], words=False)
    assert worded("module_full_hooks") and not worded("operations_shape")
