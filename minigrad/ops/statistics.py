"""Products, running sums, differences, variances, and their derivatives."""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from minigrad.autograd.rules import dispatch, ignore_errstate, overridable
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor
from minigrad.ops import elementwise
from minigrad.ops.choices import masked_fill_number
from minigrad.ops.joining import cat
from minigrad.ops.parts import slice_dim
from minigrad.ops.reduction import converted_to_add, count, mean, mean_dim
from minigrad.ops.shape import flip
from minigrad.signatures import numpy_protocols, variants
from minigrad.signatures.arguments import dimensions
from minigrad.signatures.signature import Dim, Dtype, Number

# Running sums and products are kept in a wider type than they are written in, as in PyTorch.
_WIDER = {np.dtype("float16"): np.dtype("float32"), np.dtype("float32"): np.dtype("float64")}


@overridable
def may_have_zero(array: Any) -> bool:
    """Tell whether an entry may be 0."""
    return bool((array == 0).any())


def _accumulated(ufunc: Any, array: Any, dim: int) -> Any:
    if not array.ndim:
        return array.copy()
    results = ufunc.accumulate(array, axis=dim, dtype=_WIDER.get(array.dtype))
    return results.astype(array.dtype, order="C", copy=False)


def _flipped(array: Any, dim: int) -> Any:
    return dispatch(flip, array, (dim,))


def _from_the_end(grad: Any, dim: Any) -> Any:
    """Sum from each place to the end of a dimension."""
    if not grad.ndim:
        return grad
    return _flipped(dispatch(cumsum, _flipped(grad, dim), dim), dim)


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
    return dispatch(cumprod, before, dim)


def _cumprod_rule(grad: Any, self: Any, result: Any, dim: Any) -> Any:
    if not self.ndim or self.shape[dim] <= 1:
        return grad
    if not may_have_zero(getattr(self, "_array", self)):
        return _from_the_end(result * grad, dim) / self
    # Where an entry is 0 nothing can be divided by it. The gradient is the product of the entries
    # before, times what comes behind: s_k = g_k + x_{k+1} s_{k+1}.
    size = self.shape[dim]
    behind = [_at(grad, dim, size - 1)]
    for k in range(size - 2, -1, -1):
        behind.append(_at(grad, dim, k) + _at(self, dim, k + 1) * behind[-1])
    return _product_before(self, dim) * np.stack(behind[::-1], dim)


@operation("CumsumBackward0", self=_from_the_end)
@ignore_errstate
def cumsum(self: Array, dim: Any) -> Array:
    r"""Running sum :math:`y_i = \sum_{j \le i} x_j`: :math:`\sum_{i \ge j} g_i`."""
    return _accumulated(np.add, self, dim)


@operation("CumprodBackward0", self=_cumprod_rule)
@ignore_errstate
def cumprod(self: Array, dim: Any) -> Array:
    r"""Running product :math:`y_i`: :math:`\sum_{i \ge j} g_i y_i / x_j`, also if this is 0."""
    return _accumulated(np.multiply, self, dim)


# ---------------------------------------------------------------------- what is called


def _running(operation: Any, input: Tensor, dim: int, dtype: Any) -> Tensor:
    return operation(converted_to_add(input, dtype), dim)


@variants("cumsum", out="any", in_place=True)
def running_sum(input: Tensor, dim: Dim, *, dtype: Dtype | None = None) -> Tensor:
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


@variants("cumprod", out="any", in_place=True)
def running_product(input: Tensor, dim: Dim, *, dtype: Dtype | None = None) -> Tensor:
    """Give the running product along a dimension; see `cumsum`.

    Example:
        >>> import minigrad as torch
        >>> torch.cumprod(torch.tensor([1.0, 2.0, 3.0]), dim=0)
        tensor([1., 2., 6.])
    """
    return _running(cumprod, input, dim, dtype)


# ---------------------------------------------------------------------- differences


