"""Tell the chain rule as the engine took it, on symbols or numbers, and prove what is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import sympy
from sympy.core.relational import Relational

from minigrad.core.engine import AccumulateGrad
from minigrad.core.tensor import Tensor, wrap
from minigrad.symbolic.array import SymbolicArray, entries, entrywise, needs_of, vector_of
from minigrad.symbolic.derivations.account import Account
from minigrad.symbolic.derivations.blackboard import Paper
from minigrad.symbolic.derivations.nodes import Value, nodes_of, run_rule, stand_in
from minigrad.symbolic.derivations.pages import DerivationLayout, NumbersLayout
from minigrad.symbolic.derivations.places import given_names
from minigrad.symbolic.equality import Refuted, Undecided, decide_in_parts
from minigrad.symbolic.formulas import derivative, expression
from minigrad.symbolic.points import compiled, condition_sides, symbols_in
from minigrad.symbolic.proofs.conclusion import TROUBLE, not_decided, written
from minigrad.symbolic.proofs.trial import Outcome, Place, Trial, is_far
from minigrad.symbolic.regions import EVERYWHERE, Region, condition_of, is_kinky, said
from minigrad.symbolic.signs import Need, reduced, sign_of

MOST_SYMBOLS = 64  # entries of one tensor of which symbols are made
_WRONG = (Outcome.DIFFERS, Outcome.NOTHING)
_OVERFLOW = 25  # beyond that, NaN may come of numbers that are too large
TOO_LONG = 1500  # operations in two formulas; SymPy would take minutes for more


# ---------------------------------------------------------------------- pages


class Derivation(Paper):
    """The chain rule of one loss, as a backward pass took it; made by `derive`.

    Printed, it is text; in a notebook it shows itself as LaTeX.

    Attributes:
        gradients: For each place and leaf by its name the gradient in the symbols of the leaves, as
            the engine had it when all hooks there had fired. Entries are as from `expression`.
    """

    def __init__(self, account: Account) -> None:
        self._account, layout = account, DerivationLayout(account)
        engine = account.engine
        self.gradients = {layout.names[v]: expression(wrap(engine[v])) for v in layout.order}
        super().__init__(layout.sections())

    def check(self) -> Checked:
        """Prove that the told steps multiply to the engine's gradients, and these to be right.

        What the engine gave is compared with `sympy.diff` of the loss where no hook changed a
        gradient; where one did, it is not the derivative any more, and only the steps are proved.
        The result says so, with the hook's name.
        Where a formula has a kink (`abs`, `relu`, a hook that clips) both of its sides are proved.

        Returns:
            What was proved for which gradients, and what SymPy could not decide.

        Raises:
            Refuted: If a gradient differs; with the entry, both formulas and a counterexample.
        """
        return checked(self._account)


def derive(loss: Tensor, *, names: Any = None) -> Derivation:
    r"""Tell the chain rule of a loss as the engine took it, step by step, with all hooks.

    One backward pass is made. It keeps the graph and changes no `.grad`; every hook on the way
    fires once, as in `autograd.grad`: all but those of the nodes that add to `.grad`, and those
    after that. Each node's local derivative is asked of its own rule, run on symbols in the place
    of the values that it saved.

    Args:
        loss: A symbolic tensor with one entry.
        names: Names for tensors, as in `viz.draw`: a dict such as `{"x_1": x1, "y": y}`, a module,
            or a list of both. Named inner tensors are the places that the derivation is told by,
            and nodes between two of them are one step. Without any, the result of every node is
            a place $v_1, v_2, \dots$ Leaves have the names of their symbols.

    Returns:
        The derivation. `print` it, show it in a notebook, or ask its `check()` for a proof. It says
        where a gradient ended because a rule or a hook gave None.

    Raises:
        TypeError: If the loss is not symbolic.
        RuntimeError: If it has several entries, no graph, or a graph that a backward has freed; or
            if a formula is nested too deeply.
        ValueError: If two tensors would have the same name, or a tensor that of a symbol.

    Example:
        >>> from minigrad.symbolic import symbols
        >>> x, w = symbols("x w", requires_grad=True)
        >>> y = w * x
        >>> print(derive((y - 1) ** 2, names={"y": y}))
        Forward
          y = w*x
          L = (y - 1)**2
        <BLANKLINE>
        Backward
          dL/dy = 2*(y - 1)
          dy/dw = x
          dy/dx = w
        <BLANKLINE>
        According to the chain rule
          dL/dw = dL/dy * dy/dw = 2*x*(y - 1)
          dL/dx = dL/dy * dy/dx = 2*w*(y - 1)
    """
    if not isinstance(loss, Tensor) or not isinstance(loss._array, SymbolicArray):
        raise TypeError(
            "derive() tells the formulas of a run on symbols (minigrad.symbolic.symbols, "
            "symbolic_like), but this loss holds numbers. For those there is explain()."
        )
    return _told(Derivation, "derive", loss, names, float("inf"))


def _told(
    kind: type[Any], teller: str, loss: Tensor, names: Any, limit: float, *settings: Any
) -> Any:
    """Run a backward pass, and make a derivation or an explanation of it.

    Raises:
        RuntimeError: If the loss has several entries, no graph, or a graph that was freed, or has a
            formula that is nested too deeply.
    """
    if loss._array.size != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if loss.grad_fn is None:
        raise RuntimeError(
            "the loss has no graph to be told of: it was computed from tensors that require no "
            "grad, or without recording"
        )
    if any(node._keeps_tensors and node._saved is None for node in nodes_of(loss)):
        raise RuntimeError(
            f"{teller}() needs the values that the graph saved, but a backward has freed them. "
            f"Call {teller}() before backward(), or keep them: backward(retain_graph=True)."
        )
    try:
        return kind(Account(loss, given_names(names), limit), *settings)
    except RecursionError as error:
        raise RuntimeError(
            f"{teller}() could not tell this run, because a formula in it is nested too deeply. "
            "Give names to more of the inner tensors (or none, then each gets one), or tell a "
            "shorter run: fewer layers, or fewer steps."
        ) from error


class Explanation(Paper):
    """A backward pass on numbers, told step by step; made by `explain`.

    Printed, it is a table of text; in a notebook it shows itself as LaTeX.

    Attributes:
        gradients: For each place and leaf by its name the gradient as the engine had it when all
            hooks there had fired, an array.
        values: For each place and leaf by its name its value, an array, where it is known.
    """

    def __init__(self, account: Account, digits: int) -> None:
        self._layout = NumbersLayout(account, digits)
        names, values = account.places.names, self._layout.values
        self.gradients = {names[value]: account.engine[value] for value in values}
        self.values = {names[v]: array for v, array in values.items() if array is not None}
        super().__init__(self._layout.sections())


def explain(tensor: Tensor, *, names: Any = None, digits: int = 6) -> Explanation:
    r"""Tell for a run on numbers how each gradient comes about: formula and number, step by step.

    One backward pass is made. It keeps the graph and changes no `.grad`; every hook on the way
    fires once, as in `autograd.grad`: all but those of the nodes that add to `.grad`, and those
    after that. The numbers of the local derivatives come from the nodes' own rules on what they
    saved, and the formulas from the same rules, run on symbols. (The backward of a custom
    `Function` therefore runs again.) A tensor with more than 64 entries gets no symbols; it is told
    in matrices, or by the name of its node. Of one with more than 6 entries only one is written
    out.

    Args:
        tensor: The loss, a tensor with one entry.
        names: Names for tensors, as in `derive`: a dict, a module, or a list of both. The
            parameters of a module are called as by `symbolic_like`: `f0.weight` is `w_0`. Leaves
            without a name are `a_1`, `a_2`, ...
        digits: How many decimals are shown.

    Returns:
        The explanation. `print` it, or show it in a notebook.

    Raises:
        TypeError: If the tensor is symbolic.
        RuntimeError: If it has several entries, no graph, or a graph that a backward has freed; or
            if a formula is nested too deeply.
        ValueError: If two tensors would have the same name.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> y = x * x
        >>> print(explain((y - 1) ** 2, names={"x": x, "y": y}))
        Forward
          x = 3
          y = x**2       = 3**2       = 9
          L = (y - 1)**2 = (9 - 1)**2 = 64
        <BLANKLINE>
        Backward
          dL/dy = 2*(y - 1)   = 2*(9 - 1) = 16
          dL/dx = dL/dy * 2*x = 16 * 6    = 96
    """
    if not isinstance(tensor, Tensor) or isinstance(tensor._array, SymbolicArray):
        raise TypeError(
            "explain() takes a tensor that holds numbers. For one of formulas there is derive()."
        )
    return _told(Explanation, "explain", tensor, names, MOST_SYMBOLS, digits)


# ---------------------------------------------------------------------- proofs


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


@dataclass
class Proofs:
    """Proves that arrays of formulas are equal, and collects what that left open.

    Args:
        domain: The region in which they are compared.

    Attributes:
        kinks: Expressions at whose zeros no two were proved to be equal.
        open: What was not proved, and why.
    """

    domain: Region
    kinks: list[Any] = field(default_factory=list)
    open: list[str] = field(default_factory=list)

    def succeeds(self, what: str, left: Any, right: Any) -> bool:
        """Try to prove that two arrays are equal, on both sides of each of their kinks.

        Raises:
            Refuted: If they differ somewhere.
        """
        try:
            return self._succeeds(what, left, right)
        except TROUBLE as error:
            self.open.append(f"{what}: {not_decided(error)}")
            return False

    def _succeeds(self, what: str, left: Any, right: Any) -> bool:
        right = right() if callable(right) else right  # to compute it may fail, too
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


def checked(account: Account) -> Checked:
    """Prove that the told steps multiply to the engine's gradients, and these to be right.

    Args:
        account: The backward pass.

    Raises:
        Refuted: If a gradient differs; with the entry, both formulas and a counterexample.
    """
    places, names, engine = account.places, account.places.names, account.engine
    order = account.in_order()
    loss, in_leaves = places.known[places.root], places.in_leaves()
    needs = reduced(needs_of(loss), sign_of)
    proofs = Proofs(
        Region(assumed={n.of: 1 for n in needs if n.relation == ">" and not is_kinky(n.of)})
    )
    totals = account.composed(
        inside=lambda told: entrywise(lambda each: each.xreplace(in_leaves), told)
    )
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
    # the engine's gradients of leaves of symbols; where none came, it counts as 0
    found = {
        value: engine.get(value, value[0].variable._array * 0)
        for value in ([] if hooks else [*order, *account.without_gradient])
        if type(value[0]) is AccumulateGrad
        and isinstance(value[0].variable._array, SymbolicArray)
        and all(entry.is_Symbol for entry in entries(value[0].variable).flat)
    }
    by_sympy: list[str] = []
    domain, points = (), 0
    if found:
        trial = GraphTrial(account, found)
        for leaf, gradient in found.items():
            name = places.called(leaf)
            what = f"sympy.diff, for {name}"
            try:
                due = partial(derivative, loss, wrt=leaf[0].variable)
                if proofs.succeeds(what, gradient, due):
                    by_sympy.append(name)
            except Refuted as refuted:
                note = "" if leaf in engine else f"no gradient came for {name}: a rule gave None; "
                trial.doubts[leaf] = Refuted(
                    refuted.entry, refuted.left, refuted.right, refuted.counterexample,
                    f"the gradient of {name}", note,
                )  # fmt: skip
                proofs.open.append(f"{what}: {refuted}, but the run does not show it")
        points = trial.points(proofs.kinks)
        if by_sympy and not points:
            proofs.open.append(
                f"sympy.diff, for {', '.join(by_sympy)}: could not decide, because no point was "
                "found at which the rules could be run on numbers and compared with the loss"
            )
            by_sympy = []
        domain = trial.domain if by_sympy else ()
    kinks, left = tuple(proofs.kinks), tuple(proofs.open)
    return Checked(tuple(steps), tuple(by_sympy), kinks, left, hooks, domain, points)


# ---------------------------------------------------------------------- on numbers


class GraphTrial(Trial):
    """A backward pass on symbols that runs on numbers in their place, rule by rule.

    What the rules give is compared with difference quotients of the loss.

    Args:
        account: The backward pass.
        gradients: Those that are compared, by their leaves.

    Attributes:
        doubts: For leaves where formulas differ how they do; it is said once a run shows it.
    """

    def __init__(self, account: Account, gradients: dict[Value, Any]) -> None:
        self._loss = account.places.known[account.places.root]
        self._passages, self._called = account.passages, account.places.called
        self._gradients = gradients
        self._compiled: dict[int, tuple[list[Need], list[Any], Callable[[Any], Any]]] = {}
        self.doubts: dict[Value, Refuted] = {}
        wanted = [leaf[0].variable for leaf in gradients]
        held = [passage.node.variable for passage in self._passages if passage.is_leaf]
        held += [each for each in wanted if all(each is not other for other in held)]
        formulas = [self._loss, *self._gradients.values()]
        others = sorted(symbols_in(e for each in formulas for e in entries(each).flat), key=str)
        one = vector_of([sympy.Integer(1)]).reshape(np.shape(self._loss))
        super().__init__(lambda: None, held, wanted, [one], others)
        ours, rules = (
            [condition_of(need.of, need.sign) for need in reduced(needs_of(each), sign_of)]
            for each in (self._loss, self._gradients.values())
        )
        self.domain, self._conditions = tuple(ours), [*ours, *rules]

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
        """Compute an array of formulas: NaN where a step to them has no value."""
        if id(array) not in self._compiled:
            needs = list(needs_of(array))
            formulas = [*entries(array).flat, *(need.of for need in needs)]
            symbols = sorted(symbols_in(formulas), key=str)
            self._compiled[id(array)] = needs, symbols, compiled(formulas, symbols)
        needs, symbols, compute = self._compiled[id(array)]
        row = np.array([[float(values[symbol]) for symbol in symbols]])
        numbers, needed = np.split(compute(row)[:, 0], [array.size])
        if not all(n.holds(sympy.Float(x)) for n, x in zip(needs, needed, strict=True)):
            numbers[:] = np.nan
        return numbers.reshape(array.shape)

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

    def points(self, kinks: list[Any]) -> int:
        """Count the points of all parts at which the rules give the slope of the loss.

        Args:
            kinks: Expressions that are 0 where there is a kink or a jump; those where a rule gives
                NaN, though the loss has a slope, are added.

        Raises:
            Refuted: If a rule gives something else somewhere.
        """
        made = dict.fromkeys([*self._conditions, *(condition_of(kink, 1) for kink in kinks)])
        conditions = [each for each in made if isinstance(each, Relational)]
        with self.running():
            record = self.record(self.draw([EVERYWHERE], conditions), conditions)
            inside = record.points.border < 0
            for row in record.points.rows[record.where(*_WRONG) & inside]:
                if not is_far(row, _OVERFLOW):
                    self._compare(self.values(row))
        for border in record.points.border[record.where(Outcome.NOTHING) & ~inside]:
            hole = condition_sides(conditions[border])[0]
            kinks += [hole] if hole not in kinks else []
        return int((record.where(Outcome.AGREES) & inside).sum())

    def _compare(self, values: dict[Any, float]) -> None:
        """Refute what is wrong at a point."""
        gradients = list(self._gradients.items())
        for place, entry, got, slope in self.wrong_entries(values):
            leaf, gradient = gradients[place]
            if leaf in self.doubts:
                raise self.doubts[leaf]
            formula, at = entries(gradient)[entry], {s: written(v) for s, v in values.items()}
            index = entry if entries(gradient).size > 1 else ()
            of = f"the gradient of {self._called(leaf)}"
            raise Refuted(index, formula, formula, at, of, "", (got, slope))
