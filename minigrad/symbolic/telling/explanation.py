"""Tell a backward pass on numbers, for every step the formula and the number: `explain`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minigrad.autograd.variable import Variable
from minigrad.symbolic.array import SymbolicArray
from minigrad.symbolic.telling.account import Account
from minigrad.symbolic.telling.derivation import told_in_words, wanted_tensors
from minigrad.symbolic.telling.local import NotTold, Value
from minigrad.symbolic.telling.naming import given_names
from minigrad.symbolic.telling.numbers_page import NumbersLayout
from minigrad.symbolic.telling.paper import Paper
from minigrad.symbolic.telling.steps import (
    GradientStep,
    Step,
    formula_or_none,
    in_reading_order,
    locals_in,
    terms_of,
)

MOST_SYMBOLS = 64  # entries of one tensor of which symbols are made


class Explanation(Paper):
    """A backward pass on numbers, told step by step; made by `explain`.

    Printed, it is a table of text; in a notebook it shows itself as LaTeX.

    Attributes:
        steps: The local derivatives (`LocalDerivative`) and the gradients (`GradientStep`), with
            formulas and numbers.
        gradients: For each place and leaf by its name the gradient as the engine had it when all
            hooks there had fired, an array.
        values: For each place and leaf by its name its value, an array, where it is known.
    """

    def __init__(self, account: Account, digits: int) -> None:
        order = in_reading_order(account)
        numbers = _numbers(account, order)
        names = account.places.names
        self.gradients = {names[v]: numbers[v][1] for v in order}
        self.values = {names[v]: numbers[v][0] for v in order if numbers[v][0] is not None}
        self._layout = NumbersLayout(account, order, numbers, digits)
        self.steps: tuple[Step, ...] = _steps(account, order, numbers)
        self._sections = self._layout.sections()


def explain(tensor: Variable, *, names: Any = None, digits: int = 6) -> Explanation:
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
    if isinstance(tensor, Variable) and isinstance(tensor._array, SymbolicArray):
        raise TypeError(
            "explain() tells a run on numbers, but this tensor holds formulas. For those there is "
            "derive()."
        )
    if not isinstance(tensor, Variable):
        raise TypeError(f"explain() takes a tensor, not {type(tensor).__name__}")
    wanted = wanted_tensors(tensor, None, "explain")
    with told_in_words("explain"):
        account = Account(tensor, wanted, given_names(names), MOST_SYMBOLS)
        return Explanation(account, digits)


def _numbers(account: Account, order: Sequence[Value]) -> dict[Value, tuple[Any, Any]]:
    numbers = {}
    for value in order:
        try:
            array = account.places.array(value)
        except NotTold:
            array = None
        numbers[value] = (array, account.engine[value])
    return numbers


def _steps(account: Account, order: Sequence[Value], numbers: Any) -> tuple[Step, ...]:
    chain = [
        GradientStep(
            account.places.names[value],
            terms_of(account, value, account.gradients[value]),
            formula_or_none(account.totals[value]),
            numbers[value][1],
        )
        for value in order
    ]
    return (*(each for step in chain for each in locals_in(step.terms)), *chain)