@variants(out="kind")
def diff(
    input: Tensor,
    n: int = 1,
    dim: Dim = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
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
    if not input.ndim:
        raise RuntimeError("diff() takes a tensor with dimensions")
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


# ---------------------------------------------------------------------- products


# PyTorch saves the result, too.
def _prod_all_rule(grad: Any, self: Any, result: Any) -> Any:
    return (grad * product_without(self.reshape(-1), 0)).reshape(self.shape)


def _prod_dim_rule(grad: Any, self: Any, result: Any, dim: Any, keepdim: Any) -> Any:
    if not self.ndim:
        return grad
    return (grad if keepdim else np.expand_dims(grad, dim)) * product_without(self, dim)


@operation("ProdBackward0", self=_prod_all_rule)
@ignore_errstate
def prod_all(self: Array) -> Array:
    r"""Product of all entries: :math:`g \prod_{j \ne i} x_j`, also where an entry is 0."""
    return np.multiply.reduce(self, axis=None)


@operation("ProdBackward1", self=_prod_dim_rule)
@ignore_errstate
def prod_dim(self: Array, dim: Any, keepdim: Any) -> Array:
    r"""Product along a dimension: :math:`g \prod_{j \ne i} x_j`, also where an entry is 0."""
    return np.multiply.reduce(self, axis=dim if self.ndim else None, keepdims=keepdim)


# ---------------------------------------------------------------------- variances


def variance_rule(grad: Any, self: Any, dim: Any, correction: Any, keepdim: Any) -> Any:
    r"""Rule of the variance, :math:`2 g\, (x_i - \bar x) / (n - c)`."""
    dims = tuple(range(self.ndim)) if dim is None else dim
    if not keepdim:
        grad = np.expand_dims(grad, dims)
    freedom = count(self.shape, dims) - correction
    scale = 2.0 / freedom if freedom > 0 else math.inf
    return scale * grad * (self - dispatch(mean_dim, self, dims, True))


def deviation_rule(
    grad: Any, self: Any, result: Any, dim: Any, correction: Any, keepdim: Any
) -> Any:
    r"""Rule of the standard deviation, :math:`g\, (x_i - \bar x) / ((n - c)\, s)`, 0 if s is 0."""
    share = dispatch(masked_fill_number, grad / (result * 2), result == 0, 0)
    return variance_rule(share, self, dim, correction, keepdim)


@operation("VarBackward0", self=variance_rule)
@ignore_errstate
def var(self: Array, dim: Any, correction: Any, keepdim: Any) -> Array:
    r"""Variance :math:`\sum (x - \bar x)^2 / (n - c)`: :math:`2 g\, (x_i - \bar x) / (n - c)`."""
    return _variance(self, dim, correction, keepdim).astype(self.real.dtype)


@operation("StdBackward0", self=deviation_rule)
@ignore_errstate
def std(self: Array, dim: Any, correction: Any, keepdim: Any) -> Array:
    r"""Standard deviation :math:`s`: :math:`g\, (x_i - \bar x) / ((n - c)\, s)`."""
    return np.sqrt(_variance(self, dim, correction, keepdim)).astype(self.real.dtype)


def _variance(array: Any, dim: Any, correction: Any, keepdim: Any) -> Any:
    """Give variances along dimensions, or of all entries; as PyTorch in float64."""
    if array.dtype.kind == "f":
        array = array.astype(np.float64, copy=False)
    size = array.size if dim is None else count(array.shape, dim)
    total = np.add.reduce(array, axis=dim, keepdims=True)
    centered = array - np.true_divide(total, size or math.nan)
    squares = np.add.reduce((centered * np.conj(centered)).real, axis=dim, keepdims=keepdim)
    # with no freedom 0 / 0 is NaN, and anything else infinite
    return np.true_divide(squares, max(0, size - correction))


# ---------------------------------------------------------------------- what is called


@variants(out="any")
def prod(
    input: Tensor, dim: Dim | None = None, keepdim: bool = False, *, dtype: Dtype | None = None
) -> Tensor:
    """Multiply all entries, or those along a dimension. Integers multiply in int64.

    Args:
        input: The tensor.
        dim: A dimension; all entries if it is left out.
        keepdim: Keep the dimension, with size 1.
        dtype: The type to multiply in.

    Example:
        >>> import minigrad as torch
        >>> torch.prod(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=0)
        tensor([3., 8.])
    """
    input = converted_to_add(input, dtype)
    if dim is not None:
        return prod_dim(input, dim, keepdim)
    if keepdim:
        raise TypeError("prod() takes keepdim only together with one dim")
    return prod_all(input)


def _variance_of(
    operation: Any, input: Tensor, dim: Any, unbiased: Any, keepdim: bool, correction: Any
) -> Any:
    """Give a variance or its root: check the arguments, and apply the operation."""
    if isinstance(dim, bool):  # x.std(False)
        dim, unbiased = None, dim
    if input._array.dtype.kind in "iub":
        raise RuntimeError("std and var only support floating point and complex dtypes")
    if correction is None:
        correction = int(unbiased is not False)
    dims = None if dim is None else dimensions(dim, input.ndim)
    reduced = input._array.size if dims is None else count(input._array.shape, dims)
    if reduced <= correction:
        warnings.warn(
            f"{operation.__name__}(): degrees of freedom is <= 0: {reduced} entries less "
            f"{correction}. The result is infinite, or no number.",
            stacklevel=4,
        )
    return operation(input, dims, correction, keepdim)


@variants("var", out="kind")
def variance(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: Number | None = None,
) -> Any:
    r"""Give the variance of all entries, or along dimensions.

    The variance of :math:`n` entries is :math:`\sum (x - \bar x)^2 / (n - c)`, the standard
    deviation its square root.

    Args:
        input: The tensor, of floating-point numbers.
        dim: A dimension or several; all if it is left out.
        unbiased: An older way to say correction: True is 1 and False is 0.
        keepdim: Keep the dimensions, with size 1.
        correction: What is subtracted from the number of entries; 1 unless said otherwise.

    Raises:
        RuntimeError: If the entries are integers.

    Example:
        >>> import minigrad as torch
        >>> torch.var(torch.tensor([1.0, 2.0, 3.0, 6.0]))
        tensor(4.6667)
    """
    return _variance_of(var, input, dim, unbiased, keepdim, correction)


@variants("std", out="kind", like=variance)
def standard_deviation(input: Tensor, *given: Any, **options: Any) -> Any:
    """Give the standard deviation of all entries, or along dimensions; see `var`.

    Example:
        >>> import minigrad as torch
        >>> torch.std(torch.tensor([1.0, 2.0, 3.0, 6.0]))
        tensor(2.1602)
    """
    return _variance_of(std, input, *given, **options)


@variants("var_mean", method=False, like=variance)
def variance_with_mean(input: Tensor, dim: Any, unbiased: Any, keepdim: bool, **more: Any) -> Any:
    """Give the variances and the means, of all entries or along dimensions; see `var`.

    Example:
        >>> import minigrad as torch
        >>> torch.var_mean(torch.tensor([1.0, 2.0, 3.0, 6.0]))
        (tensor(4.6667), tensor(3.))
    """
    return variance(input, dim, unbiased, keepdim, **more), mean(input, dim, keepdim)


@variants("std_mean", method=False, like=variance)
def deviation_with_mean(input: Tensor, dim: Any, unbiased: Any, keepdim: bool, **more: Any) -> Any:
    """Give the standard deviations and the means, of all entries or along dimensions; see `var`.

    Example:
        >>> import minigrad as torch
        >>> torch.std_mean(torch.tensor([1.0, 2.0, 3.0, 6.0]))
        (tensor(2.1602), tensor(3.))
    """
    return standard_deviation(input, dim, unbiased, keepdim, **more), mean(input, dim, keepdim)


def _numpy_product(a: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    return a.prod() if axis is None else a.prod(axis, keepdims)


numpy_protocols.functions[np.prod] = _numpy_product
numpy_protocols.ufuncs[np.multiply, "reduce"] = lambda array, axis=0, keepdims=False: (
    _numpy_product(array, axis, keepdims)
)
