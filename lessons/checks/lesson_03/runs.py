"""Run the functions of lesson 03's exercises on graphs, right ones and typical wrong ones."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import Any

from minigrad.classroom.exercises import Objection

from .graphs import (
    DEEP,
    FAN,
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
    rugged,
    run_in_order,
    visiting,
    with_other_nodes,
)

AGREE = f"the number of random graphs, of {RANDOM}, on which minigrad agrees"
AGAIN = "the same list in a second call on the same graph"
OF_ROOTS = "the list of what the roots themselves have in the dict"
ORDER = "the order in which the nodes of a fan ran"
LATER = "to be seen when the others are right"
IN_LADDER = f"in a ladder of {LADDER} diamonds"
IN_CHAIN = f"in a chain of {DEEP:,} steps"


def _as_dict(name: str, found: Any, nodes: Sequence[Any]) -> Mapping[Any, Any]:
    if not isinstance(found, Mapping):
        raise Objection(
            f"{name} has to return a dict from node to number, and it returned "
            + ("nothing." if found is None else f"{type(found).__name__}.")
        )
    known = {id(node) for node in nodes}
    if not all(id(key) in known for key in found):
        strange = next(key for key in found if id(key) not in known)
        raise Objection(
            f"In the dict that {name} returned stands a node of another graph: is it a dict that "
            "was there before the call? Make a new one in each."
            if isinstance(strange, Value)
            else f"The keys of the dict that {name} returns have to be the nodes themselves."
        )
    return found


# --- exercise 03.1: counting

COUNTS = [
    *([2], [2, 2, 1, 1], [2, 2, 1, 1], [2, 2, 1, 1], [2, 1, 1, 0], [1, 1, 1, 3, 2, 1, 1]),
    *([2, 1, 1], [], [0] * 8),
]
"""What is right in the small graphs of `counted_run`."""


def counted_run(count_uses: Answer) -> dict[str, Any]:
    """Let an answer count the uses in several graphs."""

    def uses(nodes: list[Any], root: Any = None) -> list[Any]:
        root = root or nodes[-1]
        found = _as_dict("count_uses", visiting(count_uses, root, nodes), nodes)
        of_roots.append(found.get(root, 0))
        return [found.get(node, 0) for node in nodes if node is not root]

    of_roots: list[Any] = []
    x = Value(3.0)
    square, whole, other = [x, x * x], diamond(), diamond()
    aside = whole[1] * whole[3]  # a use that does not lead to the root
    small = {
        "the list of the uses of x in x * x": uses(square),
        "the list of the uses of x, y, seven and u in the diamond": uses(whole),
        AGAIN: uses(whole),
        "the same list from another root, y * u,": uses([*whole[:4], aside]),
        "the list of the uses of x, y, seven, u and L, counted from u,": uses(other, other[3]),
        "the list of the uses in a graph where a factor is zero": uses(rugged()),
        "the list of the uses where a node has three edges, and one has a single one,": uses(
            with_other_nodes()
        ),
        "the list of the uses below a root without edges": uses([Value(2.0)]),
    }
    small[OF_ROOTS] = list(of_roots)
    if list(small.values()) != COUNTS:
        doublings = chain = [LATER]
    else:
        doublings, chain = uses(ladder()), uses(deep())[1:]
    return small | {
        f"the range of uses {IN_LADDER}": [min(doublings), max(doublings)],
        f"the range of uses {IN_CHAIN}": [min(chain), max(chain)],
    }


def counts_too_many(results: Sequence[Any]) -> bool:
    """Tell whether some counts in the small graphs are too large, and none too small."""
    pairs = [
        (a, b)
        for have, want in zip(results, COUNTS, strict=False)
        for a, b in zip(have, want, strict=True)
    ]
    return all(a >= b for a, b in pairs) and any(a > b for a, b in pairs)


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
            sources = [s for s, slope in node.edges if slope or kind != "not along zero"]
            uses.update(set(sources) if kind == "consumers" else sources)
        if kind == "not the leaves":
            return {node: uses[node] for node in uses if node.edges}
        if kind == "from zero":
            return {node: number - 1 for node, number in uses.items()}
        return dict.fromkeys(uses, 1) if kind == "ones" else uses

    return count_uses


# --- exercise 03.3: one pass

_LARGE = (AGREE, f"the gradient of x {IN_LADDER}", f"the gradient of x {IN_CHAIN}")
FANS = ((0, 1, 2, 3, 4, 5, 6, 7, 8), (3, 0, 8, 2, 6, 7, 1, 5, 4))


def gradients_run(gradients: Answer) -> dict[str, Any]:
    """Let an answer compute the gradients of all nodes in several graphs."""

    def run(nodes: list[Any], root: Any = None) -> list[Any]:
        found = visiting(gradients, root or nodes[-1], nodes)
        found = _as_dict("gradients", found, nodes)
        return [found.get(node) for node in nodes]

    whole, other, held = diamond(), diamond(), diamond()
    for node in held:
        node.grad = 100.0
    small = {
        "the list of the gradients of x, y, seven, u and L in L = u + y": run(diamond(False)),
        "the list of the gradients of x, y, seven, u and L in L = y + u": run(whole),
        AGAIN: run(whole),
        "the same list where the numbers do not follow the order of making": run(renumbered()),
        "the same list with u as root": run(other, other[3]),
        "the same list where each .grad held 100 before": run(held),
        "the list of the gradients in a graph of fractions and a zero": run(rugged()),
        "the list of the gradients where a node has three edges, and one has a single one,": run(
            with_other_nodes()
        ),
        "the list of the gradients of a root without edges": run([Value(2.0)]),
    }
    full = [48.0, 8.0, 9.0, 1.0, 1.0]
    rough, few = ([walk()(nodes[-1])[n] for n in nodes] for nodes in (rugged(), with_other_nodes()))
    right: list[list[Any]] = [full] * 4 + [[42.0, 7.0, 9.0, 1.0, None], full, rough, few, [1.0]]
    if not all(close(a, b) for a, b in zip(small.values(), right, strict=True)):
        return small | dict.fromkeys((*_orders(), *_LARGE), LATER)
    orders = [_order(gradients, numbers) for numbers in FANS]
    agreed = 0
    for nodes, tensors in pairs_of_graphs(Value):
        for tensor in tensors[3:]:
            tensor.retain_grad()
        tensors[-1].backward()
        wanted = [None if t.grad is None else t.grad.item() for t in tensors]
        found = visiting(gradients, nodes[-1], nodes) or {}
        agreed += close([found.get(node) for node in nodes], wanted)
    large = (agreed, run(ladder())[0], run(deep())[1])
    return small | dict(zip((*_orders(), *_LARGE), (*orders, *large), strict=True))


def nearly(results: Sequence[Any]) -> bool:
    """Tell whether gradients of the graph of fractions are right but for some rounding."""
    nodes = rugged()
    right = walk()(nodes[-1])
    off = [abs(a - right[node]) for a, node in zip(results, nodes, strict=True)]
    return 1e-9 < max(off) < 1e-3


def _orders() -> tuple[str, str]:
    return ORDER, f"{ORDER} with other numbers"


def _order(gradients: Answer, numbers: Sequence[int]) -> str:
    """Say in which order the nodes of a fan ran; where that is not to be seen, as it should be."""
    _, senders, receivers = run_in_order(gradients, numbers)
    numbered = dict(zip(FAN, numbers, strict=True))
    below = {"L": "pq", "p": "ab", "q": "cd", "a": "xw", "b": "xx", "c": "ww", "d": "xw"}
    waiting, ready, order = Counter("".join(below.values())), ["L"], list[str]()
    while ready:
        order.append(max(ready, key=lambda name: numbered[name]))
        ready.remove(order[-1])
        for name in below.get(order[-1], ""):
            waiting[name] -= 1
            ready += [name] * (not waiting[name])
    right = [name for name in order if name in below]
    # an engine may also collect when a node runs, in place of sending when it has run
    collectors = [name for name in receivers if name in below]
    return " ".join(right if not senders or collectors == right[1:] else senders)


def walk(kind: str = "right") -> Answer:
    """Make a function that walks through a graph, right or wrong in one way."""

    def next_of(ready: deque[Any]) -> Any:
        if kind in ("first come", "queue", "users", "users, twice", "last part"):
            return ready.popleft()
        node = (min if kind == "lowest" else max)(ready, key=lambda each: each.number)
        ready.remove(node)
        return node

    def gradients(root: Any) -> Any:
        waiting = counting("consumers" if kind.startswith("users") else "right")(root)
        ready, result, done = deque([root]), {root: 1.0}, set()
        last = dict(result)
        if kind == "by number":
            ready = deque(reached(root))
        while ready:
            node = next_of(ready)
            if node in done:
                continue
            if kind != "users, twice":
                done.add(node)
            for source, slope in node.edges:
                if kind == "not along zero" and not slope:
                    continue
                sent = result.get(node, 0.0) * (1.0 if kind == "no slopes" else slope)
                if kind == "value":
                    sent = result[node] * source.data
                if kind == "slopes alone":
                    sent = slope
                if kind == "last part":
                    sent = last[source] = last[node] * slope
                before = 0.0 if kind == "overwrites" else result.get(source, 0.0)
                result[source] = before + sent
                waiting[source] -= 1
                due = waiting[source] <= 0 if kind == "users, twice" else not waiting[source]
                if kind == "first come" or (kind != "by number" and due):
                    ready.append(source)
        if kind == "leaves only":
            return {node: result[node] for node in result if not node.edges}
        return result

    return gradients


# --- exercise 03.4: several passes


def passes_run(backward: Answer) -> dict[str, Any]:
    """Let an answer go several times through the same graphs, and look at the leaves."""

    def go(nodes: Sequence[Any], root: Any = None) -> None:
        visiting(backward, root or nodes[-1], nodes, leave=("edges", "data", "number"))

    def squared() -> list[Any]:
        x: Any = Value(3.0)
        return [x, x * x]

    x, y = first = squared()
    first.append(y + y)
    seen: list[Any] = []
    for _ in range(3):
        go(first)
        seen.append(x.grad)
    alone: Any = Value(2.0)
    shared, above, full = squared(), squared(), squared()
    for loss in (shared[1] + shared[1], shared[1] * shared[1]):
        go([*shared, loss])
    go(above)
    go([*above, above[1] * above[1]])
    full[0].grad = 100.0
    go(full)
    alone.grad = 5.0
    go([alone])
    rough = rugged()
    go(rough)
    go(rough)
    small = {
        "x.grad after one pass": seen[0],
        "x.grad after a second pass": seen[1],
        "x.grad after a third pass": seen[2],
        "x.grad after passes from two losses that share y": shared[0].grad,
        "x.grad after a pass from y, and one from y * y": above[0].grad,
        "x.grad of x * x where it held 100 before": full[0].grad,
        ".grad of a leaf that is the root itself, and held 5 before,": alone.grad,
        "the list of .grad of three leaves after two passes": [node.grad for node in rough[:3]],
    }
    leaves = [2 * walk()(rough[-1])[node] for node in rough[:3]]
    right = [12.0, 24.0, 36.0, 120.0, 114.0, 106.0, 6.0]
    large = (f"after two passes, {AGREE}", f"x.grad {IN_LADDER}", f"x.grad {IN_CHAIN}")
    if list(small.values())[:-1] != right or not close([n.grad for n in rough[:3]], leaves):
        return small | dict.fromkeys(large, LATER)
    agreed = 0
    for nodes, tensors in pairs_of_graphs(Value):
        for _ in range(2):
            go(nodes)
            tensors[-1].backward(retain_graph=True)
        wanted = [None if t.grad is None else t.grad.item() for t in tensors[:3]]
        agreed += close([node.grad for node in nodes[:3]], wanted)
    diamonds, chain = ladder(), deep()
    go(diamonds)
    go(chain)
    return small | dict(zip(large, (agreed, diamonds[0].grad, chain[1].grad), strict=True))


def passes(kind: str = "right") -> Answer:
    """Make a backward that fills .grad, right or wrong in one way.

    With one book: "naive", "forgets", "once", "replaces", "keeps its root", "resets its root".
    With two: "right", "keeps the book", "overwrites", "data", "at each edge", "queue".
    """
    kept: dict[Any, float] = {}

    def one_book(root: Any) -> None:
        order = reached(root)
        if kind == "once" and root.grad is not None:
            return
        for node in order:
            if kind == "forgets" or (kind == "resets its root" and node.edges):
                node.grad = None
        root.grad = 1.0
        for node in order:
            for source, slope in node.edges:
                before = 0.0 if kind == "replaces" else source.grad or 0.0
                source.grad = before + slope * node.grad
        for node in order[1:]:
            if kind == "keeps its root" and node.edges:
                node.grad = None

    def backward(root: Any) -> None:
        arrived = kept if kind == "keeps the book" else {}
        arrived[root] = 1.0
        order = reached(root)
        if kind == "queue":
            arrived, order = walk("first come")(root), []
        for node in order:
            for source, slope in node.edges:
                sent = slope * (node.data if kind == "data" else arrived[node])
                before = 0.0 if kind == "overwrites" else arrived.get(source, 0.0)
                arrived[source] = before + sent
                if kind == "at each edge" and not source.edges:
                    source.grad = (source.grad or 0.0) + arrived[source]
        for node in reached(root):
            if not node.edges and kind != "at each edge":
                node.grad = (node.grad or 0.0) + arrived[node]

    one = ("naive", "forgets", "once", "replaces", "keeps its root", "resets its root")
    return one_book if kind in one else backward
