"""Prove with symbols that nobody else can have, and give the results back in the user's."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import sympy

from minigrad.nn import Module
from minigrad.symbolic.array import SymbolicArray, entries, symbolic, vector_of
from minigrad.symbolic.evaluation import symbols_in
from minigrad.symbolic.own import OwnSymbol, own
from minigrad.symbolic.proving.operations import label_of
from minigrad.tensor import Tensor


class Names:
    """What symbols of its own a proof has, and how each is shown.

    Attributes:
        held: The tensors that hold such symbols.
        inputs: For each tensor that is differentiated the array of its entries.
    """

    def __init__(self) -> None:
        self.held: list[Tensor] = []
        self.inputs: list[Any] = []
        self._asked: dict[Any, Any] = {}  # own symbols, and what they stand for
        self._shown: dict[Any, Any] = {}

    def lend(self, symbol: Any) -> Any:
        """Make a symbol in the place of a user's, with what is assumed of it."""
        mine = own(symbol.name, **symbol.assumptions0)
        self._asked[mine] = symbol
        return mine

    def show(self, formula: Any) -> Any:
        """Write a formula in the symbols that the user gave, each in its own."""
        if not isinstance(formula, sympy.Basic):
            return formula
        new = sorted(
            (each for each in formula.atoms(OwnSymbol) if each not in self._shown),
            key=lambda each: list(self._asked).index(each) if each in self._asked else 10**6,
        )
        taken = {each.name for each in self._shown.values()}
        taken |= {s.name for s in formula.atoms(sympy.Symbol) if not isinstance(s, OwnSymbol)}
        for each in new:
            shown = self._asked.get(each) or sympy.Symbol(each.name, **each.assumptions0)
            while shown.name in taken:
                shown = sympy.Symbol(_marked(shown.name), **each.assumptions0)
            self._shown[each] = shown
            taken.add(shown.name)
        return formula.xreplace(self._shown)

    def label(self, place: int) -> str:
        """Name an input as it is shown."""
        return label_of([self.show(each) for each in self.inputs[place].flat])

    def meet(self, formulas: Iterable[Any]) -> None:
        """Settle how the symbols are shown: no two alike, and none like one in some formulas."""
        self.show(sympy.Tuple(*self._asked, *formulas))

    def taken_in(self, formula: Any) -> Any:
        """Write a formula of the user's in the symbols of the proof."""
        back: dict[Any, Any] = {}
        for mine, symbol in self._asked.items():
            back.setdefault(symbol, mine)
        return formula.xreplace(back)

    def name_for_gradients(self) -> str:
        """Give a name that no symbol of the inputs begins with: g, if it can be had."""
        stems = {symbol.name.partition("_")[0] for symbol in self._asked.values()}
        return next(name for name in ("g", "h", "e", "G", "H", "E", "g'") if name not in stems)


def _marked(name: str) -> str:
    """Mark a name: x' for x, and x'_{0} for x_{0}."""
    stem, line, rest = name.partition("_")
    return f"{stem}'{line}{rest}"


@contextlib.contextmanager
def borrowed(function: Any, tensors: Sequence[Any], wanted: Sequence[Tensor]) -> Iterator[Names]:
    """Let all symbolic tensors that a function is given hold symbols of a proof's own."""
    held = [*wanted, *(each for each in tensors if isinstance(each, Tensor))]
    if isinstance(function, Module):
        held += [*function.parameters(), *function.buffers()]
    names = Names()
    before = []
    try:
        for tensor in {id(each): each for each in held}.values():
            array = tensor._array
            if not isinstance(array, SymbolicArray):
                continue
            before.append((tensor, array))
            names.held.append(tensor)
            free = sorted(symbols_in(entries(array).flat), key=str)
            lent = {symbol: names.lend(symbol) for symbol in free}
            new = vector_of(each.xreplace(lent) for each in entries(array).flat)
            tensor._array = symbolic(new.reshape(array.shape))
        names.inputs = [entries(each) for each in wanted]
        yield names
    finally:
        for tensor, array in before:
            tensor._array = array
