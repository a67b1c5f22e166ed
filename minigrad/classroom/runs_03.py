"""Run the answers of lesson 03: small engines on small graphs, beside minigrad on random ones."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from minigrad.classroom.behaviors import Trial
from minigrad.classroom.graphs_03 import (
    DEEP,
    LADDER,
    RANDOM,
    Answer,
    Value,
    close,
    deep,
    diamond,
    ladder,
    pairs_of_graphs,
    reached,
    renumbered,
    visiting,
)

AGREE = f"the number of random graphs, of {RANDOM}, on which minigrad agrees"
REFUSED, NO_ERROR = "an error that names retain_graph", "no error"
LATER = "to be seen when the others are right"
OTHER_ERROR = "an error that does not name retain_graph"


def stumbled(*words: str) -> Callable[[list[Trial]], bool]:
    """Recognize a run that ended in an error which names one of these words."""
    return lambda found: any(word in (trial.trouble or "") for trial in found for word in words)


def _as_dict(name: str, found: Any, nodes: Iterable[Any]) -> Mapping[Any, Any]:
    if not isinstance(found, Mapping):
        raise TypeError(f"{name} has to return a dict, not {type(found).__name__}")
    if not set(found) <= set(nodes):
        raise TypeError(f"the keys of the dict that {name} returns have to be the nodes themselves")
    return found


# --- exercise 03.1: counting


def counted_run(count_uses: Answer) -> dict[str, Any]:
    """Let an answer count the uses in three graphs."""

    def uses(nodes: list[Any]) -> list[Any]:
        found = visiting(count_uses, nodes[-1], nodes)
        if found is None:
            raise TypeError("count_uses has to return a dict, not None")
        found = _as_dict("count_uses", found, nodes)
        return [found.get(node, 0) for node in nodes[:-1]]

    x = Value(3.0)
    small = {
        "the list of the uses of x in x * x": uses([x, x * x]),
        "the list of the uses of x, y, seven and u in the diamond": uses(diamond()),
    }
    if list(small.values()) != [[2], [2, 2, 1, 1]]:
        doublings = chain = [LATER]
    else:
        doublings, chain = uses(ladder()), uses(deep())[1:]
    return small | {
        f"the range of uses in a ladder of {LADDER} diamonds": [min(doublings), max(doublings)],
        f"the range of uses in a chain of {DEEP:,} steps": [min(chain), max(chain)],
    }


def counting(kind: str = "right") -> Answer:
    """Make a function that counts uses, right or wrong in one way."""

    def count_uses(root: Any) -> Any:
        if kind == "inputs":
            return {node: len(node.edges) for node in reached(root)}
        if kind == "paths":
            todo = [root]
            found: Counter[Any] = Counter()
            while todo and sum(found.values()) < 1000:
                sources = [source for source, _ in todo.pop().edges]
                found.update(sources)
                todo += sources
            return found
        if kind == "root only":
            return Counter(source for source, _ in root.edges)
        uses: Counter[Any] = Counter()
        for node in reached(root):
            sources = [source for source, _ in node.edges]
            uses.update(set(sources) if kind == "consumers" else sources)
        return dict.fromkeys(uses, 1) if kind == "ones" else uses

    return count_uses


# --- exercise 03.3: one pass

_LARGE = (
    AGREE,
    f"the gradient of x in a ladder of {LADDER} diamonds",
    f"the gradient of x in a chain of {DEEP:,} steps",
)


def gradients_run(gradients: Answer) -> dict[str, Any]:
    """Let an answer compute the gradients of all nodes in several graphs."""

    def run(nodes: list[Any]) -> list[Any]:
        found = visiting(gradients, nodes[-1], nodes)
        if found is None:
            raise TypeError("gradients has to return a dict, not None")
        found = _as_dict("gradients", found, nodes)
        return [found.get(node) for node in nodes]

    small = {
        "the list of the gradients of x, y, seven, u and L in L = u + y": run(diamond(False)),
        "the list of the gradients of x, y, seven, u and L in L = y + u": run(diamond()),
        "the same list where the numbers do not follow the order of making": run(renumbered()),
    }
    if any(each != [48.0, 8.0, 9.0, 1.0, 1.0] for each in small.values()):
        return small | dict.fromkeys(_LARGE, LATER)
    agreed = 0
    for nodes, tensors in pairs_of_graphs(Value):
        for tensor in tensors[3:]:
            tensor.retain_grad()
        tensors[-1].backward()
        wanted = [None if t.grad is None else t.grad.item() for t in tensors]
        found = visiting(gradients, nodes[-1], nodes) or {}
        agreed += close([found.get(node) for node in nodes], wanted)
    large = (agreed, run(ladder())[0], run(deep())[1])
    return small | dict(zip(_LARGE, large, strict=True))


def walk(kind: str = "right") -> Answer:
    """Make a function that walks through a graph, right or wrong in one way."""

    def gradients(root: Any) -> Any:
        waiting = counting()(root)
        ready, result, done = deque([root]), {root: 1.0}, set()
        if kind == "by number":
            ready = deque(sorted(reached(root), key=lambda node: -node.number))
        while ready:
            node = ready.popleft()
            if node in done:
                continue
            done.add(node)
            for source, slope in node.edges:
                sent = result.get(node, 0.0) * (1.0 if kind == "no slopes" else slope)
                if kind == "value":
                    sent = result[node] * source.data
                before = 0.0 if kind == "overwrites" else result.get(source, 0.0)
                result[source] = before + sent
                waiting[source] -= 1
                if kind == "first come" or (kind != "by number" and not waiting[source]):
                    ready.append(source)
        if kind == "leaves only":
            return {node: result[node] for node in result if not node.edges}
        return result

    return gradients


# --- exercise 03.4: several passes


def passes_run(backward: Answer) -> dict[str, Any]:
    """Let an answer go several times through the same graphs, and look at the leaves."""
    x = Value(3.0)
    y = x * x
    z = y + y
    seen: list[Any] = []
    for _ in range(3):
        backward(z)
        seen.append(x.grad)
    p = Value(3.0)
    trunk = p * p
    for loss in (trunk + trunk, trunk * trunk):
        backward(loss)
    full: Any = Value(3.0)
    full.grad = 100.0
    backward(full * full)
    agreed = 0
    for nodes, tensors in pairs_of_graphs(Value):
        for _ in range(2):
            backward(nodes[-1])
            tensors[-1].backward(retain_graph=True)
        wanted = [None if t.grad is None else t.grad.item() for t in tensors[:3]]
        agreed += close([node.grad for node in nodes[:3]], wanted)
    return {
        "x.grad after one pass": seen[0],
        "x.grad after a second pass": seen[1],
        "x.grad after a third pass": seen[2],
        "x.grad after passes from two losses that share y": p.grad,
        "x.grad of x * x where it held 100 before": full.grad,
        f"after two passes, {AGREE}": agreed,
    }


def passes(kind: str = "right") -> Answer:
    """Make a backward that fills .grad, right or wrong in one way."""

    def backward(root: Any) -> None:
        order = sorted(reached(root), key=lambda node: -node.number)
        for node in order:
            if kind == "forgets" or (kind == "right" and node.edges):
                node.grad = None
        if kind == "once" and root.grad is not None:
            return
        root.grad = 1.0
        for node in order:
            for source, slope in node.edges:
                before = 0.0 if kind == "overwrites" else source.grad or 0.0
                source.grad = before + slope * node.grad

    return backward


# --- exercise 03.6: the engine

_CHAIN = f"x.grad in a chain of {DEEP:,} steps"


def engine_run(engine: Answer) -> dict[str, Any]:
    """Put a class to work: its operations, its passes, what it lets go, what it cuts off."""
    made = getattr(engine, "__wrapped__", engine)
    if isinstance(made, type) and not any(callable(each) for each in vars(made).values()):
        raise NotImplementedError

    def slope(function: Answer) -> Any:
        x = engine(2.0)
        function(x).backward()
        return x.grad

    seen: dict[str, Any] = {
        "x.grad of x * x + x at x = 2": slope(lambda x: x * x + x),
        "x.grad of x ** 3 at x = 2": slope(lambda x: x**3),
        "x.grad of x.exp() at x = 2": slope(lambda x: x.exp()),
    }
    x = engine(3.0)
    y = x * x
    z = y + y
    z.backward(retain_graph=True)
    z.backward(retain_graph=True)
    seen["x.grad after two passes with retain_graph=True"] = x.grad
    z.backward()
    seen["what came of a pass after one without retain_graph=True"] = _refusal(z)
    seen["what came of a pass from another root over released nodes"] = _refusal(y + x)
    cut = engine(3.0)
    square = cut * cut
    (square * square.detach()).backward()
    seen["x.grad of y * y.detach() for y = x * x at x = 3"] = cut.grad
    if list(seen.values())[3:] != [24.0, REFUSED, REFUSED, 54.0]:
        return seen | {AGREE: LATER, _CHAIN: LATER}
    agreed = 0
    for nodes, tensors in pairs_of_graphs(engine, extra=True):
        nodes[-1].backward()
        tensors[-1].backward()
        wanted = [None if t.grad is None else t.grad.item() for t in tensors[:3]]
        agreed += close([node.grad for node in nodes[:3]], wanted)
    seen[AGREE] = agreed
    chain = deep(engine)
    chain[-1].backward()
    return seen | {_CHAIN: chain[1].grad}


def _refusal(root: Any) -> str:
    try:
        root.backward()
    except RuntimeError as error:
        return REFUSED if "retain_graph" in str(error) else OTHER_ERROR
    return NO_ERROR


def engine() -> Any:
    """Make the right engine class."""

    class Engine(Value):
        def __pow__(self, n: float) -> Any:
            return type(self)(self.data**n, [(self, n * self.data ** (n - 1))])

        def exp(self) -> Any:
            result = math.exp(self.data)
            return type(self)(result, [(self, result)])

        def detach(self) -> Any:
            return type(self)(self.data)

        def backward(self, retain_graph: bool = False) -> None:
            for node, gradient in walk()(self).items():
                if not node.edges:
                    node.grad = gradient + (node.grad or 0.0)
                elif not retain_graph:
                    node.edges = Released()

    return Engine


class Released(list[Any]):
    """Edges that were let go: whoever comes to them gets an error."""

    def __iter__(self) -> Any:
        raise RuntimeError("released by an earlier pass: give that one retain_graph=True")
