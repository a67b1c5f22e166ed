"""Run a graph backward: count the dependencies, then run each node when all its gradients are in.

Two things happen here, and both are loops, so a chain of a million operations is no deeper than a
chain of one:

1. `count_uses` walks the graph from the roots and finds the nodes that receive gradients from
   more than one place, and how many they wait for.
2. `GraphTask.run` runs ready nodes, the one recorded last first and a leaf's accumulation before
   all, and sends the gradients that a node computed along its edges, adding up what meets.

Gradients are plain arrays, unless the pass itself is recorded (`create_graph=True`): then they
are tensors, and the same rules record themselves.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Sequence
from heapq import heappop, heappush, heappushpop
from typing import Any

import numpy as np

from minigrad.autograd.anomaly_mode import check_for_nan, report, watch
from minigrad.autograd.modes import grad_mode
from minigrad.autograd.node import AccumulateGrad, Edge, Node
from minigrad.autograd.planning import count_uses, heap_order, leading_to, reachable
from minigrad.autograd.variable import Variable


# PyTorch never warns of overflow or of division by zero; a gradient may well be infinite
@np.errstate(all="ignore")
def run_backward(
    roots: Sequence[Edge],
    gradients: Sequence[Any],
    retain_graph: bool,
    create_graph: bool,
    inputs: Sequence[Edge] | None = None,
    accumulate: bool = False,
    unchecked: bool = False,
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
        unchecked: Whether the gradients may have wrong shapes, as nobody knows the right ones.

    Returns:
        The gradient that reached each of `inputs`, None where none did.
    """
    task = GraphTask(roots, retain_graph, create_graph, inputs, accumulate)
    if unchecked:
        task.unchecked = task.attended = True
    outer = grad_mode.task
    if outer is not None:
        task.depth = outer.depth + 1
        if task.depth % _LEVELS_PER_THREAD == 0:
            _in_another_thread(lambda: _run(task, gradients))
            return task.captured
    _run(task, gradients)
    return task.captured


def _run(task: GraphTask, gradients: Sequence[Any]) -> None:
    """Run a backward pass in this thread, in the grad mode that belongs to it."""
    outer, previous = grad_mode.task, grad_mode.enabled
    if previous is not None:  # None is inference mode, which stays
        grad_mode.enabled = task.recorded and (grad_mode.attention or True)
    grad_mode.task = task
    try:
        task.run(task.roots, gradients)
        if task.callbacks is not None:
            task.call_back()
    finally:
        grad_mode.enabled = previous
        grad_mode.task = outer


# A backward pass that a hook starts runs within the outer one, several calls deeper. Python limits
# how deep calls may nest in one thread, so every so many levels a new thread takes over.
_LEVELS_PER_THREAD = 16


def _in_another_thread(function: Callable[[], None]) -> None:
    """Call a function in a new thread that has this one's modes, and wait for it."""
    modes = dict(vars(grad_mode))
    context = contextvars.copy_context()
    errors: list[BaseException] = []

    def run() -> None:
        vars(grad_mode).update(modes)
        try:
            context.run(function)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="minigrad-backward")
    thread.start()
    thread.join()
    if errors:
        raise errors.pop()


