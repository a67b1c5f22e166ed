"""Tell the chain rule as the engine took it: `derive` on symbols, `explain` on numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from minigrad.core.tensor import Tensor, wrap
from minigrad.nn import Module
from minigrad.symbolic.array import SymbolicArray, entries, symbolic, vector_of
from minigrad.symbolic.derivations.account import Account
from minigrad.symbolic.derivations.blackboard import Paper
from minigrad.symbolic.derivations.check import (
    TOO_LONG,
    Checked,
    GraphWitness,
    domain_of,
    prove_equal,
)
from minigrad.symbolic.derivations.nodes import Value, value_of
from minigrad.symbolic.derivations.numbers_page import NumbersLayout
from minigrad.symbolic.derivations.page import DerivationLayout
from minigrad.symbolic.derivations.passage import leaves_of, nodes_of
from minigrad.symbolic.derivations.places import given_names
from minigrad.symbolic.equality import Refuted, Undecided
from minigrad.symbolic.formulas import derivative, expression

MOST_SYMBOLS = 64  # entries of one tensor of which symbols are made


class Derivation(Paper):
    """The chain rule of one loss, as a backward pass took it; made by `derive`.

    Printed, it is text; in a notebook it shows itself as LaTeX.

    Attributes:
        gradients: For each place and leaf by its name the gradient in the symbols of the leaves, as
            the engine had it when all hooks there had fired. Entries are as from `expression`.
    """

    def __init__(self, account: Account, wanted: Sequence[Value]) -> None:
        self._account = account
        self._wanted = list(wanted)
        self._order = _leading_to(account, self._wanted or list(account.gradients))
        self._engine = account.engine
        names = account.places.names
        self.gradients: dict[str, Any] = {
            names[value]: expression(wrap(self._engine[value])) for value in self._order
        }
        self._sections = DerivationLayout(account, self._order).sections()

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
        account, names = self._account, self._account.places.names
        totals = account.composed(self._put_in_places)
        known = self._leaf_symbols()
        self._domain = domain_of(account.places.known[account.places.root])
        steps: list[str] = []
        by_sympy: list[str] = []
        kinks: list[Any] = []
        unproved: list[str] = []
        for value in self._order:
            name, told, engine = names[value], totals[value], self._engine[value]
            if told is None:
                unproved.append(f"{name}, as a step has no formula")
            elif _free(told) - known - _free(engine):
                unproved.append(f"{name}, as a value in between is not known")
            else:
                self._attempt(f"the steps, for {name}", name, told, engine, steps, kinks, unproved)
        loss = account.places.known[account.places.root]
        hooks = account.hooks_that_changed()
        judged = {
            value: self._engine[value]
            for value in ([] if hooks else self._wanted)
            if not value[0].next_functions and _only_symbols(account.places.known.get(value))
        }
        if not judged:
            return Checked(tuple(steps), (), tuple(kinks), tuple(unproved), hooks)
        witness = GraphWitness(loss, account.passages, judged, names)
        for value, gradient in judged.items():
            due = derivative(loss, wrt=wrap(account.places.known[value]))._array
            name, what = names[value], f"sympy.diff, for {names[value]}"
            try:
                self._attempt(what, name, gradient, due, by_sympy, kinks, unproved)
            except Refuted as refuted:
                witness.confirm(refuted, value, kinks)
                unproved.append(f"{what}: {refuted}, but the run does not show it")
        points = witness.points(kinks)
        if not points and by_sympy:
            unproved.append(
                f"sympy.diff, for {', '.join(by_sympy)}: could not decide, because no point was "
                "found at which the rules could be run on numbers and compared with the loss"
            )
            by_sympy = []
        domain = witness.domain if by_sympy else ()
        return Checked(
            tuple(steps), tuple(by_sympy), tuple(kinks), tuple(unproved), hooks, domain, points
        )

    def _attempt(
        self,
        what: str,
        name: str,
        left: Any,
        right: Any,
        proved: list[str],
        kinks: list[Any],
        unproved: list[str],
    ) -> None:
        met: list[Any] = []
        pairs = zip(entries(left).flat, entries(right).flat, strict=True)
        longest = max(a.count_ops() + b.count_ops() for a, b in pairs)
        if longest > TOO_LONG:
            unproved.append(f"{what}: {longest} operations in an entry are too many for SymPy")
            return
        try:
            prove_equal(left, right, met, self._domain)
        except Undecided as undecided:
            unproved.append(f"{what}: {undecided}")
        else:
            proved.append(name)
            kinks += [kink for kink in met if kink not in kinks]

    def _leaf_symbols(self) -> set[Any]:
        return set().union(*(_free(gradient) for gradient in self._engine.values()))

    def _put_in_places(self, formula: Any) -> Any:
        """Write a local formula in the symbols of the leaves."""
        given = self._account.places.in_leaves()
        put = [entry.xreplace(given) for entry in entries(formula).flat]
        return symbolic(vector_of(put).reshape(np.shape(formula)))


def derive(
    loss: Tensor,
    wrt: Any = None,
    *,
    names: Any = None,
) -> Derivation:
    r"""Tell the chain rule of a loss as the engine took it, step by step, with all hooks.

    One backward pass is made. It keeps the graph and changes no `.grad`; every hook on the way
    fires once, as in `autograd.grad`: all but those of the nodes that add to `.grad`, and those
    after that. Each node's local derivative is asked of its own rule, run on symbols in the place
    of the values that it saved.

    Args:
        loss: A symbolic tensor with one entry.
        wrt: With respect to what: a tensor, several, or a module, whose parameters are meant. By
            default all leaves.
        names: Names for tensors, as in `viz.draw`: a dict such as `{"x_1": x1, "y": y}`, a module,
            or a list of both. Named inner tensors are the places that the derivation is told by,
            and nodes between two of them are one step. Without any, the result of every node is
            a place $v_1, v_2, \dots$ Leaves have the names of their symbols.

    Returns:
        The derivation. `print` it, show it in a notebook, or ask its `check()` for a proof. It says
        where a gradient ended because a rule or a hook gave None.

    Raises:
        TypeError: If the loss is not symbolic.
        RuntimeError: If it has several entries, no graph, or a graph that a backward has freed; if
            it does not depend on a tensor of `wrt`; or if a formula is nested too deeply.
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
    wanted = wanted_tensors(loss, wrt, "derive")
    named = given_names(names)
    with told_in_words("derive"):
        account = Account(loss, wanted, named, float("inf"))
    asked = [value for value in map(value_of, wanted) if value is not None]
    places = [value for value in asked if value in account.gradients]
    nodes = set(nodes_of(loss))
    if len(asked) < len(wanted) or any(node not in nodes for node, _ in asked):
        raise RuntimeError(
            "One of the differentiated Tensors appears to not have been used in the graph. "
            "derive() tells of tensors that the loss was computed from."
        )
    with told_in_words("derive"):
        return Derivation(account, places)


