"""Products, running sums, differences, variances, and their derivatives."""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from minigrad.autograd.custom_nodes import Decomposition, recorded
from minigrad.autograd.rules import dispatch, ignore_errstate, overridable
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor
from minigrad.ops import elementwise
from minigrad.ops.choices import masked_fill_number
from minigrad.ops.joining import cat
from minigrad.ops.parts import slice_dim
from minigrad.ops.reduction import added_up_in, count, expand_reduced, mean_all, mean_dim
from minigrad.ops.shape import clone, flip, to_copy
from minigrad.signatures import numpy_protocols, variants
from minigrad.signatures.arguments import dimensions, not_implemented
from minigrad.signatures.signature import Dim, Dtype, Number

# Running sums and products are kept in a wider type than they are written in, as in PyTorch.
_WIDER = {np.dtype("float16"): np.dtype("float32"), np.dtype("float32"): np.dtype("float64")}


def values_of(array: Any) -> Any:
    """Give the array behind a tensor, or an array as it is: to look at values in a rule."""
    return array._array if isinstance(array, Tensor) else array


def in_type_of(array: Any, other: Any) -> Any:
    """Convert an array or tensor to the type of another one, unless it is of this type."""
    dtype = values_of(other).dtype
    return array if values_of(array).dtype == dtype else dispatch(to_copy, array, dtype)


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


_quietly_accumulated = ignore_errstate(_accumulated)


def _is_short(array: Any, dim: int) -> bool:
    """Tell whether there is nothing to accumulate along a dimension."""
    return not array.ndim or array.shape[dim] <= 1 or 0 in array.shape


def _flipped(array: Any, dim: int) -> Any:
    return dispatch(flip, array, (dim,))


def _from_the_end(grad: Any, dim: Any) -> Any:
    """Sum from each place to the end of a dimension."""
    if _is_short(grad, dim):
        return grad
    if type(grad) is np.ndarray:
        return _quietly_accumulated(np.add, grad, dim, None, -1)
    return _flipped(dispatch(cumsum, np.flip(grad, dim), dim, None), dim)


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
    return dispatch(cumprod, before, dim, None)


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


@operation("CumsumBackward0", broadcasts=True, self=_from_the_end)
@ignore_errstate
def cumsum(self: Array, dim: Any, dtype: Any) -> Array:
    r"""Running sum :math:`y_i = \sum_{j \le i} x_j`: :math:`\sum_{i \ge j} g_i`."""
    return _accumulated(np.add, self, dim, dtype)


@operation("CumprodBackward0", broadcasts=True, self=_cumprod_rule)
@ignore_errstate
def cumprod(self: Array, dim: Any, dtype: Any) -> Array:
    r"""Running product :math:`y_i`: :math:`\sum_{i \ge j} g_i y_i / x_j`, also if this is 0."""
    return _accumulated(np.multiply, self, dim, dtype)


# ---------------------------------------------------------------------- what is called


def _running(operation: Any, input: Tensor, dim: int, dtype: Any) -> Tensor:
    if dtype is not None and dtype.numpy.kind == "b":
        raise not_implemented(f"{operation.__name__}_out_cpu", np.empty(0, bool))
    input, wanted = added_up_in(input, dtype)
    return operation(input, dim, wanted)


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


# ---------------------------------------------------------------------- products


def _prod_all_rule(grad: Any, self: Any, result: Any) -> Any:
    if not self.ndim:
        return grad
    self = in_type_of(self, grad)
    if not may_be_zero(self):
        return grad * (result / self)
    return (grad * product_without(self.reshape(-1), 0)).reshape(self.shape)


def _prod_dim_rule(grad: Any, self: Any, result: Any, dim: Any, keepdim: Any) -> Any:
    if not self.ndim:
        return grad
    self = in_type_of(self, grad)
    if not keepdim:
        grad, result = np.expand_dims(grad, dim), np.expand_dims(result, dim)
    if not may_be_zero(self):
        return grad * (result / self)
    return grad * product_without(self, dim)


