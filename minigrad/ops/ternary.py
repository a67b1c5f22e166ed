"""Operations of three tensors: interpolation, and sums with a product or a quotient.

:math:`g` is the gradient of the result. Where a function has a kink the convention is PyTorch's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.rules import quietly
from minigrad.core.operation import Array, differentiable
from minigrad.core.tensor import Tensor
from minigrad.creation import dtypes
from minigrad.creation.construction import real_number
from minigrad.faces import face
from minigrad.faces.arguments import cast, no_combination, not_implemented, number
from minigrad.faces.face import told_by
from minigrad.ops import elementwise
from minigrad.ops.type_promotion import meeting_of

# ---------------------------------------------------------------------- interpolation


@differentiable(
    "LerpBackward0",
    broadcasts=True,
    self=lambda grad, weight: grad * (1 - weight),
    end=lambda grad, weight: grad * weight,
)
@quietly
def lerp_number(self: Array, end: Array, weight: Any) -> Array:
    r"""Point between two, :math:`a + w (b - a)`: :math:`g (1 - w)` for a and :math:`g w` for b."""
    way = end - self
    # from the nearer side, so that the ends themselves are met exactly
    return self + weight * way if abs(weight) < 0.5 else end - way * (1 - weight)


@differentiable(
    "LerpBackward1",
    broadcasts=True,
    self=lambda grad, weight: grad * (1 - weight),
    end=lambda grad, weight: grad * weight,
    weight=lambda grad, self, end: grad * (end - self),
)
@quietly
def lerp(self: Array, end: Array, weight: Array) -> Array:
    r"""Point between two with a weight for each entry, which gets :math:`g (b - a)`."""
    way = end - self
    return np.where(np.abs(weight) < 0.5, self + weight * way, end - way * (1 - weight))


@face("lerp(input, end, weight, *, out=None)", in_place=True)
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
    of_one = isinstance(weight, (int, float, complex, np.generic))
    if not (isinstance(input, Tensor) and isinstance(end, Tensor)) or not (
        of_one or isinstance(weight, Tensor)
    ):
        raise no_combination("lerp", input, end, weight)
    array = input._array
    _check_type("end", end, array)
    if not of_one and weight._array.ndim:
        _check_type("weight", weight, array)
    if array.dtype.kind in "iub":
        raise not_implemented(f"lerp_kernel_{'scalar' if of_one else 'tensor'}", array)
    if of_one:
        return lerp_number(input, end, real_number(number(weight, "lerp", "weight"), array.dtype))
    wanted = dtypes.result_type(array, weight._array)
    return lerp(cast(input, wanted), cast(end, wanted), cast(weight, wanted))


def _check_type(name: str, tensor: Tensor, array: Any) -> None:
    if tensor._array.dtype != array.dtype:
        wanted, given = dtypes.c_name(array), dtypes.c_name(tensor._array)
        raise RuntimeError(f"expected dtype {wanted} for `{name}` but got dtype {given}")


# ---------------------------------------------------------------------- sums of products


@differentiable(
    "AddcmulBackward0",
    broadcasts=True,
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * (tensor2 * value),
    tensor2=lambda grad, tensor1, value: grad * (tensor1 * value),
)
@quietly
def addcmul(self: Array, tensor1: Array, tensor2: Array, value: Any) -> Array:
    r"""Sum with a product, :math:`x + v\, a b`: :math:`g`, :math:`g v b` and :math:`g v a`."""
    return self + tensor1 * value * tensor2


def _over(value: Any, divisor: Any) -> Any:
    """Divide a number, with one node of the graph, as PyTorch's own rules do."""
    return elementwise.div(value, divisor) if isinstance(divisor, Tensor) else value / divisor


@differentiable(
    "AddcdivBackward0",
    broadcasts=True,
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * _over(value, tensor2),
    tensor2=lambda grad, tensor1, tensor2, value: -grad * ((tensor1 * value) / (tensor2 * tensor2)),
)
@quietly
def addcdiv(self: Array, tensor1: Array, tensor2: Array, value: Any) -> Array:
    r"""Sum with quotient :math:`x + v a / b`: :math:`g`, :math:`g v / b`, :math:`-g v a / b^2`."""
    return self + tensor1 * value / tensor2


_NO_INTEGERS = (
    "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will "
    "perform a true division of tensor1 and tensor2. The historic addcdiv behavior can be "
    "implemented as (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer "
    "inputs and as (input + value * tensor1 / tensor2) for float inputs. The future addcdiv "
    "behavior is just the latter implementation: (input + value * tensor1 / tensor2), for all "
    "dtypes."
)


def _with_product(operation: Any) -> None:
    name = operation.__name__

    def function(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any) -> Tensor:
        tensors = (input, tensor1, tensor2)
        whole = [tensor._array.dtype.kind in "iub" for tensor in tensors]
        if name == "addcdiv" and all(whole[1:]):
            raise RuntimeError(_NO_INTEGERS)
        wanted = meeting_of(*(tensor._array for tensor in tensors))
        if wanted.kind == "b":
            raise not_implemented("addcmul_cpu_out", input._array)
        value = real_number(value, wanted)
        if wanted.kind in "iu":
            value = int(value)
        return operation(*(cast(tensor, wanted) for tensor in tensors), value)

    schema = f"{name}(Tensor input, Tensor tensor1, Tensor tensor2, *, Number value=1, out=None)"
    told_by(face(schema, in_place=True), function)(operation)


_with_product(addcmul)
_with_product(addcdiv)
