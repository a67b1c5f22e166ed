r"""Affine maps, as a linear layer has them: products of two matrices, a bias, one node for all.

For :math:`C = A B` with :math:`G = \partial L / \partial C` the entries are
:math:`c_{ij} = \sum_k a_{ik} b_{kj}`, hence :math:`\partial L / \partial A = G B^\top` and
:math:`\partial L / \partial B = A^\top G`.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import functools
import math
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.rules import applied, quietly, silences
from minigrad.core.engine import quiet_numpy, resolve_edge
from minigrad.core.node import NO_EDGE, Node, grad_mode, next_priority, reduce_gradient
from minigrad.core.plugs import plugs
from minigrad.core.tape import Array, differentiable
from minigrad.core.tensor import (
    SavedTensor,
    Tensor,
    View,
    counter_of,
    make_view,
    unpack_array,
    wrap,
    wrap_as_normal,
)
from minigrad.creation.construction import entry, real_number
from minigrad.creation.dtypes import c_name, scalar_name
from minigrad.faces import face, functional
from minigrad.ops import shape
from minigrad.ops.shape import _t, expanded_sizes
from minigrad.ops.type_promotion import CONVERT, differ

# ---------------------------------------------------------------------- factors that fit

_BOOL = np.dtype(np.bool_)


def refuse_booleans(kernel: str, array: Any) -> None:
    """Raise if an operation is asked for a product of booleans."""
    if array.dtype is _BOOL:
        raise NotImplementedError(
            f"\"{kernel}\" not implemented for 'Bool'. Convert to integers first."
        )


def _check_sizes(x: Any, y: Any) -> None:
    if x.shape[1] != y.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({x.shape[0]}x{x.shape[1]} and "
            f"{y.shape[0]}x{y.shape[1]})"
        )


def check_mm(x: Any, y: Any) -> None:
    """Raise if two arrays are not matrices that fit."""
    if x.dtype is y.dtype is not _BOOL and x.ndim == y.ndim == 2 and x.shape[1] == y.shape[0]:
        return
    for name, array in (("self", x), ("mat2", y)):
        if array.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix")
    _check_sizes(x, y)
    if differ(x, y):
        raise RuntimeError(
            "expected m1 and m2 to have the same dtype, but got: "
            f"{c_name(x)} != {c_name(y)}. {CONVERT}"
        )
    refuse_booleans("addmm_impl_cpu_", x)


def check_addmm(bias: Any, x: Any, y: Any) -> None:
    """Raise if a bias and two matrices do not fit."""
    if (
        bias.dtype is x.dtype is y.dtype is not _BOOL
        and x.ndim == y.ndim == 2
        and x.shape[1:] + bias.shape == y.shape
    ):
        return
    for name, array in (("mat1", x), ("mat2", y)):
        if array.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix, got {array.ndim}-D tensor")
    for name, array in (("self", bias), ("mat1", x)):
        if differ(array, y):
            raise RuntimeError(
                f"{name} and mat2 must have the same dtype, but got {scalar_name(array)} and "
                f"{scalar_name(y)}. {CONVERT}"
            )
    _check_sizes(x, y)
    expanded_sizes(bias, (x.shape[0], y.shape[1]))
    refuse_booleans("addmm_impl_cpu_", x)


# ---------------------------------------------------------------------- products and biases


def is_column_major(matrix: Any) -> bool:
    """Tell whether a matrix lies in memory column by column, such as a transposed weight."""
    return bool(matrix.strides == (matrix.itemsize, matrix.itemsize * len(matrix)))


plugs.names["is_column_major"] = is_column_major


# A factor that lies in memory column by column, such as a transposed weight, gets a gradient that
# does so too: it is computed transposed, and transposed back. For few numbers NumPy's method `dot`
# is half a microsecond quicker than `@`; but it fills its result with zeros first.
_FEW = 1 << 14


def _left_rule(grad: Any, right: Any, column_major: bool) -> Any:
    """Give the gradient of the left factor, laid out in memory as that factor is."""
    if type(grad) is type(right) is np.ndarray and right.size < _FEW:
        return right.dot(grad.T).T if column_major else grad.dot(right.T)
    if column_major:
        return _t(applied(mm, right, _t(grad)))
    return applied(mm, grad, _t(right))


def _right_rule(grad: Any, left: Any, column_major: bool) -> Any:
    """Give the gradient of the right factor, laid out in memory as that factor is."""
    if type(grad) is type(left) is np.ndarray and left.size < _FEW:
        return grad.T.dot(left).T if column_major else left.T.dot(grad)
    if column_major:
        return _t(applied(mm, _t(grad), left))
    return applied(mm, _t(left), grad)


@face("mm(Tensor input, Tensor mat2, *, out=None)", out="none", check=check_mm)
@differentiable(
    "MmBackward0",
    self=lambda grad, mat2, self_sym_columns: _left_rule(grad, mat2, self_sym_columns),
    mat2=lambda grad, self, mat2_sym_columns: _right_rule(grad, self, mat2_sym_columns),
)
def mm(self: Array, mat2: Array) -> Array:
    r"""Product of matrices: :math:`G B^\top` for the left, :math:`A^\top G` for the right.

    Raises:
        RuntimeError: If dtypes differ or sizes do not fit.
    """
    return self @ mat2


_ones = functools.lru_cache(16)(np.ones)


def _bias_twin(grad: Any, wanted: Any) -> Any:
    """Sum the gradient of a bias over the rows: quickest as a product with ones."""
    along_rows = grad.dtype.char in "fd" and grad.shape[1:] == wanted[0]
    return _ones(len(grad), grad.dtype).dot(grad) if along_rows else grad


@differentiable(
    "AddmmBackward0",
    broadcasts=("self",),
    twins={"self": _bias_twin},
    self=lambda grad: grad,
    mat1=lambda grad, mat2, mat1_sym_columns: _left_rule(grad, mat2, mat1_sym_columns),
    mat2=lambda grad, mat1, mat2_sym_columns: _right_rule(grad, mat1, mat2_sym_columns),
)
@quietly
def addmm(self: Array, mat1: Array, mat2: Array) -> Array:
    r"""Product of matrices plus a bias: as for the product; the bias gets :math:`G`.

    Raises:
        RuntimeError: If dtypes differ or sizes do not fit.
    """
    if not (type(self) is type(mat1) is type(mat2) is np.ndarray):
        return self + mat1 @ mat2
    product = mat1.dot(mat2) if mat1.size < _FEW else mat1 @ mat2
    return np.add(self, product, product)  # in the memory of the product


def factors(tensor: Tensor, *numbers: Any) -> list[Any]:
    """Give factors of a tensor in its type: PyTorch cuts off what is behind an integer's point."""
    dtype = tensor._array.dtype
    take = real_number if dtype.kind not in "iu" else lambda *given: entry(*given).item()
    return [take(each, dtype) for each in numbers]


