"""The search itself: it finds what is planted, makes it small, and its programs do something."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import minigrad
from tests.oracle.log import run
from tests.oracle.scenarios.tools import Family, each, look
from tests.oracle.test_compare import Planted

from .__main__ import program, search
from .running import apart, run_program
from .shrinking import shrink

WRONG = Planted("ones_like", "zeros_like")  # instead of PyTorch


def test_a_planted_mistake_is_found_and_printed_as_a_scenario(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The scenario shows the mistake by itself, in few lines."""
    assert search("tensors", range(12), WRONG, show=1) == 1
    source = capsys.readouterr().out.rpartition("\n")[0].rpartition("\n")[0]
    family, names = Family(), {"each": each, "look": look}
    exec(source, names | {"family": family})
    (scenario,) = family.values()
    assert run(scenario, WRONG) != run(scenario, minigrad)
    lines = source[source.index('"""Say') :].splitlines()[1:]
    assert len(lines) < 8 and sum("torch.ones_like(" in line for line in lines) == 1


def test_without_a_mistake_nothing_is_found() -> None:
    """What a program does depends on nothing but the program."""
    for kind in ("tensors", "modules", "calls"):
        for seed in range(5):
            made = program(seed, kind)
            assert made == program(seed, kind)
            assert run_program(made, minigrad) == run_program(made, minigrad)


def test_programs_call_hooks_of_every_kind() -> None:
    """Programs in which nothing is called, or everything fails, would compare nothing."""
    counted: Counter[str] = Counter()
    for seed in range(60):
        made = program(seed, "modules" if seed % 3 else "tensors")
        for event in run_program(made, minigrad):
            failed = isinstance(event[-1], dict) and "error" in event[-1]
            words = str(event[0]).lstrip("0123456789 ").split(" on ")[0].split(" ")
            counted["error" if failed else " ".join(words[:2])] += 1
        counted["statements"] += len(made)
    hooks = ["forward-pre", "forward", "full-pre", "full", "legacy", "always", "with kwargs"]
    hooks += ["global forward-pre", "global forward", "global full-pre", "global full"]
    assert [hook for hook in hooks if not counted[hook]] == []
    assert counted["error"] < 0.2 * counted["statements"]


def test_shrinking_keeps_what_fails() -> None:
    """Statements go, and what stands inside of them."""

    def fails(made: list[str]) -> bool:
        return any("sin" in text for text in made) and any("cos" in text for text in made)

    long = [f"a = {n} + {n}" for n in range(30)]
    long[3:3] = ["with f():\n    b = g(x.sin() + 2, y)\n    c = 3"]
    short = shrink([*long, "d = x.cos().exp()"], fails)
    assert short == ["b = x.sin()", "d = x.cos()"]


def test_numbers_may_differ_by_rounding_only() -> None:
    """The tolerance follows the largest number and the coarsest dtype of the program."""

    def log(dtype: str, value: float, version: int = 0) -> list[Any]:
        return [["a", {f"{dtype}[2]": [1000.0, value]}, f"version {version}"]]

    assert not apart(log("float64", 0.5), log("float64", 0.5 + 1e-8))
    assert apart(log("float64", 0.5), log("float64", 0.5 + 1e-5))
    assert not apart(log("float32", 0.5), log("float32", 0.501))
    assert apart(log("float32", 0.5), log("float32", 0.6))
    assert apart(log("float64", 0.5), log("float64", 0.5, version=1))
