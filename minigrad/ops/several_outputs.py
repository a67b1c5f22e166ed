"""Record operations of one tensor that have several results, such as variance and mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from minigrad.autograd.messages import RELEASED
from minigrad.core.leaves import resolve_edge
from minigrad.core.modes import attend, grad_mode
from minigrad.core.node import Node, next_priority
from minigrad.core.saved import SavedTensor, unpack_array, unpack_tensor
from minigrad.core.tensor import Tensor, wrap
from minigrad.ops.type_promotion import in_a_rule


class Decomposition(Node):
    """Backward of an operation with one input and several results.

    A subclass has a rule: it gets the gradients of the results, None for a result that was not
    used, then the input if `_keeps_input`, then the results that it keeps, and then the settings.
    """

    __slots__ = ("_settings",)
    _multiple = True
    _keeps_tensors = True
    _keeps_input: ClassVar[bool] = False
    _keeps_results: ClassVar[int | None] = None  # how many of the first ones; None: all
    _settings: tuple[Any, ...]

    @staticmethod
    def rule(*values: Any) -> Any:
        """Give the gradient of the input."""
        raise NotImplementedError

    def _result_nr(self, place: int) -> int:
        """Tell which output of the node the result is that it saved at a place."""
        return place - self._keeps_input

    def _run(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Apply the rule to arrays."""
        if self._saved is None:
            raise RuntimeError(RELEASED)
        saved = [
            each._array if each._version_counter is None else unpack_array(each, self)
            for each in self._saved
        ]
        result = self.rule(*gradient, *saved, *self._settings)
        if not keep:
            self._saved = None
        return (result,)

    @in_a_rule
    def _run_recorded(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Apply the rule to tensors, which records it."""
        if self._saved is None:
            raise RuntimeError(RELEASED)
        result = self.rule(
            *gradient, *map(self._unpacked, range(len(self._saved))), *self._settings
        )
        if not keep:
            self._saved = None
        return (result,)

    def _unpacked(self, place: int) -> Any:
        """Give a saved value as a tensor with its place in the graph."""
        assert self._saved is not None
        saved = self._saved[place]
        tensor = unpack_tensor(saved, self)
        if saved.__class__ is SavedTensor and saved.tensor is None:
            tensor._edge = (self, self._result_nr(place))
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
    if not grad_mode.enabled or not input.requires_grad:
        return outputs
    node = kind()
    node.next_functions = (input._edge or resolve_edge(input),)
    node._hooks = node._broadcast = None
    node._priority = next_priority()
    node._shape = tuple(output._array.shape for output in outputs)
    node._dtype = tuple(output._array.dtype for output in outputs)
    node._settings = settings
    kept = input if input._version_counter is None else SavedTensor(input)
    node._saved = (
        *((kept,) if kind._keeps_input else ()),
        *(SavedTensor(output, True) for output in outputs[: kind._keeps_results]),
    )
    for number, output in enumerate(outputs):
        output._edge = (node, number)
    attend(node, *outputs)
    return outputs
