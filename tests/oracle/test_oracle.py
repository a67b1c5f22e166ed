"""Hold minigrad against PyTorch: against the recorded logs always, and these against PyTorch where
it is installed.
"""

from __future__ import annotations

import gc
import importlib.util
from types import ModuleType

import pytest

import minigrad

from . import store
from .compare import differences, worded
from .log import run
from .not_yet import NOT_YET
from .scenarios import FAMILIES


def differing(family: str, torch: ModuleType) -> dict[str, str]:
    """Run a family's scenarios; lay out for a reader how the logs of some are not the recorded.

    PyTorch is compared with its own words; minigrad too where they are its subject.
    """
    words = torch is not minigrad or worded(family)
    recorded = store.read(family)["scenarios"]
    told = {}
    for name, scenario in FAMILIES[family].items():
        if found := differences(recorded[name], run(scenario, torch), words=words):
            sentence = " ".join((scenario.__doc__ or "").split())
            told[name] = "\n".join([f"{family}.{name}: {sentence}", *found])
    return told


@pytest.mark.parametrize("family", FAMILIES)
def test_minigrad_does_what_pytorch_was_recorded_doing(family: str) -> None:
    """Compare minigrad's logs with the recording; only those known not to be reached differ."""
    told = differing(family, minigrad)
    known = {name for name in FAMILIES[family] if f"{family}.{name}" in NOT_YET}
    assert not told.keys() - known, "\n\n".join(told[name] for name in told.keys() - known)
    assert not known - told.keys(), f"no longer out of reach: {known - told.keys()}"


@pytest.fixture(scope="module")
def torch() -> ModuleType:
    """Give torch, if it is here in the version that was recorded."""
    module = pytest.importorskip("torch")
    gc.freeze()  # many scenarios look for garbage; PyTorch itself is none
    recorded = store.read(next(iter(FAMILIES)))["torch"]
    if module.__version__.split("+")[0] != recorded:
        pytest.skip(f"recorded with PyTorch {recorded}, here is {module.__version__}")
    assert isinstance(module, ModuleType)
    return module


@pytest.mark.live
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.parametrize("family", FAMILIES)
def test_the_recording_is_what_pytorch_does(family: str, torch: ModuleType) -> None:
    """Compare torch's logs with the recording, so that minigrad is compared with live torch through
    it.
    """
    told = differing(family, torch)
    assert not told, "\n\n".join(told.values())


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
    known = {f"{family}.{name}" for family, scenarios in FAMILIES.items() for name in scenarios}
    assert set(NOT_YET) <= known
