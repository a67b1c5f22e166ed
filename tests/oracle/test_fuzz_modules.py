"""Hold minigrad against PyTorch in random programs of modules with hooks."""

from __future__ import annotations

import importlib.util
import os
import random
from types import ModuleType
from typing import Any

import pytest

import minigrad
from minigrad.core import module_hooks
from minigrad.core.hooks import NodeHooks

from .fuzz import module_corpus, module_fuzzing
from .fuzz.module_hooks import MODULE_KINDS
from .fuzz.module_programs import program
from .fuzz.module_shrink import shrink

TORCH_IS_HERE = importlib.util.find_spec("torch") is not None
CORPUS = module_corpus.read()
FIXED = [range(start, start + 25) for start in range(1000, 1200, 25)]
# Other programs in each run; a failure prints its seed, with which it can be had again.
FIRST = int(os.environ.get("FUZZ_SEED", random.SystemRandom().randrange(10**9)))
ROTATING = [range(FIRST + start, FIRST + start + 25) for start in range(0, 100, 25)]


@pytest.fixture(scope="module")
def torch() -> ModuleType:
    """Give torch, if it is here in the version that was recorded."""
    module = pytest.importorskip("torch")
    if module.__version__.split("+")[0] != CORPUS["torch"]:
        pytest.skip(f"recorded with PyTorch {CORPUS['torch']}, here is {module.__version__}")
    assert isinstance(module, ModuleType)
    return module


def failing(torch: ModuleType, seeds: range) -> str:
    """Explain the first program, made small, in which the two differ."""
    for seed in seeds:
        if module_fuzzing.part(torch, program(seed)):
            told = module_fuzzing.explain(torch, program(seed))
            return f"{told}\nagain: python3 tests/oracle/fuzz_modules.py --seed {seed} --count 1"
    return ""


@pytest.mark.skipif(not TORCH_IS_HERE, reason="torch is not installed")
@pytest.mark.parametrize("seeds", FIXED, ids=lambda seeds: f"from {seeds[0]}")
def test_minigrad_does_what_pytorch_does(seeds: range, torch: ModuleType) -> None:
    """Compare the logs of the same programs in each run."""
    assert not (found := failing(torch, seeds)), found


@pytest.mark.skipif(not TORCH_IS_HERE, reason="torch is not installed")
@pytest.mark.parametrize("place", range(len(ROTATING)))
def test_minigrad_does_what_pytorch_does_in_new_programs(place: int, torch: ModuleType) -> None:
    """Compare the logs of programs that nobody has seen yet."""
    assert not (found := failing(torch, ROTATING[place])), found


@pytest.mark.parametrize("tenth", range(10))
def test_minigrad_does_what_pytorch_was_recorded_doing(tenth: int) -> None:
    """Compare minigrad's logs with the corpus; this needs no torch."""
    for seed, entry in list(CORPUS["programs"].items())[tenth::10]:
        assert not (found := module_corpus.parts(minigrad, seed, entry)), f"seed {seed}: {found}"


@pytest.mark.skipif(not TORCH_IS_HERE, reason="torch is not installed")
def test_the_corpus_is_what_pytorch_does(torch: ModuleType) -> None:
    """Compare the corpus with torch as it is."""
    for seed, entry in CORPUS["programs"].items():
        assert not (found := module_corpus.parts(torch, seed, entry)), f"seed {seed}: {found}"


def test_the_corpus_belongs_to_the_programs() -> None:
    """A change of the generator makes other programs of the seeds: then record the corpus anew."""
    assert len(CORPUS["programs"]) == module_corpus.COUNT
    for seed, (fingerprint, _) in CORPUS["programs"].items():
        assert module_corpus.fingerprint(module_corpus.in_double(int(seed))) == fingerprint


def test_the_corpus_reaches_every_kind_of_hook() -> None:
    """Programs in which nothing is called would compare nothing."""
    called = {
        " ".join(event[0].split()[1:2]) + (" global" if event[0].endswith("global") else "")
        for _, log in CORPUS["programs"].values()
        for event in log
        if isinstance(event[0], str) and event[0].startswith("h")
    }
    others = {"tensor", "node_pre", "node_post", "accumulated", "step_pre", "step_post"}
    everywhere = {f"{kind} global" for kind in MODULE_KINDS}
    assert {*MODULE_KINDS, *others, *everywhere} <= called


def _in_reverse(self: Any, gradients: list[Any]) -> None:
    for output_nr, table in self.tensor_pre.items():
        for hook in reversed(table.values()):
            result = hook(gradients[output_nr])
            gradients[output_nr] = gradients[output_nr] if result is None else result


def _without_pre_hooks(self: Any, _: Any, grad_outputs: Any) -> Any:
    return grad_outputs


_RULE = module_hooks.BackwardHookFunctionBackward._run


def _slightly_wrong(node: Any, gradient: Any, keep: bool = True) -> Any:
    return tuple(g if g is None else g * 1.001 for g in _RULE(node, gradient, keep))


@pytest.mark.parametrize(
    ("where", "name", "wrong"),
    [
        (NodeHooks, "run_tensor_hooks", _in_reverse),
        (module_hooks.FullBackwardHooks, "at_outputs", _without_pre_hooks),
        (module_hooks.BackwardHookFunctionBackward, "_run", _slightly_wrong),
    ],
)
def test_a_planted_mistake_is_found(
    where: Any, name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The corpus notices hooks in the wrong order, hooks left out, and gradients times 1.001."""
    monkeypatch.setattr(where, name, wrong)
    programs = CORPUS["programs"].items()
    assert any(module_corpus.parts(minigrad, seed, entry) for seed, entry in programs)


def test_a_failing_program_is_made_small() -> None:
    """What the failure does not need is taken away."""

    def fails(described: Any) -> bool:
        return any(spec["kind"] == "Linear" for spec in described["modules"])

    seed = next(n for n in range(100) if fails(program(n)) and len(program(n)["modules"]) > 3)
    small = shrink(program(seed), fails)
    assert [spec["kind"] for spec in small["modules"]] == ["Linear"]
    assert not small["hooks"] and not small["spare"] and not small["steps"]
