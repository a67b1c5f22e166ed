"""Build the graphs that lesson 03's exercises run on: diamonds, ladders, chains, random ones."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from random import Random
from typing import Any

import minigrad as torch
from minigrad.classroom.exercises import Objection

Answer = Callable[..., Any]
RANDOM = 20
"""How many random graphs an answer is run on."""
DEEP, LADDER = 2000, 40
OVER = (
    "It comes back to the same nodes over and over; in a ladder of diamonds that is once for each "
    "path. Keep in mind where you have been, and take each node off the list."
)
SLOW = (
    f"In a chain of {DEEP:,} steps it looks at the edges of each node again and again. Once or "
    "twice has to be enough: keep what you know about a node in a dict."
)
RECURSION = (
    "It calls itself once for each step of a chain, and Python stops that after about a "
    "thousand. Keep the nodes that are still to be visited in a list, and loop."
)
CHANGED = {
    "edges": "It changed the edges of the graph that it was given. Whoever walks through it next "
    "finds it in pieces: leave them, and keep what you need in a list or dict of your own.",
    "data": "It changed data of the nodes that it was given, and the graph is not yours.",
    "number": "It changed the numbers of the nodes that it was given, and the graph is not yours.",
    "grad": "It left something in .grad of the nodes that it was given, where the next pass will "
    "find it. What travels goes into a dict of your own.",
}
"""What to say about each thing that may not be changed in a graph; the first is said."""

_DEEP_CALLS = 200
_NOT_WATCHED = 10**9


class Value:
    """A number that remembers how it was made, as in the lesson; visits of it are counted."""

    made = count()
    visits_left = _NOT_WATCHED
    size = 0

    def __init__(self, data: float, edges: Sequence[tuple[Value, float]] = ()) -> None:
        self.data, self._edges = data, edges
        self.number, self.grad = next(Value.made), None

    def __repr__(self) -> str:
        return f"Value({self.data:g})"

    @property
    def edges(self) -> Any:
        """The pairs of an input and a local derivative, for as long as visits are left."""
        Value.visits_left -= 1
        if Value.visits_left < 0:
            raise Objection(OVER if Value.size < DEEP else SLOW)
        if not Value.visits_left & 255 and Value.visits_left < _NOT_WATCHED // 2:
            _not_too_deep()
        return self._edges

    @edges.setter
    def edges(self, edges: Any) -> None:
        self._edges = edges

    def __add__(self, other: Any) -> Any:
        return type(self)(self.data + other.data, [(self, 1.0), (other, 1.0)])

    def __mul__(self, other: Any) -> Any:
        return type(self)(self.data * other.data, [(self, other.data), (other, self.data)])


def _not_too_deep() -> None:
    """Object to a function that has called itself a few hundred times."""
    frame: Any = sys._getframe(2)
    code, calls = frame.f_code, 0
    while frame is not None:
        calls += frame.f_code is code
        frame = frame.f_back
    if calls > _DEEP_CALLS:
        raise Objection(RECURSION)


def visiting(
    subject: Answer, root: Any, nodes: Sequence[Any], leave: Sequence[str] = tuple(CHANGED)
) -> Any:
    """Call an answer, which may look at each node some forty times on average.

    Args:
        subject: the answer.
        root: what it is called with.
        nodes: all nodes of the graph.
        leave: what it has to leave as it is: keys of `CHANGED`.
    """
    before = _facts(nodes)
    Value.visits_left, Value.size = 40 * len(nodes) + 200, len(nodes)
    try:
        result = subject(root)
    finally:
        Value.visits_left = _NOT_WATCHED
    after = _facts(nodes)
    for kind in leave:
        if after[kind] != before[kind]:
            raise Objection(CHANGED[kind])
    return result


def _facts(nodes: Sequence[Any]) -> dict[str, list[Any]]:
    """List what the nodes hold, for each thing in `CHANGED`."""
    edges = [
        [(id(source), float(slope)) for source, slope in node._edges]
        if isinstance(node._edges, list | tuple)
        else node._edges
        for node in nodes
    ]
    held = {kind: [getattr(node, kind) for node in nodes] for kind in ("data", "number", "grad")}
    return {"edges": edges} | held


class Slope(float):
    """A local derivative that notes when it is multiplied, and between which nodes."""

    notes: list[tuple[str, str]]
    way: tuple[str, str]

    def __mul__(self, other: Any) -> Any:
        self.notes.append(self.way)
        return float(self) * other

    __rmul__ = __mul__


def diamond(short_first: bool = True) -> list[Any]:
    """Build the lesson's diamond: x, y = x * x, seven, u = seven * y, L; in this order."""
    x = Value(3.0)
    y, seven = x * x, Value(7.0)
    u = seven * y
    return [x, y, seven, u, y + u if short_first else u + y]


def rugged() -> list[Any]:
    """Build a graph of fractions: x, w, zero, a = x * w, b = a * a, c = b * zero, d, L."""
    x, w, zero = Value(0.7123), Value(-1.3877), Value(0.0)
    a = x * w
    b = a * a
    c = b * zero
    d = c + a
    return [x, w, zero, a, b, c, d, d * b]


