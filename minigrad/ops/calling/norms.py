"""Measure tensors by their norms, and the distances between them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from minigrad.ops import elementwise, reduction, statistics
from minigrad.ops.calling import arithmetic
from minigrad.ops.calling.arguments import cast, check_tensor, dimension, dimensions
from minigrad.ops.calling.out import with_out
from minigrad.ops.calling.reducing import computes_in_another
from minigrad.ops.calling.spellings import numpy_spellings
from minigrad.ops.inplace import in_place
from minigrad.ops.later import enter
from minigrad.ops.meeting import meet_types, no_booleans
from minigrad.tensor import Tensor, wrap

__all__ = ["dist", "norm", "renorm"]


@functools.partial(with_out, name="linalg_vector_norm")
@numpy_spellings
def norm(
    input: Tensor,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    dtype: Any = None,
) -> Tensor:
    """Give the p-norm of all entries, or along dimensions.

    Args:
        input: The tensor.
        p: The order of the norm, also infinite; "fro" means 2, and "nuc" the sum of the singular
            values.
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
    check_tensor("norm", input)
    if isinstance(p, str):
        dims = tuple(range(input.ndim)) if dim is None else dim
        several = isinstance(dims, (tuple, list))
        if p == "fro":
            if several and dim is not None and len(dims) > 2:
                given = " ".join(map(str, dims))
                raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {given}")
        elif p == "nuc":
            return _nuclear_norm(input, dims if several else (dims,), keepdim, dtype)
        else:
            raise RuntimeError(f"linalg.matrix_norm: Order {p} not supported.")
    if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(
            "linalg.vector_norm: dtype should be floating point or complex, but got "
            f"{dtype.tensor_type}"
        )
    if input._array.dtype.kind in "iub":
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            f"{input.dtype.tensor_type}. Convert it with float()."
        )
    another = dtype is not None and computes_in_another(input, dtype)
    if another and dtype.itemsize < input._array.itemsize:
        raise RuntimeError(
            f"linalg.vector_norm: the dtype of the input ({input.dtype.tensor_type}) should be "
            f"convertible without narrowing to the specified dtype ({dtype.tensor_type})"
        )
    if input._array.dtype.kind == "c":
        input = arithmetic.abs(input)
    order = 2 if p in (None, "fro") else p
    if isinstance(order, complex):
        raise RuntimeError(
            "linalg.vector_norm: Expected a non-complex scalar as the order of norm."
        )
    dims = None if dim is None or dim in ((), []) else dimensions(dim, input.ndim)
    if dims is None and keepdim:
        dims = tuple(range(input.ndim))
    _refuse_norm_of_nothing(input, order, dims)
    if another:
        norm_as = reduction.vector_norm_as
        return norm_as(input, order, dims, keepdim, dtype.numpy)  # type: ignore[no-any-return]
    input = input if dtype is None else input.to(dtype)
    return reduction.vector_norm(input, order, dims, keepdim)  # type: ignore[no-any-return]


def _refuse_norm_of_nothing(input: Tensor, order: float, dims: tuple[int, ...] | None) -> None:
    """Raise if there is no entry for a norm that looks for the largest or smallest."""
    if input._array.size or 0 <= order < np.inf:
        return
    what = f"linalg.vector_norm cannot compute the {order:g} norm on"
    why = "is empty and the operation does not have an identity"
    if dims is None or len(dims) == input.ndim:
        raise RuntimeError(
            f"{what} an empty tensor because the operation does not have an identity"
        )
    for number in dims:
        if not input._array.shape[number]:
            raise RuntimeError(f"{what} the dimension {number}because this dimension {why}")


def _nuclear_norm(input: Tensor, dims: Any, keepdim: bool, dtype: Any) -> Tensor:
    if input.ndim < 2:
        raise RuntimeError(
            "linalg.matrix_norm: The input tensor A must have at least 2 dimensions."
        )
    if len(dims) != 2:
        given = " ".join(map(str, dims))
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {given}")
    return enter("matrix_norms").matrix_norm(input, "nuc", dims, keepdim, dtype=dtype)  # type: ignore[no-any-return]


def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """Give the p-norm of the difference of two tensors.

    Example:
        >>> import minigrad as torch
        >>> torch.dist(torch.tensor([0.0, 0.0]), torch.tensor([3.0, 4.0]))
        tensor(5.)
    """
    check_tensor("dist", input)
    check_tensor("dist", other, "other", 2)
    if "b" in (input._array.dtype.kind, other._array.dtype.kind):
        raise no_booleans(TypeError(), input._array, np.zeros(()))
    if "c" in (input._array.dtype.kind, other._array.dtype.kind):
        return dist(arithmetic.abs(elementwise.sub(input, other)), wrap(np.zeros(())), p)  # type: ignore[no-any-return]
    if input._array.dtype.kind in "iu" and other._array.dtype.kind in "iu":
        raise RuntimeError(
            "norm(): input dtype should be either floating point or complex. Got "
            f"{input.dtype.tensor_type} instead."
        )
    first, second = _floats(input, other), _floats(other, input)
    if first._array.dtype != second._array.dtype:
        return meet_types(lambda a, b: statistics.dist(a, b, p), first, second)
    return statistics.dist(first, second, p)  # type: ignore[no-any-return]


def _floats(input: Tensor, other: Tensor) -> Tensor:
    if input._array.dtype.kind not in "iu":
        return input
    kind = other._array.dtype.kind
    return cast(input, other._array.dtype if kind == "f" else np.dtype("float32"))


@with_out
def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Scale down the parts along a dimension whose p-norm is more than `maxnorm`.

    Raises:
        RuntimeError: If there are fewer than 2 dimensions, or `p` or `maxnorm` is negative.

    Example:
        >>> import minigrad as torch
        >>> torch.renorm(torch.tensor([[3.0, 4.0], [0.3, 0.4]]), p=2, dim=0, maxnorm=1)
        tensor([[0.6000, 0.8000],
                [0.3000, 0.4000]])
    """
    check_tensor("renorm", input)
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    if input.ndim < 2:
        raise RuntimeError(
            f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions"
        )
    if input._array.dtype.kind in "iub":
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            f"{input.dtype.tensor_type}"
        )
    return statistics.renorm(input, p, dimension(dim, input.ndim), maxnorm)  # type: ignore[no-any-return]


methods: dict[str, Any] = {name: globals()[name] for name in __all__}
methods["renorm_"] = in_place(renorm)
