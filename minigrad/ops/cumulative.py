"""Running sums and products, differences of neighbors, and their derivatives."""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.rules import applied, overridable, quietly
from minigrad.core.operation import Array, differentiable
from minigrad.core.tensor import Tensor
from minigrad.faces import face
from minigrad.faces.arguments import not_implemented
from minigrad.ops import elementwise
from minigrad.ops.joining import cat
from minigrad.ops.parts import slice_dim
from minigrad.ops.reduction import added_up_in
from minigrad.ops.shape import clone, flip, to_copy

# Running sums and products are kept in a wider type than they are written in, as in PyTorch.
_WIDER = {np.dtype("float16"): np.dtype("float32"), np.dtype("float32"): np.dtype("float64")}


def values_of(array: Any) -> Any:
    """Give the array behind a tensor, or an array as it is: to look at values in a rule."""
    return array._array if isinstance(array, Tensor) else array


def in_type_of(array: Any, other: Any) -> Any:
    """Convert an array or tensor to the type of another one, unless it is of this type."""
    dtype = values_of(other).dtype
    return array if values_of(array).dtype == dtype else applied(to_copy, array, dtype)


@overridable
def may_have_zero(array: Any) -> bool:
    """Tell whether an entry may be 0."""
    return bool((array == 0).any())


def may_be_zero(array: Any) -> bool:
    """Tell whether an entry of an array or tensor may be 0, so that it is no divisor."""
    return may_have_zero(values_of(array))


def _accumulated(ufunc: Any, array: Any, dim: int, dtype: Any, step: int = 1) -> Any:
    dtype = dtype or array.dtype
    if not array.ndim:
        return array.astype(dtype)
    wide, way = _WIDER.get(dtype, dtype), slice(None, None, step)
    results = ufunc.accumulate(_at(array, dim, way), axis=dim, dtype=wide)
    return _at(results, dim, way).astype(dtype, order="C", copy=False)


_quietly_accumulated = quietly(_accumulated)


def _is_short(array: Any, dim: int) -> bool:
    """Tell whether there is nothing to accumulate along a dimension."""
    return not array.ndim or array.shape[dim] <= 1 or 0 in array.shape


def _flipped(array: Any, dim: int) -> Any:
    return applied(flip, array, (dim,))


def _from_the_end(grad: Any, dim: Any) -> Any:
    """Sum from each place to the end of a dimension."""
    if _is_short(grad, dim):
        return grad
    if type(grad) is np.ndarray:
        return _quietly_accumulated(np.add, grad, dim, None, -1)
    return _flipped(applied(cumsum, np.flip(grad, dim), dim, None), dim)


def _at(array: Any, dim: int, place: int | slice) -> Any:
    return array[(slice(None),) * dim + (place,)]


def product_without(array: Any, dim: int) -> Any:
    r"""Give for each entry the product of the others along a dimension, without dividing.

    It is that of the entries before, :math:`\prod_{j < i} x_j`, times that of those behind.
    """
    if array.shape[dim] == 1:
        return np.ones_like(array)
    behind = _product_before(_flipped(array, dim), dim)
    return _product_before(array, dim) * _flipped(behind, dim)


def _product_before(array: Any, dim: int) -> Any:
    one = np.ones_like(_at(array, dim, slice(0, 1)))
    before = np.concatenate([one, _at(array, dim, slice(0, array.shape[dim] - 1))], dim)
    return applied(cumprod, before, dim, None)


def _cumprod_rule(grad: Any, self: Any, result: Any, dim: Any) -> Any:
    if _is_short(self, dim):
        return grad
    self = in_type_of(self, grad)
    if not may_be_zero(self):
        return _from_the_end(result * grad, dim) / self
    # Where an entry is 0 nothing can be divided by it. The gradient is the product of the entries
    # before, times what comes behind: s_k = g_k + x_{k+1} s_{k+1}.
    size = self.shape[dim]
    behind = [_at(grad, dim, size - 1)]
    for k in range(size - 2, -1, -1):
        behind.append(_at(grad, dim, k) + _at(self, dim, k + 1) * behind[-1])
    return _product_before(self, dim) * np.stack(behind[::-1], dim)


@differentiable("CumsumBackward0", broadcasts=True, self=_from_the_end)
@quietly
def cumsum(self: Array, dim: Any, dtype: Any) -> Array:
    r"""Running sum :math:`y_i = \sum_{j \le i} x_j`: :math:`\sum_{i \ge j} g_i`."""
    return _accumulated(np.add, self, dim, dtype)


@differentiable("CumprodBackward0", broadcasts=True, self=_cumprod_rule)
@quietly
def cumprod(self: Array, dim: Any, dtype: Any) -> Array:
    r"""Running product :math:`y_i`: :math:`\sum_{i \ge j} g_i y_i / x_j`, also if this is 0."""
    return _accumulated(np.multiply, self, dim, dtype)


# ---------------------------------------------------------------------- what is called


def _running(operation: Any, input: Tensor, dim: int, dtype: Any) -> Tensor:
    if dtype is not None and dtype.numpy.kind == "b":
        raise not_implemented(f"{operation.__name__}_out_cpu", np.empty(0, bool))
    input, wanted = added_up_in(input, dtype)
    return operation(input, dim, wanted)


@face("cumsum(Tensor input, Dim dim, *, dtype=None, out=None)", out="any", in_place=True)
def running_sum(input: Tensor, dim: int, dtype: Any) -> Tensor:
    """Give the running sum along a dimension. Integers use int64.

    Args:
        input: The tensor.
        dim: The dimension.
        dtype: The type to compute in.

    Example:
        >>> import minigrad as torch
        >>> torch.cumsum(torch.tensor([1.0, 2.0, 3.0]), dim=0)
        tensor([1., 3., 6.])
    """
    return _running(cumsum, input, dim, dtype)


@face("cumprod(Tensor input, Dim dim, *, dtype=None, out=None)", out="any", in_place=True)
def running_product(input: Tensor, dim: int, dtype: Any) -> Tensor:
    """Give the running product along a dimension; see `cumsum`.

    Example:
        >>> import minigrad as torch
        >>> torch.cumprod(torch.tensor([1.0, 2.0, 3.0]), dim=0)
        tensor([1., 2., 6.])
    """
    return _running(cumprod, input, dim, dtype)


# ---------------------------------------------------------------------- differences


@face("diff(Tensor input, n=1, Dim dim=-1, Tensor? prepend=None, Tensor? append=None, *, out=None)")
def diff(input: Tensor, n: int, dim: int, prepend: Tensor | None, append: Tensor | None) -> Tensor:
    """Give the differences between neighbors along a dimension.

    Args:
        input: The tensor.
        n: How many times to take differences.
        dim: The dimension; the last unless said otherwise.
        prepend: What to put before the tensor along the dimension.
        append: What to put behind it.

    Example:
        >>> import minigrad as torch
        >>> torch.diff(torch.tensor([1, 3, 2]))
        tensor([ 2, -1])
    """
    if not input.ndim or n < 0:
        raise RuntimeError(f"diff(): no differences of order {n} in size {list(input.shape)}")
    if n == 0:
        return clone(input)
    if prepend is not None or append is not None:
        input = cat([t for t in (prepend, input, append) if t is not None], dim)
    for _ in range(min(n, input._array.shape[dim])):
        size = input._array.shape[dim]
        earlier = slice_dim(input, dim, 0, size - 1, 1)  # the first of the two, as in PyTorch
        later = slice_dim(input, dim, 1, size, 1)
        if input._array.dtype.kind == "b":
            input = later.ne(earlier)
        else:
            input = elementwise.sub(later, earlier)
    return input
