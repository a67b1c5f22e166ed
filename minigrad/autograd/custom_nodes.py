"""Record operations that the tape does not write: with several results, or without a derivative."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from minigrad.autograd.messages import RELEASED
from minigrad.autograd.rules import in_rule
from minigrad.core.engine import resolve_edge
from minigrad.core.modes import modes, notify
from minigrad.core.node import NO_EDGE, Node
from minigrad.core.tensor import SavedTensor, Tensor, unpack_array, unpack_tensor, wrap


def new_node(kind: type[Node], inputs: Sequence[Tensor], every: bool = False) -> Any:
    """Make a node from the inputs that need a gradient, or all; None if none needs one."""
    if not modes.recording or not any(each.requires_grad for each in inputs):
        return None
    edges = [each._edge or resolve_edge(each) for each in inputs]
    node = object.__new__(kind)
    node._set_up(edges if every else [edge for edge in edges if edge is not NO_EDGE])
    return node


# ---------------------------------------------------------------------- several results


class Decomposition(Node):
    """Backward of an operation with one input and several results.

    A subclass has a rule, which gives the gradient of the input: it gets the gradients of the
    results, None for a result that was not used, then what was saved, and then the settings.

    Attributes:
        _saves_input: Whether the input is saved, before the results.
        _results_saved: How many of the results are; all if it is None.
    """

    __slots__ = ("_settings",)
    _saves_input = False
    _results_saved: int | None = None
    _multiple = True
    _keeps_tensors = True
    _settings: tuple[Any, ...]
    rule: Callable[..., Any]

    def _result_nr(self, index: int) -> int:
        """Tell which output of the node a saved result is."""
        return index - self._saves_input

    def _run(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Apply the rule to arrays."""
        return self._apply(gradient, keep, _as_array)

    @in_rule
    def _run_recorded(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Apply the rule to tensors, which records it."""
        return self._apply(gradient, keep, unpacked)

    def _apply(self, gradient: Any, keep: bool, unpack: Callable[..., Any]) -> Any:
        if self._saved is None:
            raise RuntimeError(RELEASED)
        saved = [unpack(self, index, each) for index, each in enumerate(self._saved)]
        result = self.rule(*gradient, *saved, *self._settings)
        if not keep:
            self._saved = None
        return (result,)


def _as_array(node: Node, index: int, saved: Any) -> Any:
    return saved._array if saved._version_counter is None else unpack_array(saved, node)


def unpacked(node: Any, index: int, saved: Any) -> Tensor:
    """Give what a node saved, by its number, as a tensor that is connected to the graph."""
    tensor = unpack_tensor(saved, node)
    if saved.__class__ is SavedTensor and saved.tensor is None:
        tensor._edge = (node, node._result_nr(index))
    return tensor


def recorded(
    kind: type[Decomposition], input: Tensor, results: Sequence[Any], *settings: Any
) -> tuple[Tensor, ...]:
    """Put the results of an operation into tensors, and record where they came from.

    Args:
        kind: The class of the node.
        input: The tensor.
        results: Its results, as arrays.
        *settings: What else the rule needs to know.
    """
    outputs = tuple(map(wrap, results))
    node = new_node(kind, (input,))
    if node is None:
        return outputs
    node._settings = settings
    kept = (input if input._version_counter is None else SavedTensor(input),)
    results_kept = (SavedTensor(output, True) for output in outputs[: kind._results_saved])
    node._saved = (*kept[: kind._saves_input], *results_kept)
    lead_back(node, outputs)
    return outputs


def lead_back(node: Node, outputs: Sequence[Tensor]) -> None:
    """Make tensors the outputs of a new node, and show it to those who watch."""
    node._shape = tuple(output._array.shape for output in outputs)
    node._dtype = tuple(output._array.dtype for output in outputs)
    for number, output in enumerate(outputs):
        output._edge = (node, number)
    notify(node, *outputs)


# ---------------------------------------------------------------------- no derivative


class NoDerivative(Node):
    """Stands in the graph for an operation that has no derivative, as in PyTorch."""

    __slots__ = ()

    _refusal = "derivative for aten::{} is not implemented"

    def name(self) -> str:
        """Give the name that PyTorch prints."""
        return f"torch::autograd::{type(self).__name__}"

    def _run(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Raise, because there is no rule."""
        raise RuntimeError(self._refusal.format(*self._saved or ("",)))

    _run_recorded = _run


NoDerivative.__name__ = "NotImplemented"


def without_derivative(name: str, result: Tensor, *inputs: Any) -> Tensor:
    """Record an operation whose gradient must not be asked for.

    Args:
        name: The name of the operation in PyTorch.
        result: What it gave.
        *inputs: What it was given; those that are no tensors are passed over.
    """
    node = new_node(NoDerivative, [each for each in inputs if isinstance(each, Tensor)])
    if node is not None:
        node._saved = (name,)
        result._edge = (node, 0)
        notify(node, result)
    return result


# ------------------------------------------------------------------ indices that were changed

# The rules of `gather`, `sort`, `x[index]` and the like need the indices that the forward was given
# or gave. They keep them as arrays of NumPy's, which know of no versions. So the node knows which
# tensors these arrays belong to, and looks at their versions before it runs.


def watched(result: Any, *indices: Any) -> Any:
    """Let the node of a new result refuse to run once one of the index tensors was changed.

    Args:
        result: What an operation has just given; nothing is done if it was not recorded.
        *indices: The tensors whose entries the node's rule will use.

    Returns:
        The result itself.

    Example:
        >>> import minigrad as torch
        >>> x, index = torch.ones(2, requires_grad=True), torch.tensor([0])
        >>> y = x.gather(0, index)
        >>> _ = index.add_(1)
        >>> y.backward()
        Traceback (most recent call last):
            ...
        RuntimeError: one of the variables needed for gradient computation has been modified ...
    """
    edge = result._edge
    if edge is not None and edge[0] is not None:
        node = edge[0]
        node._watched = tuple(map(SavedTensor, indices))
        kind: Any = type(node)
        node.__class__ = _watching(kind)
    return result


@functools.cache
def _watching(kind: type[Node]) -> type[Node]:
    """Make the kind of node that looks at versions first. To all who ask it is the same kind."""

    def looking(run: str) -> Any:
        def looked(node: Any, gradient: Any, keep: bool = True, *edges: Any) -> Sequence[Any]:
            for saved in () if node._saved is None else node._watched:
                unpack_array(saved, node)
            if not keep:
                node._watched = ()
            return getattr(kind, run)(node, gradient, keep, *edges)

        return looked

    names = {"__slots__": (), "__doc__": kind.__doc__}
    names |= {name: looking(name) for name in ("_run", "_run_recorded")}
    return type(kind.__name__, (kind,), names)