@face(
    "addmm(Tensor input, Tensor mat1, Tensor mat2, *, beta=1, alpha=1, out=None)",
    out="none",
    in_place=True,
)
def scaled_addmm(input: Tensor, mat1: Tensor, mat2: Tensor, beta: Any, alpha: Any) -> Tensor:
    """Give the product of matrices plus a bias, each with its factor.

    Raises:
        RuntimeError: If dtypes differ or sizes do not fit.
    """
    check_addmm(input._array, mat1._array, mat2._array)
    if beta != 1 or alpha != 1:
        beta, alpha = factors(mat1, beta, alpha)
        input = input * beta if beta else input.masked_fill(wrap(np.array(True)), 0)
        mat1 = mat1 * alpha
    return addmm(input, mat1, mat2)


@functional("linear(Tensor input, weight, bias=None)")
def linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    r"""Map vectors affinely: $y = x W^\top + b$.

    A matrix with a bias becomes one `addmm`, over the transposed weight; anything else contiguous
    is viewed as a matrix first and viewed back after. These are the nodes one meets in the graph.
    What does not lie in memory in order is copied and multiplied, and the bias is added.

    Args:
        input: The vectors.
        weight: The matrix $W$.
        bias: The vector $b$, or None.

    Returns:
        The mapped vectors.

    Raises:
        RuntimeError: If the shapes do not fit together, or the input has no dimension.

    Shape:
        - input: (..., in_features)
        - weight: (out_features, in_features)
        - bias: (out_features,)
        - output: (..., out_features)

    Example:
        >>> import minigrad as torch
        >>> weight = torch.tensor([[1.0, 2.0], [0.0, 1.0], [3.0, 0.0]])
        >>> torch.nn.functional.linear(torch.tensor([1.0, 1.0]), weight)
        tensor([3., 1., 3.])
    """
    x, w = input._array, weight._array
    if not (x.ndim and w.ndim):
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are {x.ndim}D and {w.ndim}D"
        )
    if bias is None or w.ndim != 2:
        if bias is not None and w.ndim == 1 and x.ndim == 2:
            raise RuntimeError("mat2 must be a matrix, got 1-D tensor")
        result = input @ weight.t()
        return result if bias is None else result + bias
    if _can_fold_nodes(input, weight, bias):
        return _folded_nodes(input, weight, bias)
    rows = input
    if x.ndim != 2:
        if x.ndim > 2 and not x.flags.c_contiguous:
            return input @ weight.t() + bias
        rows = shape.reshape(input, (math.prod(x.shape[:-1]), x.shape[-1]))
    matrix = shape.t(weight)
    check_addmm(bias._array, rows._array, matrix._array)
    result = addmm(bias, rows, matrix)
    return result if x.ndim == 2 else shape.view(result, (*x.shape[:-1], w.shape[0]))


# ------------------------------------------------- one node for several, as long as nobody looks

