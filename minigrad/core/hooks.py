"""The hooks of one node, the order in which they are called, and the handles that remove them.

A backward pass calls the hooks of a node in this order: the tensor hooks of each of its outputs,
retained gradients, node pre-hooks, then the backward rule, then node hooks. At a leaf the rule is
the accumulation into `.grad`, and the post-accumulate hooks follow it.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any, ClassVar

from minigrad.core import extensions
from minigrad.core.modes import modes

Table = OrderedDict[int, Callable[..., Any]]


class RemovableHandle:
    """The receipt for a registered hook: call `remove()` and the hook is gone.

    A handle does not keep the table of hooks alive. It may be removed twice, also from inside
    its own hook, and it is a context manager that removes the hook at the end of the block.

    Args:
        hooks_dict: The table that holds the hook, keyed by the handle's `id`.
        extra_dict: One more table, or several, in which the same id stands.

    Example:
        >>> from collections import OrderedDict
        >>> table = OrderedDict()
        >>> handle = RemovableHandle(table)
        >>> table[handle.id] = print
        >>> with handle:
        ...     len(table)
        1
        >>> len(table)
        0
        >>> handle.remove()
    """

    next_id: ClassVar[int] = 0

    def __init__(self, hooks_dict: MutableMapping[int, Any], *, extra_dict: Any = None) -> None:
        self.hooks_dict_ref: weakref.ref[Any] = weakref.ref(hooks_dict)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        self.extra_dict_ref: tuple[weakref.ref[Any], ...] = ()
        if extra_dict is not None:
            extras = extra_dict if isinstance(extra_dict, list) else [extra_dict]
            self.extra_dict_ref = tuple(weakref.ref(e) for e in extras if isinstance(e, dict))

    def remove(self) -> None:
        """Remove the hook. Doing so again is harmless."""
        for reference in (self.hooks_dict_ref, *self.extra_dict_ref):
            table = reference()
            if table is not None:
                table.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        """Enter a block at whose end the hook is removed."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Remove the hook."""
        self.remove()


def add(table: Table, hook: Callable[..., Any]) -> RemovableHandle:
    """Put a hook into a table."""
    handle = RemovableHandle(table)
    table[handle.id] = hook
    return handle


class NodeHooks:
    """All hooks of one node.

    Attributes:
        tensor_pre: For each output number the table of hooks registered on that tensor.
        retained: For each output number a weak reference to the tensor that retains its gradient.
        pre: Node pre-hooks, called with the gradients of the outputs.
        post: Node hooks, called with the gradients of the inputs and of the outputs.
        post_accumulate: At a leaf: hooks called with the leaf after accumulation.
    """

    __slots__ = ("post", "post_accumulate", "pre", "retained", "tensor_pre")

    def __init__(self) -> None:
        self.tensor_pre: dict[int, Table] = {}
        self.retained: dict[int, Any] = {}
        self.pre: Table = OrderedDict()
        self.post: Table = OrderedDict()
        self.post_accumulate: Table | None = None

    def run_tensor_hooks(self, gradients: list[Any]) -> None:
        """Call the tensor hooks, which may replace gradients in the list, then retain."""
        if modes.at_once is not None:
            modes.at_once()
        for output_nr, table in list(self.tensor_pre.items()):
            for hook in _to_call("tensor pre-hook", table, output_nr):
                result = hook(gradients[output_nr])
                if result is not None:
                    gradients[output_nr] = _checked(gradients[output_nr], result, hook)
        for output_nr, reference in self.retained.items():
            tensor, gradient = reference(), gradients[output_nr]
            if tensor is not None and gradient is not None:
                total = tensor._grad
                tensor._grad = gradient.clone() if total is None else total + gradient

    def run_node_hooks(self, kind: str, table: Table, gradients: Any, *seen: Any) -> Any:
        """Call the node's pre-hooks, or its hooks; each sees what the one before it returned.

        Args:
            kind: Which of the two.
            table: `pre` or `post`.
            gradients: What they may replace.
            *seen: What the hooks are shown as well: what arrived at the node, a tuple.
        """
        for hook in _to_call(kind, table):
            result = hook(tuple(gradients), *seen)
            if result is not None:
                gradients = all_checked(gradients, result, hook)
        return gradients

    def run_post_accumulate_hooks(self, variable: Any) -> None:
        """Call the hooks that wait for the leaf's `.grad`.

        A hook that returns a tensor is an error only after all were called; until then the next
        hook gets that tensor, as in PyTorch.
        """
        given = variable
        for hook in _to_call("post-accumulate", self.post_accumulate):
            result = hook(given)
            if result is not None and result is not given:
                given = _checked(given, result, hook)
        if given is not variable:
            raise extensions.messages.returned_by_post_accumulate_hook()


def _to_call(kind: str, table: Table | None, output_nr: int = 0) -> Any:
    """List the hooks that are in a table now: one that a hook adds waits, one it removes runs."""
    hooks, task = [*table.values()] if table else (), modes.task
    # without a task somebody called a leaf's node by hand
    return task.hooks_to_call(kind, hooks, output_nr) if hooks and task else hooks


def _checked(original: Any, result: Any, hook: Callable[..., Any]) -> Any:
    """Give a replaced gradient if it can replace the original: a tensor of its form.

    Raises:
        TypeError: If the hook returned something that is not a tensor.
        RuntimeError: If there was no gradient, or one of another shape or dtype.
    """
    new: Any = getattr(result, "_array", None)
    old: Any = getattr(original, "_array", None)
    if old is None or not hasattr(new, "dtype") or new.dtype != old.dtype or new.shape != old.shape:
        raise extensions.messages.wrong_replacement(original, result, hook)
    return result


def all_checked(given: Sequence[Any], results: Any, hook: Callable[..., Any]) -> list[Any]:
    """Give replaced gradients of a node hook if each fits, or is None."""
    if not isinstance(results, tuple) or len(results) != len(given):
        raise extensions.messages.wrong_replacements(given, results, hook)
    return [r if r is None else _checked(g, r, hook) for g, r in zip(given, results, strict=True)]
