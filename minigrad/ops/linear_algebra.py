r"""Products of vectors and matrices, and their derivatives.

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
from minigrad.creation.dtypes import c_name, scalar_name
from minigrad.faces import attach, face, functional, numpy_protocols
from minigrad.faces.arguments import as_tensor
from minigrad.ops import elementwise, shape
from minigrad.ops.shape import _t, expanded_sizes
from minigrad.ops.type_promotion import broadcast_shape, differ

# ---------------------------------------------------------------------- factors that fit

_CONVERT = "Convert one of them with .to(dtype)."
_BOOL = np.dtype(np.bool_)


def _refuse_booleans(kernel: str, array: Any) -> None:
    """Raise if an operation is asked for a product of booleans."""
    if array.dtype is _BOOL:
        raise NotImplementedError(
            f"\"{kernel}\" not implemented for 'Bool'. Convert to integers first."
        )


def check_dot(x: Any, y: Any) -> None:
    """Raise if two arrays have no inner product."""
    if x.ndim != 1 or y.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {x.ndim}D and {y.ndim}D tensors")
    if differ(x, y):
        raise RuntimeError(
            "dot : expected both vectors to have same dtype, but found "
            f"{scalar_name(x)} and {scalar_name(y)}. {_CONVERT}"
        )
    if x.size != y.size:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{x.size}] and src [{y.size}] to have the "
            f"same number of elements, but got {x.size} and {y.size} elements respectively"
        )
    _refuse_booleans("dot", x)


def check_mv(x: Any, y: Any) -> None:
    """Raise if two arrays are not a matrix and a vector that fit."""
    if x.ndim != 2 or y.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {x.ndim}, {y.ndim}")
    if x.shape[1] != y.shape[0]:
        raise RuntimeError(
            f"size mismatch, got input ({x.shape[0]}), mat ({x.shape[0]}x{x.shape[1]}), "
            f"vec ({y.shape[0]})"
        )
    if differ(x, y):
        first, second = scalar_name(x), scalar_name(y)
        raise RuntimeError(
            "addmv input tensors must have the same dtype, but got "
            f"{second}, {first}, and {second}. {_CONVERT}"
        )
    _refuse_booleans("addmv_impl_cpu", x)


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
            f"{c_name(x)} != {c_name(y)}. {_CONVERT}"
        )
    _refuse_booleans("addmm_impl_cpu_", x)


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
                f"{scalar_name(y)}. {_CONVERT}"
            )
    _check_sizes(x, y)
    if bias.shape != y.shape[1:]:
        expanded_sizes(bias, (x.shape[0], y.shape[1]))
    _refuse_booleans("addmm_impl_cpu_", x)


def check_bmm(x: Any, y: Any) -> None:
    """Raise if two arrays are not stacks of matrices that fit."""
    for name, array in (("batch1", x), ("batch2", y)):
        if array.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    if differ(x, y):
        raise RuntimeError(
            f"expected scalar type {scalar_name(x)} but found {scalar_name(y)}. {_CONVERT}"
        )
    if (x.shape[0], x.shape[2]) != y.shape[:2]:
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{x.shape[0]}, {x.shape[2]}] but got: [{y.shape[0]}, {y.shape[1]}]."
        )
    _refuse_booleans("bmm", x)


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


@face("addmm(Tensor input, Tensor mat1, Tensor mat2, *, out=None)", out="none", check=check_addmm)
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


@face("mv(Tensor input, Tensor vec, *, out=None)", out="none", check=check_mv)
@differentiable(
    "MvBackward0",
    self=lambda grad, vec: np.multiply.outer(grad, vec),
    vec=lambda grad, self: _t(self) @ grad,
)
def mv(self: Array, vec: Array) -> Array:
    r"""Matrix times vector: :math:`g v^\top` for the matrix, :math:`A^\top g` for the vector."""
    return self @ vec


@face("dot(Tensor input, Tensor tensor, *, out=None)", out="none", check=check_dot)
@differentiable(
    "DotBackward0",
    self=lambda grad, tensor: grad * tensor,
    tensor=lambda grad, self: grad * self,
)
def dot(self: Array, tensor: Array) -> Array:
    """Inner product: each vector gets the gradient times the other vector."""
    return self @ tensor


@face("outer(Tensor input, Tensor vec2, *, out=None)", ufunc=((np.multiply, "outer"),))
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Multiply each entry of one vector by each of another."""
    for name, tensor in (("self", input), ("vec2", vec2)):
        if tensor._array.ndim != 1:
            raise RuntimeError(
                f"outer: Expected 1-D argument {name}, but got {tensor._array.ndim}-D"
            )
    return elementwise.mul(shape.view(input, (len(input), 1)), vec2)


