"""Tell the chain rule as the engine took it: `derive` on symbols, `explain` on numbers."""

from __future__ import annotations

from typing import Any

from minigrad.core.tensor import Tensor, wrap
from minigrad.nn import Module
from minigrad.symbolic.array import SymbolicArray
from minigrad.symbolic.derivations.account import Account
from minigrad.symbolic.derivations.blackboard import Paper
from minigrad.symbolic.derivations.check import Checked, checked
from minigrad.symbolic.derivations.nodes import leaves_of, nodes_of
from minigrad.symbolic.derivations.pages import DerivationLayout, NumbersLayout
from minigrad.symbolic.derivations.places import given_names
from minigrad.symbolic.formulas import expression

MOST_SYMBOLS = 64  # entries of one tensor of which symbols are made


class Derivation(Paper):
    """The chain rule of one loss, as a backward pass took it; made by `derive`.

    Printed, it is text; in a notebook it shows itself as LaTeX.

    Attributes:
        gradients: For each place and leaf by its name the gradient in the symbols of the leaves, as
            the engine had it when all hooks there had fired. Entries are as from `expression`.
    """

    def __init__(self, account: Account) -> None:
        self._account, self._order = account, account.in_order(account.wanted)
        names, engine = account.places.names, account.engine
        self.gradients = {names[v]: expression(wrap(engine[v])) for v in self._order}
        super().__init__(DerivationLayout(account, self._order).sections())

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
        return checked(self._account, self._order)


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
    return _told(Derivation, "derive", loss, wrt, names, float("inf"))


def _told(
    kind: type[Any], teller: str, loss: Tensor, wrt: Any, names: Any, limit: float, *settings: Any
) -> Any:
    """Run a backward pass, and make a derivation or an explanation of it.

    Raises:
        RuntimeError: If the loss has several entries, no graph, or a graph that was freed, does not
            depend on what is asked for, or has a formula that is nested too deeply.
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
        wanted = leaves_of(loss)
    elif isinstance(wrt, Module):
        wanted = [each for each in wrt.parameters() if each.requires_grad]
    else:
        wanted = [wrt] if isinstance(wrt, Tensor) else list(wrt)
    try:
        return kind(Account(loss, wanted, given_names(names), limit), *settings)
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
        self._layout = NumbersLayout(account, account.in_order(), digits)
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
    if isinstance(tensor, Tensor) and isinstance(tensor._array, SymbolicArray):
        raise TypeError(
            "explain() tells a run on numbers, but this tensor holds formulas. For those there is "
            "derive()."
        )
    if not isinstance(tensor, Tensor):
        raise TypeError(f"explain() takes a tensor, not {type(tensor).__name__}")
    return _told(Explanation, "explain", tensor, None, names, MOST_SYMBOLS, digits)
