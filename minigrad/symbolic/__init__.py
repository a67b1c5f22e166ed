"""Run any model, loss and hook on symbols: what comes out are formulas, which SymPy checks.

The backward rules of minigrad are plain NumPy. Here are arrays of SymPy expressions that answer
to NumPy's protocols, so the same rules and the same engine write the derivative's formula.

Example:
    >>> from minigrad.symbolic import derivative, equal, symbols
    >>> x, w = symbols("x w", requires_grad=True)
    >>> loss = (w * x - 1) ** 2
    >>> loss.backward()
    >>> w.grad
    tensor(2*x*(w*x - 1))
    >>> equal(w.grad, derivative(loss, w))
    True
"""

try:
    import sympy as _sympy
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"minigrad.symbolic computes with SymPy, but there is no module named '{error.name}'. "
        "Install it with: python3 -m pip install sympy (or: conda install sympy).",
        name=error.name,
    ) from error

from minigrad.symbolic import functions as _functions
from minigrad.symbolic.array import SymbolicArray
from minigrad.symbolic.derivation import Derivation, Explanation, derive, explain
from minigrad.symbolic.equality import Refuted, Undecided, equal
from minigrad.symbolic.formulas import (
    Formula,
    derivative,
    evaluate,
    expression,
    formula,
    latex,
    substitute,
    symbolic_like,
    symbols,
    tensor_of,
)
from minigrad.symbolic.proof import Proof
from minigrad.symbolic.prover import prove

__all__ = [
    "Derivation", "Explanation", "Formula", "Proof", "Refuted", "SymbolicArray", "Undecided",
    "derivative", "derive", "equal", "evaluate", "explain", "expression", "formula", "latex",
    "prove", "substitute", "symbolic_like", "symbols", "tensor_of",
]  # fmt: skip
