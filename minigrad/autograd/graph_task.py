"""One backward pass: run each node when all its gradients are in, and send on what it computed."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from heapq import heappop, heappush, heappushpop
from types import MappingProxyType
from typing import Any

from minigrad.autograd.accumulate import AccumulateGrad
from minigrad.autograd.anomaly_mode import check_for_nan, report
from minigrad.autograd.modes import grad_mode
from minigrad.autograd.node import Edge, Node
from minigrad.autograd.planning import count_uses, heap_order, leading_to, reachable
from minigrad.autograd.versions import INFERENCE

# Passes in several threads may add to the gradient of one leaf: nothing must be lost.
_accumulation = threading.RLock()
_NO_LOCK = nullcontext()
_count_threads: Callable[[], int] = getattr(_thread, "_count", lambda: 1)


class GraphTask:
    """One backward pass: who waits for how many gradients, what has arrived, what is ready."""

    # what only some passes change
    unchecked = False  # whether gradients may have wrong shapes
    alone = False  # whether there is no other thread
    callbacks: list[Callable[[], Any]] | None = None  # to be called at the end
    evaluating: Node | None = None  # in anomaly mode: the node that runs
    needed: set[Node] | None = None  # the nodes that run; None means all
    reachable: set[Node] | None = None  # the nodes that will run, once somebody asked
    captured: Any = ()  # the gradients of the inputs that were asked for
    captures: Mapping[Node, list[tuple[int, int]]] = MappingProxyType({})  # who gives them

    def __init__(
        self,
        roots: Sequence[Edge],
        retain_graph: bool,
        create_graph: bool,
        inputs: Sequence[Edge] | None,
        accumulate: bool,
    ) -> None:
        self.roots = roots
        self.retain_graph = retain_graph
        self.recorded = create_graph
        self.attended = create_graph or inputs is not None
        self.waiting = count_uses(roots)
        self.buffers: dict[Node, Any] = {}
        self.ready: list[tuple[int, Node, Any]] = []
        if inputs is not None:
            captures: dict[Node, list[tuple[int, int]]] = {}
            for position, (node, output_nr) in enumerate(inputs):
                if node is not None:
                    captures.setdefault(node, []).append((position, output_nr))
            self.captured = [None] * len(inputs)
            self.needed = leading_to(roots, set(captures), accumulate)
            if accumulate:
                captures = {}
            self.captures = captures

    def run(self, edges: Sequence[Edge], gradients: Any) -> None:
        """Send gradients along the edges of the roots, then run what becomes ready, in order."""
        ready, waiting, needed = self.ready, self.waiting, self.needed
        keep = self.retain_graph
        attended = self.attended
        alone = self.alone = _count_threads() == 0
        if needed is not None and len(edges) == 1:
            self._attend_only_root(edges[0], gradients[0])
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
                # nobody else may hold the leaf's gradient now: see AccumulateGrad._run
                gradient = gradients = None
                if more_leaves is not None:
                    more_leaves.insert(0, (leaf, leaf_gradient))
                    leaf_gradient = None
                    self._accumulate(more_leaves)
                elif attended or leaf._hooks is not None:
                    self._run_attended(leaf, leaf_gradient)
                elif leaf_gradient is not None:
                    if alone:
                        leaf._run(leaf_gradient)
                    else:
                        with _accumulation:
                            leaf._run(leaf_gradient)
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
            if attended or node._hooks is not None or gradient is None:
                gradients = self._run_attended(node, gradient)
            else:
                gradients = node._run(gradient, keep)
            edges = node.next_functions

    def _attend_only_root(self, edge: Edge, gradient: Any) -> None:
        """Call the tensor hooks of the only root, which PyTorch does even if it need not run."""
        node, output_nr = edge
        assert node is not None and self.needed is not None
        if node._hooks is None or node in self.needed or node in self.captures:
            return
        grad_outputs: list[Any] = [None] * len(node._shape) if node._multiple else [None]
        grad_outputs[output_nr] = gradient
        node._hooks.run_tensor_hooks(self._as_tensors(grad_outputs))

    def _add_to_buffer(self, node: Node, input_nr: int, gradient: Any) -> None:
        """Add a gradient to those that have already arrived at an output of a node."""
        buffers = self.buffers
        if node._multiple:
            buffer = buffers.setdefault(node, [None] * len(node._shape))
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
        attended, alone = self.attended, self.alone
        while leaves:
            node, gradient = leaves.pop()
            if attended or node._hooks is not None:
                self._run_attended(node, gradient)
            elif gradient is not None:
                if alone:
                    node._run(gradient)
                else:
                    with _accumulation:
                        node._run(gradient)

    def _run_attended(self, node: Node, gradient: Any) -> Sequence[Any]:
        """Run a node with all that may surround it: hooks, captures, missing gradients."""
        grad_mode.set(self.recorded)  # a hook of another node may have left it changed
        hooks = node._hooks
        runs = self.needed is None or node in self.needed
        grad_outputs = self._as_tensors(_outputs(node, gradient))
        if self.unchecked and type(node) is AccumulateGrad and gradient is not None:
            _check_shape(node, gradient.shape)
        gradient = None
        if hooks is not None and not runs:
            hooks.run_tensor_hooks(grad_outputs)
        for position, output_nr in self.captures.get(node, ()):
            self._capture(position, node, output_nr, grad_outputs[output_nr])
        if not runs:
            return (None,) * len(node.next_functions)
        if hooks is not None:
            hooks.run_tensor_hooks(grad_outputs)
            grad_outputs = hooks.run_pre_hooks(grad_outputs)
        seen = list(grad_outputs) if hooks is not None and hooks.post else []
        results = self._call_rule(node, grad_outputs)
        hooks = node._hooks
        if hooks is not None and (hooks.post or hooks.post_accumulate):
            if isinstance(node, AccumulateGrad):
                hooks.run_post_accumulate_hooks(node.variable)
            if hooks.post:
                results = self._asked_for(node, results)
                after = hooks.run_post_hooks(self._as_tensors(results), seen)
                results = after if self.recorded else [t if t is None else t._array for t in after]
        if node._keeps_tensors and not self.retain_graph:
            node._release()
        return results

    def _capture(self, position: int, node: Node, output_nr: int, gradient: Any) -> None:
        """Keep a gradient that was asked for."""
        self.captured[position] = gradient

    def _asked_for(self, node: Node, results: Sequence[Any]) -> Sequence[Any]:
        """Leave out the gradients that this pass has no use for: PyTorch does not compute them."""
        sources = [source for source, _ in node.next_functions]
        if self.needed is None:
            asked = [source is not None for source in sources]
        else:
            asked = [source in self.needed or source in self.captures for source in sources]
        if node._computes == "always" or (node._computes == "together" and any(asked)):
            return results
        return [g if wanted else None for g, wanted in zip(results, asked, strict=True)]

    def _call_rule(self, node: Node, grad_outputs: list[Any]) -> Sequence[Any]:
        """Run the backward rule on tensors or on arrays."""
        if all(gradient is None for gradient in grad_outputs) and not node._runs_without_gradient:
            node._check_saved()  # what must not be used any more is an error all the same
            return (None,) * len(node.next_functions)
        if type(node) is AccumulateGrad and not node.variable.requires_grad:
            return ()  # since the graph was built somebody has switched it off
        if type(node) is AccumulateGrad and node.variable.grad_fn is not None:
            raise RuntimeError("leaf variable has been moved into the graph interior")
        if self.recorded:
            with _accumulation if type(node) is AccumulateGrad else _NO_LOCK:
                return node._run_recorded(grad_outputs if node._multiple else grad_outputs[0])
        if node._multiple:
            return node._run([t if t is None else t._array for t in grad_outputs])
        gradient = grad_outputs.pop()._array
        if type(node) is not AccumulateGrad:
            return node._run(gradient)
        fresh = node.variable._grad is None
        with _accumulation:
            node._run(gradient)
        if fresh and grad_mode.enabled is None:
            _made_in_inference_mode(node.variable._grad)
        return ()

    def hooks_to_call(self, kind: str, hooks: Iterable[Any], output_nr: int = 0) -> list[Any]:
        """List the hooks of one kind that are to be called now; a recorded pass puts its own."""
        return list(hooks)

    def call_back(self) -> None:
        """Call what was queued for the end of the pass; that may queue more."""
        while self.callbacks:
            self.callbacks.pop(0)()

    def will_run(self, node: Node) -> bool:
        """Tell whether a node is among those that this pass runs, or whose gradient it captures.

        Raises:
            RuntimeError: For a leaf while `grad()` runs, whose accumulation is not needed.
        """
        if self.reachable is None:
            self.reachable = reachable(self.roots)
        if self.needed is None or node not in self.reachable:
            return node in self.reachable
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
        tensors = [g if g is None else Node.wrap(g) for g in gradients]
        if grad_mode.enabled is None:
            for tensor in tensors:
                _made_in_inference_mode(tensor)
        return tensors


class WatchedTask(GraphTask):
    """A backward pass in anomaly mode."""

    def _run_attended(self, node: Node, gradient: Any) -> Sequence[Any]:
        """Run a node, and say whose forward it was if that fails or gives NaN."""
        self.evaluating = node  # also while its results are added to others
        try:
            results = super()._run_attended(node, gradient)
            check_for_nan(node, results)
        except Exception:
            report(node)
            raise
        return results


def _made_in_inference_mode(tensor: Any) -> None:
    if tensor is not None:
        tensor._version_counter = INFERENCE


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
    if not node._multiple:
        return [gradient]
    return [None] * len(node._shape) if gradient is None else gradient
