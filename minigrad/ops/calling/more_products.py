"""Call the less usual products: powers and chains of matrices, Kronecker and cross."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.dtypes import c_name, scalar_name
from minigrad.ops import contraction, elementwise, factors, linear_algebra, reduction, shape
from minigrad.ops.calling import products, solving
from minigrad.ops.calling.arguments import dimension
from minigrad.ops.calling.matrices import check_argument, check_floating, check_number, check_square
from minigrad.ops.calling.out import with_out
from minigrad.ops.inplace import copy_
from minigrad.ops.meeting import broadcast_error
from minigrad.tensor import Tensor, wrap

__all__ = ["chain_matmul", "cross", "ger", "kron", "matrix_power", "vdot"]

# ---------------------------------------------------------------------- of vectors


@with_out
def vdot(input: Tensor, other: Tensor) -> Tensor:
    """Multiply two vectors entry by entry and add up, complex ones with the first conjugated.

    Example:
        >>> import minigrad as torch
        >>> torch.vdot(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
        tensor(11.)
    """
    check_argument("vdot", input, "input")
    check_argument("vdot", other, "other", 2)
    factors.check_dot(input._array, other._array)
    return contraction.vdot(input, other)  # type: ignore[no-any-return]


@with_out
def ger(input: Tensor, vec2: Tensor) -> Tensor:
    """Multiply each entry of one vector by each of another: `outer` under its older name."""
    return products.outer(input, vec2)


@with_out
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """Multiply vectors along a dimension entry by entry and add up; the others are broadcast.

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.vecdot(torch.ones(2, 3), torch.ones(3))
        tensor([3., 3.])
    """
    check_argument("linalg_vecdot", x, "x")
    check_argument("linalg_vecdot", y, "y", 2)
    a, b = x._array, y._array
    check_floating("linalg.vecdot", x)
    if factors.differ(a, b):
        raise RuntimeError(
            "linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
            f"{scalar_name(a)} and y of type {scalar_name(b)} instead"
        )
    if a.ndim == 1 and b.ndim == 1:
        return vdot(x, y)  # type: ignore[no-any-return]
    product = elementwise.mul(wrap(a.conj()) if a.dtype.kind == "c" else x, y)
    return reduction.sum_dim(product, (dimension(dim, product._array.ndim),), False)  # type: ignore[no-any-return]


@with_out
def linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """Give the cross products of vectors of three entries along a dimension.

    Raises:
        RuntimeError: If that dimension has another size, or the shapes do not meet.

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.cross(torch.tensor([1.0, 0, 0]), torch.tensor([0.0, 1, 0]))
        tensor([0., 0., 1.])
    """
    check_argument("linalg_cross", input, "input")
    check_argument("linalg_cross", other, "other", 2)
    a, b = input._array, other._array
    if a.ndim != b.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    number = dimension(dim, a.ndim)
    if a.shape[number] != 3 or b.shape[number] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {a.shape[number]} and "
            f"{b.shape[number]}"
        )
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        raise broadcast_error(a.shape, b.shape) from None
    if factors.differ(a, b):
        raise RuntimeError(f"expected scalar type {scalar_name(a)} but found {scalar_name(b)}")
    if a.dtype.kind == "b":
        raise NotImplementedError("\"cross\" not implemented for 'Bool'")
    return contraction.cross(input, other, number)  # type: ignore[no-any-return]


@with_out
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """Give cross products along a dimension; by default the first one of size 3.

    Example:
        >>> import minigrad as torch
        >>> torch.cross(torch.tensor([1.0, 0, 0]), torch.tensor([0.0, 1, 0]), dim=0)
        tensor([0., 0., 1.])
    """
    if dim is None:
        warnings.warn(
            "Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass "
            "the dim explicitly or simply use torch.linalg.cross.\nThe default value of dim will "
            "change to agree with that of linalg.cross in a future release.",
            UserWarning,
            stacklevel=3,
        )
        dim = next((d for d, size in enumerate(input._array.shape) if size == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return linalg_cross(input, other, dim=dim)  # type: ignore[no-any-return]


# ---------------------------------------------------------------------- of matrices


def _cost(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """Find where a chain of matrices is best split, for each part of it."""
    count = len(sizes) - 1
    best = {(i, i): 0 for i in range(count)}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            costs = [
                best[i, k] + best[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                for k in range(i, j)
            ]
            best[i, j] = min(costs)
            last = count == 3 and length == 2 and costs[0] == costs[1]  # as PyTorch's shortcut does
            split[i, j] = i + (1 if last else costs.index(best[i, j]))
    return split


@with_out
def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """Multiply two or more matrices in the order that costs least.

    Args:
        tensors: Matrices; the first and the last may be vectors.

    Raises:
        RuntimeError: If sizes do not fit, or dtypes differ.

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.multi_dot([torch.ones(2, 3), torch.ones(3, 4), torch.ones(4)])
        tensor([12., 12.])
    """
    chain = list(tensors)
    count = len(chain)
    if count < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {count}")
    size: list[int] = []
    for end, place in (("first", 0), ("last", -1)):
        ndim = chain[place]._array.ndim
        if ndim not in (1, 2):
            raise RuntimeError(f"multi_dot(): the {end} tensor must be 1D or 2D but got {ndim}D")
    given = [tensor._array.shape for tensor in chain]
    if len(given[0]) == 1:
        chain[0] = shape.unsqueeze(chain[0], 0)
    else:
        size.append(given[0][0])
    if len(given[-1]) == 1:
        chain[-1] = shape.unsqueeze(chain[-1], 1)
    else:
        size.append(given[-1][1])
    for number, tensor in enumerate(chain):
        if tensor._array.ndim != 2:
            raise RuntimeError(
                f"multi_dot(): tensor {number} must be 2D but got {tensor._array.ndim}D"
            )
        if factors.differ(tensor._array, chain[0]._array):
            raise RuntimeError(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{c_name(chain[0]._array)} and tensor {number} {c_name(tensor._array)}"
            )
    for number in range(count - 1):
        if chain[number]._array.shape[1] != chain[number + 1]._array.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {number} and {number + 1} with shapes "
                f"{list(given[number])} and {list(given[number + 1])} cannot be multiplied"
            )
    split = _cost([chain[0]._array.shape[0], *(tensor._array.shape[1] for tensor in chain)])

    def product(i: int, j: int) -> Tensor:
        if i == j:
            return chain[i]
        k = split[i, j]
        return products.mm(product(i, k), product(k + 1, j))

    return shape.view(product(0, count - 1), tuple(size))  # type: ignore[no-any-return]


def chain_matmul(*matrices: Any, out: Tensor | None = None) -> Tensor:
    """Multiply matrices in the order that costs least: `linalg.multi_dot` under its older name."""
    warnings.warn(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use "
        "torch.linalg.multi_dot instead, which accepts a list of two or more tensors rather than "
        "multiple parameters.",
        UserWarning,
        stacklevel=2,
    )
    if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)):
        matrices = tuple(matrices[0])
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    for matrix in matrices:
        if matrix._array.ndim != 2:
            raise RuntimeError(f"Tensor dimension is {matrix._array.ndim}, expected 2 instead.")
    if len(matrices) == 1:
        return shape.clone(matrices[0])  # type: ignore[no-any-return]
    return multi_dot(matrices, out=out)  # type: ignore[no-any-return]


@with_out
def matrix_power(input: Tensor, n: int) -> Tensor:
    """Multiply square matrices by themselves; negative powers are those of the inverse.

    Args:
        input: Of shape (..., m, m).
        n: The exponent, a whole number.

    Raises:
        LinAlgError: If a matrix is singular and n is negative.

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.matrix_power(torch.tensor([[1.0, 1.0], [0.0, 1.0]]), 5)
        tensor([[1., 5.],
                [0., 1.]])
    """
    check_argument("linalg_matrix_power", input, "input")
    check_number("linalg_matrix_power", n, "n", 2)
    check_square("linalg.matrix_power", input)
    array = input._array
    if n == 0:
        eye = np.broadcast_to(np.eye(array.shape[-1], dtype=array.dtype), array.shape)
        return copy_(shape.clone(input), wrap(eye))
    if n == 1:
        return shape.clone(input)  # type: ignore[no-any-return]
    if n < 0:
        input, n = solving.inv(input), -n
        if n == 1:
            return input
    multiply = linear_algebra.matmul
    if n == 3:
        return multiply(multiply(input, input), input)
    result, square = None, None
    while n:
        n, odd = divmod(n, 2)
        square = input if square is None else multiply(square, square)
        if odd:
            result = square if result is None else multiply(result, square)
    assert result is not None
    return result


@with_out
def kron(input: Tensor, other: Tensor) -> Tensor:
    r"""Give the Kronecker product: each entry of one tensor times the whole of another.

    Example:
        >>> import minigrad as torch
        >>> torch.kron(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0]))
        tensor([ 1., 10.,  2., 20.])
    """
    check_argument("kron", input, "input")
    check_argument("kron", other, "other", 2)
    ndim = max(input._array.ndim, other._array.ndim)
    a = (1,) * (ndim - input._array.ndim) + input._array.shape
    b = (1,) * (ndim - other._array.ndim) + other._array.shape
    first = _reshaped(input, tuple(size for each in a for size in (each, 1)))
    second = _reshaped(other, tuple(size for each in b for size in (1, each)))
    product = elementwise.mul(first, second)
    return shape.unsafe_view(product, tuple(x * y for x, y in zip(a, b, strict=True)))  # type: ignore[no-any-return]


def _reshaped(tensor: Tensor, sizes: tuple[int, ...]) -> Tensor:
    if tensor.is_contiguous():
        return shape.unsafe_view(tensor, sizes)  # type: ignore[no-any-return]
    return linear_algebra.reshape(tensor, sizes)


methods: dict[str, Any] = {
    "cross": cross,
    "ger": ger,
    "kron": kron,
    "matrix_power": matrix_power,
    "vdot": vdot,
}


def _tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else wrap(np.asarray(value))


def _numpy_cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1,
                 axis: int | None = None) -> Tensor:  # fmt: skip
    first, second = _tensor(a), _tensor(b)
    if axis is None and (axisa, axisb, axisc) != (-1, -1, -1):
        raise TypeError("np.cross of tensors takes axis=, not axisa=, axisb= or axisc=.")
    number = -1 if axis is None else axis
    while first._array.ndim < second._array.ndim:
        first = shape.unsqueeze(first, 0)
    while second._array.ndim < first._array.ndim:
        second = shape.unsqueeze(second, 0)
    return linalg_cross(first, second, dim=number)  # type: ignore[no-any-return]


def _numpy_outer(a: Any, b: Any, out: Any = None) -> Tensor:
    return products.outer(_tensor(a).reshape(-1), _tensor(b).reshape(-1))


functions: dict[Any, Any] = {
    np.cross: _numpy_cross,
    np.kron: lambda a, b: kron(_tensor(a), _tensor(b)),
    np.linalg.matrix_power: lambda a, n: matrix_power(a, n),
    np.linalg.multi_dot: lambda arrays, out=None: multi_dot([_tensor(a) for a in arrays]),
    np.outer: _numpy_outer,
    np.vdot: lambda a, b: vdot(_tensor(a).reshape(-1), _tensor(b).reshape(-1)),
}
