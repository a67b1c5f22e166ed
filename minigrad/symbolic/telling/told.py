"""Hold a gradient as it is told: a sum of contributions of later places, hooks acting on parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from minigrad.autograd.node import Node
from minigrad.symbolic.telling.effects import HookEffect
from minigrad.symbolic.telling.local import Value

Effects = tuple[HookEffect, ...]


@dataclass
class Pull:
    """What one later place contributes to a gradient.

    Attributes:
        formula: The contribution as an array of formulas, or None. If the later place has a
            single entry, for 1 as its gradient, so this is the derivative. Else for symbols.
        number: The same as numbers, for 1; None on symbols, or if the place has several entries.
        nodes: The nodes on the way, and by which of its inputs the last one was left.
        reason: Why there is no formula.
    """

    formula: Any
    number: Any
    nodes: tuple[Node, ...]
    left_by: int = 0
    reason: str = ""

    def __add__(self, other: Pull) -> Pull:
        return Pull(
            _sum(self.formula, other.formula),
            _sum(self.number, other.number),
            tuple(dict.fromkeys(self.nodes + other.nodes)),
            self.left_by,
            self.reason or other.reason,
        )


def _sum(one: Any, other: Any) -> Any:
    return None if one is None or other is None else one + other


@dataclass
class Told:
    """A gradient, told as a sum of contributions; hooks may have acted on a part of them.

    Attributes:
        pulls: For each later place what it contributes.
        hooked: Parts of the sum on which hooks acted, each with their effects.
    """

    pulls: dict[Value, Pull] = field(default_factory=dict)
    hooked: list[tuple[Effects, Told]] = field(default_factory=list)

    def add(self, other: Told) -> None:
        """Add another sum to this one."""
        for place, pull in other.pulls.items():
            self.pulls[place] = self.pulls[place] + pull if place in self.pulls else pull
        self.hooked += other.hooked

    def under(self, effects: Effects) -> Told:
        """Give what is left of this sum once hooks have acted on it."""
        return Told({}, [(effects, self)]) if effects else self

    def all_pulls(self) -> Iterator[tuple[Value, Pull]]:
        """Yield all contributions, those under hooks included."""
        yield from self.pulls.items()
        for _, told in self.hooked:
            yield from told.all_pulls()
