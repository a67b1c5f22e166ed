"""Look over a graph before a backward pass: who waits for whom, and what has to run at all."""

from __future__ import annotations

from collections.abc import Sequence

from minigrad.autograd.accumulate import AccumulateGrad
from minigrad.autograd.node import Edge, Node


def count_uses(roots: Sequence[Edge]) -> dict[Node, int]:
    """Find the nodes that have to wait, and for how many gradients each.

    A node that is used once needs no entry: the first gradient that reaches it is complete. A
    node with several outputs always has one, since its gradients are collected in a list.
    """
    uses: dict[Node, int] = {}
    seen: set[Node] = set()
    found = seen.add
    stack: list[Node] = []
    edges: Sequence[Edge] = roots
    while True:
        for node, _ in edges:
            if node is not None:
                if node in seen:
                    uses[node] = uses.get(node, 1) + 1
                else:
                    found(node)
                    if type(node) is not AccumulateGrad:
                        stack.append(node)
                        if node._multiple:
                            uses[node] = 1
        if not stack:
            return uses
        edges = stack.pop().next_functions


def reachable(roots: Sequence[Edge]) -> set[Node]:
    """Find all nodes that lie upstream of the roots.

    Several roots are among them; a single one is not, as in PyTorch.
    """
    found: set[Node] = set()
    edges = roots if len(roots) > 1 or roots[0][0] is None else roots[0][0].next_functions
    stack = [node for node, _ in edges if node is not None]
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack.extend(n for n, _ in node.next_functions if n is not None)
    return found


def leading_to(roots: Sequence[Edge], targets: set[Node], accumulate: bool) -> set[Node]:
    """Find the nodes that must run for gradients to reach the targets.

    With `accumulate` the targets run themselves; otherwise a target runs only if it lies on the
    way to another one.
    """
    needed: set[Node] = set(targets) if accumulate else set()
    visited: set[Node] = set()
    stack: list[tuple[Node, bool]] = [(node, False) for node, _ in roots if node is not None]
    while stack:
        node, followed = stack.pop()
        if followed:
            if any(n in needed or n in targets for n, _ in node.next_functions):
                needed.add(node)
        elif node not in visited:
            visited.add(node)
            stack.append((node, True))
            stack.extend((n, False) for n, _ in node.next_functions if n is not None)
    return needed


def heap_order(size: int) -> list[int]:
    """Give the order in which a binary heap hands out equal entries pushed in order 0, 1, 2, ...

    All accumulate nodes have the same rank, so PyTorch runs several that become ready together in
    the order of its priority queue: for four of them 0, 2, 1, 3.
    """
    heap = list(range(size))
    order = []
    while heap:
        order.append(heap[0])
        last = heap.pop()
        if not heap:
            break
        hole, length = 0, len(heap)
        while hole < (length - 1) // 2:
            child = 2 * hole + 2
            heap[hole] = heap[child]
            hole = child
        if length % 2 == 0 and hole == (length - 2) // 2:
            child = 2 * hole + 1
            heap[hole] = heap[child]
            hole = child
        heap[hole] = last
    return order
