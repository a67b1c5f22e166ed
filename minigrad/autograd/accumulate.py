"""The end of the graph at a leaf: add what arrives to `.grad`, and copy only where one must."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.autograd.node import Node
from minigrad.autograd.versions import INFERENCE, VersionCounter

if TYPE_CHECKING:
    from minigrad.autograd.variable import Variable


class AccumulateGrad(Node):
    """The end of the graph at a leaf: adds the arriving gradient to the leaf's `.grad`."""

    __slots__ = ("variable",)

    # the same for every leaf, so that making one costs little
    next_functions = ()
    _saved = ()
    _broadcast = None
    _priority = -sys.maxsize

    variable: Variable

    def _sequence_nr(self) -> int:
        """Tell that a leaf comes before all other nodes."""
        return 2**64 - 1

    def name(self) -> str:
        """Give the name that PyTorch prints."""
        return "torch::autograd::AccumulateGrad"

    def _place(self, tensor: Variable, output_nr: int) -> None:
        """Let a tensor be a leaf whose gradient is added up here."""
        tensor._edge = None
        tensor._autograd_meta().accumulator = weakref.ref(self)

    def __call__(self, *gradients: Any, **named: Any) -> Any:
        """Add a gradient to `.grad` by hand; the leaf's post-accumulate hooks run, no others."""
        super().__call__(*gradients, **named)
        if self._hooks is not None:
            self._hooks.run_post_accumulate_hooks(self.variable)
        return ()

    def _run(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Add an array to `.grad`: in place if there is a gradient already."""
        variable = self.variable
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
            variable._grad = Node.wrap(gradient)
        elif total._array.flags.writeable:
            array, counter = total._array, total._version_counter
            if counter is INFERENCE:
                total._bump_version()  # which is refused outside of inference mode
            if array.size == 1:  # for one entry Python is faster than NumPy, and rounds as it does
                array.fill(array.item() + gradient.item())
            else:
                array += gradient
            if counter is None:
                total._version_counter = counter = VersionCounter()
            if counter is not INFERENCE:
                counter.value += 1
            if counter.views is not None:
                counter.let_views_go()
        else:
            variable._grad = Node.wrap(total._array + gradient)
        return ()

    def _run_recorded(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Add a tensor to `.grad`, out of place, so that the sum is recorded."""
        variable = self.variable
        total = variable._grad
        if total is None:
            memory = _laid_out_like(variable._array, gradient._array)
            variable._grad = gradient._copied_to(memory)
        else:
            variable._grad = total + gradient
        return ()


def _laid_out_like(leaf: Any, gradient: Any) -> Any:
    """Copy a gradient into the order in which the entries of its leaf lie in memory.

    So that `leaf.grad.view(...)` can do what `leaf.view(...)` can. The gradient of a leaf whose
    entries share memory, or lie apart, lies in the order of printing.
    """
    if leaf.flags.c_contiguous or 0 in leaf.strides or gradient.ndim != leaf.ndim:
        return gradient.copy()
    order = sorted(range(leaf.ndim), key=lambda dim: -leaf.strides[dim])
    if not leaf.transpose(order).flags.c_contiguous:
        return gradient.copy()
    places = sorted(range(leaf.ndim), key=order.__getitem__)
    return gradient.transpose(order).copy().transpose(places)


def attach_leaf_hooks(node: Node, meta: Any) -> None:
    """Let the leaf's hooks be found from its accumulate node."""
    hooks = node._ensure_hooks()
    if meta.hooks is not None:
        hooks.tensor_pre = {0: meta.hooks}
    hooks.post_accumulate = meta.post_accumulate_hooks


# A gradient that nobody else holds becomes the memory of `.grad`; any other is copied, because
# `.grad` is added to in place. How many references an array has that only the engine holds differs
# between interpreters, so ask this one, through the same chain of calls.
_references: Callable[[Any], int] = getattr(sys, "getrefcount", lambda _: sys.maxsize)


class _Probe:
    def _run(self, gradient: Any) -> tuple[int, int]:
        return _references(gradient), _references(gradient.base)


def _count_for_sole_owner() -> tuple[int, int]:
    leaves = [(_Probe(), np.empty((2, 3)).T)]
    while leaves:
        node, gradient = leaves.pop()
        counts = node._run(gradient)
    return counts


_SOLE_OWNER, _SOLE_VIEW = _count_for_sole_owner()


def _owns_all(view: Any) -> bool:
    """Tell whether an array is another form of the whole of a memory that nobody else holds."""
    return (
        view.flags.carray
        and _references(view.base) <= _SOLE_VIEW
        and isinstance(view.base, np.ndarray)
        and view.base.base is None
        and view.base.size == view.size
    )
