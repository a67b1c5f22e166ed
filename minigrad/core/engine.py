"""Run a graph backward: count the dependencies, then run each node when all its gradients are in.

Two things happen, and both are loops, so a chain of a million operations is no deeper than a
chain of one:

1. `count_uses` walks the graph from its first fork and finds the nodes that receive gradients from
   more than one place, and how many they wait for.
2. `GraphTask.run` runs ready nodes, the one recorded last first and a leaf's accumulation before
   all, and sends the gradients that a node computed along its edges, adding up what meets.

Before these stands the end of the graph at a leaf, `AccumulateGrad`: it adds what arrives to
`.grad`, and copies only where one must.

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

from minigrad.core.node import NO_EDGE, Edge, Node, all_checked, grad_mode
from minigrad.core.plugs import attach, plugs
from minigrad.core.tensor import Tensor, counter_of, wrap

# ------------------------------------------------------------------ leaves

# Passes in several threads may add to the gradient of one leaf: nothing must be lost.
accumulation = threading.RLock()  # another one after a fork, see `faces.forks`


class AccumulateGrad(Node):
    """The end of the graph at a leaf: adds the arriving gradient to the leaf's `.grad`."""

    __slots__ = ("variable",)

    # the same for every leaf, so that making one costs little
    _edges = ()
    _saved = ()
    _broadcast = None
    _priority = -sys.maxsize

    variable: Tensor

    def name(self) -> str:
        """Give the name that PyTorch prints."""
        return "torch::autograd::AccumulateGrad"

    def _place(self, tensor: Tensor, output_nr: int) -> None:
        """Let a tensor be a leaf whose gradient is added up here."""
        tensor._edge = None
        tensor._autograd_meta().accumulator = weakref.ref(self)

    def _run(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Add an array to `.grad`: in place if there is a gradient already."""
        variable = self.variable
        with accumulation:
            total = variable._grad
            if total is None:
                array = variable._array
                if (
                    array.ndim > 1
                    and gradient.strides != array.strides
                    and not (gradient.flags.c_contiguous and array.flags.c_contiguous)
                ):
                    gradient = _laid_out_like(array, gradient)
                elif not (
                    _references(gradient) <= _SOLE_OWNER
                    and (gradient.base is None or _owns_all(gradient))
                ):
                    gradient = gradient.copy("K")
                variable._grad = wrap(gradient)
            elif total._array.flags.writeable:
                array = total._array
                total._bump_version()  # which an inference tensor refuses outside of its mode
                if array.size == 1:  # Python is faster than NumPy here, and rounds as it does
                    array.fill(array.item() + gradient.item())
                else:
                    array += gradient
            else:
                variable._grad = wrap(total._array + gradient)
        return ()

    def _run_recorded(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Add a tensor to `.grad`, out of place, so that the sum is recorded."""
        variable = self.variable
        with accumulation:
            total = variable._grad
            if total is None:
                memory = _laid_out_like(variable._array, gradient._array)
                variable._grad = gradient._copied_to(memory)
            else:
                variable._grad = total + gradient
        return ()


def resolve_edge(tensor: Tensor) -> Edge:
    """Give the edge that an operation on this tensor must record, if `_edge` is None.

    For a leaf that is the edge to its `AccumulateGrad`: one and the same node while anything holds
    it. The node refers to the leaf; so the leaf refers to the node weakly.
    """
    if tensor._view is not None:
        edge = tensor._resolved_edge()
        if edge is not None:
            return edge
        if not tensor._view.flag:  # made under no_grad: no gradient can reach its base
            return NO_EDGE
    meta = tensor._meta or tensor._autograd_meta()
    if meta.accumulator is not None:
        held = meta.accumulator()
        if held is not None:
            return (held, 0)
    node = AccumulateGrad()
    node.variable = tensor
    node._hooks = None
    meta.accumulator = weakref.ref(node)
    if meta.hooks is not None or meta.post_accumulate_hooks is not None:
        meta.attach_hooks()
    return (node, 0)


def _laid_out_like(leaf: Any, gradient: Any) -> Any:
    """Copy a gradient into the order in which the entries of its leaf lie in memory.

    So that `leaf.grad.view(...)` can do what `leaf.view(...)` can. The gradient of a leaf whose
    entries share memory, or lie apart, lies in the order of printing.
    """
    if leaf.flags.c_contiguous or gradient.ndim != leaf.ndim:
        return gradient.copy()
    order = sorted(range(leaf.ndim), key=lambda dim: -leaf.strides[dim])
    if not leaf.transpose(order).flags.c_contiguous:
        return gradient.copy()
    places = sorted(range(leaf.ndim), key=order.__getitem__)
    return gradient.transpose(order).copy().transpose(places)


# A gradient that nobody else holds becomes the memory of `.grad`; any other is copied, because
# `.grad` is added to in place. How many references an array has that only the engine holds differs
# between interpreters, so ask this one, through the same chain of calls.
_references: Callable[[Any], int] = getattr(sys, "getrefcount", lambda _: sys.maxsize)


class _Probe:
    def _run(self, gradient: Any, keep: bool = True) -> tuple[int, int]:
        return _references(gradient), _references(gradient.base)


def _count_for_sole_owner() -> tuple[int, int, int]:
    leaves, shown = [(_Probe(), np.empty((2, 3)).T)], (_Probe(),)
    while leaves:
        node, gradient = leaves.pop()
        counts = node._run(gradient, True)
    return *counts, _references(shown[0])


_SOLE_OWNER, _SOLE_VIEW, _SOLE_SHOWN = _count_for_sole_owner()


def _owns_all(view: Any) -> bool:
    """Tell whether an array is another form of the whole of a memory that nobody else holds."""
    return (
        view.flags.carray
        and _references(view.base) <= _SOLE_VIEW
        and isinstance(view.base, np.ndarray)
        and view.base.base is None
        and view.base.size == view.size
    )


# ------------------------------------------------------------------ the backward pass


class GraphTask:
    """One backward pass: who waits for how many gradients, what has arrived, what is ready.

    Attributes:
        attended: Whether every node runs with all that may surround it, not just hooked ones.
        observed: Whether somebody looks at what each rule gives.
        needed: The nodes to which gradients are sent; None means all.
        captured: The gradients that were asked for, if some were.
        callbacks: To be called at the end of the pass.
    """

    attended = observed = False
    callbacks: list[Callable[[], Any]] | None = None
    needed: set[Node] | None = None
    captured: Any = ()

    def __init__(self, roots: Sequence[Edge], retain_graph: bool, create_graph: bool) -> None:
        self.roots = roots
        self.retain_graph = retain_graph
        self.recorded = create_graph
        self.attended = self.attended or create_graph or grad_mode.enabled is None
        self.buffers: dict[Node, Any] = {}

    def run(self, edges: Sequence[Any], gradients: Any) -> None:
        """Send gradients along the edges of the roots, then run what becomes ready, in order.

        As long as there is one way only, what arrives is complete. At the first fork the uses of
        all nodes ahead are counted.
        """
        ready: list[tuple[int, Node, Any]] = []
        needed, attended, keep = self.needed, self.attended, self.retain_graph
        waiting: Any = None
        carried: Any = None
        while True:
            # Deliver the gradients. Of the nodes that become ready the last one is `following`;
            # the others wait on the heap.
            following: Any = None
            number = -1
            for edge in edges:
                number += 1
                if edge is NO_EDGE:
                    continue
                node, gradient = edge[0], gradients[number]
                if waiting is None:
                    if following is not None or node._multiple:
                        waiting = count_uses(edges)  # so far nobody had to wait, from here on some
                        break  # and deliver again
                elif waiting and node in waiting:
                    waiting[node] -= 1
                    if gradient is not None:
                        self._add_to_buffer(node, edge[1], gradient)
                    if waiting[node]:
                        continue
                    gradient = self.buffers.pop(node, None)
                if needed is not None and node not in needed:
                    continue
                if following is not None:
                    heappush(ready, (following._priority, following, carried))
                following, carried = node, gradient
            else:
                # Run the node that was recorded last, a leaf before all others.
                if following is None or (ready and ready[0][0] <= following._priority):
                    if following is not None:
                        heappush(ready, (following._priority, following, carried))
                    if not ready:
                        return
                    _, following, carried = heappop(ready)
                gradients = gradient = None  # nobody else may hold it: see AccumulateGrad._run
                if attended or following._hooks is not None or carried is None:
                    gradients = self._run_attended(following, carried)
                else:
                    gradients = following._run(carried, keep)
                edges = following._edges

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

    def _run_attended(self, node: Node, gradient: Any) -> Sequence[Any]:
        """Run a node with all that may surround it: hooks, captures, missing gradients."""
        if grad_mode.enabled is not self.recorded:
            grad_mode.set(self.recorded)  # a hook of another node may have left it changed
        node._unfold()
        hooks = node._hooks
        if hooks is not None and hooks.gate and gradient is not None and not self.attended:
            grads = (wrap(gradient[0]),)  # all that follows, in short
            replaced = hooks.gate(grads, grads)
            if replaced is grads:
                return [grads[0]._array]
            return _as_arrays(all_checked(grads, replaced, hooks.gate))
        grad_outputs = self._as_tensors(outputs_of(node, gradient))
        arrived, gradient = grad_outputs[0], None
        if hooks is not None:
            hooks.run_tensor_hooks(grad_outputs)
            if hooks.pre:
                grad_outputs = hooks.run_node_hooks("node pre-hook", hooks.pre, grad_outputs)
        seen = tuple(grad_outputs) if hooks is not None and hooks.post else ()
        fresh = node.__class__ is AccumulateGrad and node.variable._grad is None
        # `run` holds what arrived; hold what a hook gave instead, too: owners are counted alike
        other = fresh and grad_outputs[0] is not arrived and grad_outputs[0] is not None
        kept, arrived = grad_outputs[0]._array if other else None, None  # noqa: F841
        results = self._call_rule(node, grad_outputs)
        hooks = node._hooks
        if hooks is not None:
            if isinstance(node, AccumulateGrad):
                total = node.variable._grad if fresh and seen and not self.recorded else None
                if total is not None and _references(seen[0]) <= _SOLE_SHOWN:
                    # what the post-hooks see is the same memory
                    seen[0]._array, seen[0]._version_counter = total._array, counter_of(total)
                hooks.run_post_accumulate_hooks(node.variable)
            if hooks.post:
                results = self._as_tensors(self._asked_for(node, results))
                after = hooks.run_node_hooks("node hook", hooks.post, results, seen)
                results = after if self.recorded else _as_arrays(after)
        if node._keeps_tensors and not self.retain_graph:
            node._release()
        return results

    def _asked_for(self, node: Node, results: Sequence[Any]) -> Sequence[Any]:
        """Leave out the gradients that this pass has no use for: PyTorch does not compute them."""
        to, needed = [source for source, _ in node._edges], self.needed
        asked = [n is not None and (needed is None or n in needed) for n in to]
        if node._computes == "always" or (node._computes == "together" and any(asked)):
            return results
        return [g if wanted else None for g, wanted in zip(results, asked, strict=True)]

    def _call_rule(self, node: Node, grad_outputs: list[Any]) -> Sequence[Any]:
        """Run the backward rule on tensors or on arrays."""
        # if nothing arrived; asked so that no function of Python's is called for it
        if {*map(type, grad_outputs)} == {type(None)} and not node._runs_without_gradient:
            node._check_saved()  # what must not be used any more is an error all the same
            return (None,) * len(node._edges)
        if isinstance(node, AccumulateGrad):
            if not node.variable.requires_grad:
                return ()  # since the graph was built somebody has switched it off
            if node.variable.grad_fn is not None:
                raise RuntimeError("leaf variable has been moved into the graph interior")
        if self.recorded:
            return node._run_recorded(grad_outputs if node._multiple else grad_outputs[0])
        if node._multiple:
            return node._run(_as_arrays(grad_outputs))
        return node._run(grad_outputs.pop()._array)

    def hooks_to_call(self, kind: str, hooks: Iterable[Any], output_nr: int = 0) -> list[Any]:
        """List the hooks of one kind that are to be called now; a recorded pass puts its own."""
        return list(hooks)

    def _as_tensors(self, gradients: Sequence[Any]) -> list[Any]:
        """Show gradients to hooks as tensors."""
        return [g if g is None or self.recorded else wrap(g) for g in gradients]


def _as_arrays(tensors: Sequence[Any]) -> list[Any]:
    return [t if t is None else t._array for t in tensors]


def outputs_of(node: Node, gradient: Any) -> list[Any]:
    """Give the gradients of all outputs of a node as a list."""
    if not node._multiple:
        return [gradient]
    return [None] * len(node._shape) if gradient is None else gradient


def count_uses(roots: Sequence[Any]) -> dict[Node, int]:
    """Find the nodes that have to wait, and for how many gradients each.

    A node that is used once needs no entry: the first gradient that reaches it is complete. A
    node with several outputs always has one, since its gradients are collected in a list.
    """
    uses: dict[Node, int] = {}
    seen: set[Node] = set()
    stack: list[Node] = []
    found, edges = seen.add, roots
    while True:
        following = None
        for edge in edges:
            if edge is not NO_EDGE:
                node = edge[0]
                if node in seen:
                    uses[node] = uses.get(node, 1) + 1
                else:
                    found(node)
                    if node._multiple:
                        uses[node] = 1
                    if following is not None:
                        stack.append(following)
                    following = node
        if following is None:
            if not stack:
                return uses
            following = stack.pop()
        edges = following._edges


# How NumPy is to compute. PyTorch never warns of overflow or of division by zero: a gradient may
# well be infinite. And NumPy first copies what it broadcasts, a buffer at a time, unless the rows
# alone fill the buffer: with fewer than its 8192 entries, rows of a thousand take half the time.
# A context holds such settings; so nothing changes for NumPy outside of a pass.
quiet_numpy = Context()
quiet_numpy.run(np.seterr, all="ignore")
quiet_numpy.run(np.setbufsize, 1024)
((_SETTINGS, _QUIET),) = quiet_numpy.items()


def run_backward(
    roots: Sequence[Edge],
    gradients: Sequence[Any],
    retain_graph: bool,
    create_graph: bool,
    kind: Any = GraphTask,
    *settings: Any,
) -> Any:
    """Send gradients from the roots through the graph.

    Args:
        roots: The edges of the tensors to start from.
        gradients: One gradient for each root; tensors if `create_graph`, else arrays.
        retain_graph: Keep the saved values for another pass.
        create_graph: Record the pass itself, for derivatives of derivatives.
        kind: The class of the pass.
        *settings: What that class wants to know beside these.

    Returns:
        The gradients that the pass was asked for, if it was.
    """
    modes = grad_mode.__dict__  # of this thread; asking it is quicker than asking grad_mode
    outer, previous, asked = modes["task"], modes["enabled"], modes["asked"]
    saved_hooks, attention = modes["saved_hooks"], modes["attention"]
    # a hook may have started this pass: it runs within the outer one, calls deeper
    if outer is not None and modes["levels_left"] == 0:
        again = (roots, gradients, retain_graph, create_graph, kind, *settings)
        return plugs.deeper(lambda: run_backward(*again))
    for choose in plugs.pass_kinds:
        kind = choose(kind)
    task: GraphTask = kind(roots, retain_graph, create_graph, *settings)
    outside = _SETTINGS.get()
    try:
        modes["task"] = task
        if outer is not None:
            modes["levels_left"] -= 1
        _SETTINGS.set(_QUIET)
        grad_mode.set(create_graph)
        task.run(roots, gradients)
        while task.callbacks:  # which may queue more
            task.callbacks.pop(0)()
    except ValueError as error:
        plugs.messages.say_misfit(error)
        raise
    finally:  # Ctrl-C may come once something was called, so that is last
        if modes["saved_hooks"] is not saved_hooks:  # a hook entered or left more than it should
            modes["saved_hooks"], modes["attention"] = saved_hooks, attention
        modes["enabled"], modes["asked"], modes["task"] = previous, asked, outer
        if outer is not None:
            modes["levels_left"] += 1
        _SETTINGS.set(outside)
    return task.captured


@attach(Tensor)
class Backward(Tensor):
    """The method that starts it all."""

    __slots__ = ()

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Compute the gradient of this tensor with respect to the leaves of its graph.

        The gradients are added to the leaves' `.grad`.

        Args:
            gradient: The gradient of what is differentiated with respect to this tensor; may be
                left out if this tensor has one entry.
            retain_graph: Keep the saved values, so that the graph can be run again. By default
                they are released, unless `create_graph`.
            create_graph: Record the backward pass, for derivatives of derivatives.
            inputs: The tensors whose gradient is wanted; by default all leaves.

        Raises:
            RuntimeError: If this tensor has no graph or more than one entry and no `gradient`, or
                if the graph was released.

        Example:
            >>> import minigrad as torch
            >>> x = torch.tensor([3.0], requires_grad=True)
            >>> (x**2).backward()
            >>> x.grad
            tensor([6.])
        """
        plain = gradient is inputs is None and create_graph is False
        plain = plain and (retain_graph is None or retain_graph.__class__ is bool)
        edge = (self._edge or resolve_edge(self)) if plain and self._array.size == 1 else NO_EDGE
        if edge is not NO_EDGE:
            (start := self._array.copy()).fill(1)
            run_backward([edge], [start], bool(retain_graph), False)
        else:
            plugs.backward(self, gradient, retain_graph, create_graph, None, inputs)
