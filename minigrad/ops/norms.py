"""Norms, the distances and angles that they give, and their derivatives."""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.autograd.grad_mode import no_grad
from minigrad.autograd.rules import applied, quietly
from minigrad.core.operation import Array, differentiable
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.creation.dtypes import scalar_name
from minigrad.faces import face
from minigrad.faces.arguments import as_floats, cast, dimension, dimensions, number
from minigrad.ops import choices, elementwise, reduction, shape
from minigrad.ops.choices import masked_fill_number, sgn
from minigrad.ops.linear_systems import check_floating, linalg
from minigrad.ops.reduction import norm_rule
from minigrad.ops.type_promotion import broadcast_shape, check_one_type, meet_types, no_booleans


def _check_dtype(name: str, array: Any, dtype: Any) -> None:
    """Raise if a norm is not computed in a type."""
    wanted = dtype.numpy
    other = scalar_name(np.empty(0, wanted))
    if wanted.kind not in "fc":
        raise RuntimeError(f"{name}: dtype should be floating point or complex, but got {other}")
    if (wanted.kind == "c") != (array.dtype.kind == "c"):
        kind = "complex" if array.dtype.kind == "c" else "real"
        raise RuntimeError(f"{name}: dtype should be {kind} for {kind} inputs, but got {other}")
    if wanted.itemsize < array.itemsize:
        raise RuntimeError(
            f"{name}: the dtype of the input ({scalar_name(array)}) should be convertible without "
            f"narrowing to the specified dtype ({other})"
        )


def _refuse_nothing(array: Any, order: Any, dims: tuple[int, ...] | None) -> None:
    """Raise where a norm of no entries has no meaning: if it looks for the largest or smallest."""
    if array.size or 0 <= order < math.inf:
        return
    what = f"linalg.vector_norm cannot compute the {order:g} norm on"
    why = "the operation does not have an identity"
    if dims is None:
        raise RuntimeError(f"{what} an empty tensor because {why}")
    for dim in dims:
        if not array.shape[dim]:
            raise RuntimeError(
                f"{what} the dimension {dim}because this dimension is empty and {why}"
            )


def _order(order: Any) -> Any:
    if isinstance(order, complex):
        raise RuntimeError(
            "linalg.vector_norm: Expected a non-complex scalar as the order of norm."
        )
    return order


@linalg("vector_norm(Tensor x, ord=2, dim=None, keepdim=False, *, dtype=None, out=None)")
def vector_norm(x: Tensor, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Tensor:
    r"""Give the norm :math:`(\sum |x|^p)^{1/p}` of all entries, or along dimensions.

    Args:
        x: The tensor.
        ord: p, any number; infinity for the largest entry, 0 for how many are not 0.
        dim: A dimension, or several; None for all entries.
        keepdim: Keep the dimensions, with size 1.
        dtype: The type to compute in.

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.vector_norm(torch.tensor([3.0, 4.0]))
        tensor(5.)
    """
    ord = _order(number(ord, "linalg_vector_norm", "ord", 2))
    check_floating("linalg.vector_norm", x)
    array = x._array
    if dtype is not None:
        _check_dtype("linalg.vector_norm", array, dtype)
    dims = None if dim is None or not (dim == 0 or np.size(dim)) else dimensions(dim, array.ndim)
    _refuse_nothing(array, ord, dims)
    if array.dtype.kind == "c":
        x, dtype = choices.abs(x if dtype is None else x.to(dtype)), None
    if dtype is not None and dtype.numpy != array.dtype:
        return reduction.vector_norm_as(x, ord, dims, keepdim, dtype.numpy)
    return reduction.vector_norm(x, ord, dims, keepdim)


@linalg(
    "norm(Tensor input, ord=None, dim=None, keepdim=False, *, dtype=None, out=None)",
    numpy=np.linalg.norm,
)
def norm_of(input: Tensor, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Tensor:
    """Give the norm of a vector or of a matrix.

    Args:
        input: The tensor.
        ord: The order of the norm. For one dimension a number (`vector_norm`), for two "fro". None
            means 2, or for a matrix the root of the sum of squares.
        dim: One dimension, or two; None for all entries.
        keepdim: Keep these dimensions, with size 1.
        dtype: The type to compute in.

    Raises:
        RuntimeError: If another norm of matrices is asked for.

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.norm(torch.tensor([[3.0, 0.0], [0.0, 4.0]]))
        tensor(5.)
    """
    dims = None if dim is None else list(dim) if isinstance(dim, (tuple, list)) else [dim]
    ndim = input._array.ndim
    if dims is not None and len(dims) not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {dims}"
        )
    if dims is None and ord is not None and ndim not in (1, 2):
        raise RuntimeError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
            f"{ndim}D."
        )
    two = len(dims) == 2 if dims is not None else ndim == 2
    if isinstance(ord, str) and not two:
        raise RuntimeError(
            f"linalg.matrix_norm: dim must be a 2-tuple. Got {dim}"
            if dims
            else "linalg.matrix_norm: The input tensor A must have at least 2 dimensions."
        )
    if isinstance(ord, str) or (ord is not None and two):
        return vector_norm(input, _of_matrices(ord), dims, keepdim, dtype)
    return vector_norm(input, 2 if ord is None else ord, dims, keepdim, dtype)


