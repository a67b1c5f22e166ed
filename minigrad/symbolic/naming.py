"""Give the values of a graph names and symbols: the places that a derivation speaks of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from itertools import chain, count, filterfalse
from typing import Any

import numpy as np
import sympy

from minigrad.autograd.recording import named_tensors
from minigrad.core.engine import AccumulateGrad
from minigrad.core.tensor import Tensor
from minigrad.symbolic import passes
from minigrad.symbolic.array import SymbolicArray, entries, symbolic
from minigrad.symbolic.equality import Undecided, symbols_in
from minigrad.symbolic.formulas import named_array, ruled_names
from minigrad.symbolic.passes import Passage, Value, forward_of, passes_on


def given_names(names: Any) -> list[tuple[str, Any]]:
    """Give (name, tensor) pairs as `named_tensors` does, parameters with the names of symbols.

    A module's parameters are called as by `symbolic_like`: `f0.weight` is `w_0`.
    """
    pairs: list[tuple[str, Any]] = []
    for part in names if isinstance(names, (list, tuple)) else [names]:
        parameters = dict(part.named_parameters()) if hasattr(part, "named_parameters") else {}
        short = dict(ruled_names(part, parameters)) if parameters else {}
        pairs += [(short.get(name, name), tensor) for name, tensor in named_tensors(part)]
    return pairs


def symbol_names(loss: Tensor, passages: Sequence[Passage]) -> set[str]:
    """Give the names of all symbols in the formulas of a run."""
    arrays = [loss._array]
    for passage in passages:
        arrays += [array for _, _, array in passes.saved_values(passage.node)]
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
    """Tell arrays apart: two with the same entry at the same place in memory are one."""
    return array.__array_interface__["data"][0], array.dtype


def symbol_name(array: Any) -> str | None:
    """Tell how an array of one symbol is called."""
    entry = array.item() if array.size == 1 else None
    return entry.name if isinstance(entry, sympy.Symbol) else None


class Ambiguous(Undecided, ValueError):
    """Two things have one name: in formulas they would be one, and nothing could be decided."""


class Naming:
    """The values of a graph that a derivation speaks of by name; any other is a formula of those.

    Args:
        loss: The root.
        passages: The backward pass.
        names: (name, tensor) pairs.
        on_symbols: Whether the run was on symbols; leaves then keep theirs.
        forced: Values that have to be places.
        met: The names of all symbols in the formulas of the run.

    Raises:
        ValueError: If two places would have the same name, or one that of another symbol.

    Attributes:
        names: The name of each place.
        shape: The shape of each value that is known or got a gradient.
        known: The arrays of values.
        constants: For each constant that has a name, by its memory, this name and an array.
    """

    def __init__(
        self,
        loss: Tensor,
        passages: Sequence[Passage],
        names: Sequence[tuple[str, Any]],
        on_symbols: bool,
        forced: Iterable[Value],
        met: Set[str] = frozenset(),
    ) -> None:
        self.on_symbols, self.met, self.passages = on_symbols, met, passages
        root = passes.value_of(loss)
        assert root is not None
        self.root: Value = root
        self.shape: dict[Value, tuple[int, ...]] = {root: loss._array.shape}
        self.known: dict[Value, Any] = {root: loss._array}
        self.names: dict[Value, str] = {}
        self.constants: dict[Any, tuple[str, Any]] = {}
        self._formulas: dict[Value, Any] = {}
        self._arrays: dict[Value, Any] = {}
        self._symbols: dict[Value, Any] = {}
        self._without_gradient: dict[Value, str] = {}  # what has a name, but got no gradient
        self._busy: set[Any] = set()  # values that are being computed
        self._saved = [saved[1:] for p in passages for saved in passes.saved_values(p.node)]
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
        self._number()
        for value, _ in self._saved:  # what has no formula needs a name, too
            if value is not None:
                self.formula(value)
        for value in list(self.names):
            self.definition(value)
        self._number()

    def _read_values(self) -> None:
        """Find the arrays of all values that are known, and the shapes of all with a gradient."""
        for passage in self.passages:
            node = passage.node
            for output_nr, gradient in enumerate(passage.arrived):
                if gradient is not None:
                    self.shape[node, output_nr] = gradient.shape
            if passage.is_leaf:
                self.known[node, 0] = node.variable._array
        self.known |= {value: array for value, array in self._saved if value is not None}
        self.shape |= {value: array.shape for value, array in self.known.items()}
        for value, array in list(self.known.items()):
            # a value of which it is only another view has the same entry
            while passes_on(value[0]) and (source := passes.source_of(value)) is not None:
                value = source
                self.shape.setdefault(value, array.shape)
                self.known.setdefault(value, array.reshape(self.shape[value]))

    def _read_names(self, names: Sequence[tuple[str, Any]], inner: Sequence[Value]) -> None:
        """Name what the user named."""
        reached = {*inner, *((p.node, 0) for p in self.passages if p.is_leaf)}
        for name, tensor in names:
            value = passes.value_of(tensor) if isinstance(tensor, Tensor) else None
            if value in reached:
                self.known[value] = tensor._array
                self.names.setdefault(value, name)
                continue
            if value is not None:
                self._without_gradient[value] = name
            self.constants.setdefault(_memory(tensor._array), (name, tensor._array))
        taken = {*self.met, *(name for name, _ in names)}
        free = filterfalse(taken.__contains__, chain("LJEC", map("L_{}".format, count(1))))
        self.loss = self.names.setdefault(self.root, next(free))

    def _name_leaves(self) -> None:
        """Name each leaf: after its symbol, as it was named, or by a number."""
        constants = (name for name, _ in self.constants.values())
        taken = {*self.names.values(), *constants, *self.met}
        free = filterfalse(taken.__contains__, map("a_{}".format, count(1)))
        leaves = [passage.node for passage in self.passages if passage.is_leaf]
        for node in sorted(leaves, key=self.first_use):
            own = symbol_name(node.variable._array)
            if own is not None:
                self.names[node, 0] = own
                self._symbols[node, 0] = node.variable._array
            elif (node, 0) not in self.names:
                self.names[node, 0] = next(free)

    def first_use(self, leaf: Any) -> tuple[int, int]:
        """Tell which node used a leaf first, and as which of its inputs."""
        uses = [
            (passage.node._sequence_nr(), number)
            for passage in self.passages
            for number, (source, _) in enumerate(passage.node.next_functions)
            if source is leaf
        ]
        return min(uses, default=(0, 0))

    def _number(self) -> None:
        """Call the places without a name v_1, v_2, ... in the order of the forward.

        Raises:
            ValueError: If a name is taken by another tensor, or by a symbol.
        """
        for value in self.auto:
            self.names.pop(value, None)
            self._symbols.pop(value, None)
        self._formulas.clear()
        constants = [name for name, _ in self.used_constants()]
        stem = unused("vuztqrk", {*self.names.values(), *constants, *self.met})
        in_order = sorted(self.auto, key=lambda v: (v[0]._sequence_nr(), v[1]))
        self.names |= {value: f"{stem}_{number}" for number, value in enumerate(in_order, 1)}
        own = [*self.names.values(), *([] if self.on_symbols else constants)]
        symbols = self.met - {n for v, n in self.names.items() if v in self._symbols}
        for place, name in enumerate(own):
            if name in symbols or name in own[:place]:
                what = "a tensor and a symbol" if name in symbols else "two tensors"
                raise Ambiguous(because=f"{what} would be called {name}. Choose other names.")

    def called(self, value: Value) -> str:
        """Say what a value is called, also one that no gradient came to."""
        name = self.names.get(value) or self._without_gradient.get(value)
        if name is None and type(value[0]) is AccumulateGrad:
            return symbol_name(value[0].variable._array) or "a leaf"
        return name or f"the result of {value[0].name()}"

    # ------------------------------------------------------------------ symbols and arrays

    def symbol(self, value: Value) -> Any:
        """Give the symbol of a place, as an array."""
        found = self._symbols.get(value)
        if found is None:
            known = self.known.get(value)
            positive = isinstance(known, SymbolicArray) and known.item().is_positive
            assumed = {"positive": True} if positive else {"real": True}
            found = named_array(self.names[value], self.shape[value], assumed)
            self._symbols[value] = found
        return found

    def formula(self, value: Value) -> Any:
        """Give a value through the symbols of places; one that can't be becomes a place itself."""
        if value in self.names:
            return self.symbol(value)
        if value not in self.shape:  # nobody saved it, and a hook took its gradient away
            return None
        if value not in self._formulas:
            found = self.definition(value)
            if found is None:
                self.auto.add(value)
                self.names[value] = f"v_{10**6 + value[0]._sequence_nr()}"  # until all are found
                return self.symbol(value)
            self._formulas[value] = found
        return self._formulas[value]

    def definition(self, value: Value) -> Any:
        """Give a place through the places before it, or None where that is not known."""
        shape = self.shape.get(value)
        if type(value[0]) is AccumulateGrad or shape is None:
            return None
        found = forward_of(value, shape, self.formula, self.constant, self.array)
        return None if found is None else symbolic(entries(found))

    def constant(self, array: Any) -> Any:
        """Give what stands in formulas for a tensor without gradient: its symbol, or numbers."""
        if isinstance(array, SymbolicArray) or getattr(array, "dtype", np.dtype("O")).kind in "biu":
            return array  # indices and masks stay what they are
        name = self.constants.get(_memory(array), (None,))[0]
        return symbolic(entries(array)) if name is None else named_array(name, array.shape, {})

    def used_constants(self) -> list[tuple[str, Any]]:
        """List the constants with a name that a node saved."""
        saved = {_memory(array) for value, array in self._saved if value is None}
        return [named for memory, named in self.constants.items() if memory in saved]

    def array(self, value: Value) -> Any:
        """Give the array of a value: as it is known, or computed again; None if it can't be."""
        found = self.known.get(value, self._arrays.get(value))
        unknown = found is None and type(value[0]) is not AccumulateGrad and value in self.shape
        if unknown and value not in self._busy:  # else its operand is asked for by itself
            self._busy.add(value)
            found = forward_of(value, self.shape[value], self.array, lambda each: each, self.array)
            self._busy.remove(value)
            self._arrays[value] = found
        return found

    def in_leaves(self) -> dict[Any, Any]:
        """Give for the symbols of places the formulas that they stand for, in leaves' symbols."""
        arrays = {value: self.array(value) for value in self._symbols}
        return {
            symbol.item(): arrays[value].item()
            for value, symbol in self._symbols.items()
            if arrays[value] is not None and symbol.item() != arrays[value].item()
        }

    def stand_in(self, value: Value | None, array: Any) -> Any:
        """Give what stands in a node's rule for a tensor that it saved."""
        return self.constant(array) if value is None else self.formula(value)
