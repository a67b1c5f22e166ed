"""Prove that told gradients are the engine's, and the engine's SymPy's, on all sides of kinks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from minigrad.core.leaves import AccumulateGrad
from minigrad.core.tensor import Tensor, wrap
from minigrad.symbolic.array import SymbolicArray, entries, needs_of, symbolic, vector_of
from minigrad.symbolic.derivations.account import Account
from minigrad.symbolic.derivations.nodes import Passage, Value, run_rule, stand_in
from minigrad.symbolic.equality import Refuted, Undecided, decide_in_parts
from minigrad.symbolic.formulas import derivative
from minigrad.symbolic.points import condition_sides, symbols_in
from minigrad.symbolic.proofs.conclusion import written
from minigrad.symbolic.proofs.trial import Formulas, Outcome, Place, Trial, is_far
from minigrad.symbolic.regions import EVERYWHERE, Region, condition_of, is_kinky, said
from minigrad.symbolic.signs import reduced, sign_of

_WRONG = (Outcome.DIFFERS, Outcome.NOTHING)
_OVERFLOW = 25  # beyond that, NaN may come of numbers that are too large
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


class Proofs:
    """Proves that arrays of formulas are equal, and collects what that left open.

    Args:
        domain: The region in which they are compared.

    Attributes:
        kinks: Expressions at whose zeros no two were proved to be equal.
        open: What was not proved, and why.
    """

    def __init__(self, domain: Region) -> None:
        self.domain = domain
        self.kinks: list[Any] = []
        self.open: list[str] = []

    def succeeds(self, what: str, left: Any, right: Any) -> bool:
        """Try to prove that two arrays are equal, on both sides of each of their kinks.

        Raises:
            Refuted: If they differ somewhere.
        """
        first, second = entries(left), entries(right).reshape(np.shape(left))
        pairs = zip(first.flat, second.flat, strict=True)
        longest = max(one.count_ops() + other.count_ops() for one, other in pairs)
        if longest > TOO_LONG:
            self.open.append(f"{what}: {longest} operations in an entry are too many for SymPy")
            return False
        met = list(self.kinks)
        for entry in np.ndindex(first.shape):
            told = (entry if first.size > 1 else (), first[entry], second[entry])
            outcome = decide_in_parts(*told[1:], on_kinks=False, around=self.domain)
            if isinstance(outcome.verdict, dict):
                raise Refuted(*told, outcome.verdict)
            if outcome.verdict is not None:
                self.open.append(f"{what}: {Undecided(*told, *outcome.verdict)}")
                return False
            met += outcome.kinks
        self.kinks[:] = dict.fromkeys(met)
        return True


def checked(account: Account, order: Sequence[Value]) -> Checked:
    """Prove that the told steps multiply to the engine's gradients, and these to be right.

    Args:
        account: The backward pass.
        order: The places whose gradients are looked at.

    Raises:
        Refuted: If a gradient differs; with the entry, both formulas and a counterexample.
    """
    places, names, engine = account.places, account.places.names, account.engine
    loss, in_leaves = places.known[places.root], places.in_leaves()

    def put_in_places(formula: Any) -> Any:
        put = [entry.xreplace(in_leaves) for entry in entries(formula).flat]
        return symbolic(vector_of(put).reshape(np.shape(formula)))

    needs = reduced(needs_of(loss), sign_of)
    proofs = Proofs(
        Region(assumed={n.of: 1 for n in needs if n.relation == ">" and not is_kinky(n.of)})
    )
    totals = account.composed(put_in_places)
    known = symbols_in(entry for array in engine.values() for entry in entries(array).flat)
    steps: list[str] = []
    for value in order:
        name, told = names[value], totals[value]
        if told is None:
            proofs.open.append(f"{name}, as a step has no formula")
        elif symbols_in(told.flat) - known:
            proofs.open.append(f"{name}, as a value in between is not known")
        elif proofs.succeeds(f"the steps, for {name}", told, engine[value]):
            steps.append(name)
    hooks = account.hooks_that_changed()
    judged = {
        value: engine[value]
        for value in ([] if hooks else account.wanted)
        if type(value[0]) is AccumulateGrad
        and all(entry.is_Symbol for entry in entries(places.known[value]).flat)
    }
    by_sympy: list[str] = []
    domain, points = (), 0
    if judged:
        witness = GraphWitness(loss, account.passages, judged, names)
        for value, gradient in judged.items():
            due = derivative(loss, wrt=wrap(places.known[value]))._array
            what = f"sympy.diff, for {names[value]}"
            try:
                if proofs.succeeds(what, gradient, due):
                    by_sympy.append(names[value])
            except Refuted as refuted:
                witness.confirm(refuted, value, proofs.kinks)
                proofs.open.append(f"{what}: {refuted}, but the run does not show it")
        points = witness.points(proofs.kinks)
        if by_sympy and not points:
            proofs.open.append(
                f"sympy.diff, for {', '.join(by_sympy)}: could not decide, because no point was "
                "found at which the rules could be run on numbers and compared with the loss"
            )
            by_sympy = []
        domain = witness.domain if by_sympy else ()
    kinks, left = tuple(proofs.kinks), tuple(proofs.open)
    return Checked(tuple(steps), tuple(by_sympy), kinks, left, hooks, domain, points)


# ---------------------------------------------------------------------- on numbers


class GraphTrial(Trial):
    """A backward pass on symbols that runs on numbers in their place, rule by rule.

    Args:
        loss: The array of the loss, of one entry.
        passages: The backward pass.
        gradients: For each leaf the gradient that the engine gave, in symbols.
    """

    def __init__(
        self, loss: Any, passages: Sequence[Passage], gradients: Mapping[Value, Any]
    ) -> None:
        leaves: list[Tensor] = [passage.node.variable for passage in passages if passage.is_leaf]
        wanted = [value[0].variable for value in gradients]
        formulas = [e for each in (loss, *gradients.values()) for e in entries(each).flat]
        known = symbols_in(e for each in (*leaves, *wanted) for e in entries(each).flat)
        others = sorted(symbols_in(formulas) - known, key=str)
        one = vector_of([sympy.Integer(1)]).reshape(np.shape(loss))
        super().__init__(lambda: None, leaves, wanted, [one], others)
        self._loss, self._passages, self._gradients = loss, passages, gradients
        self._formulas: dict[int, Formulas] = {}

    def keep_draws(self, at: Place) -> None:
        """Do nothing: the forward is not run again."""

    def results(self, at: Place) -> list[Any] | None:
        """Compute the loss by its formula."""
        return [self._numbers(self._loss, self.values_at(at))]

    def rule(self, at: Place) -> list[Any] | None:
        """Run the rules on numbers; where one keeps more than tensors, compute their formulas."""
        values = self.values_at(at)
        try:
            found = self._replayed(values)
        except Exception:
            return [self._numbers(each, values) for each in self._gradients.values()]
        zeros = (np.zeros(np.shape(each)) for each in self._gradients.values())
        return [found.get(v, zero) for v, zero in zip(self._gradients, zeros, strict=True)]

    def _numbers(self, array: Any, values: dict[Any, Any]) -> Any:
        if id(array) not in self._formulas:
            self._formulas[id(array)] = Formulas(array, needs_of(array))
        return self._formulas[id(array)].at(values)

    def _replayed(self, values: dict[Any, Any]) -> dict[Value, Any]:
        def numbers(value: Value | None, array: Any) -> Any:
            return self._numbers(array, values) if isinstance(array, SymbolicArray) else array

        first = self._passages[0]
        arrived: dict[Value, Any] = {(first.node, 0): np.ones(np.shape(first.arrived[0]))}
        for passage in self._passages:
            node = passage.node
            given = [arrived.get((node, k)) for k in range(len(passage.arrived))]
            if passage.is_leaf or not passage.ran or all(each is None for each in given):
                continue
            results = run_rule(stand_in(node, numbers, np.dtype(np.float64)), given)
            for result, (target, output_nr) in zip(results, node.next_functions, strict=False):
                if result is not None and target is not None:
                    before = arrived.get((target, output_nr), 0.0)
                    arrived[target, output_nr] = before + np.asarray(result, np.float64)
        return arrived


class GraphWitness:
    """Compares what the rules of a graph give on numbers with difference quotients of the loss.

    Args:
        loss: The array of the loss, of one entry.
        passages: The backward pass on symbols.
        gradients: For each leaf the gradient that the engine gave, in symbols.
        names: What the leaves are called.
    """

    def __init__(
        self,
        loss: Any,
        passages: Sequence[Passage],
        gradients: Mapping[Value, Any],
        names: Mapping[Value, str],
    ) -> None:
        self._gradients, self._names = gradients, names
        self._trial = GraphTrial(loss, passages, gradients)
        needs = reduced(needs_of(loss), sign_of)
        self.domain = tuple(condition_of(n.of, n.sign) for n in needs)
        rules = reduced(needs_of(gradients.values()), sign_of)
        self._conditions = [*self.domain, *(condition_of(n.of, n.sign) for n in rules)]

    def points(self, kinks: list[Any]) -> int:
        """Count the points of all parts at which the rules give the slope of the loss.

        Args:
            kinks: Expressions that are 0 where there is a kink or a jump; those where a rule gives
                NaN, though the loss has a slope, are added.

        Raises:
            Refuted: If a rule gives something else somewhere.
        """
        made = [*self._conditions, *(condition_of(kink, 1) for kink in kinks)]
        relational = sympy.core.relational.Relational
        conditions = [each for each in dict.fromkeys(made) if isinstance(each, relational)]
        with self._trial.running() as trial:
            record = trial.record(trial.draw([EVERYWHERE], conditions), conditions)
            inside = record.points.border < 0
            for row in record.points.rows[record.where(*_WRONG) & inside]:
                if not is_far(row, _OVERFLOW):
                    self._compare(trial.values(row))
        for border in record.points.border[record.where(Outcome.NOTHING) & ~inside]:
            hole = condition_sides(conditions[border])[0]
            kinks += [hole] if hole not in kinks else []
        return int((record.where(Outcome.AGREES) & inside).sum())

    def confirm(self, refuted: Refuted, leaf: Value, kinks: list[Any]) -> None:
        """Run at the point of a counterexample that formulas gave for a leaf, and at others.

        Raises:
            Refuted: If the run shows that a rule is wrong.
        """
        at = refuted.counterexample
        with self._trial.running():
            values = {s: float(at.get(s, 1.4)) for s in self._trial.symbols}
            self._compare(values, refuted, leaf)
        self.points(kinks)

    def _compare(
        self, values: dict[Any, float], refuted: Refuted | None = None, leaf: Value | None = None
    ) -> None:
        """Refute what is wrong at a point; of a leaf, as formulas tell it."""
        gradients = list(self._gradients.items())
        for place, entry, got, slope, wrong in self._trial.entries_at(values):
            value, gradient = gradients[place]
            of = f"the gradient of {self._names[value]}"
            if wrong and refuted is not None and value == leaf:
                left, right, at = refuted.left, refuted.right, refuted.counterexample
                raise Refuted(refuted.entry, left, right, at, of)
            if wrong and refuted is None:
                formula, at = entries(gradient)[entry], {s: written(v) for s, v in values.items()}
                index = entry if entries(gradient).size > 1 else ()
                raise Refuted(index, formula, formula, at, of, "", (got, slope))
