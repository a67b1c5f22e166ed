"""Tensors, hooks, writes in place and passes in any order do what the naive engine does."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

import minigrad
from minigrad.core.hooks import NodeHooks
from minigrad.ops import elementwise
from tests.planting import plant

from .effort import MORE, SETTINGS
from .machine import Machine


def walk(module: ModuleType, examples: int, **options: Any) -> None:
    """Let a machine do anything with a module, so many times."""
    machine = type("OnThis", (Machine,), {"torch": module})
    chosen = {"max_examples": examples * MORE, "stateful_step_count": 30, **SETTINGS, **options}
    run_state_machine_as_test(machine, settings=settings(**chosen))


def test_minigrad_does_what_the_naive_engine_does() -> None:
    walk(minigrad, 25)


def test_pytorch_does_what_the_naive_engine_does() -> None:
    """Otherwise that would be no judge."""
    walk(pytest.importorskip("torch"), 8)


PLANTED = {
    "a product's rule off by a thousandth": ("rule", "self"),
    "changes in place that nobody counts": (minigrad.Tensor, "_bump_version"),
    "tensor hooks that are not called": (NodeHooks, "run_tensor_hooks"),
}


@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_bug_is_found(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place, name = PLANTED[bug]
    if place == "rule":
        plant(monkeypatch, elementwise.mul, name, lambda gradient, *_: gradient * 1.001)
    else:
        monkeypatch.setattr(place, name, lambda *given: None)
    with pytest.raises(AssertionError):
        walk(minigrad, 100, phases=(Phase.generate,), report_multiple_bugs=False)