@face("bmm(Tensor input, Tensor mat2, *, out=None)", out="none", check=check_bmm)
@differentiable(
    "BmmBackward0",
    self=lambda grad, mat2: applied(bmm, grad, np.swapaxes(mat2, 1, 2)),
    mat2=lambda grad, self: applied(bmm, np.swapaxes(self, 1, 2), grad),
)
@quietly
def bmm(self: Array, mat2: Array) -> Array:
    """Products of matrices, one for each member of a batch: as for a single product."""
    if self.shape[2] == 1:  # a column times a row: quicker without the library of matrices
        return self * mat2
    return self @ mat2


@differentiable(
    "BaddbmmBackward0",
    broadcasts=("self",),
    self=lambda grad: grad,
    batch1=lambda grad, batch2: applied(bmm, grad, np.swapaxes(batch2, 1, 2)),
    batch2=lambda grad, batch1: applied(bmm, np.swapaxes(batch1, 1, 2), grad),
)
@quietly
def baddbmm(self: Array, batch1: Array, batch2: Array) -> Array:
    """Products of a batch of matrices plus a bias: it gets the gradient that the products get."""
    return self + batch1 @ batch2


# ---------------------------------------------------------------------- products of any dimensions


@face("matmul(Tensor input, Tensor other, *, out=None)", out="none", ufunc=np.matmul)
def matmul(a: Tensor, b: Tensor) -> Tensor:
    """Multiply tensors of any dimensions, through the operations above, as PyTorch does.

    Raises:
        RuntimeError: If dtypes differ or sizes do not fit.
    """
    x, y = a._array, b._array
    if x.ndim == 2 and y.ndim == 2:
        check_mm(x, y)
        return mm(a, b)
    if x.ndim == 0 or y.ndim == 0:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {x.ndim}D and {y.ndim}D"
        )
    if y.ndim == 1 and x.ndim <= 2:
        (check_dot if x.ndim == 1 else check_mv)(x, y)
        return (dot if x.ndim == 1 else mv)(a, b)
    if x.ndim == 1 and y.ndim == 2:
        check_mm(x[None], y)
        result: Tensor = shape.squeeze_product(mm(shape.unsqueeze(a, 0), b), 0)
        result._bump_version()  # PyTorch squeezes in place
        return result
    return _folded(a, b) if _can_fold(a, b) else _batched(a, b)


def _can_fold(a: Tensor, b: Tensor) -> bool:
    """Tell whether a stack of matrices is multiplied as one matrix that has all their rows.

    So it is with a matrix or vector on the other side that needs a gradient, which is then one
    product; or if no copy is necessary.
    """
    stack, other = (a, b) if a._array.ndim >= b._array.ndim else (b, a)
    if other._array.ndim > 2:
        return False
    if other.requires_grad:
        return True
    if a._array.ndim == 2:
        return False
    array = stack._array if stack is a else np.swapaxes(stack._array, -2, -1)
    sizes, strides = array.shape, array.strides
    return array.size == 0 or all(
        strides[d] == strides[d + 1] * sizes[d + 1] for d in range(array.ndim - 2)
    )


def _folded(a: Tensor, b: Tensor) -> Tensor:
    """Multiply a stack with a matrix or a vector in one product; (A B)^T = B^T A^T turns sides."""
    turned = b._array.ndim > a._array.ndim
    if turned:
        last = b._array.ndim - 1
        a, b = shape.transpose(b, last - 1, last), shape.t(a) if a._array.ndim == 2 else a
    *outer, inner = a._array.shape
    rows = shape.reshape(a, (math.prod(outer), inner))
    if b._array.ndim == 1:
        check_mv(rows._array, b._array)
        return shape.unsafe_view(mv(rows, b), tuple(outer))
    check_mm(rows._array, b._array)
    result = shape.unsafe_view(mm(rows, b), (*outer, b._array.shape[1]))
    if not turned:
        return result
    result = shape.transpose(result, len(outer) - 1, len(outer))
    return result if result.is_contiguous() else shape.clone_contiguous(result)


