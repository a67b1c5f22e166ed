"""Read a proof: what was proved of which entry, and in which regions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.symbolic.array import entries
from minigrad.symbolic.equality import place_of
from minigrad.symbolic.regions import Region, in_words

# As many entries of each array are written out.
_SHOWN = 3


@dataclass(frozen=True)
class Evidence:
    """What was proved of one entry of one gradient.

    Attributes:
        input: The name of the input.
        entry: The index of the entry.
        found: What the rule gives.
        due: What SymPy gives for the derivative.
        regions: The parts of space in which the two are equal.
    """

    input: str
    entry: tuple[int, ...]
    found: Any
    due: Any
    regions: tuple[Region, ...]

    def lines(self) -> list[str]:
        """Write both formulas, and where they are equal."""
        start = place_of("", self.entry)
        lines = [f"  {start}the rule gives   {self.found}"]
        if self.found != self.due:
            lines.append(f"  {' ' * len(start)}SymPy has        {self.due}")
        regions = [str(region) for region in self.regions if region.conditions]
        known = "the same formula as SymPy's" if self.found == self.due else "equal exactly"
        where = ", where " + "; or ".join(regions) if regions else ""
        return [*lines, f"  {' ' * len(start)}{known}{where}"]


@dataclass(frozen=True)
class Proof:
    r"""What was proved, and on what evidence. Printed it reads like a proof.

    Attributes:
        forward: The formula of the forward, with one entry for each of the result's.
        cotangent: The symbols $g_k$ that stand for any gradient of the result.
        gradients: For each input the gradient that the engine gave, $\sum_k g_k\, \partial y_k /
            \partial x_i$ as was proved.
        regions: The parts of space in which it was proved; a single empty one is everywhere.
        name: What was differentiated.
        inputs: The name and the shape of each input.
        assumed: For each input what is assumed of it, such as "positive"; often nothing.
        evidence: For each entry of each gradient the two formulas, and where they are equal.
        domain: Conditions under which the program can run: each step is real and finite. Borders
            are left out. None are there where it always can.
        points: At how many points the rule ran and agreed with a difference quotient of the
            forward.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.symbolic import prove
        >>> proof = prove(torch.exp, ())
        >>> proof.gradients, proof.everywhere
        ((g*exp(x),), True)
    """

    forward: Any
    cotangent: Any
    gradients: tuple[Any, ...]
    regions: tuple[Region, ...]
    name: str = "the function"
    inputs: tuple[tuple[str, tuple[int, ...]], ...] = ()
    evidence: tuple[Evidence, ...] = ()
    assumed: tuple[str, ...] = ()
    domain: tuple[Any, ...] = ()
    points: int = 0

    @property
    def everywhere(self) -> bool:
        """Whether no kink was left out, in the domain."""
        return not any(region.conditions for region in self.regions)

    @property
    def where(self) -> str:
        """In words, where it was proved."""
        limits = f" {self.limits}" if self.limits else ""
        if not self.everywhere:
            named = dict.fromkeys(map(str, self.regions))
            return f"region by region: {'; '.join(named)}{limits}"
        pairs = zip(self.inputs, self.assumed, strict=False)
        kinds = ", ".join(f"{name} {kind}" for (name, _), kind in pairs if kind)
        return f"for all values of the symbols{limits}" + (f" ({kinds})" if kinds else "")

    @property
    def limits(self) -> str:
        """In words, where the program can run; empty if everywhere."""
        return f"with {', '.join(map(in_words, self.domain))}" if self.domain else ""

    def __str__(self) -> str:
        given = ", ".join(
            f"{name} of shape {list(shape)}" + (f" and {kind}" if kind else "")
            for (name, shape), kind in zip(self.inputs, self.assumed, strict=True)
        )
        lines = [f"{self.name}, of {given}", "", "The result, on symbols:"]
        lines += _listed("r", self.forward)
        lines += ["A gradient of the result, any at all:", *_listed("", self.cotangent)]
        for name, _ in self.inputs:
            mine = [each for each in self.evidence if each.input == name]
            lines += ["", f"The gradient of {name}:"]
            for each in mine[:_SHOWN]:
                lines += each.lines()
            lines += _more(len(mine) - _SHOWN, "entries, proved in the same way")
        lines += ["", f"All of these are equal exactly, {self.where}."]
        if not self.everywhere:
            lines.append("The kinks and jumps between the regions are left out.")
        lines.append(
            f"The rule itself, run on numbers at {self.points} points, gave what difference "
            "quotients of the forward give."
        )
        return "\n".join(lines)

    __repr__ = __str__


def _listed(name: str, formula: Any) -> list[str]:
    """List the first entries, with their places if they have a name."""
    array = entries(formula)
    if array.ndim == 2 and array.shape[1] == 1:  # so SymPy has vectors
        array = array[:, 0]
    flat = [
        (place_of("", at if array.size > 1 else ()), each) for at, each in np.ndenumerate(array)
    ]
    more = len(flat) - _SHOWN
    if not name:
        shown = ", ".join(str(each) for _, each in flat[:_SHOWN])
        return [f"  {shown}" + (", ..." if more > 0 else "")]
    lines = [f"  {place}{name} = {each}" for place, each in flat[:_SHOWN]]
    return lines + _more(more, "entries")


def _more(count: int, of_what: str) -> list[str]:
    return [f"  and {count} more {of_what}"] if count > 0 else []
