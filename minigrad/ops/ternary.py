"""Operations of three tensors: interpolation, and sums with a product or a quotient.

:math:`g` is the gradient of the result. Where a function has a kink the convention is PyTorch's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.rules import ignore_errstate
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor
from minigrad.creation import dtypes
from minigrad.ops import elementwise
from minigrad.ops.type_promotion import check_one_type, promoted_dtype
from minigrad.signatures import variants
from minigrad.signatures.arguments import cast, not_implemented, number
from minigrad.signatures.signature import Number

# ---------------------------------------------------------------------- interpolation


@operation(
    "LerpBackward0",
    broadcasts=True,
    self=lambda grad, weight: grad * (1 - weight),
    end=lambda grad, weight: grad * weight,
)
@ignore_errstate
def lerp_number(self: Array, end: Array, weight: Any) -> Array:
    r"""Point between two, :math:`a + w (b - a)`: :math:`g (1 - w)` for a and :math:`g w` for b."""
    way = end - self
    # from the nearer side, so that the ends themselves are met exactly
    return self + weight * way if abs(weight) < 0.5 else end - way * (1 - weight)


@operation(
    "LerpBackward1",
    broadcasts=True,
    self=lambda grad, weight: grad * (1 - weight),
    end=lambda grad, weight: grad * weight,
    weight=lambda grad, self, end: grad * (end - self),
)
@ignore_errstate
def lerp(self: Array, end: Array, weight: Array) -> Array:
    r"""Point between two with a weight for each entry, which gets :math:`g (b - a)`."""
    way = end - self
    return np.where(np.abs(weight) < 0.5, self + weight * way, end - way * (1 - weight))


@variants("lerp", out="kind", in_place=True)
def interpolated(input: Tensor, end: Tensor, weight: Any) -> Tensor:
    r"""Give the point between two tensors, :math:`a + w (b - a)`.

    Args:
        input: Where the weight 0 leads.
        end: Where the weight 1 leads.
        weight: A number, or a tensor with a weight for each entry.

    Raises:
        RuntimeError: If the tensors are of different types.

    Example:
        >>> import minigrad as torch
        >>> torch.lerp(torch.tensor([0.0, 10.0]), torch.tensor([4.0, 20.0]), 0.5)
        tensor([ 2., 15.])
    """
    array = input._array
    check_one_type(array, end._array)
    if array.dtype.kind in "iub":
        raise not_implemented("lerp", array)
    if not isinstance(weight, Tensor):
        return lerp_number(input, end, number(weight, "lerp", "weight"))
    if weight._array.ndim:
        check_one_type(array, weight._array)
    wanted = dtypes.result_type(array, weight._array)
    return lerp(cast(input, wanted), cast(end, wanted), cast(weight, wanted))


# ---------------------------------------------------------------------- sums of products


@operation(
    "AddcmulBackward0",
    broadcasts=True,
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * (tensor2 * value),
    tensor2=lambda grad, tensor1, value: grad * (tensor1 * value),
)
@ignore_errstate
def addcmul(self: Array, tensor1: Array, tensor2: Array, value: Any) -> Array:
    r"""Sum with a product, :math:`x + v\, a b`: :math:`g`, :math:`g v b` and :math:`g v a`."""
    return self + tensor1 * value * tensor2


def _over(value: Any, divisor: Any) -> Any:
    """Divide a number, with one node of the graph, as PyTorch's own rules do."""
    return elementwise.div(value, divisor) if isinstance(divisor, Tensor) else value / divisor


@operation(
    "AddcdivBackward0",
    broadcasts=True,
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * _over(value, tensor2),
    tensor2=lambda grad, tensor1, tensor2, value: -grad * ((tensor1 * value) / (tensor2 * tensor2)),
)
@ignore_errstate
def addcdiv(self: Array, tensor1: Array, tensor2: Array, value: Any) -> Array:
    r"""Sum with quotient :math:`x + v a / b`: :math:`g`, :math:`g v / b`, :math:`-g v a / b^2`."""
    return self + tensor1 * value / tensor2


def _with_product(operation: Any) -> None:
    name = operation.__name__

    def function(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
        tensors = (input, tensor1, tensor2)
        wanted = promoted_dtype(*(tensor._array for tensor in tensors))
        if wanted.kind == "b" or (name == "addcdiv" and wanted.kind in "iu"):
            kind = NotImplementedError if name == "addcmul" else RuntimeError
            raise kind(f"{name}() has no values among tensors of type {wanted}")
        value = int(value) if wanted.kind in "iu" else value
        return operation(*(cast(tensor, wanted) for tensor in tensors), value)

    function.__doc__ = operation.__doc__
    variants(name, out="kind", in_place=True)(function)


_with_product(addcmul)
_with_product(addcdiv)