def _of_matrices(order: Any) -> int:
    """Give the order of entries that a norm of matrices has."""
    if order != "fro":
        written = order if isinstance(order, str) else f"{order:g}"
        raise RuntimeError(
            f"linalg.matrix_norm: Order {written} not supported. Sum the absolute values of rows "
            "or columns, or take the singular values of torch.linalg.svd(A)."
        )
    return 2


_NORM = "norm(Tensor input, p='fro', dim=None, keepdim=False"


@face(f"{_NORM}, dtype=None)", function=False)
@face(f"{_NORM}, out=None, dtype=None)", out="none", method=False)
def norm(input: Tensor, p: Any, dim: Any, keepdim: bool, dtype: Any) -> Tensor:
    """Give the p-norm of all entries, or along dimensions.

    Args:
        input: The tensor.
        p: The order of the norm, also infinite; "fro" means 2.
        dim: A dimension or several; all if it is left out.
        keepdim: Keep the dimensions, with size 1.
        dtype: The type to compute in.

    Raises:
        RuntimeError: If the entries are integers, or there is none where the norm needs one.

    Example:
        >>> import minigrad as torch
        >>> torch.norm(torch.tensor([3.0, -4.0]))
        tensor(5.)
    """
    if isinstance(p, str) and dim is not None and not isinstance(dim, int):
        len(dim)  # a tensor without dimensions has none
    order = _of_matrices(p) if isinstance(p, str) else 2 if p is None else p
    return vector_norm(input, order, dim, keepdim, dtype)


# ---------------------------------------------------------------------- of a difference


@differentiable(
    "DistBackward0",
    broadcasts=True,
    self=lambda grad, self, other, result, p: norm_rule(grad, self - other, result, p, None, True),
    other=lambda grad, self, other, result, p: _negative(
        norm_rule(grad, self - other, result, p, None, True)
    ),
)
@quietly
def dist(self: Array, other: Array, p: Any) -> Array:
    r"""Norm of a difference: the gradients are that of the norm, and its negative."""
    return reduction.vector_norm.forward(self - other, p, None, False)


def _negative(gradient: Any) -> Any:
    return None if gradient is None else -gradient


@face("dist(Tensor input, Tensor other, Number p=2)")
def distance(input: Tensor, other: Tensor, p: float) -> Tensor:
    """Give the p-norm of the difference of two tensors.

    Example:
        >>> import minigrad as torch
        >>> torch.dist(torch.tensor([0.0, 0.0]), torch.tensor([3.0, 4.0]))
        tensor(5.)
    """
    p = _order(p)
    if "b" in (input._array.dtype.kind, other._array.dtype.kind):
        raise no_booleans(TypeError(), np.empty(0, bool), np.empty(0))
    if "c" in (input._array.dtype.kind, other._array.dtype.kind):
        return distance(choices.abs(elementwise.sub(input, other)), wrap(np.zeros(())), p)
    if input._array.dtype.kind in "iu" and other._array.dtype.kind in "iu":
        raise RuntimeError(
            "norm(): input dtype should be either floating point or complex. Got "
            f"{input.dtype.tensor_type} instead."
        )
    first, second = _floats(input, other), _floats(other, input)
    if first._array.dtype != second._array.dtype:
        return meet_types(lambda a, b: dist(a, b, p), first, second)
    return dist(first, second, p)


def _floats(input: Tensor, other: Tensor) -> Tensor:
    if input._array.dtype.kind not in "iu":
        return input
    kind = other._array.dtype.kind
    return cast(input, other._array.dtype if kind == "f" else np.dtype("float32"))


# ---------------------------------------------------------------------- of all pairs of rows


