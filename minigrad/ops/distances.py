r"""What vectors make together: distances, angles, bilinear forms, and the derivatives of these.

As for every product, the gradient of one factor is the gradient of the result times the others.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.autograd.grad_mode import no_grad
from minigrad.core.tape import Array, differentiable
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.creation.dtypes import scalar_name
from minigrad.faces import face
from minigrad.faces.arguments import as_floats, cast, dimension
from minigrad.ops import elementwise, shape
from minigrad.ops.choices import masked_fill_number, sgn
from minigrad.ops.linear_algebra import differ
from minigrad.ops.reduction import vector_norm
from minigrad.ops.type_promotion import applied, broadcast_shape, quietly

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
    if p < 2:
        slope = applied(masked_fill_number, np.abs(difference), difference == 0, 1) ** (p - 1)
        return applied(sgn, difference) * slope * (grad / distance ** (p - 1))
    return difference * np.abs(difference) ** (p - 2) * (grad / distance ** (p - 1))


@differentiable(
    "CdistBackward0",
    broadcasts=("x1", "x2"),
    x1=lambda grad, x1, x2, result, p: np.add.reduce(_pull(grad, x1, x2, result, p), axis=-2),
    x2=lambda grad, x1, x2, result, p: -np.add.reduce(_pull(grad, x1, x2, result, p), axis=-3),
)
@quietly
def cdist(x1: Array, x2: Array, p: float) -> Array:
    r"""Distances :math:`(\sum_k |x_{1,ik} - x_{2,jk}|^p)^{1/p}` of all pairs of rows."""
    sizes = np.abs(np.expand_dims(x1, -2) - np.expand_dims(x2, -3))
    if p == 0:
        return np.add.reduce((sizes != 0).astype(x1.dtype), axis=-1)
    if p == 1:
        return np.add.reduce(sizes, axis=-1)
    if p == 2:
        return np.sqrt(np.add.reduce(sizes * sizes, axis=-1))
    if p == math.inf:
        return np.maximum.reduce(sizes, axis=-1)
    return np.add.reduce(sizes**p, axis=-1) ** (1 / p)


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


@face(
    'cdist(Tensor x1, Tensor x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary")',
    method=False,
)
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
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    batch = broadcast_shape(a.shape[:-2], b.shape[:-2])
    if differ(a, b):
        raise RuntimeError(f"expected scalar type {scalar_name(a)} but found {scalar_name(b)}")
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
    if not k or not math.prod((*batch, n, m)):
        return wrap(np.zeros((*batch, n, m), a.dtype))
    return cdist(x1, x2, float(p))


# ---------------------------------------------------------------------- of vectors


@differentiable("NormBackward1", self=vector_norm.rules["self"])
@quietly
def norm_dim(self: Array, ord: Any, dim: Any, keepdim: Any) -> Array:
    r"""Norm along a dimension, under the name that the node of a distance has."""
    return vector_norm.forward(self, ord, dim, keepdim)


@face(
    "pairwise_distance(Tensor x1, Tensor x2, p=2.0, eps=1e-6, bool keepdim=False)",
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
    last = (len(sizes) - 1,) if sizes else ()
    order = 2 if p is None else p
    return norm_dim(difference, order, last, keepdim)


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
    if meeting.kind in "iub":
        name = dtypes.scalar_name(np.empty(0, meeting))
        raise RuntimeError(
            f"expected common dtype to be floating point, yet common dtype is {name}"
        )
    sizes = broadcast_shape(x1._array.shape, x2._array.shape)
    x1, x2 = (cast(x, meeting) for x in (x1, x2))
    if x1._array.shape != x2._array.shape:
        x1, x2 = shape.expand(x1, sizes), shape.expand(x2, sizes)
    number = dimension(dim, len(sizes))
    lengths = [shape.clone(x.norm(2, number, True)) for x in (x1, x2)]
    with no_grad():  # too short vectors count as constants
        for length in lengths:
            length.clamp_(min=eps)
    return ((x1 / lengths[0]) * (x2 / lengths[1])).sum(number)


# ---------------------------------------------------------------------- bilinear forms


@differentiable(
    "TrilinearBackward0",
    i1=lambda grad, i2, i3, expand1, expand2, expand3, sumdim: applied(
        trilinear, grad, i2, i3, sumdim, expand2, expand3, expand1
    ),
    i2=lambda grad, i1, i3, expand1, expand2, expand3, sumdim: applied(
        trilinear, i1, grad, i3, expand1, sumdim, expand3, expand2
    ),
    i3=lambda grad, i1, i2, expand1, expand2, expand3, sumdim: applied(
        trilinear, i1, i2, grad, expand1, expand2, sumdim, expand3
    ),
)
def trilinear(
    i1: Array, i2: Array, i3: Array, expand1: Any, expand2: Any, expand3: Any, sumdim: Any
) -> Array:
    r"""Product of three, summed over dimensions: the gradient takes the place of one of them.

    Each of the three is without some of the dimensions of the product, which are `expand1`,
    `expand2` and `expand3`; the sum takes away `sumdim`. So :math:`\sum_{ab} x_{na} w_{oab} y_{nb}`
    has the dimensions n, o, a, b, and expands are (1, 3), (0,) and (1, 2).
    """
    every = range(i1.ndim + len(expand1))
    first, second, third, left = (
        [dim for dim in every if dim not in gone] for gone in (expand1, expand2, expand3, sumdim)
    )
    return np.einsum(i1, first, i2, second, i3, third, left, optimize=True)


@face(
    "bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None)",
    method=False,
)
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    r"""Map pairs of vectors, $y_o = \sum_{ij} x_i W_{oij} z_j + b_o$.

    Args:
        input1: The vectors x.
        input2: The vectors z.
        weight: The array W.
        bias: The vector b, or None.

    Returns:
        The mapped vectors.

    Raises:
        RuntimeError: If the shapes or types do not fit together.

    Shape:
        - input1: (..., in1_features)
        - input2: (..., in2_features)
        - weight: (out_features, in1_features, in2_features)
        - bias: (out_features,)
        - output: (..., out_features)

    Example:
        >>> import minigrad as torch
        >>> x, z = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
        >>> torch.bilinear(x, z, torch.eye(2).unsqueeze(0))
        tensor([11.])
    """
    first, second, table = input1._array, input2._array, weight._array
    _check_bilinear(first, second, table, bias)
    rows = first.shape[:-1]
    flat1 = shape.view(input1.contiguous(), (first.size // (first.shape[-1] or 1), first.shape[-1]))
    flat2 = shape.view(input2.contiguous(), (flat1._array.shape[0], second.shape[-1]))
    product = trilinear(flat1, weight, flat2, (1, 3), (0,), (1, 2), (2, 3))
    result: Tensor = shape.view(product, (*rows, table.shape[0]))
    return result if bias is None else result + bias


def _check_bilinear(first: Any, second: Any, table: Any, bias: Tensor | None) -> None:
    if not (first.dtype == second.dtype == table.dtype):
        names = [dtypes.scalar_name(a).lower() for a in (first, second, table)]
        raise RuntimeError(
            f"All tensors must have the same dtype, got input1: {names[0]}, input2: {names[1]}, "
            f"weight: {names[2]}"
        )
    if first.ndim != second.ndim:
        raise RuntimeError(
            f"bilinear(): input dimensions do not match: got {first.ndim} and {second.ndim}"
        )
    if not first.ndim:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    for dim, (a, b) in enumerate(zip(first.shape[:-1], second.shape[:-1], strict=True)):
        if a != b:
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {dim}: got {a} and {b}"
            )
    for name, array, place in (("input1", first, 1), ("input2", second, 2)):
        expected = table.shape[dimension(place, table.ndim)]
        if array.shape[-1] != expected:
            raise RuntimeError(
                f"bilinear(): {name} size does not match weight size: got {array.shape[-1]} but "
                f"expected {expected}"
            )
    if bias is not None and bias._array.shape[0] != table.shape[0]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias._array.shape[0]} but "
            f"expected {table.shape[0]}"
        )