@contextmanager
def told_in_words(teller: str) -> Iterator[None]:
    """Say what to do where a formula is nested more deeply than Python can follow.

    Raises:
        RuntimeError: In the place of a `RecursionError`.
    """
    try:
        yield
    except RecursionError as error:
        raise RuntimeError(
            f"{teller}() could not tell this run, because a formula in it is nested too deeply. "
            "Give names to more of the inner tensors (or none, then each gets one), or tell a "
            "shorter run: fewer layers, or fewer steps."
        ) from error


def wanted_tensors(loss: Tensor, wrt: Any, teller: str) -> list[Tensor]:
    """List the tensors whose gradients are asked for.

    Raises:
        RuntimeError: If the loss has several entries, no graph, or a graph that was freed.
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
    if wrt is None:
        return leaves_of(loss)
    if isinstance(wrt, Module):
        return [each for each in wrt.parameters() if each.requires_grad]
    return [wrt] if isinstance(wrt, Tensor) else list(wrt)


def _leading_to(account: Account, wanted: Sequence[Value]) -> list[Value]:
    """Keep the places that the wanted gradients came through, in the order of reading."""
    needed = {account.places.root, *wanted}
    for value in reversed(list(account.gradients)):
        if value in needed:
            needed.update(place for place, _ in account.gradients[value].all_pulls())
    return [value for value in in_reading_order(account) if value in needed]


def _only_symbols(array: Any) -> bool:
    return array is not None and all(entry.is_Symbol for entry in entries(array).flat)


def _free(array: Any) -> set[Any]:
    """Give all symbols in an array of formulas."""
    return set().union(*(entry.free_symbols for entry in entries(array).flat))


def in_reading_order(account: Account) -> list[Value]:
    """Order the places: inner ones from the loss backward, each with its leaves behind it."""
    places = account.places
    values = list(account.gradients)
    inner = sorted(
        (v for v in values if not _is_leaf(account, v)),
        key=lambda v: (-v[0]._sequence_nr(), v[1]),
    )
    leaves = sorted(
        (v for v in values if _is_leaf(account, v)), key=lambda v: places._first_use(v[0])
    )
    return [*inner, *leaves]


def _is_leaf(account: Account, value: Value) -> bool:
    return not value[0].next_functions and value != account.places.root


class Explanation(Paper):
    """A backward pass on numbers, told step by step; made by `explain`.

    Printed, it is a table of text; in a notebook it shows itself as LaTeX.

    Attributes:
        gradients: For each place and leaf by its name the gradient as the engine had it when all
            hooks there had fired, an array.
        values: For each place and leaf by its name its value, an array, where it is known.
    """

    def __init__(self, account: Account, digits: int) -> None:
        order = in_reading_order(account)
        names, places = account.places.names, account.places
        self.gradients = {names[value]: account.engine[value] for value in order}
        values = {value: places.array_or_none(value) for value in order}
        self.values = {names[v]: array for v, array in values.items() if array is not None}
        self._layout = NumbersLayout(account, order, values, digits)
        self._sections = self._layout.sections()


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
    if isinstance(tensor, Tensor) and isinstance(tensor._array, SymbolicArray):
        raise TypeError(
            "explain() tells a run on numbers, but this tensor holds formulas. For those there is "
            "derive()."
        )
    if not isinstance(tensor, Tensor):
        raise TypeError(f"explain() takes a tensor, not {type(tensor).__name__}")
    wanted = wanted_tensors(tensor, None, "explain")
    with told_in_words("explain"):
        account = Account(tensor, wanted, given_names(names), MOST_SYMBOLS)
        return Explanation(account, digits)