def _pull(grad: Any, x1: Any, x2: Any, result: Any, p: float) -> Any:
    r"""Give :math:`g_{ij}\, \partial d_{ij} / \partial x_{1,i}`; 0 where a distance is 0."""
    difference = np.expand_dims(x1, -2) - np.expand_dims(x2, -3)
    grad, distance = np.expand_dims(grad, -1), np.expand_dims(result, -1)
    if p == 0:
        return difference * grad * 0
    if p == 1:
        return applied(sgn, difference) * grad
    if p == math.inf:
        farthest = np.where(np.abs(difference) == distance, grad, np.zeros_like(grad))
        return applied(sgn, difference) * farthest
    distance = applied(masked_fill_number, distance, distance == 0, 1)
    if p == 2:
        return grad * (difference / distance)
    slope = applied(masked_fill_number, np.abs(difference), difference == 0, 1) ** (p - 1)
    return applied(sgn, difference) * slope * (grad / distance ** (p - 1))


@differentiable(
    "CdistBackward0",
    broadcasts=("x1", "x2"),
    x1=lambda grad, x1, x2, result, p: np.add.reduce(_pull(grad, x1, x2, result, p), axis=-2),
    x2=lambda grad, x1, x2, result, p: -np.add.reduce(_pull(grad, x1, x2, result, p), axis=-3),
)
@quietly
def cdist(x1: Array, x2: Array, p: float) -> Array:
    r"""Distances :math:`(\sum_k |x_{1,ik} - x_{2,jk}|^p)^{1/p}` of all pairs of rows."""
    difference = np.expand_dims(x1, -2) - np.expand_dims(x2, -3)
    p = float(difference.dtype.type(p)) if difference.dtype.kind == "f" else p
    return reduction.vector_norm.forward(difference, p, -1, False)


def _ratio(grad: Any, result: Any) -> Any:
    return applied(masked_fill_number, grad / result, result == 0, 0)


def _euclidean_left(grad: Any, x1: Any, x2: Any, result: Any) -> Any:
    ratio = _ratio(grad, result)
    return x1 * np.add.reduce(ratio, axis=-1, keepdims=True) - ratio @ x2


def _euclidean_right(grad: Any, x1: Any, x2: Any, result: Any) -> Any:
    ratio = _ratio(grad, result)
    total = np.expand_dims(np.add.reduce(ratio, axis=-2), -1)
    return x2 * total - np.swapaxes(ratio, -1, -2) @ x1


@differentiable("EuclideanDistBackward0", x1=_euclidean_left, x2=_euclidean_right)
@quietly
def euclidean_dist(x1: Array, x2: Array) -> Array:
    r"""Euclidean distances of many rows by one product: :math:`|a|^2 + |b|^2 - 2 a b^\top`."""
    rows = np.add.reduce(x1 * x1, axis=-1, keepdims=True)
    columns = np.swapaxes(np.add.reduce(x2 * x2, axis=-1, keepdims=True), -1, -2)
    squares = rows + columns - (x1 @ np.swapaxes(x2, -1, -2)) * 2
    return np.sqrt(np.maximum(squares, 0) if squares.dtype.kind == "f" else squares)


_MODES = (
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)


@face(f'cdist(Tensor x1, Tensor x2, float p=2.0, compute_mode="{_MODES[0]}")', method=False)
def distances_of_rows(x1: Tensor, x2: Tensor, p: float, compute_mode: str) -> Tensor:
    r"""Give the distances of each row of one tensor to each row of another.

    Args:
        x1: Of shape (..., n, k).
        x2: Of shape (..., m, k).
        p: The order of the norm, from 0 to infinity.
        compute_mode: Whether Euclidean distances may be computed by a product of matrices, which
            is quick and less exact: if there are more than 25 rows (the default), always
            ("use_mm_for_euclid_dist"), or never ("donot_use_mm_for_euclid_dist").

    Returns:
        Of shape (..., n, m). Where a distance is 0 its gradient is 0.

    Example:
        >>> import minigrad as torch
        >>> torch.cdist(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
        tensor([[5., 0.]])
    """
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    a, b = x1._array, x2._array
    for name, array in (("X1", a), ("X2", b)):
        if array.ndim < 2:
            raise RuntimeError(
                f"cdist only supports at least 2D tensors, {name} got: {array.ndim}D"
            )
    if a.shape[-1] != b.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {a.shape[-1]} X2: {b.shape[-1]}"
        )
    for name, array in (("X1", a), ("X2", b)):
        if array.dtype.kind in "iub":
            raise RuntimeError(
                f"cdist only supports floating-point dtypes, {name} got: {scalar_name(array)}"
            )
    if not p >= 0:
        raise RuntimeError("cdist only supports non-negative p values")
    batch = broadcast_shape(a.shape[:-2], b.shape[:-2])
    check_one_type(a, b)
    if a.dtype.kind == "f" and a.dtype.itemsize == 2:
        raise NotImplementedError("\"cdist\" not implemented for 'Half'")
    n, m, k = a.shape[-2], b.shape[-2], a.shape[-1]
    by_product = compute_mode == _MODES[1] or (compute_mode == _MODES[0] and max(n, m) > 25)
    if p == 2 and by_product and min(n, m, k) and math.prod(batch):
        first, second = (
            tensor if tensor._array.shape == sizes else shape.expand(tensor, sizes)
            for tensor, sizes in ((x1, (*batch, n, k)), (x2, (*batch, m, k)))
        )
        return shape.view(euclidean_dist(first, second), (*batch, n, m))
    if not k:
        return wrap(np.zeros((*batch, n, m), a.dtype))
    return cdist(x1, x2, float(p))


