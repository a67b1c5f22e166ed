"""Write the chain rule as the engine took it, on symbols or numbers, and prove each step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from minigrad.core.engine import AccumulateGrad
from minigrad.core.tensor import Tensor, wrap
from minigrad.symbolic.array import SymbolicArray, entries, entrywise, needs_of
from minigrad.symbolic.chain_rule import ChainRule
from minigrad.symbolic.equality import (
    TROUBLE,
    Refuted,
    Undecided,
    decide_in_parts,
    symbols_in,
    undecided,
)
from minigrad.symbolic.formulas import derivative, expression
from minigrad.symbolic.pages import DerivationLayout, NumbersLayout
from minigrad.symbolic.passes import nodes_of
from minigrad.symbolic.places import given_names
from minigrad.symbolic.regions import KINKS, Region, condition_of, in_words, reduced, sign_of
from minigrad.symbolic.writing import Paper

TOO_LONG = 1500  # operations in two formulas; SymPy would take minutes for more


# ---------------------------------------------------------------------- pages


class Derivation(Paper):
    """The chain rule of one loss, as a backward pass took it; made by `derive`.

    Printed, it is text; in a notebook it shows itself as LaTeX.

    Attributes:
        gradients: For each place and leaf by its name the gradient in the symbols of the leaves, as
            the engine had it when all hooks there had fired. Entries are as from `expression`.
    """

    def __init__(self, chain: ChainRule) -> None:
        self._chain, layout = chain, DerivationLayout(chain)
        engine = chain.engine
        self.gradients = {layout.names[v]: expression(wrap(engine[v])) for v in layout.order}
        super().__init__(layout.sections())

    def check(self) -> Checked:
        """Prove that the steps multiply to the engine's gradients, and these to be right.

        What the engine gave is compared with `sympy.diff` of the loss where no hook changed a
        gradient; where one did, it is not the derivative any more, and only the steps are proved.
        The result says so, with the hook's name.
        Where a formula has a kink (`abs`, `relu`, a hook that clips) both of its sides are proved.

        Returns:
            What was proved for which gradients, and what SymPy could not decide.

        Raises:
            Refuted: If a gradient differs; with the entry, both formulas and a counterexample.
        """
        return _checked(self._chain)


def derive(loss: Tensor, *, names: Any = None) -> Derivation:
    r"""Write the chain rule of a loss as the engine took it, step by step, with all hooks.

    It follows single numbers: every tensor on the way has one entry.

    One backward pass is made. It keeps the graph and changes no `.grad`; every hook on the way
    fires once, as in `autograd.grad`: all but those of the nodes that add to `.grad`, and those
    after that. Each node's local derivative is asked of its own rule, run on symbols in the place
    of the values that it saved.

    Args:
        loss: A symbolic tensor with one entry.
        names: Names for tensors, as in `viz.draw`: a dict such as `{"x_1": x1, "y": y}`, a module,
            or a list of both. Named inner tensors are the places that the derivation names,
            and nodes between two of them are one step. Without any, the result of every node is
            a place $v_1, v_2, \dots$ Leaves have the names of their symbols.

    Returns:
        The derivation. `print` it, show it in a notebook, or ask its `check()` for a proof. It says
        where a gradient ended because a rule or a hook gave None.

    Raises:
        TypeError: If the loss is not symbolic.
        RuntimeError: If it has several entries, no graph, or a graph that a backward has freed; or
            if a formula is nested too deeply.
        ValueError: If a tensor has several entries, if two would have the same name, or one that of
            a symbol.

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
            "derive() writes the formulas of a run on symbols (minigrad.symbolic.symbols, "
            "symbolic_like), but this loss holds numbers. For those there is explain()."
        )
    return _followed(Derivation, "derive", loss, names)


def _followed(kind: type[Any], caller: str, loss: Tensor, names: Any, *settings: Any) -> Any:
    """Run a backward pass, and make a derivation or an explanation of it.

    Raises:
        RuntimeError: If the loss has several entries, no graph, or a graph that was freed, or has a
            formula that is nested too deeply.
    """
    if loss._array.size != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if loss.grad_fn is None:
        raise RuntimeError(
            "the loss has no graph: it was computed from tensors that require no "
            "grad, or without recording"
        )
    if any(node._keeps_tensors and node._saved is None for node in nodes_of(loss)):
        raise RuntimeError(
            f"{caller}() needs the values that the graph saved, but a backward has freed them. "
            f"Call {caller}() before backward(), or keep them: backward(retain_graph=True)."
        )
    try:
        return kind(ChainRule(loss, given_names(names)), *settings)
    except RecursionError as error:
        raise RuntimeError(
            f"{caller}() could not follow this run, because a formula in it is nested too deeply. "
            "Give names to more of the inner tensors (or none, then each gets one), or take a "
            "shorter run: fewer layers, or fewer steps."
        ) from error


