"""The derivatives of operations with two results: variance and mean, smallest and largest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.leaves import resolve_edge
from minigrad.autograd.modes import attend, grad_mode
from minigrad.autograd.node import NO_EDGE, Node, next_priority
from minigrad.autograd.saved import RELEASED, SavedTensor, unpack_array, unpack_tensor
from minigrad.ops.meeting import in_a_rule, quietly
from minigrad.ops.reduction import count, share_among_equal, spread
from minigrad.ops.statistics import deviation_rule, variance_and_mean, variance_rule
from minigrad.tensor import Tensor, wrap


class _TwoResults(Node):
    """Backward of an operation with two results: the input gets what either gives it."""

    __slots__ = ()
    _multiple = True
    _keeps_tensors = True

    def _rule(self, first: Any, second: Any, saved: Sequence[Any]) -> Any:
        """Give the gradient of the input; that of a result that was not used is None."""
        raise NotImplementedError

    def _apply(self, gradient: Any, keep: bool, unpack: Any) -> Any:
        if self._saved is None:
            raise RuntimeError(RELEASED)
        saved = [unpack(s, self) if hasattr(s, "_version_counter") else s for s in self._saved]
        first, second = gradient
        found = self._rule(first, second, saved)
        if not keep:
            self._saved = None
        return (found,)

    def _run(self, gradient: Any, keep: bool = True) -> Any:
        """Apply the rule to arrays."""
        return self._apply(gradient, keep, _array_of)

    @in_a_rule
    def _run_recorded(self, gradient: Any, keep: bool = True) -> Any:
        """Apply the rule to tensors, recorded."""
        return self._apply(gradient, keep, unpack_tensor)


def _array_of(saved: Any, node: Node) -> Any:
    return saved._array if saved._version_counter is None else unpack_array(saved, node)


def _added(first: Any, second: Any) -> Any:
    if first is None or second is None:
        return second if first is None else first
    return first + second


def _mean_rule(grad: Any, self: Any, dim: Any, keepdim: bool) -> Any:
    number = count(self.shape, tuple(range(self.ndim)) if dim is None else dim)
    return spread(grad, self.shape, dim or (), keepdim) / number


class VarMeanBackward0(_TwoResults):
    """Backward of `var_mean`: the rules of the variance and of the mean."""

    __slots__ = ()
    _names_of_saved = ("correction", "dim", "keepdim", "self")

    def _rule(self, first: Any, second: Any, saved: Sequence[Any]) -> Any:
        correction, dim, keepdim, tensor = saved
        if first is not None:
            first = variance_rule(first, tensor, dim, correction, keepdim)
        if second is not None:
            second = _mean_rule(second, tensor, dim, keepdim)
        return _added(first, second)


class StdMeanBackward0(_TwoResults):
    """Backward of `std_mean`: the rules of the standard deviation and of the mean."""

    __slots__ = ()
    _names_of_saved = ("correction", "dim", "keepdim", "self", "result0")

    def _rule(self, first: Any, second: Any, saved: Sequence[Any]) -> Any:
        correction, dim, keepdim, tensor, deviation = saved
        if first is not None:
            first = deviation_rule(first, tensor, deviation, dim, correction, keepdim)
        if second is not None:
            second = _mean_rule(second, tensor, dim, keepdim)
        return _added(first, second)


class AminmaxBackward0(_TwoResults):
    """Backward of `aminmax`: equal ones share the gradient of an extreme."""

    __slots__ = ()
    _names_of_saved = ("dim", "keepdim", "self", "min", "max")

    def _rule(self, first: Any, second: Any, saved: Sequence[Any]) -> Any:
        dim, keepdim, tensor, smallest, largest = saved
        dims = tuple(range(tensor.ndim)) if dim is None else (dim,) if tensor.ndim else ()
        if first is not None:
            first = share_among_equal(first, tensor, smallest, dims, keepdim)
        if second is not None:
            second = share_among_equal(second, tensor, largest, dims, keepdim)
        return _added(first, second)


def _recorded(
    kind: type[Node], tensor: Tensor, arrays: Sequence[Any], settings: Sequence[Any]
) -> tuple[Tensor, ...]:
    """Give the results, and record them as outputs of one node that saves what it names."""
    results = tuple(wrap(array) for array in arrays)
    edge = (tensor._edge or resolve_edge(tensor)) if grad_mode.enabled else NO_EDGE
    if edge is NO_EDGE:
        return results
    node = object.__new__(kind)
    node.next_functions = (edge,)
    node._hooks = node._broadcast = None
    node._priority = next_priority()
    node._shape = tuple(result._array.shape for result in results)
    node._dtype = tuple(result._array.dtype for result in results)
    for output_nr, result in enumerate(results):
        result._edge = (node, output_nr)
    kept = tensor if tensor._version_counter is None else SavedTensor(tensor)
    own: dict[str, Any] = {
        "self": kept,
        "result0": results[0],
        "min": results[0],
        "max": results[-1],
    }
    values = iter(settings)
    node._saved = tuple(
        (own[name] if name == "self" else SavedTensor(own[name], True))
        if name in own
        else next(values)
        for name in node._names_of_saved
    )
    attend(node, *results)
    return results


def _types(input: Tensor) -> tuple[Any, Any]:
    """Give the types of a variance, which is real, and of a mean."""
    return input._array.real.dtype, input._array.dtype


@quietly
def var_mean(input: Tensor, dim: Any, correction: Any, keepdim: bool) -> tuple[Tensor, ...]:
    """Give variances and means, recorded in one node."""
    found = variance_and_mean(input._array, dim, correction, keepdim)
    arrays = [array.astype(kept) for array, kept in zip(found, _types(input), strict=True)]
    return _recorded(VarMeanBackward0, input, arrays, (correction, dim, keepdim))


@quietly
def std_mean(input: Tensor, dim: Any, correction: Any, keepdim: bool) -> tuple[Tensor, ...]:
    """Give standard deviations and means, recorded in one node."""
    variance, mean = variance_and_mean(input._array, dim, correction, keepdim)
    found = np.sqrt(variance), mean
    arrays = [array.astype(kept) for array, kept in zip(found, _types(input), strict=True)]
    return _recorded(StdMeanBackward0, input, arrays, (correction, dim, keepdim))


def aminmax(input: Tensor, dim: int | None, keepdim: Any) -> tuple[Tensor, ...]:
    """Give smallest and largest entries, recorded in one node."""
    array = input._array
    axis: Any = dim if array.ndim else None
    arrays = [
        extreme.reduce(array, axis=axis, keepdims=keepdim) for extreme in (np.minimum, np.maximum)
    ]
    return _recorded(AminmaxBackward0, input, arrays, (dim, keepdim))
