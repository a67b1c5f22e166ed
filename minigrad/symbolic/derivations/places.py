"""Give the values of a graph names and symbols: the places that a derivation is told by."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence, Set
from contextlib import suppress
from itertools import chain, count
from typing import Any

import numpy as np
import sympy

from minigrad.autograd.recording import named_tensors
from minigrad.core.engine import AccumulateGrad
from minigrad.core.tensor import Tensor
from minigrad.nn import Module
from minigrad.symbolic.array import SymbolicArray, entries, symbolic
from minigrad.symbolic.derivations import nodes
from minigrad.symbolic.derivations.nodes import Passage, TooLarge, Value, forward_of, passes_on
from minigrad.symbolic.equality import Undecided
from minigrad.symbolic.formulas import entry_names, named_array, ruled_names
from minigrad.symbolic.points import symbols_in


def given_names(names: Any) -> list[tuple[str, Any]]:
    """Give (name, tensor) pairs as `named_tensors` does, parameters with the names of symbols.

    A module's parameters are called as by `symbolic_like`: `f0.weight` is `w_0`.
    """
    return [
        (short.get(id(tensor), name), tensor)
        for part in (names if isinstance(names, (list, tuple)) else [names])
        for short in [_short_names(part)]
        for name, tensor in named_tensors(part)
    ]


def _short_names(part: Any) -> dict[int, str]:
    modules = [part] if isinstance(part, Module) else []
    if isinstance(part, dict):
        modules = [each for each in part.values() if isinstance(each, Module)]
    if len(modules) != 1:
        return {}  # two modules would have a w_0 each
    parameters = dict(modules[0].named_parameters())
    ruled = dict(ruled_names(modules[0], parameters))
    return {id(parameters[name]): short for name, short in ruled.items()}


def symbol_names(loss: Tensor, passages: Sequence[Passage]) -> set[str]:
    """Give the names of all symbols in the formulas of a run."""
    arrays = [loss._array]
    for passage in passages:
        arrays += [array for _, _, array in nodes.saved_values(passage.node)]
        arrays += [passage.node.variable._array] if passage.is_leaf else []
        for gradients in (passage.arrived, passage.given, passage.computed, passage.sent):
            arrays += [array for array in gradients if array is not None]
    held = [array for array in arrays if isinstance(array, SymbolicArray)]
    return {symbol.name for symbol in symbols_in(entry for array in held for entry in array.flat)}


def unused(letters: str, names: Iterable[str]) -> str:
    """Give the first of some letters, or a numbered one, with which no name begins."""
    stems = {name.partition("_")[0] for name in names}
    more = (f"{letters[0]}{number}" for number in count(1))
    return next(each for each in chain(letters, more) if each not in stems)


def _memory(array: Any) -> Any:
    """Tell arrays apart: two with the same entries at the same place in memory are one."""
    if not isinstance(array, np.ndarray) or not array.flags.c_contiguous:
        return id(array)
    return array.__array_interface__["data"][0], array.size, array.dtype


def symbols_name(array: Any) -> str | None:
    """Tell how an array of symbols is called, if it is one as `symbols` makes them."""
    if not array.size or not all(isinstance(entry, sympy.Symbol) for entry in array.flat):
        return None
    names = [entry.name for entry in array.flat]
    name = names[0]
    if array.size > 1:  # without the number of the first entry
        name = re.sub(r"(?:_\{|(_)\{(.+);)0(?:,0)*\}$", r"\1\2", name)
    return name if entry_names(name, array.shape) == names else None


class Ambiguous(Undecided, ValueError):
    """Two things have one name: in formulas they would be one, and nothing could be decided."""


class Places:
    """The values of a graph, and how a derivation speaks of each.

    A place has a name and symbols of its own; any other value is written through those.

    Args:
        loss: The root.
        passages: The backward pass.
        names: (name, tensor) pairs.
        on_symbols: Whether the run was on symbols; leaves then keep theirs.
        limit: The most entries of which symbols are made.
        forced: Values that have to be places.
        met: The names of all symbols in the formulas of the run.

    Raises:
        ValueError: If two places would have the same name, or one that of another symbol.

    Attributes:
        names: The name of each place.
        shape: The shape of each value that is known or got a gradient.
        known: The arrays of values.
        named: For each constant that has a name, by its memory, this name and an array.
        constants: The same for those that occurred in a formula, with their symbols.
    """

    def __init__(
        self,
        loss: Tensor,
        passages: Sequence[Passage],
        names: Sequence[tuple[str, Any]],
        on_symbols: bool,
        limit: float,
        forced: Iterable[Value],
        met: Set[str] = frozenset(),
    ) -> None:
        self.on_symbols, self.limit, self.met = on_symbols, limit, met
        self.passages = passages
        root = nodes.value_of(loss)
        assert root is not None
        self.root: Value = root
        self.shape: dict[Value, tuple[int, ...]] = {root: loss._array.shape}
        self.known: dict[Value, Any] = {root: loss._array}
        self.names: dict[Value, str] = {}
        self.named: dict[Any, tuple[str, Any]] = {}
        self.constants: dict[Any, tuple[Any, Any]] = {}
        self._taken = {name for name, _ in names}  # by constants, or not to be
        self._formulas: dict[Value, Any] = {}
        self._arrays: dict[Value, Any] = {}
        self._symbols: dict[Value, Any] = {}
        self._without_gradient: dict[Value, str] = {}  # what has a name, but got no gradient
        self._busy: set[Any] = set()  # values that are being computed
        self._read_values()
        inner = [
            (passage.node, output_nr)
            for passage in passages
            for output_nr, gradient in enumerate(passage.arrived)
            if not passage.is_leaf and gradient is not None
        ]
        self._read_names(names, inner)
        self.auto = set(forced)
        if not any(value in self.names and value != root for value in inner):
            self.auto |= {value for value in inner if not passes_on(value[0])}
        self._name_leaves()
        self.auto -= self.names.keys()
        self._settle()

    # ------------------------------------------------------------------ reading the graph

    def _read_values(self) -> None:
        """Find the arrays of all values that are known, and the shapes of all with a gradient."""
        for passage in self.passages:
            node = passage.node
            for output_nr, gradient in enumerate(passage.arrived):
                if gradient is not None:
                    self.shape[node, output_nr] = gradient.shape
            if passage.is_leaf:
                self.known[node, 0] = node.variable._array
            for _, value, array in nodes.saved_values(node):
                if value is not None:
                    self.known[value] = array
        for value, array in list(self.known.items()):
            self.shape[value] = array.shape
            self._read_source(value, array)

    def _read_source(self, value: Value, array: Any) -> None:
        """Know the value of which one is only another view; its rule puts things back."""
        while passes_on(value[0]) and value[0].name() != "ExpandBackward0":
            node, output_nr = value
            gradients = [None] * len(node._shape) if node._multiple else [None]
            gradients[output_nr] = array
            try:
                array = nodes.run_rule(node, gradients)[output_nr if node._multiple else 0]
            except (TypeError, RuntimeError):
                return  # released, or not on these: then it is not known
            source = nodes.source_of(value)
            if source is None or array is None or source in self.known:
                return
            value = source
            self.known[value] = array
            self.shape.setdefault(value, array.shape)

    def _read_names(self, names: Sequence[tuple[str, Any]], inner: Sequence[Value]) -> None:
        """Name what the user named."""
        reached = {*inner, *((p.node, 0) for p in self.passages if p.is_leaf)}
        for name, tensor in names:
            value = nodes.value_of(tensor) if isinstance(tensor, Tensor) else None
            if value in reached:
                self.known[value] = tensor._array
                self.names.setdefault(value, name)
                continue
            if value is not None:
                self._without_gradient[value] = name
            self.named.setdefault(_memory(tensor._array), (name, tensor._array))
        taken = {*self.met, *(name for name, _ in names)}
        free = (
            name
            for name in chain("LJEC", (f"L_{number}" for number in count(1)))
            if name not in taken and not any(each.startswith(f"d{name}/d") for each in taken)
        )
        self.loss = self.names.setdefault(self.root, next(free))

    def _name_leaves(self) -> None:
        """Name each leaf: after its symbols, as it was named, or by a number."""
        constants = (name for name, _ in self.named.values())
        taken = {*self.names.values(), *constants, *self.met}
        numbers = (f"a_{number}" for number in count(1))
        leaves = [passage.node for passage in self.passages if passage.is_leaf]
        for node in sorted(leaves, key=self.first_use):
            array = node.variable._array
            own = symbols_name(array)
            if own is not None:
                self.names[node, 0] = own
                self._symbols[node, 0] = array
            elif (node, 0) not in self.names:
                self.names[node, 0] = next(name for name in numbers if name not in taken)

    def first_use(self, leaf: Any) -> tuple[int, int]:
        """Tell which node used a leaf first, and as which of its inputs."""
        uses = [
            (passage.node._sequence_nr(), number)
            for passage in self.passages
            for number, (source, _) in enumerate(passage.node.next_functions)
            if source is leaf
        ]
        return min(uses, default=(0, 0))

    # ------------------------------------------------------------------ names

    def _settle(self) -> None:
        """Find which further values need a name, as their formula is not known, and name all."""
        self._number()
        for passage in self.passages:
            for _, value, _ in nodes.saved_values(passage.node):
                if value is not None:
                    with suppress(TooLarge):  # of what is too large: it is told without symbols
                        self.formula(value)
        self._number()

    def _number(self) -> None:
        """Call the places without a name v_1, v_2, ... in the order of the forward."""
        for value in self.auto:
            self.names.pop(value, None)
            self._symbols.pop(value, None)
        self._formulas.clear()
        constants = [name for name, _ in self.named.values()]
        stem = unused("vuztqrk", {*self.names.values(), *constants, *self.met})
        in_order = sorted(self.auto, key=lambda v: (v[0]._sequence_nr(), v[1]))
        for number, value in enumerate(in_order, 1):
            self.names[value] = f"{stem}_{number}"
        self._check_names()

    def _check_names(self) -> None:
        """Refuse names that are taken: by another tensor, by a symbol, or by entries of these."""
        owner: dict[str, Any] = dict.fromkeys(self.met, "a symbol")
        for value, symbols in self._symbols.items():
            if type(value[0]) is AccumulateGrad:  # the symbols that it came with
                owner |= dict.fromkeys((entry.name for entry in symbols.flat), value)
        whole: dict[str, Any] = {}
        given: list[Any] = [(n, self.shape.get(v, ()), v) for v, n in self.names.items()]
        given += [
            (name, array.shape, _memory(array))
            for name, array in self.used_constants()
            if not isinstance(array, SymbolicArray)
        ]
        for name, shape, value in given:
            listed = entry_names(name, shape) if math.prod(shape) <= self.limit else []
            for table, entry in [(whole, name), *((owner, entry) for entry in listed)]:
                other = table.setdefault(entry, value)
                if other != value:
                    what = "a tensor and a symbol" if other == "a symbol" else "two tensors"
                    told = f"{what} of this derivation would be called {entry}. Choose other names."
                    raise Ambiguous((), sympy.nan, sympy.nan, sympy.nan, because=told)

    def called(self, value: Value) -> str:
        """Say what a value is called, also one that no gradient came to."""
        name = self.names.get(value) or self._without_gradient.get(value)
        if name is None and type(value[0]) is AccumulateGrad:
            return symbols_name(value[0].variable._array) or "a leaf"
        return name or f"the result of {value[0].name()}"

    def entry_names(self, value: Value) -> list[str]:
        """Give the names of the entries of a place."""
        return entry_names(self.names[value], self.shape[value])

    def is_single(self, value: Value) -> bool:
        """Tell whether a place has one entry."""
        return math.prod(self.shape[value]) == 1

    # ------------------------------------------------------------------ symbols and arrays

    def _check_size(self, shape: tuple[int, ...]) -> None:
        if math.prod(shape) > self.limit:
            raise TooLarge

    def symbols(self, value: Value) -> Any:
        """Give the array of a place's symbols.

        Raises:
            TooLarge: If it has too many entries.
        """
        found = self._symbols.get(value)
        if found is None:
            self._check_size(self.shape[value])
            known, assumed = self.known.get(value), {"real": True}
            if isinstance(known, SymbolicArray) and all(e.is_positive for e in known.flat):
                assumed = {"positive": True}
            found = named_array(self.names[value], self.shape[value], assumed)
            self._symbols[value] = found
        return found

    def formula(self, value: Value) -> Any:
        """Give a value through the symbols of places; one that can't be becomes a place itself.

        Raises:
            TooLarge: If something has too many entries.
        """
        if value in self.names:
            return self.symbols(value)
        if value not in self._formulas:
            self._check_size(self.shape.get(value, ()))
            found = self._forward(value)
            if found is None:
                self.auto.add(value)
                self.names[value] = f"v_{10**6 + value[0]._sequence_nr()}"  # until all are found
                return self.symbols(value)
            self._formulas[value] = found
        return self._formulas[value]

    def definition(self, value: Value) -> Any:
        """Give a place through the places before it, or None where that is not known."""
        try:
            return self._forward(value)
        except TooLarge:
            return None

    def _forward(self, value: Value) -> Any:
        shape = self.shape.get(value)
        if type(value[0]) is AccumulateGrad or shape is None:
            return None
        self._check_size(shape)
        found = forward_of(value, shape, self.formula, self.constant, self.array)
        return None if found is None else symbolic(entries(found))

    def constant(self, array: Any) -> Any:
        """Give what stands in formulas for a tensor without gradient: its symbols, or numbers.

        On symbols, those without a name stay numbers.

        Raises:
            TooLarge: If it has too many entries.
        """
        if isinstance(array, SymbolicArray) or getattr(array, "dtype", np.dtype("O")).kind in "biu":
            return array  # indices and masks stay what they are
        memory = _memory(array)
        if memory not in self.named and np.size(array) > 1 and not self.on_symbols:
            new = next(f"c_{k}" for k in count(1) if f"c_{k}" not in self._taken)
            self._taken.add(new)
            self.named[memory] = new, array
        self._check_size(np.shape(array))
        if memory not in self.named:
            return symbolic(entries(array))
        symbols = named_array(self.named[memory][0], array.shape, {"real": True})
        self.constants.setdefault(memory, (symbols, array))
        return symbols

    def used_constants(self) -> list[tuple[str, Any]]:
        """List the constants with a name that a node saved."""
        saved = {
            _memory(array)
            for passage in self.passages
            for _, value, array in nodes.saved_values(passage.node)
            if value is None
        }
        return [named for memory, named in self.named.items() if memory in saved]

    def array(self, value: Value) -> Any:
        """Give the true array of a value: as it is known, or computed anew; None if it can't be."""
        found = self.known.get(value)
        if found is None:
            found = self._arrays.get(value)
        unknown = found is None and type(value[0]) is not AccumulateGrad and value in self.shape
        if unknown and value not in self._busy:  # else its operand is asked for by itself
            self._busy.add(value)
            found = forward_of(value, self.shape[value], self.array, lambda each: each, self.array)
            self._busy.remove(value)
            self._arrays[value] = found
        return found

    def in_leaves(self) -> dict[Any, Any]:
        """Give for the symbols of places the formulas that they stand for, in leaves' symbols."""
        given: dict[Any, Any] = {}
        for value, symbols in self._symbols.items():
            array = self.array(value)
            if array is not None:
                pairs = zip(entries(symbols).flat, entries(array).flat, strict=True)
                given |= {symbol: formula for symbol, formula in pairs if symbol != formula}
        return given

    def stand_ins(self, value: Value | None, array: Any) -> Any:
        """Give what stands in a node's rule for a tensor that it saved."""
        return self.constant(array) if value is None else self.formula(value)
