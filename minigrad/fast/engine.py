"""Run the nodes of a pass in the engine's order with fewer calls, and keep gradients uncopied."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from minigrad.core import extensions
from minigrad.core.engine import GraphTask, as_arrays, no_gradients
from minigrad.core.hooks import all_checked
from minigrad.core.modes import modes
from minigrad.core.module_hooks import BackwardHookFunctionBackward
from minigrad.core.node import NO_EDGE, Node
from minigrad.core.tensor import Tensor, wrap

# ------------------------------------------------------------------ the loop


def run_pass(task: GraphTask, edges: Sequence[Any], gradients: Any) -> None:
    """Do what `GraphTask.run` does.

    As long as there is one way only, what arrives is complete. At the first fork the uses of all
    nodes ahead are counted. Of the nodes that become ready the last one is not put on the heap.
    """
    ready: list[tuple[int, Node, Any]] = []
    needed, keep = task.needed, task.retain_graph
    every_step = task.every_step or task.recorded or modes.inference is not None
    waiting: Any = None
    carried: Any = None
    while True:
        following: Any = None
        number = -1
        for edge in edges:
            number += 1
            if edge is NO_EDGE:
                continue
            node, gradient = edge[0], gradients[number]
            if waiting is None:
                if following is not None or node._multiple:
                    waiting = used_again(edges)
                    break  # and deliver again
            elif waiting and node in waiting:
                waiting[node] -= 1
                if gradient is not None:
                    add_to_buffer(task.buffers, node, edge[1], gradient)
                if waiting[node]:
                    continue
                gradient = task.buffers.pop(node, None)
            if needed is not None and node not in needed:
                continue
            if following is not None:
                heappush(ready, (following._priority, following, carried))
            following, carried = node, gradient
        else:
            if following is None or (ready and ready[0][0] <= following._priority):
                if following is not None:
                    heappush(ready, (following._priority, following, carried))
                if not ready:
                    return
                _, following, carried = heappop(ready)
            gradients = gradient = None  # nobody else may hold it: see `own`
            if not every_step and carried is not None:
                if following._hooks is None:
                    gradients = following._run(carried, keep)
                else:
                    gradients = _call_module_hook(task, following, carried)
            if gradients is None:
                arrived = carried if following._multiple else [carried]
                gradients = task._evaluate(following, arrived or no_gradients(following))
            edges = following._edges


def used_again(roots: Sequence[Any]) -> dict[Node, int]:
    """Do what `count_uses` does, but leave out a node used once: what reaches it is complete."""
    uses: dict[Node, int] = {}
    seen, stack = set(), [roots]
    while stack:
        for node, _ in stack.pop():
            if node in seen:
                uses[node] = uses.get(node, 1) + 1
            elif node is not None:
                seen.add(node)
                stack.append(node._edges)
                if node._multiple:  # it has a buffer in any case
                    uses[node] = 1
    return uses


def add_to_buffer(buffers: dict[Node, Any], node: Node, input_nr: int, gradient: Any) -> None:
    """Add a gradient to those that have already arrived at an output of a node."""
    if node._multiple:
        buffer = buffers.setdefault(node, [None] * len(node._shape))
        held = buffer[input_nr]
        buffer[input_nr] = gradient if held is None else held + gradient
    else:
        held = buffers.get(node)
        buffers[node] = gradient if held is None else held + gradient


# ------------------------------------------------------------------ the identity nodes of modules


def _call_module_hook(task: GraphTask, node: Node, gradient: Any) -> Sequence[Any] | None:
    """Do what `GraphTask._evaluate` does with an identity node for one tensor.

    That is, if it is one, and a module's hooks are all that is on it; else give None.
    """
    hooks: Any = node._hooks
    if node.__class__ is not BackwardHookFunctionBackward or len(gradient) != 1:
        return None
    if len(hooks.post) != 1 or hooks.tensor_pre or hooks.pre or hooks.retained:
        return None
    if modes.asked:
        modes.set_recording(False)  # a hook of another node may have left it changed
    grads = (wrap(gradient[0]),)
    (hook,) = hooks.post.values()
    replaced = hook(grads, grads)
    if replaced is grads or replaced is None:
        return [grads[0]._array]
    return as_arrays(all_checked(grads, replaced, hook))


# ------------------------------------------------------------------ gradients of leaves, uncopied

# A gradient that nobody else holds becomes the memory of `.grad`; any other is copied, because
# `.grad` is added to in place. How many references an array has that only the engine holds differs
# between interpreters, so ask this one, through the same chain of calls.
_references: Callable[[Any], int] = getattr(sys, "getrefcount", lambda _: sys.maxsize)


class _Probe:
    def _run(self, gradient: Any, keep: bool = True) -> tuple[int, int]:
        return _count(None, gradient)


def _count(leaf: Any, gradient: Any) -> tuple[int, int]:
    return _references(gradient), _references(gradient.base)


def _count_for_sole_owner() -> tuple[int, int]:
    leaves: list[Any] = [(_Probe(), np.empty((2, 3)).T)]
    counts = (0, 0)
    while leaves:
        node, gradient = leaves.pop()
        counts = node._run(gradient, True)
    return counts


_SOLE_OWNER, _SOLE_VIEW = _count_for_sole_owner()
_copy = extensions.own


def own(variable: Tensor, gradient: Any) -> Any:
    """Give what becomes a leaf's `.grad`: the gradient itself where nobody else holds it.

    It must lie in memory as the leaf does, or both in the order of printing.
    """
    leaf = variable._array
    if isinstance(gradient, Tensor) or gradient.shape != leaf.shape:
        return _copy(variable, gradient)
    alike = gradient.strides == leaf.strides or leaf.ndim < 2
    alike = alike or (gradient.flags.c_contiguous and leaf.flags.c_contiguous)
    sole = _references(gradient) <= _SOLE_OWNER
    if alike and sole and (gradient.base is None or _owns_all(gradient)):
        return gradient
    return _copy(variable, gradient)


def _owns_all(view: Any) -> bool:
    """Tell whether an array is another form of the whole of a memory that nobody else holds."""
    return (
        view.flags.carray
        and _references(view.base) <= _SOLE_VIEW
        and isinstance(view.base, np.ndarray)
        and view.base.base is None
        and view.base.size == view.size
    )


extensions.register(run_pass=run_pass, own=own)
