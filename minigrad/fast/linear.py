"""A linear layer as one node, which becomes PyTorch's nodes when somebody looks."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.views import View
from minigrad.core import extensions
from minigrad.core.engine import resolve_edge
from minigrad.core.modes import modes
from minigrad.core.node import NO_EDGE, Node, next_priority, reduce_gradient
from minigrad.core.tensor import (
    SavedTensor,
    Tensor,
    counter_of,
    make_view,
    unpack_array,
    wrap_as_normal,
)
from minigrad.ops import linear, shape
from minigrad.ops.linear import _FEW, addmm

# With vectors that do not form a matrix PyTorch leaves four nodes:
#
#     y -- ViewBackward0 -- AddmmBackward0 -- bias
#                                 |---------- ViewBackward0 -- x
#                                 |---------- TBackward0 ----- weight
#
# and three tensors that are views. Nearly nobody looks at them. So `_Affine` stands for them all,
# with edges to bias, x and weight, and becomes them in `_materialize_fused`, which is called before
# a node is shown to anybody.


def _can_fuse(input: Tensor, weight: Tensor, bias: Tensor) -> bool:
    """Tell whether one node may stand for those of an affine map, until somebody looks at them.

    Some gradient is needed, nobody watches new nodes, and everything lies in memory in order.
    """
    x, w, b = input._array, weight._array, bias._array
    return (
        modes.recording
        and not modes.observers
        and not (input._edge is weight._edge is bias._edge is NO_EDGE)
        and x.__class__ is np.ndarray
        and x.dtype is w.dtype is b.dtype
        and x.dtype.char in "fd"
        and x.shape[-1:] + b.shape == w.shape[::-1]
        and x.size > 0
        and x.flags.c_contiguous
        and w.flags.c_contiguous
    )


def fused_linear(input: Tensor, weight: Tensor, bias: Tensor) -> Tensor | None:
    """Compute an affine map, and record it by one node; None where that is not the same."""
    if not _can_fuse(input, weight, bias):
        return None
    x, w = input._array, weight._array
    sizes = x.shape
    matrix = len(sizes) == 2
    rows = addmm.forward(bias._array, x if matrix else x.reshape(-1, sizes[-1]), w.T)
    to_bias, to_input, to_weight = bias._edge, input._edge, weight._edge
    to_bias, to_weight = to_bias or resolve_edge(bias), to_weight or resolve_edge(weight)
    # the nodes that this one stands for keep their places in the order of recording
    in_front = next_priority() if to_input is not NO_EDGE and not matrix else 0
    turning = next_priority() if to_weight is not NO_EDGE else 0
    # The turns of three leaves of one node would be others. So one of its nodes is there at once.
    leaf = to_input is None
    if leaf:
        to_input = resolve_edge(input)
        if matrix:
            to_weight = _through(shape.t, to_weight, (), turning)
        else:
            to_input = _through(shape.view, to_input, (sizes,), in_front)
    if matrix:
        node: Any = _Affine()
        result = wrap_as_normal(rows)
    else:
        next_priority()
        node = _ViewedAffine()
        result = wrap_as_normal(rows.reshape((*sizes[:-1], len(w))))
        result._view = _ViewOfFolded(result, node)
    node._edges = (to_bias, to_input, to_weight)
    node._shape, node._dtype = (sizes, rows.shape, leaf), rows.dtype
    no_x, no_w = to_weight is NO_EDGE, to_input is NO_EDGE
    saved_input = input if input._version_counter is None else SavedTensor(input)
    saved_weight = weight if weight._version_counter is None else SavedTensor(weight)
    node._saved = (None if no_x else saved_input, None if no_w else saved_weight)
    node._hooks = node._broadcast = None
    node._priority = next_priority()
    result._edge = (node, 0)
    return result


class _Affine(Node):
    r"""The node of $y = x W^\top + b$, which becomes those that PyTorch has when somebody looks.

    These are an `AddmmBackward0` with a `TBackward0` between it and the weight; and where the
    vectors do not form a matrix, a `ViewBackward0` before it and one after.
    """

    __slots__ = ()
    _keeps_tensors = True
    _optional = (0, 1)

    def _run(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Give the gradients of bias, input and weight."""
        if self._saved is None:
            raise extensions.messages.released()
        try:
            saved: Any = [s if s is None else unpack_array(s, self) for s in self._saved]
        except RuntimeError:  # let the node say it that saved what has changed
            self._materialize_fused()
            node: Any = self if isinstance(self, addmm.node) else self._edges[0][0]
            return node._run(gradient)
        x, weight = saved
        to_bias, to_input, to_weight = self._edges
        sizes, of_rows, leaf = self._shape
        rows = gradient if gradient.ndim == 2 else gradient.reshape(of_rows)
        of_bias = of_input = of_weight = None
        if to_bias is not NO_EDGE:
            of_bias = reduce_gradient(rows, (of_rows[1:], self._dtype))
        if to_input is not NO_EDGE:
            of_input = rows.dot(weight) if weight.size < _FEW else rows @ weight
        if to_weight is not NO_EDGE:
            x = x if x.ndim == 2 else x.reshape(of_rows[0], -1)
            of_weight = rows.T.dot(x) if x.size < _FEW else rows.T @ x
        if len(sizes) == 2:
            of_weight = of_weight.T if leaf and of_weight is not None else of_weight
        elif not leaf and of_input is not None:
            of_input = of_input.reshape(sizes)
        if not (keep or x is weight is None):
            self._saved = None
        return of_bias, of_input, of_weight

    def _materialize_fused(self) -> None:
        """Become the nodes that PyTorch has."""
        viewed = isinstance(self, _ViewedAffine)
        to_bias, to_input, to_weight = self._edges
        sizes, of_rows, leaf = self._shape
        number = self._priority + viewed
        if not (leaf and len(sizes) == 2):
            to_weight = _through(shape.t, to_weight, (), number + 1)
        if not (leaf or len(sizes) == 2):
            turning = to_weight is not NO_EDGE
            to_input = _through(shape.view, to_input, (sizes,), number + 1 + turning)
        saved: Any = None
        if self._saved is not None:
            x, weight = self._saved
            if len(sizes) != 2:
                x = _seen_as(x, to_input, shape.view, (of_rows[0], sizes[-1]))
            values = {"mat1": x, "mat2": _seen_as(weight, to_weight, shape.t)}
            values["mat1_sym_columns"] = of_rows[0] == sizes[-1] == 1
            values["mat2_sym_columns"] = True
            saved = tuple([values[name] for name in addmm.node._names_of_saved])
        node: Any = self
        if viewed:
            node = addmm.node()
            node._hooks = None
        node._edges = (to_bias, to_input, to_weight)
        node._saved, node._priority = saved, number
        node._broadcast = ((of_rows[1:], self._dtype), None, None)
        if viewed:
            self._edges, self._saved = ((node, 0),), (of_rows,)
        self.__class__ = shape.view.node if viewed else addmm.node


