"""Show what a tensor holds as a typeset formula in a notebook, where that is asked for."""

from __future__ import annotations

from typing import Any

from minigrad.symbolic.formulas import expression, latex


class Formula:
    r"""What a tensor holds, to be shown: typeset in a notebook, as text everywhere else.

    A symbolic tensor itself prints as every tensor does. Let `formula(tensor)` end a cell to see it
    typeset; the text stands beside it for whatever shows no LaTeX, and both are always the same for
    the same formula.

    Attributes:
        expression: What SymPy has: an expression, a matrix, or an array (see `expression`).
        name: What the formula is called, in LaTeX; it stands before an equals sign.
        text: The formula as one line of text, or as a matrix over several.
        latex: The formula as LaTeX, without dollar signs.
    """

    def __init__(self, shown: Any, name: str = "") -> None:
        self.expression = expression(shown)
        self.name = name

    @property
    def text(self) -> str:
        """Give the formula as text."""
        return f"{self.name} = {self.expression}" if self.name else str(self.expression)

    @property
    def latex(self) -> str:
        """Give the formula as LaTeX."""
        written = latex(self.expression)
        return f"{self.name} = {written}" if self.name else written

    def __repr__(self) -> str:
        return self.text

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex}$"


def formula(shown: Any, name: str = "") -> Formula:
    r"""Show a tensor as a typeset formula where it ends a cell of a notebook.

    Args:
        shown: A symbolic tensor, an expression, or nested lists of these.
        name: What to write before an equals sign, as LaTeX, such as `r"\partial L/\partial w_0"`.

    Returns:
        An object that Jupyter shows typeset, and that prints as text.

    Example:
        >>> from minigrad.symbolic import symbols
        >>> x, w = symbols("x w_0", requires_grad=True)
        >>> ((w * x - 1) ** 2).backward()
        >>> formula(w.grad, "g")
        g = 2*x*(w_0*x - 1)
        >>> formula(w.grad).latex
        '2 x \\left(w_{0} x - 1\\right)'
    """
    return Formula(shown, name)
