"""Run a graph backward: count the dependencies, then run each node when all its gradients are in.

Two things happen, and both are loops, so a chain of a million operations is no deeper than a
chain of one:

1. `count_uses` walks the graph from the roots and counts how many gradients each node waits for.
2. `GraphTask.run` runs ready nodes, the one recorded last first and a leaf's accumulation before
   all others, and sends the gradients that a node computed along its edges, adding up what meets.

Before these stands the end of the graph at a leaf, `AccumulateGrad`: it adds what arrives to
`.grad`.

Gradients are plain arrays, unless the pass itself is recorded (`create_graph=True`): then they
are tensors, and the same rules record themselves.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextvars import Context
from heapq import heappop, heappush
from typing import Any

import numpy as np

from minigrad.core import extensions
from minigrad.core.hooks import NodeHooks
from minigrad.core.modes import modes
from minigrad.core.node import NO_EDGE, Edge, Node
from minigrad.core.tensor import Tensor, wrap

Edges = Sequence[Edge]

# ------------------------------------------------------------------ leaves

# Passes in several threads may add to the gradient of one leaf: nothing must be lost.
accumulation = threading.RLock()  # another one after a fork


class AccumulateGrad(Node):
    """The end of the graph at a leaf: adds the arriving gradient to the leaf's `.grad`.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([3.0], requires_grad=True)
        >>> node = torch.autograd.graph.get_gradient_edge(x).node
        >>> node.name()
        'torch::autograd::AccumulateGrad'
        >>> node.variable is x
        True
    """

    __slots__ = ("variable",)

    # the same for every leaf, so that making one costs little
    _edges = _saved = ()
    _broadcast = None
    _priority = -sys.maxsize

    def name(self) -> str:
        """Give the name that PyTorch prints."""
        return "torch::autograd::AccumulateGrad"

    def _run(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Add an array to `.grad`: in place if there is a gradient already."""
        variable = self.variable
        with accumulation:
            total = variable._grad
            if total is None:
                variable._grad = wrap(extensions.own(variable, gradient))
            elif total._array.flags.writeable:
                total._bump_version()  # which an inference tensor refuses outside of its mode
                total._array += gradient
            else:
                variable._grad = wrap(total._array + gradient)
        return ()

    def _run_recorded(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Add a tensor to `.grad`, out of place, so that the sum is recorded."""
        variable = self.variable
        with accumulation:
            held = variable._grad
            variable._grad = extensions.own(variable, gradient) if held is None else held + gradient
        return ()


def resolve_edge(tensor: Tensor) -> Edge:
    """Give the edge that an operation on this tensor must record, if `_edge` is None.

    For a leaf that is the edge to its `AccumulateGrad`: one and the same node while anything holds
    it. The node refers to the leaf; so the leaf refers to the node weakly.
    """
    view = tensor._view
    if view is not None and ((edge := tensor._edge or view.resolve(tensor)) or not view.flag):
        return edge or NO_EDGE  # no gradient can reach the base of a view made under no_grad
    meta = tensor._meta or tensor._autograd_meta()
    node: Any = (held := meta.accumulator) and held()
    if node is None:
        node = AccumulateGrad()
        node.variable, node._hooks = tensor, None
        meta.accumulator = weakref.ref(node)
        if meta.hooks is not None or meta.post_accumulate_hooks is not None:
            meta.attach_hooks()
    return (node, 0)


# ------------------------------------------------------------------ the backward pass


class GraphTask:
    """One backward pass: who waits for how many gradients, what has arrived, what is ready.

    Attributes:
        recorded: Whether the pass itself is recorded (`create_graph`).
        every_step: Whether no step of any node may be left out: a subclass adds to each.
        observed: Whether somebody looks at what each rule gives.
        needed: The nodes to which gradients are sent; None means all.
        captured: The gradients that were asked for, if some were.
        callbacks: To be called at the end of the pass.
    """

    every_step = observed = False
    callbacks: list[Callable[[], Any]] | None = None
    needed: set[Node] | None = None
    captured: Any = ()

    def __init__(self, roots: Edges, retain_graph: bool, create_graph: bool) -> None:
        self.roots, self.retain_graph, self.recorded = roots, retain_graph, create_graph
        self.buffers: dict[Node, Any] = {}

    def run(self, edges: Edges, gradients: Sequence[Any]) -> None:
        """Send gradients along the edges of the roots, then run what becomes ready, in order."""
        if extensions.run_pass is not None:
            return extensions.run_pass(self, edges, gradients)
        self.waiting = count_uses(edges)
        self.ready: list[tuple[int, Node]] = []
        self._deliver(edges, gradients)
        while self.ready:
            _, node = heappop(self.ready)
            gradients = self._evaluate(node, self.buffers.pop(node, no_gradients(node)))
            self._deliver(node._edges, gradients)

    def _deliver(self, edges: Edges, gradients: Sequence[Any]) -> None:
        """Send gradients along edges; a node to which all have come is ready."""
        for (node, input_nr), gradient in zip(edges, gradients, strict=False):
            if node is None:
                continue
            self.waiting[node] -= 1
            if gradient is not None:
                self._add_to_buffer(node, input_nr, gradient)
            if not self.waiting[node] and (self.needed is None or node in self.needed):
                heappush(self.ready, (node._priority, node))

    def _add_to_buffer(self, node: Node, input_nr: int, gradient: Any) -> None:
        """Add a gradient to those that have already arrived at an output of a node."""
        arrived = self.buffers.setdefault(node, no_gradients(node))
        held = arrived[input_nr]
        arrived[input_nr] = gradient if held is None else held + gradient

    def _evaluate(self, node: Node, grad_outputs: list[Any]) -> Sequence[Any]:
        """Run one node: pre-hooks, rule, post-hooks, release.

        Args:
            node: The node.
            grad_outputs: What arrived at its outputs.

        Returns:
            A gradient or None for each of its edges.
        """
        if modes.asked is not self.recorded:
            modes.set_recording(self.recorded)  # a hook of another node may have left it changed
        node._materialize_fused()
        hooks = node._hooks
        if hooks is None:
            results = self._call_rule(node, grad_outputs)
        else:
            arrived = self._pre_hooks(hooks, self._as_tensors(grad_outputs))
            seen = tuple(arrived) if hooks.post else ()
            results = self._call_rule(node, arrived if self.recorded else as_arrays(arrived))
            results = self._post_hooks(node, hooks, results, seen)
        if node._keeps_tensors and not self.retain_graph:
            node._release()
        return results

    def _pre_hooks(self, hooks: NodeHooks, grads: list[Any]) -> list[Any]:
        """Call the tensor hooks, retain gradients, and call the node's pre-hooks."""
        hooks.run_tensor_hooks(grads)
        return hooks.run_node_hooks("node pre-hook", hooks.pre, grads) if hooks.pre else grads

    def _call_rule(self, node: Node, grad_outputs: list[Any]) -> Sequence[Any]:
        """Run the backward rule, on tensors if the pass is recorded, else on arrays."""
        if all(each is None for each in grad_outputs) and not node._runs_without_gradient:
            node._check_saved()  # what must not be used any more is an error all the same
            return (None,) * len(node._edges)
        if isinstance(node, AccumulateGrad):
            if not node.variable.requires_grad:
                return ()  # since the graph was built somebody has switched it off
            if node.variable.grad_fn is not None:
                raise extensions.messages.leaf_moved_into_graph()
        run = node._run_recorded if self.recorded else node._run
        return run(grad_outputs if node._multiple else grad_outputs[0])

    def _post_hooks(self, node: Node, hooks: NodeHooks, results: Any, seen: Any) -> Sequence[Any]:
        """Call a leaf's post-accumulate hooks, and the node's own hooks."""
        if isinstance(node, AccumulateGrad):
            hooks.run_post_accumulate_hooks(node.variable)
        if not hooks.post:
            return results
        asked = self._as_tensors(self._asked_for(node, results))
        replaced = hooks.run_node_hooks("node hook", hooks.post, asked, seen)
        return replaced if self.recorded else as_arrays(replaced)

    def _asked_for(self, node: Node, results: Sequence[Any]) -> Sequence[Any]:
        """Leave out the gradients that this pass has no use for: PyTorch does not compute them."""
        to, needed = [source for source, _ in node._edges], self.needed
        asked = [n is not None and (needed is None or n in needed) for n in to]
        if node._computes == "always" or (node._computes == "together" and any(asked)):
            return results
        return [g if needed_here else None for g, needed_here in zip(results, asked, strict=True)]

    def hooks_to_call(self, kind: str, hooks: Iterable[Any], output_nr: int = 0) -> list[Any]:
        """List the hooks of one kind that are to be called now; a recorded pass puts its own."""
        return list(hooks)

    def _as_tensors(self, gradients: Sequence[Any]) -> list[Any]:
        """Show gradients to hooks as tensors."""
        return [g if g is None or self.recorded else wrap(g) for g in gradients]


def no_gradients(node: Node) -> list[Any]:
    """Give None for each output of a node: what has arrived before anything has."""
    return [None] * (len(node._shape) if node._multiple else 1)


def as_arrays(tensors: Sequence[Any]) -> list[Any]:
    """Give the arrays of tensors, None for None."""
    return [t if t is None else t._array for t in tensors]


def count_uses(roots: Edges) -> dict[Node, int]:
    """Count for each node how many gradients will be sent to it."""
    uses: dict[Node, int] = {}
    stack = [roots]
    while stack:
        for node, _ in stack.pop():
            if node is not None:
                if node not in uses:
                    uses[node] = 0
                    stack.append(node._edges)
                uses[node] += 1
    return uses


# How NumPy is to compute. PyTorch never warns of overflow or of division by zero: a gradient may
# well be infinite. And NumPy first copies what it broadcasts, a buffer at a time, unless the rows
# alone fill the buffer: with fewer than its 8192 entries, rows of a thousand take half the time.
# A context holds such settings; so nothing changes for NumPy outside of a pass.
quiet_numpy = Context()
quiet_numpy.run(np.seterr, all="ignore")
quiet_numpy.run(np.setbufsize, 1024)
((_SETTINGS, _QUIET),) = quiet_numpy.items()


def run_backward(
    roots: Edges, gradients: Any, retain_graph: Any, create_graph: Any, *kind: Any
) -> Any:
    """Send gradients from the roots through the graph.

    Args:
        roots: The edges of the tensors to start from.
        gradients: One gradient for each root; tensors if `create_graph`, else arrays.
        retain_graph: Keep the saved values for another pass.
        create_graph: Record the pass itself, for derivatives of derivatives.
        *kind: The class of the pass, `GraphTask` or a subclass, and what that wants to know beside
            these.

    Returns:
        The gradients that the pass was asked for, if it was.
    """
    outer, recording, asked = modes.task, modes.recording, modes.asked
    saved_hooks, observers = modes.saved_hooks, modes.observers
    # a hook may have started this pass: it runs within the outer one, calls deeper
    if outer is not None and modes.levels_left == 0:
        again = (roots, gradients, retain_graph, create_graph, *kind)
        return extensions.deeper(lambda: run_backward(*again))
    task_class, *more = kind or (GraphTask,)
    for choose in extensions.pass_kinds:
        task_class = choose(task_class)
    task: GraphTask = task_class(roots, retain_graph, create_graph, *more)
    outside = _SETTINGS.get()
    try:
        modes.task = task
        modes.levels_left -= outer is not None
        _SETTINGS.set(_QUIET)
        modes.set_recording(create_graph)
        task.run(roots, gradients)
        while task.callbacks:  # which may queue more
            task.callbacks.pop(0)()
    finally:  # Ctrl-C may come once something was called, so that is last
        modes.saved_hooks, modes.observers = saved_hooks, observers  # a hook may have left a block
        modes.recording, modes.asked, modes.task = recording, asked, outer
        modes.levels_left += outer is not None
        _SETTINGS.set(outside)
    return task.captured


def backward(tensor: Any, gradient: Any, retain_graph: Any, create_graph: Any, inputs: Any) -> None:
    """Start a pass at one tensor; `autograd.gradients` can begin at several, and stop earlier."""
    start = wrap(np.ones_like(tensor._array)) if gradient is None else gradient
    keep = create_graph if retain_graph is None else retain_graph
    edge = tensor._edge or resolve_edge(tensor)
    run_backward([edge], [start if create_graph else start._array], keep, create_graph)


extensions.register(backward=backward)
