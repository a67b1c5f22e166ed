"""Make a failing program as small as it can be while it still fails."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any


def shrink(program: Any, fails: Callable[[Any], bool], patience: int = 600) -> Any:
    """Take parts away, one by one and again and again, as long as the program fails.

    Args:
        program: A description of lists, dicts, numbers and words.
        fails: Tells whether a program still shows the failure.
        patience: How many programs to try at most.
    """
    tried: set[str] = set()
    smaller = True
    while smaller:
        smaller = False
        for candidate in _simpler(program):
            text = json.dumps(candidate)
            if text in tried:
                continue
            if len(tried) >= patience:
                return program
            tried.add(text)
            if fails(candidate):
                program, smaller = candidate, True
                break
    return program


def _simpler(value: Any) -> Iterator[Any]:
    """Give programs with one thing less, the big cuts first."""
    for place, replacements in sorted(_cuts(value, ()), key=lambda cut: len(cut[0])):
        for replacement in replacements:
            candidate = copy.deepcopy(value)
            target = candidate
            for key in place[:-1]:
                target = target[key]
            if replacement is _GONE:
                del target[place[-1]]
            else:
                target[place[-1]] = replacement
            yield candidate


_GONE = object()
# Places whose entries may be missing: see the interpreter.
_LISTS = ("hooks", "spare", "steps", "body", "does", "options", "parameters", "frozen", "inputs")


def _cuts(value: Any, place: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], list[Any]]]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "shape" or (key == "seed" and not place):
                continue
            yield from _cuts(item, (*place, key))
            if key == "modules" and len(item) > 1:
                for position in range(len(item)):
                    yield (*place, key, position), [_GONE]
            if key == "parts" and item:
                for position in range(len(item)):
                    yield (*place, key, position), [_GONE]
    elif isinstance(value, list):
        name = next((key for key in reversed(place) if isinstance(key, str)), "")
        for position, item in enumerate(value):
            if (name in _LISTS and place[-1] == name) or isinstance(item, list):
                yield (*place, position), [_GONE]
            yield from _cuts(item, (*place, position))
            if name == "returns" and place[-1] != "returns":
                continue
        if name == "returns" and value:
            yield place, [-1]
        if len(place) > 1 and place[-1] != name and name == "inputs":
            yield place, [None]
    elif isinstance(value, bool):
        if value:
            yield place, [False]
    elif isinstance(value, int) and place[-1] not in ("seed",):
        if value not in (0, -1):
            yield place, [0, -1]
    elif isinstance(value, str):
        simpler = {"returns": ["none"], "dtype": ["float64"], "kind": ["Identity"]}
        last = place[-1]
        if last in simpler and value not in simpler[last]:
            if last != "kind" or "modules" in place:
                yield place, simpler[last]
        elif value in ("relu", "sigmoid", "tanh", "exp", "less", "negate", "square", "mean"):
            yield place, ["double"]
        elif value in ("float32",):
            yield place, ["float64"]
