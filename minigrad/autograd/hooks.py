"""The hooks that sit on a node of the graph, and the order in which a backward pass calls them.

At one node: the tensor hooks of each of its outputs, retained gradients, node pre-hooks, then the
backward rule, then node hooks. At a leaf the rule is the accumulation into `.grad`, and the
post-accumulate hooks follow it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from minigrad.autograd.modes import grad_mode
from minigrad.autograd.type_name import type_name
from minigrad.utils.hooks import RemovableHandle

if TYPE_CHECKING:
    from minigrad.autograd.variable import Variable

Table = OrderedDict[int, Callable[..., Any]]


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
        self.pre: Table | None = None
        self.post: Table | None = None
        self.post_accumulate: Table | None = None

    def add(self, kind: str, hook: Callable[..., Any]) -> RemovableHandle:
        """Register a node hook; `kind` is `"pre"` or `"post"`."""
        table = getattr(self, kind)
        if table is None:
            table = OrderedDict()
            setattr(self, kind, table)
        handle = RemovableHandle(table)
        table[handle.id] = hook
        return handle

    def run_tensor_hooks(self, gradients: list[Variable | None]) -> None:
        """Call the tensor hooks, which may replace gradients in the list, then retain."""
        for output_nr, table in list(self.tensor_pre.items()):
            for hook in _to_call("tensor pre-hook", table, output_nr):
                result = hook(gradients[output_nr])
                if result is not None:
                    _check(gradients[output_nr], result, hook)
                    gradients[output_nr] = result
        for output_nr, reference in self.retained.items():
            tensor, gradient = reference(), gradients[output_nr]
            if tensor is not None and gradient is not None:
                total = tensor._grad
                tensor._grad = gradient.clone() if total is None else total + gradient

    def run_pre_hooks(self, gradients: list[Variable | None]) -> list[Variable | None]:
        """Call the node's pre-hooks; each sees what the one before it returned."""
        for hook in _to_call("node pre-hook", self.pre):
            result = hook(tuple(gradients))
            if result is not None:
                gradients = _check_all(gradients, result, hook)
        return gradients

    def run_post_hooks(
        self, grad_inputs: Sequence[Variable | None], grad_outputs: Sequence[Variable | None]
    ) -> Sequence[Variable | None]:
        """Call the node's hooks with what it computed and what it was given."""
        for hook in _to_call("node hook", self.post):
            result = hook(tuple(grad_inputs), tuple(grad_outputs))
            if result is not None:
                grad_inputs = _check_all(grad_inputs, result, hook)
        return grad_inputs

    def run_post_accumulate_hooks(self, variable: Variable) -> None:
        """Call the hooks that wait for the leaf's `.grad`.

        A hook that returns a tensor is told off only after all were called; until then the next
        hook gets that tensor, as in PyTorch.
        """
        given = variable
        for hook in _to_call("post-accumulate", self.post_accumulate):
            result = hook(given)
            if result is not None and result is not given:
                _check(given, result, hook)
                given = result
        if given is not variable:
            raise RuntimeError(
                "Tensor post accumulate grad hooks should return None. To change the gradient, "
                "write to the tensor's .grad."
            )


def _to_call(kind: str, table: Table | None, output_nr: int = 0) -> Sequence[Any]:
    """List the hooks that are in a table now: one that a hook adds waits, one it removes runs."""
    if not table:
        return ()
    task = grad_mode.task
    if task is None:  # a leaf's node that somebody called by hand
        return list(table.values())
    return task.hooks_to_call(kind, table.values(), output_nr)  # type: ignore[no-any-return]


def hook_name(hook: Any) -> str:
    """Name a hook for people: its `__name__`, or else its type."""
    return getattr(hook, "__name__", None) or type(hook).__name__


def _called(hook: Any) -> str:
    """Name a hook as PyTorch's messages do, which know nothing but `__name__`."""
    return str(getattr(hook, "__name__", "<unknown>"))


def _not_a_tensor(result: Any) -> TypeError:
    return TypeError(
        f"expected Variable, but hook returned '{type_name(result)}'. A hook returns a "
        "tensor that replaces the gradient, or None to keep it."
    )


def _check(original: Variable | None, result: Any, hook: Callable[..., Any]) -> None:
    """Refuse a replaced gradient that does not fit in the place of the original.

    Raises:
        TypeError: If the hook returned something that is not a tensor.
        RuntimeError: If shape or dtype differ from the original gradient's.
    """
    if original is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not hasattr(result, "_array"):
        raise _not_a_tensor(result)
    if result._array.dtype != original._array.dtype:
        raise RuntimeError(
            f"hook '{_called(hook)}' has changed the type of value "
            f"(was {original.type()} got {result.type()})"
        )
    if result._array.shape != original._array.shape:
        raise RuntimeError(
            f"hook '{_called(hook)}' has changed the size of value. It returned "
            f"{list(result._array.shape)} for a gradient of {list(original._array.shape)}."
        )


def _check_all(
    originals: Sequence[Variable | None], results: Any, hook: Callable[..., Any]
) -> list[Variable | None]:
    """Refuse replaced gradients of a node hook that do not fit, one by one."""
    if not isinstance(results, tuple):
        raise TypeError(
            f"expected tuple, but hook returned '{type_name(results)}'. A node hook returns a "
            "tuple with one gradient for each it was given, or None to keep them."
        )
    if len(results) != len(originals):
        raise RuntimeError(
            f"hook '{_called(hook)}' has returned an incorrect number of values "
            f"(got {len(results)}, but expected {len(originals)})"
        )
    for original, result in zip(originals, results, strict=True):
        if result is not None:
            _check(original, result, hook)
    return list(results)
