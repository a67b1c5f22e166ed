"""Run a graph backward: count the dependencies, then run each node when all its gradients are in.

Two things happen, and both are loops, so a chain of a million operations is no deeper than a
chain of one:

1. `planning.count_uses` walks the graph from the roots and finds the nodes that receive gradients
   from more than one place, and how many they wait for.
2. `graph_task.GraphTask.run` runs ready nodes, the one recorded last first and a leaf's
   accumulation before all, and sends the gradients that a node computed along its edges, adding
   up what meets.

Gradients are plain arrays, unless the pass itself is recorded (`create_graph=True`): then they
are tensors, and the same rules record themselves.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.autograd.anomaly_mode import watch
from minigrad.autograd.graph_task import GraphTask, WatchedTask
from minigrad.autograd.modes import grad_mode
from minigrad.autograd.node import Edge
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
    modes = grad_mode.__dict__  # of this thread; asking it is quicker than asking grad_mode
    outer, previous, watched = modes["task"], modes["enabled"], watch.enabled
    saved_hooks, attention = modes["saved_hooks"], modes["attention"]
    if outer is not None:
        if grad_mode.levels_left == 0:
            arguments = (
                roots,
                gradients,
                retain_graph,
                create_graph,
                inputs,
                accumulate,
                unchecked,
            )
            return _in_another_thread(lambda: run_backward(*arguments))
        grad_mode.levels_left -= 1
    kind = WatchedTask if watched else GraphTask
    if modes["recorder"] is not None:
        kind = modes["recorder"].kind_of_task(watched)
    task = kind(roots, retain_graph, create_graph, inputs, accumulate)
    if watched or unchecked or previous is None:
        task.attended, task.unchecked = True, unchecked
    modes["task"] = task
    if previous is not None:
        modes["enabled"] = create_graph and (attention or True)
    else:  # inference mode, which stays
        asked, grad_mode.asked = grad_mode.asked, create_graph
    try:
        task.run(roots, gradients)
        if task.callbacks is not None:
            task.call_back()
    finally:
        if modes["saved_hooks"] is not saved_hooks:  # a hook entered or left more than it should
            modes["saved_hooks"], modes["attention"] = saved_hooks, attention
        modes["enabled"], modes["task"] = previous, outer
        if previous is None:
            grad_mode.asked = asked
        if outer is not None:
            grad_mode.levels_left += 1
    captured: list[Any] = task.captured
    return captured


def _in_another_thread(function: Callable[[], list[Any]]) -> list[Any]:
    """Call a function in a new thread that has this one's modes, and wait for it.

    A backward pass that a hook starts runs within the outer one, several calls deeper. Python
    limits how deep calls may nest in one thread, so every so many levels a new one takes over.
    """
    modes = dict(vars(grad_mode))
    del modes["levels_left"]  # the new thread has all of its own
    context = contextvars.copy_context()
    results: list[list[Any]] = []
    errors: list[BaseException] = []

    def run() -> None:
        vars(grad_mode).update(modes)
        try:
            results.append(context.run(function))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="minigrad-backward")
    thread.start()
    thread.join()
    if errors:
        raise errors.pop()
    return results.pop()


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
