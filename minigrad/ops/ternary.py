"""Operations of three tensors: interpolation, sums with a product, limits that are tensors.

:math:`g` is the gradient of the result. Where a function has a kink the convention is PyTorch's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.core.tape import Array, differentiable
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.faces import face
from minigrad.faces.arguments import cast, no_combination, not_implemented
from minigrad.ops import elementwise
from minigrad.ops.choices import pick
from minigrad.ops.type_promotion import quietly

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
    return self + weight * way if weight < 0.5 else end - way * (1 - weight)


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
    number = isinstance(weight, (int, float, np.generic))
    if not (isinstance(input, Tensor) and isinstance(end, Tensor)) or not (
        number or isinstance(weight, Tensor)
    ):
        raise no_combination("lerp", input, end, weight)
    array = input._array
    _check_type("end", end, array)
    if not number and weight._array.ndim:
        _check_type("weight", weight, array)
    if array.dtype.kind in "iub":
        raise not_implemented(f"lerp_kernel_{'scalar' if number else 'tensor'}", array)
    if number:
        return lerp_number(input, end, weight)
    return lerp(input, end, cast(weight, array.dtype))


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
    return self + tensor1 * tensor2 * value


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
    return self + tensor1 / tensor2 * value


def _with_product(operation: Any) -> None:
    name = operation.__name__

    def function(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any) -> Tensor:
        tensors = (input, tensor1, tensor2)
        arrays = [tensor._array for tensor in tensors]
        if name == "addcdiv" and arrays[1].dtype.kind in "iub" and arrays[2].dtype.kind in "iub":
            raise RuntimeError(_NO_INTEGERS)
        wanted = meeting_of(*arrays)
        if wanted.kind == "b":
            raise not_implemented("addcmul_cpu_out", arrays[0])
        value = value.item() if isinstance(value, (Tensor, np.generic)) else value
        if wanted.kind in "iu":
            value = int(value)
        return operation(*(cast(tensor, wanted) for tensor in tensors), value)

    function.__doc__ = operation.__doc__
    schema = f"{name}(Tensor input, Tensor tensor1, Tensor tensor2, *, value=1, out=None)"
    face(schema, in_place=True)(function)


def meeting_of(first: Any, second: Any, third: Any) -> np.dtype[Any]:
    """Give the type in which three arrays meet: one without dimensions counts by its kind."""
    pair = dtypes.result_type(first, second)
    shape = (1,) if first.ndim or second.ndim else ()
    return dtypes.result_type(np.empty(shape, pair), third)


_NO_INTEGERS = (
    "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will "
    "perform a true division of tensor1 and tensor2. The historic addcdiv behavior can be "
    "implemented as (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer "
    "inputs and as (input + value * tensor1 / tensor2) for float inputs. The future addcdiv "
    "behavior is just the latter implementation: (input + value * tensor1 / tensor2), for all "
    "dtypes."
)

_with_product(addcmul)
_with_product(addcdiv)


# ---------------------------------------------------------------------- limits that are tensors


@differentiable(
    "ClampBackward0",
    broadcasts=True,
    self=lambda grad, self, min, max: pick((self >= min) * (self <= max), grad, 0),
    min=lambda grad, self, min, max: pick(
        np.logical_or(min < max, max == np.inf) * (self < min), grad, 0
    ),
    max=lambda grad, self, min, max: pick(np.logical_or(self > max, max < min), grad, 0),
)
def clamp_between(self: Array, min: Array, max: Array) -> Array:
    """Limit to intervals with ends of their own: an end gets the gradient where it limits.

    Where the lower end lies above the upper one, it is the upper one that limits. An infinite one
    stands for none.
    """
    return np.minimum(np.maximum(self, min), max)


@differentiable(
    "ClampMinBackward1",
    arithmetic=True,
    self=lambda grad, self, min: pick(self >= min, grad, 0),
    min=lambda grad, self, min: pick(self < min, grad, 0),
)
def clamp_from(self: Array, min: Array) -> Array:
    """Limit from below: the limit gets the gradient where it is larger."""
    return np.maximum(self, min)


@differentiable(
    "ClampMaxBackward1",
    arithmetic=True,
    self=lambda grad, self, max: pick(self <= max, grad, 0),
    max=lambda grad, self, max: pick(self > max, grad, 0),
)
def clamp_to(self: Array, max: Array) -> Array:
    """Limit from above: the limit gets the gradient where it is smaller."""
    return np.minimum(self, max)


@differentiable("ClampMinBackward0", self=lambda grad, self, min: pick(self >= min, grad, 0))
def clamp_from_number(self: Array, min: Any) -> Array:
    """Limit from below by a number: the gradient passes where the input is not smaller."""
    return np.maximum(self, min)


@differentiable("ClampMaxBackward0", self=lambda grad, self, max: pick(self <= max, grad, 0))
def clamp_to_number(self: Array, max: Any) -> Array:
    """Limit from above by a number: the gradient passes where the input is not larger."""
    return np.minimum(self, max)


def between(input: Tensor, min: Tensor | None, max: Tensor | None) -> Tensor:
    """Limit entries to intervals whose ends are tensors, or one end and none.

    Raises:
        TypeError: If one end is a tensor and the other a number.
    """
    limits = [limit for limit in (min, max) if limit is not None]
    if not all(isinstance(limit, Tensor) for limit in limits):
        raise no_combination("clamp", input, min, max)
    arrays = [tensor._array for tensor in (input, *limits)]
    wanted = meeting_of(*arrays) if len(arrays) > 2 else dtypes.result_type(*arrays)
    if wanted.kind == "b" and len(limits) > 1:
        raise not_implemented("clamp_cpu", input._array)
    low, high = (
        _no_limit(wanted, sign) if limit is None else cast(limit, wanted)
        for limit, sign in ((min, -1), (max, 1))
    )
    return clamp_between(cast(input, wanted), low, high)


def _no_limit(dtype: np.dtype[Any], sign: int) -> Tensor:
    """Give a limit that limits nothing."""
    if dtype.kind == "f":
        return wrap(np.array(sign * np.inf, dtype))
    if dtype.kind == "b":
        return wrap(np.array(sign > 0))
    limits = np.iinfo(dtype)
    return wrap(np.array(limits.max if sign > 0 else limits.min, dtype))


def _one_sided(name: str, argument: str, by_number: Any, operation: Any) -> None:
    def limited(input: Tensor, limit: Any) -> Any:
        if isinstance(limit, Tensor):
            return operation(input, limit)
        if not isinstance(limit, (int, float, np.generic)):
            return NotImplemented
        return by_number(cast(input, dtypes.scalar_dtype(limit, input._array.dtype)), limit)

    limited.__doc__ = operation.__doc__
    schema = f"{name}(Tensor input, Scalar {argument}, *, out=None)"
    face(schema, out="limits", in_place="function")(limited)


_one_sided("clamp_min", "min", clamp_from_number, clamp_from)
_one_sided("clamp_max", "max", clamp_to_number, clamp_to)