def _product(array: Any, dim: Any, keepdim: Any, dtype: Any) -> Any:
    dtype = dtype or array.dtype
    wide = np.dtype("float32") if dtype == np.float16 else dtype
    product = np.multiply.reduce(array, axis=dim, keepdims=keepdim, dtype=wide)
    return product if wide is dtype else product.astype(dtype)


@operation("ProdBackward0", broadcasts=True, self=_prod_all_rule)
@ignore_errstate
def prod_all(self: Array, dtype: Any) -> Array:
    r"""Product of all entries: :math:`g \prod_{j \ne i} x_j`, also where an entry is 0."""
    return _product(self, None, False, dtype)


@operation("ProdBackward1", broadcasts=True, self=_prod_dim_rule)
@ignore_errstate
def prod_dim(self: Array, dim: Any, keepdim: Any, dtype: Any) -> Array:
    r"""Product along a dimension: :math:`g \prod_{j \ne i} x_j`, also where an entry is 0."""
    return _product(self, dim if self.ndim else None, keepdim, dtype)


# ---------------------------------------------------------------------- variances


def variance_rule(grad: Any, self: Any, dim: Any, correction: Any, keepdim: Any) -> Any:
    r"""Rule of the variance, :math:`2 g\, (x_i - \bar x) / (n - c)`."""
    if dim is None or not self.ndim:
        freedom = math.prod(self.shape) - correction
        centered = self - dispatch(mean_all, self)
        if freedom <= 0:
            nothing = np.zeros_like(centered)  # 0 / 0 is NaN, and anything else infinite
            return grad * np.where(centered == 0, nothing + math.nan, nothing + math.inf)
        return (2.0 / freedom) * grad * centered
    if not keepdim and self.ndim > 1:
        grad = np.expand_dims(grad, dim)
    freedom = count(self.shape, dim) - correction
    scale = 2.0 / freedom if freedom else math.inf
    return scale * grad * (self - dispatch(mean_dim, self, dim, True))


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
    return variance_and_mean(self, dim, correction, keepdim)[0].astype(self.real.dtype)


@operation("StdBackward0", self=deviation_rule)
@ignore_errstate
def std(self: Array, dim: Any, correction: Any, keepdim: Any) -> Array:
    r"""Standard deviation :math:`s`: :math:`g\, (x_i - \bar x) / ((n - c)\, s)`."""
    return np.sqrt(variance_and_mean(self, dim, correction, keepdim)[0]).astype(self.real.dtype)


class VarMeanBackward0(Decomposition):
    """Backward of `var_mean`."""

    __slots__ = ()
    _saves_input, _results_saved = True, 0
    _names_of_saved = ("self",)
    own_rule: Any = staticmethod(variance_rule)

    def rule(node, grad_variance: Any, grad_mean: Any, self: Any, *saved: Any) -> Any:
        """Give the sum of what the rules of the spread and of the mean give."""
        found = 0 if grad_variance is None else node.own_rule(grad_variance, self, *saved)
        if grad_mean is None:
            return found
        dims = tuple(range(self.ndim)) if saved[-3] is None else saved[-3]
        return found + expand_reduced(grad_mean, self.shape, dims, saved[-1]) / count(
            self.shape, dims
        )


class StdMeanBackward0(VarMeanBackward0):
    """Backward of `std_mean`."""

    __slots__ = ()
    _results_saved = 1
    _names_of_saved = ("self", "result0")  # type: ignore[assignment]  # not as many
    own_rule = staticmethod(deviation_rule)


def variance_and_mean(array: Any, dim: Any, correction: Any, keepdim: Any) -> tuple[Any, Any]:
    """Give variances and means along dimensions, or of all entries; as PyTorch in float64."""
    if array.dtype.kind == "f":
        array = array.astype(np.float64, copy=False)
    size = array.size if dim is None else count(array.shape, dim)
    total = np.add.reduce(array, axis=dim, keepdims=True)
    mean = np.true_divide(total, size or math.nan)
    centered = array - mean
    if centered.dtype.kind == "f" and centered.ndim:
        centered *= centered  # in the same memory
    else:
        centered = (centered * np.conj(centered)).real
    squares = np.add.reduce(centered, axis=dim, keepdims=keepdim)
    # with no freedom 0 / 0 is NaN, and anything else infinite
    variance = np.true_divide(squares, max(0, size - correction))
    return variance, mean if keepdim else mean.reshape(np.shape(squares))


