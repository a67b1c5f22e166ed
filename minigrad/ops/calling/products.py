"""Call the products of vectors and matrices, as functions and methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops import elementwise, factors, linear_algebra
from minigrad.ops.calling import shaping
from minigrad.ops.calling.arguments import check_tensor, real_number
from minigrad.ops.calling.out import with_out
from minigrad.tensor import Tensor

__all__ = [
    "addmm",
    "bmm",
    "dot",
    "matmul",
    "mm",
    "mv",
    "outer",
]


def _no_tensor(name: str, first: Any, second: Any, argument: str) -> Exception:
    """Make the error for factors of which one is no tensor."""
    try:
        check_tensor(name, first)
        check_tensor(name, second, argument, 2)
    except TypeError as error:
        return error
    return AttributeError(f"{name}() got a tensor without entries")


def factors_of(dtype: np.dtype[Any], *values: Any) -> tuple[Any, ...]:
    """Give beta and alpha in the kind of the numbers that they multiply: 0.5 is 0 among whole."""
    numbers = (real_number(value, dtype) for value in values)
    return tuple(int(n) if dtype.kind in "iu" else n for n in numbers)


def _writing(product: Any, conversion: str = "none") -> Any:
    """Let a product write into a tensor, which must have its dtype."""
    return with_out(product, conversion=conversion)


def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Multiply tensors of any dimensions, as `input @ other` does.

    Raises:
        RuntimeError: If dtypes differ or sizes do not fit.
    """
    if out is not None:
        return _writing(matmul)(input, other, out=out)  # type: ignore[no-any-return]
    check_tensor("matmul", input)
    check_tensor("matmul", other, "other", 2)
    return linear_algebra.matmul(input, other)


def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Multiply two matrices.

    Raises:
        RuntimeError: If dtypes differ or sizes do not fit.
    """
    if out is not None:
        return _writing(mm)(input, mat2, out=out)  # type: ignore[no-any-return]
    try:
        factors.check_mm(input._array, mat2._array)
    except AttributeError:
        raise _no_tensor("mm", input, mat2, "mat2") from None
    return linear_algebra.mm(input, mat2)  # type: ignore[no-any-return]


def mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Multiply a matrix and a vector; raises as `mm` does."""
    if out is not None:
        return _writing(mv)(input, vec, out=out)  # type: ignore[no-any-return]
    try:
        factors.check_mv(input._array, vec._array)
    except AttributeError:
        raise _no_tensor("mv", input, vec, "vec") from None
    return linear_algebra.mv(input, vec)  # type: ignore[no-any-return]


def dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Multiply two vectors entry by entry, and add up; raises as `mm` does."""
    if out is not None:
        return _writing(dot)(input, tensor, out=out)  # type: ignore[no-any-return]
    try:
        factors.check_dot(input._array, tensor._array)
    except AttributeError:
        raise _no_tensor("dot", input, tensor, "tensor") from None
    return linear_algebra.dot(input, tensor)  # type: ignore[no-any-return]


def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Multiply two batches of matrices; raises as `mm` does."""
    if out is not None:
        return _writing(bmm)(input, mat2, out=out)  # type: ignore[no-any-return]
    try:
        factors.check_bmm(input._array, mat2._array)
    except AttributeError:
        raise _no_tensor("bmm", input, mat2, "mat2") from None
    return linear_algebra.bmm(input, mat2)  # type: ignore[no-any-return]


def addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: Any = 1,
    alpha: Any = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Multiply matrices and add a bias: `beta * input + alpha * (mat1 @ mat2)`.

    Raises:
        RuntimeError: If dtypes differ or sizes do not fit.
    """
    if out is not None:
        return _writing(addmm)(input, mat1, mat2, beta=beta, alpha=alpha, out=out)  # type: ignore[no-any-return]
    factors.check_addmm(input._array, mat1._array, mat2._array)
    if alpha == 1 and beta == 1:
        return linear_algebra.addmm(input, mat1, mat2)  # type: ignore[no-any-return]
    beta, alpha = factors_of(input._array.dtype, beta, alpha)
    return linear_algebra.addmm_scaled(input, mat1, mat2, beta, alpha)  # type: ignore[no-any-return]


def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Multiply each entry of one vector by each of another."""
    if out is not None:
        return _writing(outer, conversion="kind")(input, vec2, out=out)  # type: ignore[no-any-return]
    for name, tensor in (("self", input), ("vec2", vec2)):
        if tensor._array.ndim != 1:
            raise RuntimeError(
                f"outer: Expected 1-D argument {name}, but got {tensor._array.ndim}-D"
            )
    return elementwise.mul(shaping.view(input, (-1, 1)), vec2)  # type: ignore[no-any-return]
