"""Run a graph backward: count the dependencies, then run each node when all its gradients are in.

Two things happen here, and both are loops, so a chain of a million operations is no deeper than a
chain of one:

1. `_count_uses` walks the graph from the roots and finds the nodes that receive gradients from
   more than one place, and how many they wait for.
2. `GraphTask.run` runs ready nodes, the one recorded last first and a leaf's accumulation before
   all, and sends the gradients that a node computed along its edges, adding up what meets.

Gradients are plain arrays, unless the pass itself is recorded (`create_graph=True`): then they
are tensors, and the same rules record themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush, heappushpop
from typing import Any

import numpy as np

from minigrad.autograd.modes import grad_mode
from minigrad.autograd.node import AccumulateGrad, Edge, Node


# PyTorch never warns of overflow or of division by zero; a gradient may well be infinite
@np.errstate(all="ignore")
def run_backward(
    roots: Sequence[Edge],
    gradients: Sequence[Any],
    retain_graph: bool,
    create_graph: bool,
    inputs: Sequence[Edge] | None = None,
    accumulate: bool = False,
) -> list[Any]:
    """Send gradients from the roots through the graph.

    Args:
        roots: The edges of the tensors to start from.
        gradients: One gradient for each root; tensors if `create_graph`, else arrays.
        retain_graph: Keep the saved values for another pass.
        create_graph: Record the pass itself, for derivatives of derivatives.
        inputs: If given, only what leads to these edges runs.
        accumulate: Whether the nodes of `inputs` themselves run (`backward`), or the gradients
            that reach them are only captured (`grad`).

    Returns:
        The gradient that reached each of `inputs`, None where none did.
    """
    task = GraphTask(roots, retain_graph, create_graph, inputs, accumulate)
    previous = grad_mode.enabled
    grad_mode.enabled = create_graph
    try:
        task.run(roots, gradients)
    finally:
        grad_mode.enabled = previous
    return task.captured


class GraphTask:
    """One backward pass: who waits for how many gradients, what has arrived, what is ready."""

    __slots__ = (
        "buffers",
        "captured",
        "captures",
        "needed",
        "ready",
        "recorded",
        "retain_graph",
        "waiting",
    )

    def __init__(
        self,
        roots: Sequence[Edge],
        retain_graph: bool,
        create_graph: bool,
        inputs: Sequence[Edge] | None,
        accumulate: bool,
    ) -> None:
        self.retain_graph = retain_graph
        self.recorded = create_graph
        self.waiting = _count_uses(roots)
        self.buffers: dict[Node, Any] = {}
        self.ready: list[tuple[int, Node, Any]] = []
        self.captured: list[Any] = []
        self.captures: dict[Node, list[tuple[int, int]]] = {}
        self.needed: set[Node] | None = None
        if inputs is not None:
            self.captured = [None] * len(inputs)
            for position, (node, output_nr) in enumerate(inputs):
                if node is not None:
                    self.captures.setdefault(node, []).append((position, output_nr))
            self.needed = _leading_to(roots, set(self.captures), accumulate)
            if accumulate:
                self.captures = {}

    def run(self, edges: Sequence[Edge], gradients: Any) -> None:
        """Send gradients along the edges of the roots, then run what becomes ready, in order."""
        ready, waiting, needed = self.ready, self.waiting, self.needed
        keep = self.retain_graph
        attended = self.recorded or needed is not None
        while True:
            # Deliver the gradients. Of the nodes that become ready, `following` is the latest;
            # the others wait on the heap. Leaves come before all of them.
            following = carried = leaf = leaf_gradient = None
            more_leaves: list[tuple[Node, Any]] | None = None
            for (node, input_nr), gradient in zip(edges, gradients):  # noqa: B905 - costs time
                if node is None:
                    continue
                if waiting and node in waiting:
                    waiting[node] -= 1
                    if gradient is not None:
                        self._add_to_buffer(node, input_nr, gradient)
                    if waiting[node]:
                        continue
                    gradient = self.buffers.pop(node, None)
                if needed is not None and node not in needed and node not in self.captures:
                    continue
                if type(node) is AccumulateGrad:
                    if leaf is None:
                        leaf, leaf_gradient = node, gradient
                    else:
                        more_leaves = more_leaves or []
                        more_leaves.append((node, gradient))
                elif following is None:
                    following, carried = node, gradient
                elif node._priority < following._priority:
                    heappush(ready, (following._priority, following, carried))
                    following, carried = node, gradient
                else:
                    heappush(ready, (node._priority, node, gradient))
            if leaf is not None:
                # nobody else may hold the leaf's gradient now: see AccumulateGrad.run
                gradient = gradients = None
                if more_leaves is not None:
                    more_leaves.insert(0, (leaf, leaf_gradient))
                    leaf_gradient = None
                    self._accumulate(more_leaves)
                elif attended or leaf.hooks is not None:
                    self._run_attended(leaf, leaf_gradient)
                elif leaf_gradient is not None:
                    leaf.run(leaf_gradient)
            # Run the latest of the nodes that are ready.
            if following is None:
                if not ready:
                    return
                _, node, gradient = heappop(ready)
            elif ready and ready[0][0] < following._priority:
                _, node, gradient = heappushpop(ready, (following._priority, following, carried))
            else:
                node, gradient = following, carried
            carried = None
            if attended or node.hooks is not None or gradient is None:
                gradients = self._run_attended(node, gradient)
            else:
                gradients = node.run(gradient, keep)
            edges = node.next_functions

    def _add_to_buffer(self, node: Node, input_nr: int, gradient: Any) -> None:
        """Add a gradient to those that have already arrived at an output of a node."""
        buffers = self.buffers
        if node.multiple:
            buffer = buffers.setdefault(node, [None] * len(node.shape))
            held = buffer[input_nr]
            buffer[input_nr] = gradient if held is None else held + gradient
        else:
            held = buffers.get(node)
            buffers[node] = gradient if held is None else held + gradient

    def _accumulate(self, leaves: list[tuple[Node, Any]]) -> None:
        """Run the accumulation of leaves that became ready together."""
        if len(leaves) > 3:
            leaves = [leaves[i] for i in _heap_order(len(leaves))]
        leaves.reverse()
        attended = self.recorded or self.needed is not None
        while leaves:
            node, gradient = leaves.pop()
            if attended or node.hooks is not None:
                self._run_attended(node, gradient)
            elif gradient is not None:
                node.run(gradient)

    def _run_attended(self, node: Node, gradient: Any) -> Sequence[Any]:
        """Run a node with all that may surround it: hooks, captures, missing gradients."""
        hooks = node.hooks
        runs = self.needed is None or node in self.needed
        grad_outputs = self._as_tensors(_outputs(node, gradient))
        gradient = None
        if hooks is not None and not runs:
            hooks.run_tensor_hooks(grad_outputs)
        for position, output_nr in self.captures.get(node, ()):
            self.captured[position] = grad_outputs[output_nr]
        if not runs:
            return (None,) * len(node.next_functions)
        if hooks is not None:
            hooks.run_tensor_hooks(grad_outputs)
            grad_outputs = hooks.run_pre_hooks(grad_outputs)
        attended = hooks is not None and (hooks.post or hooks.post_accumulate)
        if attended:
            seen = list(grad_outputs)
        results = self._call_rule(node, grad_outputs)
        if attended:
            assert hooks is not None
            if isinstance(node, AccumulateGrad) and seen[0] is not None:
                hooks.run_post_accumulate_hooks(node.variable)
            if hooks.post:
                after = hooks.run_post_hooks(self._as_tensors(results), seen)
                results = after if self.recorded else [t if t is None else t._array for t in after]
        if node.keeps_tensors and not self.retain_graph:
            node.saved = None
        return results

    def _call_rule(self, node: Node, grad_outputs: list[Any]) -> Sequence[Any]:
        """Run the backward rule on tensors or on arrays."""
        if all(gradient is None for gradient in grad_outputs) and not node.runs_without_gradient:
            return (None,) * len(node.next_functions)
        if self.recorded:
            return node.run_recorded(grad_outputs if node.multiple else grad_outputs[0])
        if node.multiple:
            return node.run([t if t is None else t._array for t in grad_outputs])
        gradient = grad_outputs.pop()._array
        return node.run(gradient)

    def _as_tensors(self, gradients: Sequence[Any]) -> list[Any]:
        """Show gradients to hooks as tensors."""
        if self.recorded:
            return list(gradients)
        return [g if g is None else Node.wrap(g) for g in gradients]


def _outputs(node: Node, gradient: Any) -> list[Any]:
    """Give the gradients of all outputs of a node as a list."""
    if not node.multiple:
        return [gradient]
    return [None] * len(node.shape) if gradient is None else gradient


def _count_uses(roots: Sequence[Edge]) -> dict[Node, int]:
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
                        if node.multiple:
                            uses[node] = 1
        if not stack:
            return uses
        edges = stack.pop().next_functions


def _leading_to(roots: Sequence[Edge], targets: set[Node], accumulate: bool) -> set[Node]:
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


def _heap_order(size: int) -> list[int]:
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