# ---------------------------------------------------------------------- what is called


def _over(dim: Any, input: Tensor) -> tuple[int, ...] | None:
    """Give the numbers of dimensions; None if none was said, which means all."""
    return None if dim is None else dimensions(dim, input.ndim)


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
    input, wanted = added_up_in(input, dtype)
    if dim is not None:
        return prod_dim(input, dim, keepdim, wanted)
    if keepdim:
        raise TypeError("prod() takes keepdim only together with one dim")
    return prod_all(input, wanted)


def _variance_of(
    operation: Any, input: Tensor, dim: Any, unbiased: Any, keepdim: bool, correction: Any
) -> Any:
    """Give a variance or what goes with it: check the arguments, and apply the operation."""
    name = operation.__name__
    if isinstance(dim, bool):  # x.std(False)
        dim, unbiased = None, dim
    if unbiased is not None and correction is not None:
        raise TypeError(f"{name}() takes correction or unbiased, not both")
    if input._array.dtype.kind in "iub":
        raise RuntimeError("std and var only support floating point and complex dtypes")
    if correction is None:
        correction = int(unbiased is not False)
    dims = _over(dim, input)
    sizes = input._array.shape
    reduced = math.prod(sizes) if dims is None else math.prod(sizes[d] for d in dims)
    others = () if dims is None else (size for d, size in enumerate(sizes) if d not in dims)
    if reduced - correction <= 0 or 0 in others:
        warnings.warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
            "reduction factor (input numel divided by output numel).",
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


@variants("std", out="kind")
def standard_deviation(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: Number | None = None,
) -> Any:
    """Give the standard deviation of all entries, or along dimensions; see `var`.

    Example:
        >>> import minigrad as torch
        >>> torch.std(torch.tensor([1.0, 2.0, 3.0, 6.0]))
        tensor(2.1602)
    """
    return _variance_of(std, input, dim, unbiased, keepdim, correction)


def _with_mean(name: str, kind: Any, root: Any) -> Any:
    """Make what records variances, or their roots, and means under one node."""

    @ignore_errstate
    def both(input: Tensor, *settings: Any) -> Any:
        variances, means = variance_and_mean(input._array, *settings)
        given = [each.astype(input._array.dtype) for each in (root(variances), means)]
        return recorded(kind, input, given, *settings)

    both.__name__ = name
    return both


_var_mean = _with_mean("var_mean", VarMeanBackward0, np.asarray)
_std_mean = _with_mean("std_mean", StdMeanBackward0, np.sqrt)


@variants("var_mean", method=False)
def variance_with_mean(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: Number | None = None,
) -> Any:
    """Give the variances and the means, of all entries or along dimensions; see `var`.

    Example:
        >>> import minigrad as torch
        >>> torch.var_mean(torch.tensor([1.0, 2.0, 3.0, 6.0]))
        (tensor(4.6667), tensor(3.))
    """
    return _variance_of(_var_mean, input, dim, unbiased, keepdim, correction)


@variants("std_mean", method=False)
def deviation_with_mean(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: Number | None = None,
) -> Any:
    """Give the standard deviations and the means, of all entries or along dimensions; see `var`.

    Example:
        >>> import minigrad as torch
        >>> torch.std_mean(torch.tensor([1.0, 2.0, 3.0, 6.0]))
        (tensor(2.1602), tensor(3.))
    """
    return _variance_of(_std_mean, input, dim, unbiased, keepdim, correction)


def _numpy_product(a: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    return a.prod() if axis is None else a.prod(axis, keepdims)


numpy_protocols.functions[np.prod] = _numpy_product
numpy_protocols.ufuncs[np.multiply, "reduce"] = lambda array, axis=0, keepdims=False: (
    _numpy_product(array, axis, keepdims)
)