class _ViewedAffine(_Affine):
    """The node of the same where the result is not a matrix."""

    __slots__ = ()


_Affine.__name__, _ViewedAffine.__name__ = addmm.node.__name__, shape.view.node.__name__


def _through(operation: Any, edge: Any, saved: Any, number: int) -> Any:
    """Give an edge to a node of an operation in front of an edge, if that leads anywhere."""
    if edge is NO_EDGE:
        return edge
    node = operation.node()
    node._set_up([edge])
    node._saved, node._priority = saved, number
    return (node, 0)


def _seen_as(kept: Any, edge: Any, operation: Any, *settings: Any) -> Any:
    """Give a saved tensor as a view of it that was saved in the same version."""
    if kept is None:
        return None
    source = kept if isinstance(kept, Tensor) else kept.tensor
    view = wrap_as_normal(operation.forward(source._array, *settings))
    view._edge = edge
    make_view(view, source)
    saved = SavedTensor(view)
    version = saved.version = 0 if kept is source else kept.version
    if saved._version_counter.value != version and view._view is not None:
        view._view.stale = True
        view._view.let_go(view)
    return saved


class _ViewOfFolded(View):
    """Says that a result is a view of a matrix, which is made when somebody asks for it."""

    def __init__(self, tensor: Tensor, node: Node) -> None:
        self.tensor, self.node, self.array = weakref.ref(tensor), node, tensor._array

    def __getattr__(self, name: str) -> Any:
        if name != "base":
            raise AttributeError(name)
        self.node._materialize_fused()
        tensor = self.tensor()
        self.base = base = wrap_as_normal(self.array.reshape(-1, self.array.shape[-1]))
        base._edge = self.node._edges[0]
        if tensor is not None:
            base._version_counter = counter_of(tensor)
        return base


linear.fused_linear = fused_linear