class Explanation(Paper):
    """A backward pass on numbers, step by step; made by `explain`.

    Printed, it is a table of text; in a notebook it shows itself as LaTeX.

    Attributes:
        gradients: For each place and leaf by its name the gradient as the engine had it when all
            hooks there had fired, an array.
        values: For each place and leaf by its name its value, an array, where it is known.
    """

    def __init__(self, chain: ChainRule, digits: int) -> None:
        self._layout = NumbersLayout(chain, digits)
        names, values = chain.places.names, self._layout.values
        self.gradients = {names[value]: chain.engine[value] for value in values}
        self.values = {names[v]: array for v, array in values.items() if array is not None}
        super().__init__(self._layout.sections())


def explain(tensor: Tensor, *, names: Any = None, digits: int = 6) -> Explanation:
    r"""Write for a run on numbers how each gradient comes about: formula and number, step by step.

    It follows single numbers: every tensor on the way has one entry.

    One backward pass is made. It keeps the graph and changes no `.grad`; every hook on the way
    fires once, as in `autograd.grad`: all but those of the nodes that add to `.grad`, and those
    after that. The numbers of the local derivatives come from the nodes' own rules on what they
    saved, and the formulas from the same rules, run on symbols. (The backward of a custom
    `Function` therefore runs again.)

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
        ValueError: If a tensor has several entries, or if two would have the same name.

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
    return _followed(Explanation, "explain", tensor, names, digits)


# ---------------------------------------------------------------------- proofs


@dataclass(frozen=True)
class Checked:
    """What `Derivation.check` proved.

    Attributes:
        steps: For which gradients: the steps multiply to what the engine gave.
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
            what = "the steps multiply to the engine's gradient"
            lines.append(f"proved: {what}, for {_and(self.steps)}")
        if self.sympy:
            lines.append(f"proved: the engine's gradient is sympy.diff's, for {_and(self.sympy)}")
        if self.domain:
            lines.append(f"  where {_and(tuple(map(in_words, self.domain)))}")
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


def _checked(chain: ChainRule) -> Checked:
    """Prove that the steps multiply to the engine's gradients, and these to be right."""
    places, engine, order = chain.places, chain.engine, chain.in_order()
    loss, in_leaves = places.known[places.root], places.in_leaves()
    hooks = chain.hooks_that_changed()
    # the engine's gradients of leaves of symbols; where none came, it counts as 0
    leaves = {
        value: engine.get(value, value[0].variable._array * 0)
        for value in ([] if hooks else [*order, *chain.without_gradient])
        if type(value[0]) is AccumulateGrad
        and isinstance(value[0].variable._array, SymbolicArray)
        and all(entry.is_Symbol for entry in entries(value[0].variable).flat)
    }
    needs = reduced(needs_of([loss, *leaves.values()]), sign_of)
    smooth = [n for n in needs if n.relation == ">" and not n.of.has(*KINKS)]
    domain = Region(assumed={need.of: 1 for need in smooth})
    kinks: dict[Any, None] = {}
    left_open: list[str] = []

    def is_proved(what: str, found: Any, due: Callable[[], Any], of: str = "") -> bool:
        try:
            first, second = entries(found), entries(due()).reshape(np.shape(found))
            pairs = list(zip(first.flat, second.flat, strict=True))
            if max(one.count_ops() + other.count_ops() for one, other in pairs) > TOO_LONG:
                left_open.append(f"{what}: the formulas are too long for SymPy")
                return False
            for entry, sides in zip(np.ndindex(first.shape), pairs, strict=True):
                place = entry if first.size > 1 else ()
                decision, met = decide_in_parts(*sides, domain)
                if isinstance(decision, dict):
                    if all(need.holds(need.of.subs(decision)) is not False for need in needs):
                        raise Refuted(place, *sides, decision, of)
                    decision = sides[0] - sides[1]  # the program has no value there
                if decision is not None:
                    left_open.append(f"{what}: {Undecided(place, *sides, decision)}")
                    return False
                kinks.update(dict.fromkeys(met))
        except TROUBLE as error:
            left_open.append(f"{what}: {undecided(error)}")
            return False
        return True

    totals = chain.composed(
        inside=lambda each: entrywise(lambda entry: entry.xreplace(in_leaves), each)
    )
    known = symbols_in(entry for array in engine.values() for entry in entries(array).flat)
    steps: list[str] = []
    for value in order:
        name, total = places.names[value], totals[value]
        if total is None:
            left_open.append(f"{name}, as a step has no formula")
        elif symbols_in(total.flat) - known:
            left_open.append(f"{name}, as a value in between is not known")
        elif is_proved(f"the steps, for {name}", total, partial(engine.get, value)):
            steps.append(name)
    by_sympy: list[str] = []
    for leaf, gradient in leaves.items():
        name = places.called(leaf)
        note = "" if leaf in engine else f"no gradient came for {name}: a rule gave None; "
        try:
            due = partial(derivative, loss, wrt=leaf[0].variable)
            if is_proved(f"sympy.diff, for {name}", gradient, due, f"the gradient of {name}"):
                by_sympy.append(name)
        except Refuted as refuted:
            raise replace(refuted, note=note) from None
    conditions = tuple(
        condition_of(need.of, None if need.relation == "!=" else 1)
        for need in (needs if by_sympy else ())
    )
    return Checked(tuple(steps), tuple(by_sympy), tuple(kinks), tuple(left_open), hooks, conditions)
