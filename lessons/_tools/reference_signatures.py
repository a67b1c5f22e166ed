"""Read how a name is called, in PyTorch and in minigrad, and say where the two ways differ."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

REQUIRED = "required"
POSITION, KEYWORD, BOTH, MANY, OPTIONS = "position", "keyword", "both", "*", "**"
_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: POSITION,
    inspect.Parameter.POSITIONAL_OR_KEYWORD: BOTH,
    inspect.Parameter.KEYWORD_ONLY: KEYWORD,
    inspect.Parameter.VAR_POSITIONAL: MANY,
    inspect.Parameter.VAR_KEYWORD: OPTIONS,
}
# What a function takes that hands on all to another one: it tells nothing.
_ANYTHING = ([inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD],)


@dataclass(frozen=True)
class Parameter:
    """One parameter: its name, how it can be given, and the text of its default."""

    name: str
    kind: str
    default: str = REQUIRED


Signature = tuple[Parameter, ...]


def of_python(function: Any) -> list[Signature]:
    """Read the signature of what Python can look into; empty where it cannot.

    Args:
        function: a function, a method or a class.
    """
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return []
    if [parameter.kind for parameter in found.parameters.values()] in _ANYTHING:
        return []
    return [
        tuple(
            Parameter(
                parameter.name,
                _KINDS[parameter.kind],
                REQUIRED if parameter.default is parameter.empty else text_of(parameter.default),
            )
            for parameter in found.parameters.values()
        )
    ]


def text_of(value: Any) -> str:
    """Write a default so that equal ones are written alike."""
    if isinstance(value, list):
        value = tuple(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        text = getattr(value, "__name__", None) or repr(value)
        text = re.sub(r"<[\w.]+\.(\w+) object at 0x[0-9a-f]+>", r"<\1>", text)
        return re.sub(r" at 0x[0-9a-f]+", "", text).replace("minigrad", "torch")
    return f"{value:g}"


def without_first(signature: Signature) -> Signature:
    """Leave out the parameter that a method is called on.

    Args:
        signature: of a function found in a class.
    """
    first = signature[0].kind if signature else ""
    return signature[1:] if first in (POSITION, BOTH) else signature


def compare(ours: Signature, theirs: Iterable[Signature]) -> list[str]:
    """List how minigrad's signature differs from the ways in which PyTorch's name can be called.

    Args:
        ours: minigrad's.
        theirs: PyTorch's, one or several.
    """
    ways = list(theirs)
    if not ways:
        return []
    known: dict[str, list[Parameter]] = {}
    for way in ways:
        for parameter in way:
            known.setdefault(parameter.name, []).append(parameter)
    mine = {parameter.name: parameter for parameter in _spread(ours, known)}
    taking_all = any(parameter.kind == OPTIONS for parameter in ours)
    found = [f"without `{name}`" for name in known if name not in mine and not taking_all]
    for name, parameter in mine.items():
        if name not in known:
            stars = parameter.kind if parameter.kind in (MANY, OPTIONS) else ""
            found.append(f"only here `{stars}{name}`")
            continue
        found += _one(parameter, known[name], len(ways))
    return [*found, *_order(ours, ways)]


def _spread(ours: Signature, known: dict[str, list[Parameter]]) -> Signature:
    """Read `*sizes, size=None` as PyTorch's `size`: several by position, or one by keyword."""
    many = [each for each in ours if each.kind == MANY and each.name not in known]
    named = [
        each
        for each in ours
        if many and each.kind == KEYWORD and each.default == "None" and each.name in known
        if REQUIRED in {there.default for there in known[each.name]}
    ]
    if not named:
        return ours
    size = Parameter(named[0].name, BOTH)
    return tuple(size if one is named[0] else one for one in ours if one not in many)


def _one(ours: Parameter, theirs: list[Parameter], ways: int) -> list[str]:
    kinds = {each.kind for each in theirs}
    name, found = ours.name, []
    if ours.kind not in kinds and not (ours.kind == BOTH and {POSITION, KEYWORD} <= kinds):
        there = " or ".join(sorted(kinds))
        found.append(f"`{name}` by {ours.kind}, there by {there}")
    defaults = {each.default for each in theirs}
    sometimes = len(theirs) < ways
    if ours.default in defaults or (sometimes and ours.default == "None"):
        return found
    if any(set(re.findall(r"[^(), ]+", there)) == {ours.default} for there in defaults):
        return found  # one number for all dimensions
    if ours.kind in (MANY, OPTIONS) or kinds & {MANY, OPTIONS}:
        return found
    if sometimes and ours.default == REQUIRED:
        return [*found, f"`{name}` required, there optional"]
    there = " or ".join(sorted(defaults))
    return [*found, f"default of `{name}` is {ours.default}, there {there}"]


def _order(ours: Signature, ways: list[Signature]) -> list[str]:
    """Compare the order of those that can be given by position, with the way nearest to ours."""
    mine = [each.name for each in ours if each.kind in (BOTH, POSITION)]
    for way in ways:
        there = [each.name for each in way if each.kind in (BOTH, POSITION)]
        shared = [name for name in there if name in mine]
        if shared != [name for name in mine if name in there]:
            return [f"order ({', '.join(mine)}), there ({', '.join(there)})"]
    return []
