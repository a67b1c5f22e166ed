"""Give tensors the names by which formulas speak of them: of symbols, modules, and constants."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import chain, count
from typing import Any

import numpy as np
import sympy

from minigrad.autograd.names import named_tensors
from minigrad.autograd.variable import Variable
from minigrad.nn import Module
from minigrad.symbolic.array import SymbolicArray, entries, symbolic, vector_of
from minigrad.symbolic.evaluation import symbols_in
from minigrad.symbolic.making import entry_names, named_array
from minigrad.symbolic.models import _ruled_names
from minigrad.symbolic.telling.local import NotTold, saved_values
from minigrad.symbolic.telling.passage import Passage


def given_names(names: Any) -> list[tuple[str, Any]]:
    """Give (name, tensor) pairs as `named_tensors` does, parameters with the names of symbols.

    A module's parameters are called as by `symbolic_like`: `f0.weight` is `w_0`.
    """
    parts = list(names) if isinstance(names, (list, tuple)) else [names]
    found: list[tuple[str, Any]] = []
    for part in parts:
        for name, tensor in named_tensors(part):
            found.append((_short_names(part).get(id(tensor), name), tensor))
    return found


def _short_names(part: Any) -> dict[int, str]:
    modules = [part] if isinstance(part, Module) else []
    if isinstance(part, dict):
        modules = [each for each in part.values() if isinstance(each, Module)]
    if len(modules) != 1:
        return {}  # two modules would have a w_0 each
    parameters = dict(modules[0].named_parameters())
    ruled = dict(_ruled_names(modules[0], parameters))
    return {id(parameters[name]): short for name, short in ruled.items()}


def symbol_names(loss: Variable, passages: Sequence[Passage]) -> set[str]:
    """Give the names of all symbols in the formulas of a run."""
    arrays = [loss._array]
    for passage in passages:
        arrays += [array for _, _, array in saved_values(passage.node)]
        arrays += [passage.node.variable._array] if passage.is_leaf else []  # type: ignore[attr-defined]
        for gradients in (passage.arrived, passage.given, passage.computed, passage.sent):
            arrays += [array for array in gradients if array is not None]
    held = [array for array in arrays if isinstance(array, SymbolicArray)]
    return {symbol.name for symbol in symbols_in(entry for array in held for entry in array.flat)}


def unused(letters: str, names: Iterable[str]) -> str:
    """Give the first of some letters, or a numbered one, with which no name begins."""
    stems = {name.partition("_")[0] for name in names}
    more = (f"{letters[0]}{number}" for number in count(1))
    return next(each for each in chain(letters, more) if each not in stems)


_OBJECT = np.dtype(object)


class Constants:
    """The tensors without gradient of a run, and what stands for them in formulas.

    Args:
        on_symbols: Whether the run was on symbols; constants then stay numbers.
        limit: The most entries of which symbols are made.
        taken: Names that a constant is not to be given.

    Attributes:
        named: (name, array) pairs.
        symbols: (symbols, array) pairs of those that occurred in a formula.
    """

    def __init__(self, on_symbols: bool, limit: float, taken: Iterable[str]) -> None:
        self.on_symbols, self.limit, self._taken = on_symbols, limit, {*taken}
        self.named: list[tuple[str, Any]] = []
        self.symbols: list[tuple[Any, Any]] = []

    def put_in(self, array: Any) -> Any:
        """Give what stands in formulas for a tensor: its symbols, or numbers.

        Raises:
            NotTold: If it has too many entries.
        """
        if isinstance(array, SymbolicArray) or getattr(array, "dtype", _OBJECT).kind in "biu":
            return array  # indices and masks stay what they are
        if not isinstance(array, np.ndarray):
            return symbolic(vector_of(entries(array).flat).reshape(np.shape(array)))
        name = self.name(array)
        if name is None and array.size > 1 and not self.on_symbols:
            name = next(f"c_{k}" for k in count(1) if f"c_{k}" not in self._taken)
            self._taken.add(name)
            self.named.append((name, array))
        check_size(array.shape, name or "a constant", self.limit)
        if name is None:
            return symbolic(vector_of(entries(array).flat).reshape(array.shape))
        symbols = named_array(name, array.shape, {"real": True})
        if all(each is not array for _, each in self.symbols):
            self.symbols.append((symbols, array))
        return symbols

    def name(self, array: Any) -> str | None:
        """Give the name of a tensor, if it has one."""
        return next((name for name, own in self.named if _same_memory(own, array)), None)

    def among(self, arrays: Sequence[Any]) -> list[tuple[str, Any]]:
        """List those with a name that are among some arrays."""
        return [
            (name, array)
            for name, array in self.named
            if any(_same_memory(array, each) for each in arrays)
        ]


def check_size(shape: tuple[int, ...], name: str, limit: float) -> None:
    """Refuse to make symbols of too many entries.

    Raises:
        NotTold: If there are more than the limit.
    """
    if math.prod(shape) > limit:
        raise NotTold(f"{name} has {math.prod(shape)} entries, too many for symbols")


def symbols_name(array: Any) -> str | None:
    """Tell how an array of symbols is called, if it is one as `symbols` makes them."""
    if not array.size or not all(isinstance(entry, sympy.Symbol) for entry in array.flat):
        return None
    first = array.flat[0].name
    if array.size == 1:
        return str(first)
    found = re.fullmatch(r"(.+)_\{(?:(.+);)?0(?:,0)*\}", first)
    if found is None:
        return None
    stem, subscript = found.groups()
    name = stem if subscript is None else f"{stem}_{subscript}"
    if entry_names(name, array.shape) != [entry.name for entry in array.flat]:
        return None
    return name


def _same_memory(one: Any, other: Any) -> bool:
    return bool(
        one is other
        or (
            isinstance(one, np.ndarray)
            and one.size == other.size
            and one.dtype == other.dtype
            and one.__array_interface__["data"][0] == other.__array_interface__["data"][0]
            and one.flags.c_contiguous
            and other.flags.c_contiguous
        )
    )
