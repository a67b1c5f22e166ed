"""Build the graphs that lesson 03's exercises run on: diamonds, ladders, chains, random ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from random import Random
from typing import Any

import minigrad as torch

Answer = Callable[..., Any]
RANDOM = 20
"""How many random graphs an answer is run on."""
DEEP, LADDER = 5000, 40
OVER = "the same nodes are visited over and over"


class Value:
    """A number that remembers how it was made, as in the lesson; visits of it are counted."""

    made = count()
    visits_left = 10**9

    def __init__(self, data: float, edges: Sequence[tuple[Value, float]] = ()) -> None:
        self.data, self._edges = data, edges
        self.number, self.grad = next(Value.made), None

    @property
    def edges(self) -> Any:
        """The pairs of an input and a local derivative, for as long as visits are left."""
        Value.visits_left -= 1
        if Value.visits_left < 0:
            raise RuntimeError(OVER)
        return self._edges

    @edges.setter
    def edges(self, edges: Any) -> None:
        self._edges = edges

    def __add__(self, other: Any) -> Any:
        return type(self)(self.data + other.data, [(self, 1.0), (other, 1.0)])

    def __mul__(self, other: Any) -> Any:
        return type(self)(self.data * other.data, [(self, other.data), (other, self.data)])


def visiting(subject: Answer, root: Any, nodes: Iterable[Any]) -> Any:
    """Call an answer, which may look at each node some forty times on average."""
    Value.visits_left = 40 * len(list(nodes)) + 200
    try:
        return subject(root)
    finally:
        Value.visits_left = 10**9


def diamond(short_first: bool = True) -> list[Any]:
    """Build the lesson's diamond: x, y = x * x, seven, u = seven * y, L; in this order."""
    x = Value(3.0)
    y, seven = x * x, Value(7.0)
    u = seven * y
    return [x, y, seven, u, y + u if short_first else u + y]


def ladder(steps: int = LADDER) -> list[Any]:
    """Build a chain of doublings, each y + y."""
    nodes = [Value(3.0)]
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
    """List the nodes that a root leads to, itself included."""
    seen, todo = {root}, [root]
    while todo:
        for source, _ in todo.pop().edges:
            if source not in seen:
                seen.add(source)
                todo.append(source)
    return list(seen)
