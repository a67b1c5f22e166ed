"""Norms, the distances and angles that they give, and their derivatives."""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.grad_mode import no_grad
from minigrad.core.tensor import Tensor
from minigrad.ops import choices, elementwise, reduction, shape
from minigrad.ops.decompositions import linalg
from minigrad.ops.joining import broadcast_tensors
from minigrad.ops.type_promotion import check_one_type
from minigrad.signatures import variants
from minigrad.signatures.arguments import as_floats, dimension, dimensions, number
from minigrad.signatures.signature import Dtype, Number


@linalg(out="none")
def vector_norm(
    x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Dtype | None = None
) -> Tensor:
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
    ord = number(ord, "linalg_vector_norm", "ord")
    if x._array.dtype.kind in "iub":
        raise RuntimeError(f"a norm is one of floats, got {x.dtype}. Convert with .float().")
    x = choices.abs(x) if x.is_complex() else x
    dims = None if dim is None or not (dim == 0 or np.size(dim)) else dimensions(dim, x.ndim)
    x = x if dtype is None else x.to(dtype)
    return reduction.vector_norm(x, ord, dims, keepdim)


@linalg("norm", out="none", numpy=np.linalg.norm)
def norm_of(
    input: Tensor,
    ord: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Dtype | None = None,
) -> Tensor:
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
    count = input.ndim if dim is None else np.size(dim)
    if count not in (1, 2) and (dim, ord) != (None, None):
        raise RuntimeError("linalg.norm is the norm of a vector or a matrix: of 1 or 2 dimensions")
    if count == 2 and ord is not None:
        ord = _of_matrices(ord)
    return vector_norm(input, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


def _of_matrices(order: Any) -> int:
    """Give the order of entries that a norm of matrices has."""
    if order != "fro":
        raise RuntimeError(f"there is torch.linalg.matrix_norm(A, {order!r}) for norms of matrices")
    return 2


@variants(out="none")
def norm(
    input: Tensor,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    dtype: Dtype | None = None,
) -> Tensor:
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
    order = _of_matrices(p) if isinstance(p, str) else 2 if p is None else p
    return vector_norm(input, order, dim, keepdim, dtype=dtype)


# ---------------------------------------------------------------------- of a difference


@variants()
def dist(input: Tensor, other: Tensor, p: Number = 2) -> Tensor:
    """Give the p-norm of the difference of two tensors.

    Example:
        >>> import minigrad as torch
        >>> torch.dist(torch.tensor([0.0, 0.0]), torch.tensor([3.0, 4.0]))
        tensor(5.)
    """
    if not (input.is_floating_point() and other.is_floating_point()):
        raise RuntimeError(f"a distance is one of floats, got {input.dtype} and {other.dtype}")
    return reduction.vector_norm(input - other, p, None, False)


@variants(method=False)
def cdist(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    compute_mode: Any = "use_mm_for_euclid_dist_if_necessary",
) -> Tensor:
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
    a, b = x1._array, x2._array
    if min(a.ndim, b.ndim) < 2 or a.shape[-1] != b.shape[-1] or not p >= 0:
        raise RuntimeError(
            f"cdist takes rows of one length and p from 0 on, not {a.shape}, {b.shape} and {p}"
        )
    check_one_type(a, b)
    many = max(a.shape[-2], b.shape[-2]) > 25 and compute_mode.endswith("if_necessary")
    if p != 2 or not (many or compute_mode == "use_mm_for_euclid_dist"):
        return reduction.vector_norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, -1, False)
    rows, columns = ((x * x).sum(-1) for x in (x1, x2))
    squares = rows.unsqueeze(-1) + columns.unsqueeze(-2) - (x1 @ x2.mT) * 2
    none = squares.detach() <= 0  # at a distance of 0 the root has no slope
    return squares.masked_fill(none, 1).sqrt().masked_fill(none, 0)


# ---------------------------------------------------------------------- of vectors


@variants(method=False)
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
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
    difference = elementwise.add_number(as_floats(x1 - x2), eps)
    last = difference.ndim - 1
    return reduction.vector_norm(difference, p, () if last < 0 else (last,), keepdim)


@variants(method=False)
def cosine_similarity(x1: Tensor, x2: Tensor, dim: Any = 1, eps: float = 1e-8) -> Tensor:
    r"""Give the cosine of the angle of vectors, $x_1 \cdot x_2 / (\|x_1\| \|x_2\|)$.

    Args:
        x1: Vectors.
        x2: Other ones, which may be broadcast.
        dim: The dimension along which the vectors lie.
        eps: The least that a norm counts as.

    Returns:
        The cosines: the shape of the inputs without the dimension.

    Example:
        >>> import minigrad as torch
        >>> torch.cosine_similarity(torch.tensor([1.0, 0.0]), torch.tensor([3.0, 4.0]), dim=0)
        tensor(0.6000)
    """
    x1, x2 = broadcast_tensors(as_floats(x1), as_floats(x2))
    number = dimension(dim, x1.ndim)
    lengths = [shape.clone(x.norm(2, number, True)) for x in (x1, x2)]
    with no_grad():  # too short vectors count as constants
        for length in lengths:
            length.clamp_(min=eps)
    return ((x1 / lengths[0]) * (x2 / lengths[1])).sum(number)
