"""Norms, the distances that they give, and their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.core.tape import Array, differentiable
from minigrad.core.tensor import Tensor, wrap
from minigrad.faces import FACES, attach, face, lazy_loading
from minigrad.faces.arguments import cast, dimensions
from minigrad.faces.out import write_result
from minigrad.ops import choices, elementwise, reduction
from minigrad.ops.cumulative import in_type_of, values_of
from minigrad.ops.elementwise import reciprocal
from minigrad.ops.reduction import norm_rule, vector_norm, vector_norm_as
from minigrad.ops.type_promotion import applied, meet_types, no_booleans, quietly


@face("norm(Tensor input, p='fro', dim=None, keepdim=False, dtype=None)", function=False)
def norm(input: Tensor, p: Any, dim: Any, keepdim: bool, dtype: Any) -> Tensor:
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
    another = dtype is not None and reduction.computes_in_another(input, dtype)
    if another and dtype.itemsize < input._array.itemsize:
        raise RuntimeError(
            f"linalg.vector_norm: the dtype of the input ({input.dtype.tensor_type}) should be "
            f"convertible without narrowing to the specified dtype ({dtype.tensor_type})"
        )
    if input._array.dtype.kind == "c":
        input = choices.abs(input)
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
        return vector_norm_as(input, order, dims, keepdim, dtype.numpy)
    input = input if dtype is None else input.to(dtype)
    return vector_norm(input, order, dims, keepdim)


def _norm_into(
    input: Tensor,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: Any = None,
) -> Tensor:
    given = (input, p, dim, keepdim, dtype)
    if out is None:
        return FACES["norm"].method(*given)
    return write_result(FACES["norm"].method, out, "kind", *given, _name="linalg_vector_norm")


_norm_into.__name__, _norm_into.__doc__ = "norm", norm.__doc__
attach(__name__, {}, {"norm": _norm_into})


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
    return lazy_loading.load("ops.matrix_functions").matrix_norm(input, "nuc", dims, keepdim, dtype)


# ---------------------------------------------------------------------- distances


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
    return vector_norm.forward(self - other, p, None, False)


def _negative(gradient: Any) -> Any:
    return None if gradient is None else -gradient


def _renorm_rule(grad: Any, self: Any, p: Any, dim: Any, maxnorm: Any) -> Any:
    dims = tuple(d for d in range(self.ndim) if d != dim)
    wide = np.promote_types(values_of(self).dtype, np.float64)
    norm = applied(vector_norm_as, self, p, dims, True, wide)
    along = np.add.reduce(self * grad, axis=dims, keepdims=True)
    turned = norm_rule(along, self, norm, p, dims, True)
    inverse = applied(reciprocal, norm + 1e-7)
    scaled = maxnorm * inverse * (grad - inverse * turned)
    return np.where(norm > maxnorm, in_type_of(scaled, grad), grad)


@differentiable("RenormBackward0", self=_renorm_rule)
@quietly
def renorm(self: Array, p: Any, dim: Any, maxnorm: Any) -> Array:
    r"""Parts with norms of at most :math:`m`: longer ones are scaled by :math:`m / \|x\|`."""
    dims = tuple(d for d in range(self.ndim) if d != dim)
    wide = self.astype(np.float64) if self.dtype.kind == "f" else self
    norm = vector_norm.forward(wide, p, dims, True)
    return self * np.where(norm > maxnorm, maxnorm / (norm + 1e-7), 1.0).astype(self.dtype)


@face("dist(Tensor input, Tensor other, p=2)")
def distance(input: Tensor, other: Tensor, p: float) -> Tensor:
    """Give the p-norm of the difference of two tensors.

    Example:
        >>> import minigrad as torch
        >>> torch.dist(torch.tensor([0.0, 0.0]), torch.tensor([3.0, 4.0]))
        tensor(5.)
    """
    if "b" in (input._array.dtype.kind, other._array.dtype.kind):
        raise no_booleans(TypeError(), input._array, np.zeros(()))
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


@face("renorm(Tensor input, p, Dim dim, maxnorm, *, out=None)", in_place=True)
def shortened(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Scale down the parts along a dimension whose p-norm is more than `maxnorm`.

    Raises:
        RuntimeError: If there are fewer than 2 dimensions, or `p` or `maxnorm` is negative.

    Example:
        >>> import minigrad as torch
        >>> torch.renorm(torch.tensor([[3.0, 4.0], [0.3, 0.4]]), p=2, dim=0, maxnorm=1)
        tensor([[0.6000, 0.8000],
                [0.3000, 0.4000]])
    """
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
    return renorm(input, p, dim, maxnorm)
