"""Read a proof: what was proved of which entry, and in which regions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.symbolic.array import entries
from minigrad.symbolic.equality import place_of
from minigrad.symbolic.regions import Region, said

# As many entries of each array are told in full.
_TOLD = 3


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


@dataclass(frozen=True)
class Witness:
    """How the actual rule did on numbers; a proof has one.

    Attributes:
        points: At how many points it ran and agreed with a difference quotient of the forward.
        regions: In how many regions, divided by borders and kinks, these lie.
        runs: How often the forward ran for that.
    """

    points: int
    regions: int
    runs: int

    def __str__(self) -> str:
        where = f" in {self.regions} regions" if self.regions > 1 else ""
        return (
            f"The rule itself, run on numbers at {self.points} points{where} and near the borders, "
            f"gave what difference quotients of the forward give ({self.runs} runs)."
        )


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
        witness: How the rule did when it ran on numbers.
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
    witness: Witness | None = None

    @property
    def everywhere(self) -> bool:
        """Whether no kink was left out, in the domain."""
        return not any(region.conditions for region in self.regions)

    @property
    def where(self) -> str:
        """In words, where it was proved."""
        limits = f" {self.limits}" if self.limits else ""
        if not self.everywhere:
            return f"region by region: {'; '.join(self._regions_said())}{limits}"
        pairs = zip(self.inputs, self.assumed, strict=False)
        kinds = ", ".join(f"{name} {kind}" for (name, _), kind in pairs if kind)
        return f"for all values of the symbols{limits}" + (f" ({kinds})" if kinds else "")

    def _regions_said(self) -> list[str]:
        return list(dict.fromkeys(map(str, self.regions)))

    @property
    def limits(self) -> str:
        """In words, where the program can run; empty if everywhere."""
        return f"with {', '.join(map(said, self.domain))}" if self.domain else ""

    def __str__(self) -> str:
        assumed = self.assumed or ("",) * len(self.inputs)
        given = ", ".join(
            f"{name} of shape {list(shape)}" + (f" and {kind}" if kind else "")
            for (name, shape), kind in zip(self.inputs, assumed, strict=True)
        )
        lines = [f"{self.name}, of {given}" if given else self.name, ""]
        lines += ["The result, on symbols:", *_listed("r", self.forward)]
        lines += ["A gradient of the result, any at all:", *_listed("", self.cotangent)]
        for name, _ in self.inputs:
            mine = [each for each in self.evidence if each.input == name]
            if not mine:
                continue
            lines += ["", f"The gradient of {name}:"]
            for each in mine[:_TOLD]:
                lines += _told(each)
            lines += _more(len(mine) - _TOLD, "entries, proved in the same way")
        return "\n".join([*lines, "", *self._conclusion()])

    def _conclusion(self) -> list[str]:
        if self.everywhere:
            lines = [f"All of these are equal exactly, {self.where}."]
        else:
            limits = f", {self.limits}" if self.limits else ""
            lines = [f"All of these are equal exactly in every region named{limits}:"]
            lines += [f"  {region}" for region in self._regions_said()]
            lines += [
                "The kinks and jumps between the regions are left out: there is no derivative "
                "there, or none that this proves."
            ]
        if self.witness is not None:
            lines += [str(self.witness)]
        return lines

    __repr__ = __str__


def _listed(name: str, formula: Any) -> list[str]:
    array = entries(formula)
    if array.ndim == 2 and array.shape[1] == 1:  # so SymPy has vectors
        array = array[:, 0]
    flat = list(np.ndenumerate(array))
    lines = []
    if not name:
        told = ", ".join(str(each) for _, each in flat[: 2 * _TOLD])
        return [f"  {told}" + (", ..." if len(flat) > 2 * _TOLD else "")]
    for index, each in flat[:_TOLD]:
        place = f"_{{{','.join(map(str, index))}}}" if len(flat) > 1 else ""
        lines.append(f"  {name}{place} = {each}")
    return lines + _more(len(flat) - _TOLD, "entries")


def _told(each: Evidence) -> list[str]:
    start = place_of("", each.entry)
    lines = [f"  {start}the rule gives   {each.found}"]
    if each.found != each.due:
        lines.append(f"  {' ' * len(start)}SymPy has        {each.due}")
    regions = [str(region) for region in each.regions if region.conditions]
    known = "the same formula as SymPy's" if each.found == each.due else "equal exactly"
    where = ", where " + "; or ".join(regions) if regions else ""
    return [*lines, f"  {' ' * len(start)}{known}{where}"]


def _more(count: int, of_what: str) -> list[str]:
    return [f"  and {count} more {of_what}"] if count > 0 else []
