"""Make graphs to draw out of nothing: nodes and tensors with just the names that drawing reads."""

import random
from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False)
class FakeTensor:
    """As much of a tensor as drawing looks at."""

    data: Any = 0.5
    shape: tuple[int, ...] = ()
    grad: Any = None
    grad_fn: Any = None
    output_nr: int = 0
    requires_grad: bool = True
    retains_grad: bool = False

    @property
    def is_leaf(self) -> bool:
        return self.grad_fn is None

    def tolist(self) -> Any:
        return self.data


@dataclass(eq=False)
class FakeNode:
    """As much of a node as drawing looks at."""

    title: str
    next_functions: tuple[tuple[Any, int], ...] = ()
    hooks: list[Any] = field(default_factory=list)

    def name(self) -> str:
        return self.title


@dataclass(eq=False)
class FakeLeaf(FakeNode):
    """An accumulate node with its tensor."""

    variable: Any = None


def leaf(data: Any = 0.5, shape: tuple[int, ...] = (), grad: Any = None) -> FakeLeaf:
    tensor = FakeTensor(data, shape, None if grad is None else FakeTensor(grad, shape))
    return FakeLeaf("torch::autograd::AccumulateGrad", variable=tensor)


def operation(title: str, *targets: Any) -> FakeNode:
    edges = (each if isinstance(each, tuple) else (each, 0) for each in targets)
    return FakeNode(title, tuple(edges))


def output_of(node: FakeNode, data: Any = 1.0, shape: tuple[int, ...] = ()) -> FakeTensor:
    return FakeTensor(data, shape, grad_fn=node)


def random_graph(seed: int) -> tuple[int, list[tuple[int, int]]]:
    """Return the number of nodes and the edges of a random connected graph without cycles."""
    chance = random.Random(seed)
    count = chance.randint(5, 60)
    edges = []
    for node in range(1, count):
        for _ in range(chance.choice([1, 1, 1, 2, 2, 3])):
            first = max(0, node - 12) if chance.random() < 0.9 else 0
            edges.append((chance.randint(first, node - 1), node))
    return count, edges