def with_other_nodes() -> list[Any]:
    """Build a node with three edges, two of them to one node, and one with a single edge on top.

    They all have the same number for data, and are not the same for that.
    """
    x, w = Value(0.5), Value(0.5)
    three = Value(0.5, [(x, 0.5), (w, -1.5), (x, 2.25)])
    return [x, w, three, Value(0.5, [(three, -0.25)])]


def ladder(steps: int = LADDER, make: Answer = Value) -> list[Any]:
    """Build a chain of doublings, each y + y."""
    nodes = [make(3.0)]
    for _ in range(steps):
        nodes.append(nodes[-1] + nodes[-1])
    return nodes


def deep(make: Answer = Value, steps: int = DEEP) -> list[Any]:
    """Build a long chain of additions: one, x, x + one, x + one + one, ..."""
    nodes = [make(1.0), make(3.0)]
    for _ in range(steps):
        nodes.append(nodes[-1] + nodes[0])
    return nodes


def renumbered() -> list[Any]:
    """Build the diamond with numbers that do not follow the order of making."""
    nodes = diamond()
    for node, number in zip(nodes, (4, 9, 2, 5, 7), strict=True):
        node.number = number
    return nodes


FAN = ("x", "w", "a", "b", "c", "d", "p", "q", "L")


def fan(numbers: Sequence[int]) -> list[Any]:
    """Build a graph in which several nodes are ready at once: `FAN`, with these numbers."""
    x, w = Value(1.5), Value(-0.5)
    a, b, c, d = x * w, x * x, w * w, w * x
    p, q = a * b, c * d
    nodes = [x, w, a, b, c, d, p, q, p * q]
    for node, number in zip(nodes, numbers, strict=True):
        node.number = number
    return nodes


def run_in_order(subject: Answer, numbers: Sequence[int]) -> tuple[Any, list[str], list[str]]:
    """Run an answer on a fan, and watch in which order gradients are sent.

    Args:
        subject: the answer.
        numbers: of the nodes of the fan.

    Returns:
        What it returned, the nodes that sent, and the nodes that were sent to; both empty where
        not every edge was seen to be used.
    """
    nodes, notes = fan(numbers), list[tuple[str, str]]()
    names = dict(zip(nodes, FAN, strict=True))
    for node in nodes:
        watched = []
        for source, slope in node._edges:
            watched.append((source, Slope(slope)))
            watched[-1][1].notes, watched[-1][1].way = notes, (names[node], names[source])
        node.edges = watched
    found = visiting(subject, nodes[-1], nodes)
    ways = {(names[node], names[source]) for node in nodes for source, _ in node._edges}
    if not ways <= set(notes):
        return found, [], []
    return found, _without_repeats(way[0] for way in notes), _without_repeats(w[1] for w in notes)


def _without_repeats(names: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for name in names:
        if not kept or kept[-1] != name:
            kept.append(name)
    return kept


def grown(rng: Random, leaves: Sequence[Any], extra: bool = False) -> list[Any]:
    """Grow a random graph on leaves, of numbers or of tensors alike."""
    nodes = list(leaves)
    for _ in range(rng.randint(3, 9)):
        kind = rng.choice("+*+*^e" if extra else "+*")
        a, b = (nodes[-1 - min(int(rng.expovariate(0.6)), len(nodes) - 1)] for _ in range(2))
        if kind in "+*":
            nodes.append(a + b if kind == "+" else a * b)
        elif kind == "^":
            nodes.append(a ** rng.choice((2, 3)))
        else:
            # kept small: exp of a large number says nothing
            nodes.append((a * nodes[0] * nodes[1]).exp() if abs(float(a.data)) < 2 else a + a)
    return nodes


def pairs_of_graphs(make: Answer, extra: bool = False) -> Iterable[tuple[list[Any], list[Any]]]:
    """Give random graphs twice: of what `make` makes, and of tensors."""
    for seed in range(RANDOM):
        values = [Random(seed).uniform(0.4, 1.1) * sign for sign in (1, -1, 1)]
        tensors = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in values]
        yield (
            grown(Random(seed), [make(v) for v in values], extra),
            grown(Random(seed), tensors, extra),
        )


def close(found: Sequence[Any], wanted: Sequence[Any]) -> bool:
    """Compare gradients; nothing and zero are the same here."""
    return all(
        math.isclose(a or 0.0, b or 0.0, rel_tol=1e-9, abs_tol=1e-12)
        for a, b in zip(found, wanted, strict=True)
    )


def reached(root: Any) -> list[Any]:
    """List the nodes that a root leads to, itself included, the latest first."""
    seen, todo = {root}, [root]
    while todo:
        for source, _ in todo.pop().edges:
            if source not in seen:
                seen.add(source)
                todo.append(source)
    return sorted(seen, key=lambda node: -node.number)
