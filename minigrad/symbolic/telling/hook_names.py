"""Give hooks that are called the same names of their own: hook and hook_2."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from minigrad.symbolic.array import entries
from minigrad.symbolic.telling.effects import UNNAMED, HookEffect


def told_apart(
    tables: Iterable[Mapping[Any, tuple[HookEffect, ...]]],
) -> list[dict[Any, tuple[HookEffect, ...]]]:
    """Number the hooks that share a name and did different things.

    A log has no more of a hook than its name. What made different things of its gradients must be
    different hooks, if it is given as a formula; of lambdas of which not even that is known, each
    is taken for one of its own.

    Args:
        tables: What hooks did, in the order in which they fired.

    Returns:
        The same, with the names changed.
    """
    met: dict[str, list[tuple[Any, str]]] = {}
    taken = {effect.name for table in tables for effects in table.values() for effect in effects}

    def named(effect: HookEffect) -> HookEffect:
        known, did = met.setdefault(effect.name, []), _did(effect)
        for before, name in known:
            if not _differ(before, did, effect.name):
                return replace(effect, name=name)
        name = effect.name
        if known:
            name = next(n for n in (f"{name}_{k}" for k in count(2)) if n not in taken)
            taken.add(name)
        known.append((did, name))
        return replace(effect, name=name)

    return [{at: tuple(map(named, effects)) for at, effects in table.items()} for table in tables]


def _did(effect: HookEffect) -> tuple[str, Any]:
    if effect.factor is not None:
        return "factor", entries(effect.factor).tolist()
    if effect.rule is not None:
        return "rule", effect.rule
    if effect.function is not None:
        return f"function of {len(effect.arguments)}", entries(effect.function).tolist()
    return "unknown", None


def _differ(one: tuple[str, Any], other: tuple[str, Any], name: str) -> bool:
    """Tell whether two doings can't be those of the same hook."""
    if name == UNNAMED:
        return one != other or one[0] == "unknown"
    return one[0] == other[0] and one != other and one[0] != "factor"
