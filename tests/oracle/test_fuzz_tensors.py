"""Hold minigrad against PyTorch in random tensor programs: recorded ones always, fresh ones where
torch is installed.
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from itertools import islice
from types import ModuleType

import pytest

import minigrad
from minigrad.ops import elementwise
from tests.planting import plant

from .fuzz import program_features, tensor_corpus
from .fuzz.program_maker import make
from .fuzz.programs import Statement, run_program, source
from .fuzz.shrink import shrink
from .fuzz.tensor_compare import differences
from .fuzz.tensor_fuzzing import compare, explain, twice_differentiable

TORCH_IS_HERE = importlib.util.find_spec("torch") is not None
RECORD = tensor_corpus.read()
RECORDED = {entry["seed"]: entry for entry in RECORD["programs"]}
BLOCK = 25
FRESH = 300  # programs that are made and run side by side, where PyTorch is installed
BLOCKS = range(0, len(RECORDED), BLOCK)

needs_torch = pytest.mark.skipif(not TORCH_IS_HERE, reason="torch is not installed")


def replayed(seed: int, torch: ModuleType) -> list[str]:
    """Run a recorded program and list how its log differs from the recorded one."""
    entry = RECORDED[seed]
    program = entry["program"]
    log = tensor_corpus.compact(program, run_program(program, torch))
    names = torch is not minigrad or not twice_differentiable(program)
    return differences(entry["log"], log, names=names)


@pytest.fixture(scope="module")
def torch() -> ModuleType:
    """Give torch, if it is here in the version that was recorded."""
    module = pytest.importorskip("torch")
    if module.__version__.split("+")[0] != RECORD["torch"]:
        pytest.skip(f"recorded with PyTorch {RECORD['torch']}, here is {module.__version__}")
    assert isinstance(module, ModuleType)
    return module


@pytest.mark.parametrize("first", BLOCKS)
def test_minigrad_does_what_pytorch_was_recorded_doing(first: int) -> None:
    """Replay a block of the recorded programs."""
    for seed in list(RECORDED)[first : first + BLOCK]:
        found = replayed(seed, minigrad)
        assert not found, "\n".join([source(RECORDED[seed]["program"]), *found])


@needs_torch
@pytest.mark.parametrize("first", BLOCKS)
def test_the_recording_is_what_pytorch_does(first: int, torch: ModuleType) -> None:
    """Replay them on torch, so that the recording is known to be right."""
    for seed in list(RECORDED)[first : first + BLOCK]:
        found = replayed(seed, torch)
        assert not found, "\n".join([source(RECORDED[seed]["program"]), *found])


@pytest.mark.examples
@needs_torch
@pytest.mark.parametrize("first", range(1000, 1000 + FRESH, BLOCK))
def test_programs_that_are_not_recorded_do_the_same(first: int, torch: ModuleType) -> None:
    """Run programs side by side; a failure says by which seed they are found again."""
    for seed in range(first, first + BLOCK):
        assert not compare(make(seed), torch), explain(seed, torch)


# ---------------------------------------------------------------------- the fuzzer itself


def test_a_seed_always_makes_the_same_program() -> None:
    """Otherwise a failure could not be found again."""
    assert make(7) == make(7) != make(8)


def test_the_programs_do_everything() -> None:
    """Each kind of statement is there, most statements succeed, and hooks run."""
    counter: Counter[str] = Counter()
    for entry in RECORDED.values():
        program = entry["program"]
        texts = [statement.text for statement in program]
        log = [
            [texts[label] if isinstance(label, int) else label, *rest]
            for label, *rest in entry["log"]
        ]
        program_features.count(program, log, counter)
    assert set(program_features._KINDS) <= set(counter)
    statements = sum(counter[kind] for kind in program_features._KINDS)
    assert counter["error"] < 0.15 * statements
    assert counter["hook ran"] > len(RECORDED) / 2
    assert sum(name.startswith("error: ") for name in counter) > 40
    assert counter["other"] == 0


def differing(enough: int) -> int:
    """Count the recorded programs that go otherwise now, up to so many."""
    return sum(1 for _ in islice((seed for seed in RECORDED if replayed(seed, minigrad)), enough))


def test_a_wrong_rule_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A product's gradient that is wrong by a thousandth shows in the recorded programs."""
    plant(monkeypatch, elementwise.mul, "self", lambda gradient, *_: gradient * 1.001)
    assert differing(11) == 11


def test_a_missing_version_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """So does an in-place change that nobody counts."""
    monkeypatch.setattr(minigrad.Tensor, "_bump_version", lambda self: None)
    assert differing(101) == 101


def test_shrinking_keeps_what_fails() -> None:
    """The shortest failing list is found, and statements are made simpler."""
    items = list(range(40))
    assert shrink(items, lambda kept: {3, 17} <= set(kept)) == [3, 17]
    assert shrink([5, 6, 9], lambda kept: len(kept) > 1, lambda n: [0] if n else []) == [0, 0]
    tried: list[list[int]] = []

    def fails(kept: list[int]) -> bool:
        tried.append(kept)
        return len(kept) > 30

    assert len(shrink(items, fails, tries=9)) > 30
    assert len(tried) == 9


def test_numbers_may_differ_by_rounding_only() -> None:
    """The tolerance follows the largest number and the coarsest dtype of the program."""
    log = [["a", {"float64[2]": [1000.0, 0.5]}, "version 0"]]
    assert not differences(log, [["a", {"float64[2]": [1000.0, 0.5 + 1e-8]}, "version 0"]])
    assert differences(log, [["a", {"float64[2]": [1000.0, 0.5 + 1e-5]}, "version 0"]])
    single = [["a", {"float32[2]": [1.0, 0.5]}, "version 0"]]
    assert not differences(single, [["a", {"float32[2]": [1.0, 0.500001]}, "version 0"]])
    assert differences(single, [["a", {"float32[2]": [1.0, 0.5001]}, "version 0"]])
    assert differences(log, [["a", {"float64[2]": [1000.0, 0.5]}, "version 1"]])


def test_an_error_goes_on_with_the_next_statement() -> None:
    """A program does not end at its first error."""
    program = [Statement("a = T(1, 2, grad=True)"), Statement("a.add_(1)"), Statement("b = a * 2")]
    log = run_program(program, minigrad)
    assert log[1][1]["error"] == "RuntimeError"
    assert ["b = a * 2"] in log
