"""Find the operation to prove, and make symbols for its inputs that nobody else can have."""

from __future__ import annotations

import contextlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from fractions import Fraction
from importlib import import_module
from typing import Any

import sympy

import minigrad.ops
from minigrad.core.tape import book
from minigrad.core.tensor import Tensor
from minigrad.nn import Module
from minigrad.symbolic.array import SymbolicArray, entries, symbolic, vector_of
from minigrad.symbolic.formulas import symbols
from minigrad.symbolic.points import symbols_in
from minigrad.symbolic.regions import Integers
from minigrad.symbolic.signs import OwnSymbol, own

# g is the gradient of the result, n stands for what is rounded, p for what is positive.
_NAMES = "x y z w v u t s r q".split()  # noqa: SIM905 - in a row they read better


def operation_of(operation: Any) -> Callable[..., Any]:
    """Give the function to run; a name is looked up in the book of derivatives.

    Raises:
        ValueError: If the book has no operation of that name.
    """
    if not isinstance(operation, str):
        return operation
    if operation in book:
        return book[operation]
    for room in pkgutil.walk_packages(minigrad.ops.__path__, "minigrad.ops."):
        import_module(room.name)  # some are loaded late
    if operation not in book:
        near = get_close_matches(operation, book, 3)
        raise ValueError(
            f"the book of derivatives has no operation '{operation}'"
            + (f". Did you mean {' or '.join(near)}?" if near else "")
        )
    return book[operation]


def name_of(operation: Any) -> str:
    """Say what is proved."""
    if isinstance(operation, str):
        return operation
    owner = getattr(operation, "__self__", None)
    if isinstance(owner, type):  # the apply of a custom function
        return f"{owner.__name__}.{operation.__name__}"
    name = getattr(operation, "__name__", type(operation).__name__)
    return "the function" if name == "<lambda>" else str(name)


def made(inputs: Sequence[Any], assumptions: dict[str, bool]) -> list[Any]:
    """Make symbols for shapes, and leave tensors as they are.

    Raises:
        TypeError: If an input is neither a shape nor a tensor.
        ValueError: If there are more shapes than names.
    """
    taken = {label_of(list(entries(each).flat)) for each in inputs if isinstance(each, Tensor)}
    names = iter([name for name in _NAMES if name not in taken])
    return [
        each if isinstance(each, Tensor) else _made(each, names, assumptions) for each in inputs
    ]


def _made(shape: Any, names: Iterator[str], assumptions: dict[str, bool]) -> Any:
    sizes = (shape,) if isinstance(shape, int) else shape
    if isinstance(shape, bool) or not isinstance(sizes, tuple | list):
        raise TypeError(
            "prove() takes shapes, such as 2 or (2, 3), and tensors of symbols, but got "
            f"{type(shape).__name__}. What else the operation takes goes into settings=(...)."
        )
    name = next(names, None)
    if name is None:
        raise ValueError(f"prove() has names for {len(_NAMES)} inputs. Make symbols for more.")
    return symbols(name, tuple(sizes), requires_grad=True, **assumptions)


def assumptions_of(tensor: Any) -> str:
    """Say what is assumed of all symbols of a tensor beyond that they are real."""
    kinds = ("positive", "negative", "nonnegative", "nonpositive", "nonzero", "integer")
    flat = list(entries(tensor).flat)
    found = [kind for kind in kinds if all(each.assumptions0.get(kind) for each in flat)]
    return found[0] if found and flat else ""


def label_of(listed: Sequence[Any]) -> str:
    """Name a tensor after its entries: x for x_{0} and x_{1}, w_0 for w_{0;0} and w_{0;1}."""
    if not listed:
        return "an empty input"
    stem, _, place = str(listed[0]).partition("_{")
    if len(listed) == 1:
        return str(listed[0])
    number, several, _ = place.partition(";")
    return f"{stem}_{number}" if several else stem


class Names:
    """What symbols of its own a proof has, and how each is shown.

    Attributes:
        held: The tensors that hold such symbols.
        inputs: For each tensor that is differentiated the array of its entries.
        asked: The user's symbols for which the proof's own stand.
    """

    def __init__(self) -> None:
        self.held: list[Tensor] = []
        self.inputs: list[Any] = []
        self.asked: dict[Any, Any] = {}
        self._shown: dict[Any, Any] = {}

    def show(self, formula: Any) -> Any:
        """Write a formula in the symbols that the user gave, each in its own."""
        if not isinstance(formula, sympy.Basic):
            return formula
        new = sorted(
            (each for each in formula.atoms(OwnSymbol) if each not in self._shown),
            key=lambda each: list(self.asked).index(each) if each in self.asked else 10**6,
        )
        taken = {each.name for each in self._shown.values()}
        taken |= {s.name for s in formula.atoms(sympy.Symbol) if not isinstance(s, OwnSymbol)}
        for each in new:
            shown = self.asked.get(each) or sympy.Symbol(each.name, **each.assumptions0)
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
        self.show(sympy.Tuple(*self.asked, *formulas))

    def taken_in(self, formula: Any) -> Any:
        """Write a formula of the user's in the symbols of the proof."""
        back: dict[Any, Any] = {}
        for mine, symbol in self.asked.items():
            back.setdefault(symbol, mine)
        return formula.xreplace(back)

    def name_for_gradients(self) -> str:
        """Give a name that no symbol of the inputs begins with: g, if it can be had."""
        stems = {symbol.name.partition("_")[0] for symbol in self.asked.values()}
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
            lent = {symbol: own(symbol.name, **symbol.assumptions0) for symbol in free}
            names.asked |= {mine: symbol for symbol, mine in lent.items()}
            new = vector_of(each.xreplace(lent) for each in entries(array).flat)
            tensor._array = symbolic(new.reshape(array.shape))
        names.inputs = [entries(each) for each in wanted]
        yield names
    finally:
        for tensor, array in before:
            tensor._array = array


# Fractions with larger denominators are taken for floats; nobody writes 1/1000003 into a rule.
_WRITTEN = 10**6


class Reading(Integers):
    """What stands for what while formulas are compared.

    Args:
        constants: Exact numbers that are meant where there is the float next to them.
    """

    def __init__(self, constants: Sequence[Any] = ()) -> None:
        super().__init__()
        self._constants = [sympy.sympify(each) for each in constants]

    def read(self, formula: Any) -> Any:
        """Give a formula with symbols for what is rounded, and with exact constants."""
        if self._constants:
            found = formula.atoms(sympy.Rational)
            formula = formula.xreplace({each: self._meant(each) for each in found})
        return super().read(formula)

    def _meant(self, number: Any) -> Any:
        if number.q <= _WRITTEN:
            return number
        for constant in self._constants:
            ratio = number / sympy.Rational(str(constant.evalf(30)))
            simple = Fraction(f"{float(ratio):.12g}")
            # a float errs by 1.1e-16 of itself, the product of two by twice that
            if abs(ratio / sympy.Rational(simple.numerator, simple.denominator) - 1) < 2.3e-16:
                return sympy.Rational(simple.numerator, simple.denominator) * constant
        return number
