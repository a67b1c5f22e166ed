"""Tell the chain rule as the engine took it, on symbols or numbers, and prove what is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import sympy

from minigrad.core.engine import AccumulateGrad
from minigrad.core.tensor import Tensor, wrap
from minigrad.symbolic.array import SymbolicArray, entries, entrywise, needs_of
from minigrad.symbolic.derivations.account import Account
from minigrad.symbolic.derivations.blackboard import Paper
from minigrad.symbolic.derivations.nodes import nodes_of
from minigrad.symbolic.derivations.pages import DerivationLayout, NumbersLayout
from minigrad.symbolic.derivations.places import given_names
from minigrad.symbolic.equality import Refuted, Undecided, decide_in_parts
from minigrad.symbolic.formulas import derivative, expression
from minigrad.symbolic.points import numbers_of, points, symbols_in
from minigrad.symbolic.prover import TROUBLE, not_decided
from minigrad.symbolic.regions import Region, condition_of, is_kinky, said
from minigrad.symbolic.signs import reduced, sign_of

MOST_SYMBOLS = 64  # entries of one tensor of which symbols are made
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
    """

    steps: tuple[str, ...]
    sympy: tuple[str, ...]
    apart_from: tuple[Any, ...] = ()
    open: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    domain: tuple[Any, ...] = ()

    def __str__(self) -> str:
        lines = []
        if self.steps:
            told = "the steps multiply to the engine's gradient"
            lines.append(f"proved: {told}, for {_and(self.steps)}")
        if self.sympy:
            lines.append(f"proved: the engine's gradient is sympy.diff's, for {_and(self.sympy)}")
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
        apart: What is not 0 there, either.

    Attributes:
        kinks: Expressions at whose zeros no two were proved to be equal.
        open: What was not proved, and why.
    """

    domain: Region
    apart: Set[Any] = frozenset()
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

    def has_value(self, what: str, gradient: Any) -> bool:
        """Tell whether each step to a gradient has a value in the domain, but at single points.

        Formulas do not show it: in SymPy the square of `sqrt(x)` is `x`, and in a run it is NaN.
        """
        missing = reduced(needs_of(wrap(gradient)), self.domain.sign)
        missing = [
            each
            for each in missing
            if not {sympy.expand(each.of), sympy.expand(-each.of)} & self.apart
        ]
        holes = [need.of for need in missing if need.relation == "!=" and need.of != 0]
        self.kinks[:] = dict.fromkeys([*self.kinks, *holes])
        limits = [said(condition_of(n.of, n.sign)) for n in missing if n.of not in holes]
        if limits:
            told = "could not decide, because a step of a rule has a value only where"
            self.open.append(f"{what}: {told} {_and(limits)}")
        return not limits


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
        Region(assumed={n.of: 1 for n in needs if n.relation == ">" and not is_kinky(n.of)}),
        {sympy.expand(need.of) for need in needs if need.relation == "!="},
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
    for leaf, gradient in found.items():
        name = places.called(leaf)
        what = f"sympy.diff, for {name}"
        try:
            due = partial(derivative, loss, wrt=leaf[0].variable)
            if proofs.succeeds(what, gradient, due) and proofs.has_value(what, gradient):
                by_sympy.append(name)
        except Refuted as refuted:
            if not _has_value(loss, refuted.counterexample):
                proofs.open.append(f"{what}: {refuted}, where a step of the loss has no value")
                continue
            note = "" if leaf in engine else f"no gradient came for {name}: a rule gave None; "
            raise Refuted(
                refuted.entry, refuted.left, refuted.right, refuted.counterexample,
                f"the gradient of {name}", note,
            ) from None  # fmt: skip
    domain = tuple(condition_of(need.of, need.sign) for need in needs) if by_sympy else ()
    kinks, left = tuple(proofs.kinks), tuple(proofs.open)
    return Checked(tuple(steps), tuple(by_sympy), kinks, left, hooks, domain)


def _has_value(loss: Any, point: Mapping[Any, Any]) -> bool:
    """Tell whether the loss, and each step to it, is real and finite at a point."""
    needs = needs_of(loss)
    formulas = [*entries(loss).flat, *(need.of for need in needs)]
    values = {**next(points(symbols_in(formulas) - point.keys()), {}), **point}
    try:
        result, *needed = numbers_of(formulas, values)
    except (TypeError, ValueError, ArithmeticError):
        return False
    met = (need.holds(value) for need, value in zip(needs, needed, strict=True))
    return bool(result.is_real and result.is_finite and all(met))
