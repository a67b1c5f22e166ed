"""Call the operations that compare vectors: distances, angles, bilinear forms."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.autograd.modes import no_grad
from minigrad.ops import distances, elementwise, shape
from minigrad.ops.calling.arguments import cast, check_tensor, dimension
from minigrad.ops.calling.norms import norm
from minigrad.ops.meeting import broadcast_error
from minigrad.tensor import Tensor

__all__ = ["bilinear", "cosine_similarity", "pairwise_distance"]


def _broadcast_shape(a: Tensor, b: Tensor) -> tuple[int, ...]:
    have, other = a._array.shape, b._array.shape
    try:
        return np.broadcast_shapes(have, other)
    except ValueError:
        raise broadcast_error(have, other) from None


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
    check_tensor("pairwise_distance", x1, "x1", 1)
    check_tensor("pairwise_distance", x2, "x2", 2)
    sizes = _broadcast_shape(x1, x2)
    difference = x1 - x2
    if difference._array.dtype.kind in "iub":
        difference = cast(difference, dtypes.get_default_dtype().numpy)
    difference = elementwise.add_number(difference, eps)
    last = (len(sizes) - 1,) if sizes else ()
    order = 2 if p is None else p
    return distances.norm_dim(difference, order, last, keepdim)  # type: ignore[no-any-return]


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
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
    check_tensor("cosine_similarity", x1, "x1", 1)
    check_tensor("cosine_similarity", x2, "x2", 2)
    meeting = dtypes.result_type(x1._array, x2._array)
    if meeting.kind in "iub":
        name = dtypes.scalar_name(np.empty(0, meeting))
        raise RuntimeError(
            f"expected common dtype to be floating point, yet common dtype is {name}"
        )
    sizes = _broadcast_shape(x1, x2)
    x1, x2 = (cast(x, meeting) for x in (x1, x2))
    if x1._array.shape != x2._array.shape:
        x1, x2 = shape.expand(x1, sizes), shape.expand(x2, sizes)
    number = dimension(dim, len(sizes))
    lengths = [shape.clone(norm(x, 2, number, True)) for x in (x1, x2)]
    with no_grad():  # too short vectors count as constants
        for length in lengths:
            length.clamp_(min=eps)
    return ((x1 / lengths[0]) * (x2 / lengths[1])).sum(number)


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
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
    for position, (name, value) in enumerate(
        (("input1", input1), ("input2", input2), ("weight", weight)), 1
    ):
        check_tensor("bilinear", value, name, position)
    first, second, table = input1._array, input2._array, weight._array
    _check_bilinear(first, second, table, bias)
    rows = first.shape[:-1]
    flat1 = shape.view(input1.contiguous(), (first.size // (first.shape[-1] or 1), first.shape[-1]))
    flat2 = shape.view(input2.contiguous(), (flat1._array.shape[0], second.shape[-1]))
    product = distances.trilinear(flat1, weight, flat2, (1, 3), (0,), (1, 2), (2, 3))
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


methods: dict[str, Any] = {}
