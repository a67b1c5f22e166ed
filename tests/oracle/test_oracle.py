"""Hold minigrad against PyTorch: against the recorded logs always, live where torch is
installed.
"""

from __future__ import annotations

import gc
import importlib.util
from types import ModuleType

import pytest

import minigrad

from . import store
from .compare import differences
from .log import run
from .not_yet import NOT_YET
from .scenarios import FAMILIES

CASES = [(family, name) for family, scenarios in FAMILIES.items() for name in scenarios]
TORCH_IS_HERE = importlib.util.find_spec("torch") is not None


def cases_of_minigrad() -> list[object]:
    """Give all cases, those that minigrad is known not to reach yet marked to fail."""
    marked: list[object] = []
    for family, name in CASES:
        reason = NOT_YET.get(f"{family}.{name}")
        marks = [] if reason is None else [pytest.mark.xfail(reason=reason, strict=True)]
        marked.append(pytest.param(family, name, marks=marks, id=f"{family}-{name}"))
    return marked


def report(family: str, name: str, found: list[str]) -> str:
    """Lay the differences of one scenario out for a reader."""
    scenario = FAMILIES[family][name]
    sentence = " ".join((scenario.__doc__ or "").split())
    return "\n".join([f"{family}.{name}: {sentence}", *found])


@pytest.mark.parametrize(("family", "name"), cases_of_minigrad())
def test_minigrad_does_what_pytorch_was_recorded_doing(family: str, name: str) -> None:
    """Compare minigrad's log with the recording."""
    found = differences(
        store.read(family)["scenarios"][name], run(FAMILIES[family][name], minigrad)
    )
    assert not found, report(family, name, found)


@pytest.fixture(scope="module")
def torch() -> ModuleType:
    """Give torch, if it is here in the version that was recorded."""
    module = pytest.importorskip("torch")
    gc.freeze()  # many scenarios look for garbage; PyTorch itself is none
    recorded = store.read(CASES[0][0])["torch"]
    if module.__version__.split("+")[0] != recorded:
        pytest.skip(f"recorded with PyTorch {recorded}, here is {module.__version__}")
    assert isinstance(module, ModuleType)
    return module


@pytest.mark.skipif(not TORCH_IS_HERE, reason="torch is not installed")
@pytest.mark.parametrize("family", FAMILIES)
def test_the_recording_is_what_pytorch_does(family: str, torch: ModuleType) -> None:
    """Compare torch's log with the recording, so that minigrad is compared with live torch through
    it.
    """
    recorded = store.read(family)["scenarios"]
    for name, scenario in FAMILIES[family].items():
        found = differences(recorded[name], run(scenario, torch))
        assert not found, report(family, name, found)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_scenario_is_recorded_and_described(family: str) -> None:
    """A scenario without a record would compare nothing; one without a sentence explains
    nothing.
    """
    record = store.read(family)
    assert set(record["scenarios"]) == set(FAMILIES[family])
    assert all(record["scenarios"].values())
    assert all((scenario.__doc__ or "").strip() for scenario in FAMILIES[family].values())
    assert store.dump(record["torch"], record["scenarios"]) == (
        store.FOLDER / f"{family}.json"
    ).read_text(encoding="utf-8")


def test_what_is_not_reached_yet_exists() -> None:
    """The list of known gaps names scenarios that are there."""
    assert set(NOT_YET) <= {f"{family}.{name}" for family, name in CASES}