# ---------------------------------------------------------------------- of vectors


@differentiable("NormBackward1", self=reduction.vector_norm.rules["self"])
@quietly
def norm_dim(self: Array, ord: Any, dim: Any, keepdim: Any) -> Array:
    r"""Norm along a dimension, under the name that the node of a distance has."""
    return reduction.vector_norm.forward(self, ord, dim, keepdim)


@face(
    "pairwise_distance(Tensor x1, Tensor x2, float p=2.0, float eps=1e-6, bool keepdim=False)",
    method=False,
)
def pairwise_distance(x1: Tensor, x2: Tensor, p: float, eps: float, keepdim: bool) -> Tensor:
    r"""Give the distance of vectors, $\|x_1 - x_2 + \epsilon\|_p$ along the last dimension.

    Args:
        x1: Vectors.
        x2: Other ones, which may be broadcast.
        p: The order of the norm.
        eps: Is added to the difference, so that the norm has a gradient where they are equal.
        keepdim: Keep the last dimension, with size 1.

    Returns:
        The distances.

    Shape:
        - x1 and x2: (N, D), or (D,)
        - output: (N,), or ()

    Example:
        >>> import minigrad as torch
        >>> torch.pairwise_distance(torch.zeros(1, 2), torch.tensor([[3.0, 4.0]]))
        tensor([5.0000])
    """
    sizes = broadcast_shape(x1._array.shape, x2._array.shape)
    difference = elementwise.add_number(as_floats(x1 - x2), eps)
    if difference._array.dtype.kind == "c":
        difference = choices.abs(difference)
    last = (len(sizes) - 1,) if sizes else ()
    return norm_dim(difference, 2.0 if p is None else float(p), last, keepdim)


@face("cosine_similarity(Tensor x1, Tensor x2, dim=1, eps=1e-8)", method=False)
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int, eps: float) -> Tensor:
    r"""Give the cosine of the angle of vectors, $x_1 \cdot x_2 / (\|x_1\| \|x_2\|)$.

    Args:
        x1: Vectors.
        x2: Other ones, which may be broadcast.
        dim: The dimension along which the vectors lie.
        eps: The least that a norm counts as.

    Returns:
        The cosines: the shape of the inputs without the dimension.

    Raises:
        RuntimeError: If the entries are integers.

    Example:
        >>> import minigrad as torch
        >>> torch.cosine_similarity(torch.tensor([1.0, 0.0]), torch.tensor([3.0, 4.0]), dim=0)
        tensor(0.6000)
    """
    meeting = dtypes.result_type(x1._array, x2._array)
    if meeting.kind in "iubc":
        name = scalar_name(np.empty(0, meeting))
        raise RuntimeError(
            f"expected common dtype to be floating point, yet common dtype is {name}"
        )
    if not eps >= 0:
        raise RuntimeError(f"eps must be non-negative, got: {eps:g}")
    sizes = broadcast_shape(x1._array.shape, x2._array.shape)
    x1, x2 = (cast(x, meeting) if x._array.dtype.kind in "iub" else x for x in (x1, x2))
    if x1._array.shape != x2._array.shape:
        x1, x2 = shape.expand(x1, sizes), shape.expand(x2, sizes)
    number = dimension(dim, len(sizes))
    lengths = [shape.clone(x.norm(2, number, True)) for x in (x1, x2)]
    with no_grad():  # too short vectors count as constants
        for length in lengths:
            length.clamp_(min=eps)
    return ((x1 / lengths[0]) * (x2 / lengths[1])).sum(number)
