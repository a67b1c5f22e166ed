"""Make symbols that no formula of a user's can have in it, whatever its symbols are called."""

from __future__ import annotations

from typing import Any

import sympy


class OwnSymbol(sympy.Dummy):  # type: ignore[misc]
    """A symbol that is equal to no other, also to none of its name; it prints like its name."""

    __slots__ = ()

    def _sympystr(self, printer: Any) -> str:
        return str(self.name)

    def _latex(self, printer: Any) -> str:
        return str(printer.doprint(sympy.Symbol(self.name)))


def own(name: str, **assumptions: bool) -> Any:
    """Make a symbol that is equal to no other.

    Example:
        >>> own("g"), own("g") == own("g"), own("g") == sympy.Symbol("g")
        (g, False, False)
    """
    return OwnSymbol(name, **assumptions)