class GraphTask:
    """One backward pass: who waits for how many gradients, what has arrived, what is ready."""

    __slots__ = (
        "__weakref__",
        "attended",
        "buffers",
        "callbacks",
        "captured",
        "captures",
        "depth",
        "evaluating",
        "needed",
        "ready",
        "recorded",
        "retain_graph",
        "roots",
        "unchecked",
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
        self.depth = 0
        self.roots = roots
        self.callbacks: list[Callable[[], Any]] | None = None
        self.evaluating: Node | None = None
        self.retain_graph = retain_graph
        self.recorded = create_graph
        self.unchecked = False
        self.attended = create_graph or inputs is not None or watch.enabled
        self.waiting = count_uses(roots)
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
            self.needed = leading_to(roots, set(self.captures), accumulate)
            if accumulate:
                self.captures = {}

    def run(self, edges: Sequence[Edge], gradients: Any) -> None:
        """Send gradients along the edges of the roots, then run what becomes ready, in order."""
        ready, waiting, needed = self.ready, self.waiting, self.needed
        keep = self.retain_graph
        attended = self.attended
        run_attended = self._run_watched if watch.enabled else self._run_attended
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
                    run_attended(leaf, leaf_gradient)
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
                gradients = run_attended(node, gradient)
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
            leaves = [leaves[i] for i in heap_order(len(leaves))]
        leaves.reverse()
        attended = self.attended
        run_attended = self._run_watched if watch.enabled else self._run_attended
        while leaves:
            node, gradient = leaves.pop()
            if attended or node.hooks is not None:
                run_attended(node, gradient)
            elif gradient is not None:
                node.run(gradient)

    def _run_attended(self, node: Node, gradient: Any) -> Sequence[Any]:
        """Run a node with all that may surround it: hooks, captures, missing gradients."""
        hooks = node.hooks
        runs = self.needed is None or node in self.needed
        grad_outputs = self._as_tensors(_outputs(node, gradient))
        if self.unchecked and type(node) is AccumulateGrad and gradient is not None:
            _check_shape(node, gradient.shape)
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

    def _run_watched(self, node: Node, gradient: Any) -> Sequence[Any]:
        """Run a node in anomaly mode: say whose forward it was if it fails or gives NaN."""
        outer, self.evaluating = self.evaluating, node
        try:
            results = self._run_attended(node, gradient)
            check_for_nan(node, results)
        except Exception:
            report(node)
            raise
        finally:
            self.evaluating = outer
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

    def call_back(self) -> None:
        """Call what was queued for the end of the pass; that may queue more."""
        while self.callbacks:
            self.callbacks.pop(0)()

    def will_run(self, node: Node) -> bool:
        """Tell whether a node is among those that this pass runs, or whose gradient it captures.

        Raises:
            RuntimeError: For a leaf while `grad()` runs, whose accumulation is not needed.
        """
        if self.needed is None:
            return node in reachable(self.roots)
        if type(node) is AccumulateGrad and node in self.captures:
            raise RuntimeError(
                "A leaf node was passed to _will_engine_execute_node but we are currently running "
                "autograd.grad(). This is currently not supported."
            )
        return node in self.needed or node in self.captures

    def _as_tensors(self, gradients: Sequence[Any]) -> list[Any]:
        """Show gradients to hooks as tensors."""
        if self.recorded:
            return list(gradients)
        return [g if g is None else Node.wrap(g) for g in gradients]


def _check_shape(node: AccumulateGrad, shape: Any) -> None:
    """Refuse a gradient that does not fit its leaf.

    That cannot happen unless the pass was started by hand with a gradient of a wrong shape.
    """
    wanted = node.variable._array.shape
    if shape != wanted:
        raise RuntimeError(
            f"Function AccumulateGrad got an invalid gradient - got {list(shape)} but expected "
            f"shape compatible with {list(wanted)}"
        )


def _outputs(node: Node, gradient: Any) -> list[Any]:
    """Give the gradients of all outputs of a node as a list."""
    if not node.multiple:
        return [gradient]
    return [None] * len(node.shape) if gradient is None else gradient


class Engine:
    """What running hooks may ask of the engine; `Variable._execution_engine` is the one."""

    def queue_callback(self, callback: Callable[[], Any]) -> None:
        """Call a function without arguments at the end of the backward pass that runs now.

        Raises:
            RuntimeError: If none runs.

        Example:
            >>> import minigrad as torch
            >>> x = torch.tensor([3.0], requires_grad=True)
            >>> engine = torch.autograd.Variable._execution_engine
            >>> def hook(grad):
            ...     engine.queue_callback(lambda: print("at the end:", x.grad))
            >>> y = x * 2
            >>> handle = y.register_hook(hook)
            >>> y.backward()
            at the end: tensor([2.])
        """
        task = grad_mode.task
        if task is None:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        if task.callbacks is None:
            task.callbacks = []
        task.callbacks.append(callback)

    def is_checkpoint_valid(self) -> bool:
        """Tell whether the pass that runs now goes to all leaves: no inputs were asked for."""
        task = grad_mode.task
        return task is None or task.needed is None


Variable._execution_engine = Engine()
