"""A second engine, as plain as can be, to hold minigrad's against: numbers, tables, no shortcuts.

It shares no line with the package. A pass takes the latest node that has all of its gradient, until
none is left. Gradients are tensors of this kind themselves, so that they can be recorded.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

Hook = Callable[..., Any]
recording = [True]
numbers = itertools.count()


class Refused(Exception):
    """What PyTorch refuses, with words of its message."""


class Memory:
    """Numbers that several tensors may share, and how often they were changed in place."""

    def __init__(self, array: Any) -> None:
        self.array, self.version = np.array(array), 0


class Node:
    """A step of the graph; a leaf's has no operation, and comes first in every pass."""

    def __init__(self, name: str = "", leaf: Any = None) -> None:
        self.name, self.leaf, self.released = name, leaf, False
        self.number = math.inf if leaf else next(numbers)
        self.edges: list[Node | None] = []
        self.saved: dict[int, tuple[Tensor, int]] = {}
        self.tensor_hooks: list[Hook] = []
        self.before: list[Hook] = []
        self.after: list[Hook] = []

    def fault(self) -> str:
        """Say why the node cannot run, if it cannot."""
        if self.saved and self.released:
            return "Trying to backward through the graph a second time"
        stale = any(tensor.memory.version != at for tensor, at in self.saved.values())
        return "modified by an inplace operation" if stale else ""


class Tensor:
    """Numbers, a place in the graph, and a gradient."""

    def __init__(self, memory: Memory, needs: bool = False) -> None:
        self.memory, self.needs, self.grad, self.keeps = memory, needs, None, False
        self.is_leaf, self.node = True, Node(leaf=self) if needs else None
        self.accumulated: list[Hook] = []

    def keep_grad(self) -> None:
        """Ask for the gradient of what is no leaf."""
        if not self.needs:
            raise Refused("can't retain_grad on Tensor that has requires_grad=False")
        self.keeps = not self.is_leaf
        if self.keeps and self not in keepers:
            keepers.append(self)


keepers: list[Tensor] = []


def _times(gradient: Tensor, saved: Tensor | None) -> Tensor:
    return call("mul", gradient, saved)


# For each operation its formula, and for each input which value its derivative needs (an input's
# number, -1 the result, None nothing) and what happens to the gradient.
OPERATIONS: dict[str, tuple[Callable[..., Any], list[tuple[int | None, Callable[..., Any]]]]] = {
    "add": (np.add, [(None, lambda g, _: g)] * 2),
    "mul": (np.multiply, [(1, _times), (0, _times)]),
    "sin": (np.sin, [(0, lambda g, x: _times(g, call("cos", x)))]),
    "cos": (np.cos, [(0, lambda g, x: call("neg", _times(g, call("sin", x))))]),
    "neg": (np.negative, [(None, lambda g, _: call("neg", g))]),
    "tanh": (np.tanh, [(-1, lambda g, y: call("add", g, call("neg", _times(g, _times(y, y)))))]),
    "clone": (np.copy, [(None, lambda g, _: g)]),
    "sum": (np.sum, [(None, lambda g, _: call("stack", g, g))]),
    "stack": (lambda *x: np.stack(x), [(None, lambda g, _: call("first", g)),
                                       (None, lambda g, _: call("last", g))]),
    "first": (lambda x: x[0], [(None, lambda g, _: call("stack", g, Tensor(Memory(0.0))))]),
    "last": (lambda x: x[1], [(None, lambda g, _: call("stack", Tensor(Memory(0.0)), g))]),
}  # fmt: skip


def call(name: str, *given: Any, into: Tensor | None = None) -> Tensor:
    """Compute, and write down what a pass will need; `into` is changed in place."""
    formula, rules = OPERATIONS[name]
    if into is not None and into.needs and into.is_leaf and recording[0]:
        raise Refused("a leaf Variable that requires grad is being used in an in-place operation")
    node = Node(name) if recording[0] and any(tensor.needs for tensor in given) else None
    wanted = {which for tensor, (which, _) in zip(given, rules, strict=True) if tensor.needs}
    array = formula(*(tensor.memory.array for tensor in given))
    before = {place: (copy.copy(tensor), tensor.memory.version)
              for place, tensor in enumerate(given) if place in wanted}  # fmt: skip
    edges = [tensor.node if tensor.needs else None for tensor in given]
    if into is not None:
        if 0 in before:  # what was there is kept aside
            before[0][0].memory = Memory(into.memory.array)
            before[0] = before[0][0], 0
        into.memory.array[...] = array
        into.memory.version += 1
    result = Tensor(Memory(array)) if into is None else into
    if node is not None:
        result.node, result.needs, result.is_leaf = node, True, False
        node.edges, node.saved = edges, before
        if -1 in wanted:
            node.saved[-1] = copy.copy(result), result.memory.version
    return result


def reach(node: Node, found: Counter[Node]) -> Counter[Node]:
    """Count on how many edges each node hangs."""
    for edge in node.edges:
        if edge is not None:
            found[edge] += 1
            if found[edge] == 1:
                reach(edge, found)
    return found


def run(
    root: Tensor, seed: Tensor, keep: bool, record: bool = False, to: Node | None = None
) -> Tensor | None:
    """Bring gradients to all leaves, or to the one node asked for."""
    assert root.node is not None
    waiting, gradients = reach(root.node, Counter()), {root.node: seed}
    paths = {node for node in (root.node, *waiting) if to in reach(node, Counter())}
    ready = [root.node]
    while ready:
        node = max(ready, key=lambda each: each.number)
        ready.remove(node)
        gradient = gradients.pop(node)
        for hook in [*node.tensor_hooks]:
            gradient = hook(gradient) or gradient
        for kept in keepers:
            if kept.node is node:
                kept.grad = _total(kept.grad, gradient)
        if node is to:
            return gradient
        for hook in [*node.before]:
            gradient = hook(gradient) or gradient
        if node.leaf is not None:
            node.leaf.grad = _total(node.leaf.grad, gradient)
            for hook in [*node.leaf.accumulated]:
                hook(node.leaf.grad)
            continue
        if node.fault():
            raise Refused(node.fault())
        given = _rules(node, gradient, record)
        for hook in [*node.after]:
            given = hook(given, gradient) or given
        node.released = not keep
        for edge, part in zip(node.edges, given, strict=True):
            if edge is None or (to is not None and edge is not to and edge not in paths):
                continue
            gradients[edge] = call_quietly(gradients.get(edge), part, record)
            waiting[edge] -= 1
            if not waiting[edge]:
                ready.append(edge)
    return None


def _rules(node: Node, gradient: Tensor, record: bool) -> list[Tensor | None]:
    before, recording[0] = recording[0], record
    try:
        rules = OPERATIONS[node.name][1]
        return [
            None if edge is None else rule(gradient, node.saved.get(which, (None,))[0])
            for edge, (which, rule) in zip(node.edges, rules, strict=True)
        ]
    finally:
        recording[0] = before


def call_quietly(total: Tensor | None, part: Any, record: bool) -> Tensor:
    """Add up gradients; recorded only if the pass is."""
    before, recording[0] = recording[0], record
    try:
        return part if total is None else call("add", total, part)
    finally:
        recording[0] = before


def _total(grad: Any, gradient: Tensor) -> Any:
    return gradient.memory.array + (0 if grad is None else grad)