def _batched(a: Tensor, b: Tensor) -> Tensor:
    """Multiply stacks of matrices pair by pair; stacks of different sizes are broadcast."""
    x, y = a._array.shape, b._array.shape
    if len(x) == len(y) == 3 and x[0] != y[0]:
        if x[0] == 1 and a.requires_grad:
            return matmul(shape.squeeze_dim(a, 0), b)
        if y[0] == 1 and b.requires_grad:
            return matmul(a, shape.squeeze_dim(b, 0))
    batch = broadcast_shape(x[:-2], y[:-2])
    count = math.prod(batch)
    rows = x[-2] if len(x) > 1 else 1
    left = shape.reshape(shape.expand(a, (*batch, rows, x[-1])), (count, rows, x[-1]))
    if len(y) == 1:
        right = shape.unsqueeze(shape.reshape(shape.expand(b, (*batch, *y)), (count, *y)), 2)
    else:
        right = shape.reshape(shape.expand(b, (*batch, *y[-2:])), (count, *y[-2:]))
    check_bmm(left._array, right._array)
    result = bmm(left, right)
    if len(y) == 1:
        result = shape.squeeze_dim(result, 2)
    return shape.unsafe_view(result, (*batch, *x[-2:-1], *(y[-1:] if len(y) > 1 else ())))


@functional("linear(Tensor input, weight, bias=None)")
def linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    r"""Map vectors affinely: $y = x W^\top + b$.

    A matrix with a bias becomes one `addmm`, over the transposed weight; anything else contiguous
    is viewed as a matrix first and viewed back after. These are the nodes one meets in the graph.

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
    if not x.ndim:
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are 0D and {w.ndim}D"
        )
    if bias is None or w.ndim != 2:
        result = matmul(input, shape.t(weight) if w.ndim == 2 else weight)
        return result if bias is None else result + bias
    if _can_fold_nodes(input, weight, bias):
        return _folded_nodes(input, weight, bias)
    rows = input
    if x.ndim != 2:
        rows = shape.reshape(input, (math.prod(x.shape[:-1]), x.shape[-1]))
    matrix = shape.t(weight)
    check_addmm(bias._array, rows._array, matrix._array)
    result = addmm(bias, rows, matrix)
    return result if x.ndim == 2 else shape.view(result, (*x.shape[:-1], w.shape[0]))


# ------------------------------------------------- one node for several, as long as nobody looks


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
        and x.dtype.kind == "f"
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
    in_front = to_input is not NO_EDGE and not matrix and next_priority()
    turning = to_weight is not NO_EDGE and next_priority()
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
    make_view(view, source, lambda base: applied(operation, base, *settings))
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
        if name not in ("base", "replay"):
            raise AttributeError(name)
        self.node._unfold()
        tensor, sizes = self.tensor(), self.array.shape
        base = wrap_as_normal(self.array.reshape(-1, sizes[-1]))
        base._edge = self.node._edges[0]
        if tensor is not None:
            base._version_counter = counter_of(tensor)
        self.base, self.replay = base, lambda base: applied(shape.view, base, sizes)
        return getattr(self, name)


def _operator(self: Tensor, other: Any) -> Any:
    """Multiply matrices: `x @ y`."""
    if isinstance(other, np.ndarray):
        other = wrap(other)
    return matmul(self, other) if isinstance(other, Tensor) else NotImplemented


def _reflected(self: Tensor, other: Any) -> Any:
    return matmul(wrap(other), self) if isinstance(other, np.ndarray) else NotImplemented


attach(__name__, {"__matmul__": _operator, "__rmatmul__": _reflected})
numpy_protocols.functions[np.outer] = lambda a, b: outer(
    as_tensor(a).reshape(-1), as_tensor(b).reshape(-1)
)
