"""Replace a right rule by a wrong one, whether operations are interpreted or written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def plant(
    monkeypatch: pytest.MonkeyPatch,
    operation: Any,
    argument: str,
    wrong: Callable[..., Any],
    kind: str = "vjp",
) -> None:
    """Let `wrong` change what the rule of an input gives; it gets that, and what the rule got.

    Args:
        monkeypatch: Takes it back.
        operation: The operation.
        argument: The input.
        wrong: Gives the wrong gradient.
        kind: Which rule: "vjp", on arrays, or "recorded_vjp", on tensors.
    """
    plan, names = operation.plan, operation.__globals__
    place = plan.differentiable.index(argument)
    needs = 1 + len(plan.needs[place])
    rules = list(getattr(plan, f"{kind}s"))
    right = rules[place]

    def planted(*given: Any) -> Any:
        return wrong(right(*given), *given[:needs])

    rules[place] = planted
    written = f"{kind}_{argument}" in names  # with short rules in it, so it is written again
    if written:
        names["prepare"]()
        monkeypatch.setitem(names, f"{kind}_{argument}", planted)
        monkeypatch.setattr(operation, "__code__", operation.__code__)
        monkeypatch.setattr(plan.node, "_run", plan.node._run)
    monkeypatch.setattr(plan, f"{kind}s", rules)
    if written:
        names["prepare"]()
