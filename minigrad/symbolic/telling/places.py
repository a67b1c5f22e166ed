"""Give the values of a graph names and symbols: the places that a derivation is told by."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence, Set
from itertools import chain, count
from typing import Any

from minigrad.autograd.accumulate import AccumulateGrad
from minigrad.autograd.variable import Variable
from minigrad.symbolic.array import SymbolicArray, entries, symbolic
from minigrad.symbolic.making import entry_names, named_array
from minigrad.symbolic.telling.forwards import forward_of, passes_on
from minigrad.symbolic.telling.known import read_values
from minigrad.symbolic.telling.local import NotTold, Value, saved_values, value_of
from minigrad.symbolic.telling.naming import Constants, check_size, symbols_name, unused
from minigrad.symbolic.telling.passage import Passage


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
    """

    def __init__(
        self,
        loss: Variable,
        passages: Sequence[Passage],
        names: Sequence[tuple[str, Any]],
        on_symbols: bool,
        limit: float,
        forced: Iterable[Value],
        met: Set[str] = frozenset(),
    ) -> None:
        self.on_symbols, self.limit, self.met = on_symbols, limit, met
        self.passages = passages
        root = value_of(loss)
        assert root is not None
        self.root: Value = root
        self.shape: dict[Value, tuple[int, ...]] = {root: loss._array.shape}
        self.known: dict[Value, Any] = {root: loss._array}
        self.order: dict[Value, int] = {}
        self.names: dict[Value, str] = {}
        self.constants = Constants(on_symbols, limit, [name for name, _ in names])
        self._formulas: dict[Value, Any] = {}
        self._arrays: dict[Value, Any] = {}
        self._symbols: dict[Value, Any] = {}
        self._without_gradient: dict[Value, str] = {}  # what has a name, but got no gradient
        self._busy: set[Any] = set()  # nodes whose operand is being looked for
        read_values(passages, self.known, self.shape)
        inner = self._read_names(names)
        self._name_leaves(names)
        if not inner:
            self.auto = {v for v in self._inner_values() if not passes_on(v[0])} | set(forced)
        else:
            self.auto = set(forced)
        self.auto -= {*self.names}
        self._settle()

    # ------------------------------------------------------------------ reading the graph

    def _inner_values(self) -> list[Value]:
        return [
            (passage.node, output_nr)
            for passage in self.passages
            for output_nr, gradient in enumerate(passage.arrived)
            if not passage.is_leaf and gradient is not None
        ]

    def _read_names(self, names: Sequence[tuple[str, Any]]) -> bool:
        """Name what the user named; tell whether there are inner places among it."""
        inner = False
        reached = {*self._inner_values(), *((p.node, 0) for p in self.passages if p.is_leaf)}
        for name, tensor in names:
            value = value_of(tensor) if isinstance(tensor, Variable) else None
            if value is None or value not in reached:
                if value is not None:
                    self._without_gradient[value] = name
                self.constants.named.append((name, tensor._array))
                continue
            self.known[value] = tensor._array
            if value not in self.names:
                self.names[value] = name
                inner = inner or (value != self.root and type(value[0]) is not AccumulateGrad)
        taken = {*self.met, *(name for name, _ in names)}
        free = (
            name
            for name in chain("LJEC", (f"L_{number}" for number in count(1)))
            if name not in taken and not any(each.startswith(f"d{name}/d") for each in taken)
        )
        self.names.setdefault(self.root, next(free))
        return inner

    def _name_leaves(self, names: Sequence[tuple[str, Any]]) -> None:
        """Name each leaf: after its symbols, as it was named, or by a number."""
        taken = {*self.names.values(), *(name for name, _ in self.constants.named), *self.met}
        numbers = (f"a_{number}" for number in range(1, 10**9))
        leaves = [p.node for p in self.passages if p.is_leaf]
        for node in sorted(leaves, key=lambda node: self._first_use(node)):
            array = node.variable._array  # type: ignore[attr-defined]
            own = symbols_name(array) if isinstance(array, SymbolicArray) else None
            if own is not None:
                self.names[node, 0] = own
                self._symbols[node, 0] = array
            elif (node, 0) not in self.names:
                self.names[node, 0] = next(name for name in numbers if name not in taken)

    def _first_use(self, leaf: Any) -> tuple[int, int]:
        uses = [
            (passage.node._sequence_nr(), number)
            for passage in self.passages
            for number, (source, _) in enumerate(passage.node.next_functions)
            if source is leaf
        ]
        return min(uses, default=(0, 0))

    # ------------------------------------------------------------------ names

    def _settle(self) -> None:
        """Find which further values need a name, as their formula is not known, and name them."""
        while True:
            self._number()
            before = len(self.auto)
            for passage in self.passages:
                if not passage.is_leaf:
                    for _, value, _ in saved_values(passage.node):
                        self._try(value)
            if len(self.auto) == before:
                break
        self._number()

    def _try(self, value: Value | None) -> None:
        if value is not None:
            try:
                self.formula(value)
            except NotTold:
                return  # too large: it is told without symbols, and needs no name for that

    def _number(self) -> None:
        """Call the places without a name v_1, v_2, ... in the order of the forward."""
        for value in self.auto:
            self.names.pop(value, None)
            self._symbols.pop(value, None)
        self._formulas.clear()
        constants = [name for name, _ in self.constants.named]
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
        given = [(name, self.shape.get(value, ()), value) for value, name in self.names.items()]
        for name, array in self.used_constants():
            if not isinstance(array, SymbolicArray):
                given.append((name, array.shape, array.__array_interface__["data"]))
        for name, shape, value in given:
            wanted = [(whole, name)]
            if math.prod(shape) <= self.limit:
                wanted += [(owner, entry) for entry in entry_names(name, shape)]
            for table, entry in wanted:
                other = table.setdefault(entry, value)
                if other != value:
                    what = "a tensor and a symbol" if other == "a symbol" else "two tensors"
                    raise ValueError(
                        f"{what} of this derivation would be called {entry}. Choose other names."
                    )

    def called(self, value: Value) -> str:
        """Say what a value is called, also one that no gradient came to."""
        name = self.names.get(value) or self._without_gradient.get(value)
        if name is not None:
            return name
        if type(value[0]) is not AccumulateGrad:
            return f"the result of {value[0].name()}"
        array = value[0].variable._array
        return (symbols_name(array) if isinstance(array, SymbolicArray) else None) or "a leaf"

    def is_place(self, value: Value) -> bool:
        """Tell whether a value has a name."""
        return value in self.names

    # ------------------------------------------------------------------ symbols and arrays

    def symbols(self, value: Value) -> Any:
        """Give the array of a place's symbols.

        Raises:
            NotTold: If it has too many entries.
        """
        found = self._symbols.get(value)
        if found is None:
            check_size(self.shape[value], self.names[value], self.limit)
            known, assumed = self.known.get(value), {"real": True}
            if isinstance(known, SymbolicArray) and all(e.is_positive for e in known.flat):
                assumed = {"positive": True}
            found = named_array(self.names[value], self.shape[value], assumed)
            self._symbols[value] = found
        return found

    def formula(self, value: Value) -> Any:
        """Give a value through the symbols of places; one that can't be becomes a place itself.

        Raises:
            NotTold: If something has too many entries.
        """
        if value in self.names:
            return self.symbols(value)
        if value not in self._formulas:
            check_size(self.shape.get(value, ()), value[0].name(), self.limit)
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
        except NotTold:
            return None

    def _forward(self, value: Value) -> Any:
        if type(value[0]) is AccumulateGrad:
            return None
        shape = self._shape_of(value)
        if shape is None:
            return None
        check_size(shape, value[0].name(), self.limit)
        found = forward_of(*value, shape, self.formula, self.constants.put_in, self._array_or_none)
        return None if found is None else symbolic(entries(found))

    def _shape_of(self, value: Value) -> Any:
        return self.shape.get(value)

    def used_constants(self) -> list[tuple[str, Any]]:
        """List the constants with a name that a node saved."""
        saved = [array for p in self.passages for _, v, array in saved_values(p.node) if v is None]
        return self.constants.among(saved)

    def array(self, value: Value) -> Any:
        """Give the true array of a value: as it is known, or computed anew.

        Raises:
            NotTold: If it is not known.
        """
        found = self.known.get(value)
        if found is None:
            found = self._arrays.get(value)
        if found is None and type(value[0]) is not AccumulateGrad and value in self.shape:
            found = forward_of(
                *value, self.shape[value], self.array, lambda array: array, self._array_or_none
            )
            self._arrays[value] = found
        if found is None:
            raise NotTold("a value in between is not known")
        return found

    def in_leaves(self) -> dict[Any, Any]:
        """Give for the symbols of places the formulas that they stand for, in leaves' symbols."""
        given: dict[Any, Any] = {}
        for value, symbols in self._symbols.items():
            try:
                array = self.array(value)
            except NotTold:
                continue
            pairs = zip(entries(symbols).flat, entries(array).flat, strict=True)
            given |= {symbol: formula for symbol, formula in pairs if symbol != formula}
        return given

    def known_dtype(self, value: Value) -> Any:
        """Give the NumPy dtype of a value: its own, or its gradient's."""
        found = self.known.get(value)
        if found is not None:
            return found.dtype
        return next(
            each.dtype
            for passage in self.passages
            if passage.node is value[0]
            for each in [passage.arrived[value[1]]]
        )

    def _array_or_none(self, value: Value) -> Any:
        if value[0] in self._busy:  # its operand is asked for by itself
            return self.known.get(value)
        self._busy.add(value[0])
        try:
            return self.array(value)
        except NotTold:
            return None
        finally:
            self._busy.discard(value[0])

    def stand_ins(self, value: Value | None, array: Any) -> Any:
        """Give what stands in a node's rule for a tensor that it saved."""
        return self.constants.put_in(array) if value is None else self.formula(value)
