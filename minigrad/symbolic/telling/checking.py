"""Prove that told gradients are the engine's, and the engine's SymPy's, on all sides of kinks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.symbolic.array import entries
from minigrad.symbolic.equality import Refuted, Undecided
from minigrad.symbolic.parts import decide_in_parts
from minigrad.symbolic.regions import EVERYWHERE, Region, said

TOO_LONG = 1500  # operations in two formulas; SymPy would take minutes for more


@dataclass(frozen=True)
class Checked:
    """What `Derivation.check` proved.

    Attributes:
        steps: For which gradients: the told steps multiply to what the engine gave.
        sympy: For which gradients: the engine gave what `sympy.diff` gives.
        apart_from: Expressions that are 0 where a formula has a kink; there nothing is proved.
        open: What was not proved, and why.
        hooks: The hooks that changed a gradient; then nothing is compared with `sympy.diff`.
        domain: Conditions under which the program can run: the loss and each step to it is real
            and finite. What is proved is proved there.
        points: At how many points the rules ran on numbers and gave the slope of the loss.
    """

    steps: tuple[str, ...]
    sympy: tuple[str, ...]
    apart_from: tuple[Any, ...] = ()
    open: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    domain: tuple[Any, ...] = ()
    points: int = 0

    def __str__(self) -> str:
        lines = []
        if self.steps:
            told = "the steps multiply to the engine's gradient"
            lines.append(f"proved: {told}, for {_and(self.steps)}")
        if self.sympy:
            lines.append(f"proved: the engine's gradient is sympy.diff's, for {_and(self.sympy)}")
            lines.append(
                f"  (and at {self.points} points the rules, run on numbers, give what difference "
                "quotients of the loss give)"
            )
        if self.domain:
            lines.append(f"  where {_and(tuple(map(said, self.domain)))}")
        if self.apart_from:
            lines.append(f"  apart from where {_and(tuple(f'{k} = 0' for k in self.apart_from))}")
        lines += [f"not proved: {each}" for each in self.open]
        if self.hooks:
            lines.append(
                f"left out: the comparison with sympy.diff, because {_and(self.hooks)} changed "
                "the gradient (it is no derivative of the loss any more)"
            )
        return "\n".join(lines)

    __repr__ = __str__


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def prove_equal(left: Any, right: Any, kinks: list[Any], around: Region = EVERYWHERE) -> None:
    """Prove that two arrays of formulas are equal, on both sides of each of their kinks.

    Args:
        left: An array of formulas.
        right: Another one, of its shape.
        kinks: Takes the expressions at whose zeros the two were not proved to be equal.
        around: The region in which they are compared.

    Raises:
        Refuted: If they differ somewhere.
        Undecided: If that was neither proved nor refuted.
    """
    first, second = entries(left), entries(right).reshape(np.shape(left))
    for entry in np.ndindex(first.shape):
        place = entry if first.size > 1 else ()
        outcome = decide_in_parts(first[entry], second[entry], on_kinks=False, around=around)
        if isinstance(outcome.verdict, dict):
            raise Refuted(place, first[entry], second[entry], outcome.verdict)
        if outcome.verdict is not None:
            raise Undecided(place, first[entry], second[entry], *outcome.verdict)
        kinks += [kink for kink in outcome.kinks if kink not in kinks]