# With vectors that do not form a matrix PyTorch leaves four nodes:
#
#     y -- ViewBackward0 -- AddmmBackward0 -- bias
#                                 |---------- ViewBackward0 -- x
#                                 |---------- TBackward0 ----- weight
#
# and three tensors that are views. Nearly nobody looks at them. So `_Affine` stands for them all,
# with edges to bias, x and weight, and becomes them in `_unfold`, which is called before a node is
# shown to anybody.


def _can_fold_nodes(input: Tensor, weight: Tensor, bias: Tensor) -> bool:
    """Tell whether one node may stand for those of an affine map, until somebody looks at them.

    Some gradient is needed, nobody watches new nodes, and everything lies in memory in order.
    """
    x, w, b = input._array, weight._array, bias._array
    return (
        grad_mode.enabled is True
        and not (input._edge is weight._edge is bias._edge is NO_EDGE)
        and x.__class__ is np.ndarray
        and x.dtype is w.dtype is b.dtype
        and x.dtype.char in "fd"
        and x.shape[-1:] + b.shape == w.shape[::-1]
        and x.size > 0
        and x.flags.c_contiguous
        and w.flags.c_contiguous
    )


def _folded_nodes(input: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Compute an affine map, and record it by one node."""
    x, w = input._array, weight._array
    sizes = x.shape
    matrix = len(sizes) == 2
    try:  # as `quietly` does
        silence = silences.pop()
    except IndexError:
        silence = quiet_numpy.copy()
    try:
        rows = x if matrix else x.reshape(-1, sizes[-1])
        rows = silence.run(addmm.forward.__wrapped__, bias._array, rows, w.T)
    finally:
        silences.append(silence)
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
    node._saved = (
        (input if input._version_counter is None else SavedTensor(input))
        if to_weight is not NO_EDGE
        else None,
        (weight if weight._version_counter is None else SavedTensor(weight))
        if to_input is not NO_EDGE
        else None,
    )
    node._hooks = node._broadcast = None
    node._priority = next_priority()
    result._edge = (node, 0)
    return result


class _Affine(Node):
    r"""The node of $y = x W^\top + b$, which becomes those that PyTorch has when somebody looks.

    These are an `AddmmBackward0` with a `TBackward0` between it and the weight; and where the
    vectors do not form a matrix, a `ViewBackward0` in front of it and one behind.
    """

    __slots__ = ()
    _keeps_tensors = True
    _optional = (0, 1)

    def _run(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Give the gradients of bias, input and weight."""
        if self._saved is None:
            raise plugs.messages.released()
        x, weight = self._saved
        try:
            if x is not None:
                x = x._array if x._version_counter is None else unpack_array(x, self)
            if weight is not None:
                weight = (
                    weight._array if weight._version_counter is None else unpack_array(weight, self)
                )
        except RuntimeError:  # let the node say it that saved what has changed
            self._unfold()
            node: Any = self if isinstance(self, addmm.node) else self._edges[0][0]
            return node._run(gradient)
        to_bias, to_input, to_weight = self._edges
        sizes, of_rows, leaf = self._shape
        rows = gradient if gradient.ndim == 2 else gradient.reshape(of_rows)
        of_bias = of_input = of_weight = None
        if to_bias is not NO_EDGE:
            wanted = (of_rows[1:], self._dtype)
            of_bias = reduce_gradient(_bias_twin(rows, wanted), wanted)
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

    def _unfold(self) -> None:
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
            saved = tuple([values[name] for name in _kind(addmm)._names_of_saved])
        node: Any = self
        if viewed:
            node = _kind(addmm)()
            node._hooks = None
        node._edges = (to_bias, to_input, to_weight)
        node._saved, node._priority = saved, number
        node._broadcast = ((of_rows[1:], self._dtype), None, None)
        if viewed:
            self._edges, self._saved = ((node, 0),), (of_rows,)
        self.__class__ = _kind(shape.view) if viewed else _kind(addmm)


class _ViewedAffine(_Affine):
    """The node of the same where the result is not a matrix."""

    __slots__ = ()


_Affine.__name__, _ViewedAffine.__name__ = addmm.node.__name__, shape.view.node.__name__


def _kind(operation: Any) -> Any:
    """Give the class of an operation's nodes, once it can run."""
    if "_run" not in vars(operation.node):
        operation.prepare()
    return operation.node


def _through(operation: Any, edge: Any, saved: Any, number: int) -> Any:
    """Give an edge to a node of an operation in front of an edge, if that leads anywhere."""
    if edge is NO_EDGE:
        return edge
    node = _kind(operation)()
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
        self.node._unfold()
        tensor = self.tensor()
        self.base = base = wrap_as_normal(self.array.reshape(-1, self.array.shape[-1]))
        base._edge = self.node._edges[0]
        if tensor is not None:
            base._version_counter = counter_of(tensor)
        return base
