"""Call one hook for the gradients of several tensors: `register_multi_grad_hook`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from minigrad.autograd.hooks import hook_name
from minigrad.autograd.leaves import resolve_edge
from minigrad.autograd.modes import grad_mode
from minigrad.utils.hooks import RemovableHandle


class _MultiHandle(RemovableHandle):
    """The handles of one hook on several tensors; `remove()` takes it off all of them."""

    def __init__(self, handles: tuple[RemovableHandle, ...]) -> None:
        self.handles = handles

    def remove(self) -> None:
        """Remove the hook from every tensor."""
        for handle in self.handles:
            handle.remove()

    def __getstate__(self) -> tuple[RemovableHandle, ...]:
        """Give the handles."""
        return self.handles

    def __setstate__(self, state: tuple[RemovableHandle, ...]) -> None:
        """Take the handles."""
        self.handles = state


def register_multi_grad_hook(
    tensors: Sequence[Any],
    fn: Callable[[Any], None],
    *,
    mode: str = "all",
) -> _MultiHandle:
    """Call `fn` once per backward pass for the gradients of several tensors.

    Args:
        tensors: Tensors that require a gradient.
        fn: In mode "all" it gets the list of gradients, None for a tensor that got none; in mode
            "any" the first gradient that arrives. What it returns is ignored.
        mode: "all" waits for every tensor whose gradient this pass computes; "any" does not.

    Returns:
        A handle whose `remove()` takes the hook off all tensors.

    Raises:
        ValueError: If the mode is another one.
        AssertionError: In mode "all", if a tensor requires no gradient.

    Example:
        >>> import minigrad as torch
        >>> a = torch.tensor([1.0], requires_grad=True)
        >>> b = torch.tensor([2.0], requires_grad=True)
        >>> handle = torch.autograd.graph.register_multi_grad_hook([a, b], print)
        >>> (a * b).backward()
        [tensor([2.]), tensor([1.])]
    """
    modes = ("all", "any")
    if mode not in modes:
        raise ValueError(f"Expects mode to be one of {modes} but got {mode}")
    if mode == "any":
        hook = _first_of_a_pass(fn)
        return _MultiHandle(tuple(t.register_hook(hook) for t in tensors if t.requires_grad))
    for tensor in tensors:
        if not tensor.requires_grad:
            raise AssertionError("Expected gradient function to be set")
    gathering = _Gathering([(t._edge or resolve_edge(t))[0] for t in tensors], fn)
    return _MultiHandle(
        tuple(t.register_hook(gathering.hook_for(place)) for place, t in enumerate(tensors))
    )


class _Gathering:
    """Collects the gradients of one pass until all have come that will come."""

    def __init__(self, nodes: list[Any], fn: Callable[[Any], None]) -> None:
        self.nodes = nodes
        self.fn = fn
        self.lock = threading.Lock()
        # How many gradients are to come. As in PyTorch, a pass that starts inside another one, over
        # the same tensors, overwrites it for both.
        self.coming = 0
        # for each pass that runs: how many gradients have come, and which
        self.passes: WeakKeyDictionary[Any, tuple[list[int], list[Any]]] = WeakKeyDictionary()

    def hook_for(self, place: int) -> Callable[[Any], None]:
        """Give the hook for one of the tensors."""

        def gather(grad: Any) -> None:
            task = grad_mode.task
            with self.lock:
                if task not in self.passes:
                    self.coming = sum(task.will_run(node) for node in self.nodes)
                    self.passes[task] = ([0], [None] * len(self.nodes))
                came, gradients = self.passes[task]
                gradients[place] = grad
                came[0] += 1
                complete = came[0] == self.coming
                if complete:
                    del self.passes[task]
            if complete:
                self.fn(gradients)

        gather.__name__ = hook_name(self.fn)
        gather.remark = "multi-grad"  # type: ignore[attr-defined]
        return gather


def _first_of_a_pass(fn: Callable[[Any], None]) -> Callable[[Any], None]:
    """Give a hook that passes on the first gradient of each pass only."""
    served: WeakSet[Any] = WeakSet()
    lock = threading.Lock()

    def first(grad: Any) -> None:
        task = grad_mode.task
        with lock:
            if task in served:
                return
            served.add(task)
        fn(grad)

    first.__name__ = hook_name(fn)
    first.remark = "multi-grad"  # type: ignore[attr-defined]
    return first
