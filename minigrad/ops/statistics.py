"""Products, variances and standard deviations, and their derivatives."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from minigrad.autograd.own_nodes import Decomposition, recorded
from minigrad.autograd.rules import applied, quietly
from minigrad.core.operation import Array, differentiable
from minigrad.core.tensor import Tensor
from minigrad.faces import face, numpy_protocols
from minigrad.faces.arguments import FromEnd, dimensions
from minigrad.ops.choices import masked_fill_number
from minigrad.ops.cumulative import in_type_of, may_be_zero, product_without
from minigrad.ops.reduction import added_up_in, count, mean_all, mean_dim, spread

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


@differentiable("ProdBackward0", broadcasts=True, self=_prod_all_rule)
@quietly
def prod_all(self: Array, dtype: Any) -> Array:
    r"""Product of all entries: :math:`g \prod_{j \ne i} x_j`, also where an entry is 0."""
    return _product(self, None, False, dtype)


@differentiable("ProdBackward1", broadcasts=True, self=_prod_dim_rule)
@quietly
def prod_dim(self: Array, dim: Any, keepdim: Any, dtype: Any) -> Array:
    r"""Product along a dimension: :math:`g \prod_{j \ne i} x_j`, also where an entry is 0."""
    return _product(self, dim if self.ndim else None, keepdim, dtype)


# ---------------------------------------------------------------------- variances


def variance_rule(grad: Any, self: Any, dim: Any, correction: Any, keepdim: Any) -> Any:
    r"""Rule of the variance, :math:`2 g\, (x_i - \bar x) / (n - c)`."""
    if dim is None or not self.ndim:
        freedom = math.prod(self.shape) - correction
        centered = self - applied(mean_all, self)
        if freedom <= 0:
            nothing = np.zeros_like(centered)  # 0 / 0 is NaN, and anything else infinite
            return grad * np.where(centered == 0, nothing + math.nan, nothing + math.inf)
        return (2.0 / freedom) * grad * centered
    if not keepdim and self.ndim > 1:
        grad = np.expand_dims(grad, dim)
    freedom = count(self.shape, dim) - correction
    scale = 2.0 / freedom if freedom else math.inf
    return scale * grad * (self - applied(mean_dim, self, dim, True))


def deviation_rule(
    grad: Any, self: Any, result: Any, dim: Any, correction: Any, keepdim: Any
) -> Any:
    r"""Rule of the standard deviation, :math:`g\, (x_i - \bar x) / ((n - c)\, s)`, 0 if s is 0."""
    share = applied(masked_fill_number, grad / (result * 2), result == 0, 0)
    return variance_rule(share, self, dim, correction, keepdim)


@differentiable("VarBackward0", self=variance_rule)
@quietly
def var(self: Array, dim: Any, correction: Any, keepdim: Any) -> Array:
    r"""Variance :math:`\sum (x - \bar x)^2 / (n - c)`: :math:`2 g\, (x_i - \bar x) / (n - c)`."""
    return variance_and_mean(self, dim, correction, keepdim)[0].astype(self.real.dtype)


@differentiable("StdBackward0", self=deviation_rule)
@quietly
def std(self: Array, dim: Any, correction: Any, keepdim: Any) -> Array:
    r"""Standard deviation :math:`s`: :math:`g\, (x_i - \bar x) / ((n - c)\, s)`."""
    return np.sqrt(variance_and_mean(self, dim, correction, keepdim)[0]).astype(self.real.dtype)


class VarMeanBackward0(Decomposition):
    """Backward of `var_mean`."""

    __slots__ = ()
    _saves_input, _results_saved = True, 0
    _names_of_saved = ("self",)
    spread_rule: Any = staticmethod(variance_rule)

    def rule(node, grad_spread: Any, grad_mean: Any, self: Any, *saved: Any) -> Any:
        """Give the sum of what the rules of the spread and of the mean give."""
        found = 0 if grad_spread is None else node.spread_rule(grad_spread, self, *saved)
        if grad_mean is None:
            return found
        dims = tuple(range(self.ndim)) if saved[-3] is None else saved[-3]
        return found + spread(grad_mean, self.shape, dims, saved[-1]) / count(self.shape, dims)


class StdMeanBackward0(VarMeanBackward0):
    """Backward of `std_mean`."""

    __slots__ = ()
    _results_saved = 1
    _names_of_saved = ("self", "result0")  # type: ignore[assignment]  # not as many
    spread_rule = staticmethod(deviation_rule)


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


@face("prod(Tensor input, Dim? dim=None, keepdim=False, *, dtype=None, out=None)", out="any")
def prod(input: Tensor, dim: Any, keepdim: bool, dtype: Any) -> Tensor:
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


_DEFAULT = FromEnd(1)  # the node tells that nothing was said
_DEFAULT.said = None


def _spread_of(
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
        correction = _DEFAULT if unbiased is dim is None else int(unbiased is not False)
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


_SPREAD = "(Tensor input, dim=None, unbiased=None, keepdim=False, *, correction=None"


@face(f"var{_SPREAD}, out=None)")
def variance(input: Tensor, dim: Any, unbiased: Any, keepdim: bool, correction: Any) -> Any:
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
    return _spread_of(var, input, dim, unbiased, keepdim, correction)


@face(f"std{_SPREAD}, out=None)")
def standard_deviation(
    input: Tensor, dim: Any, unbiased: Any, keepdim: bool, correction: Any
) -> Any:
    """Give the standard deviation of all entries, or along dimensions; see `var`.

    Example:
        >>> import minigrad as torch
        >>> torch.std(torch.tensor([1.0, 2.0, 3.0, 6.0]))
        tensor(2.1602)
    """
    return _spread_of(std, input, dim, unbiased, keepdim, correction)


def _with_mean(name: str, kind: Any, root: Any) -> Any:
    """Make what records variances, or their roots, and means under one node."""

    @quietly
    def both(input: Tensor, *settings: Any) -> Any:
        spreads, means = variance_and_mean(input._array, *settings)
        given = [each.astype(input._array.dtype) for each in (root(spreads), means)]
        return recorded(kind, input, given, *settings)

    both.__name__ = name
    return both


_var_mean = _with_mean("var_mean", VarMeanBackward0, np.asarray)
_std_mean = _with_mean("std_mean", StdMeanBackward0, np.sqrt)


@face(f"var_mean{_SPREAD})", method=False)
def variance_with_mean(input: Tensor, *given: Any) -> Any:
    """Give the variances and the means, of all entries or along dimensions; see `var`.

    Example:
        >>> import minigrad as torch
        >>> torch.var_mean(torch.tensor([1.0, 2.0, 3.0, 6.0]))
        (tensor(4.6667), tensor(3.))
    """
    return _spread_of(_var_mean, input, *given)


@face(f"std_mean{_SPREAD})", method=False)
def deviation_with_mean(input: Tensor, *given: Any) -> Any:
    """Give the standard deviations and the means, of all entries or along dimensions; see `var`.

    Example:
        >>> import minigrad as torch
        >>> torch.std_mean(torch.tensor([1.0, 2.0, 3.0, 6.0]))
        (tensor(2.1602), tensor(3.))
    """
    return _spread_of(_std_mean, input, *given)


def _numpy_product(a: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    return a.prod() if axis is None else a.prod(axis, keepdims)


numpy_protocols.functions[np.prod] = _numpy_product
numpy_protocols.ufuncs[np.multiply, "reduce"] = lambda array, axis=0, keepdims=False: (
    _numpy_product(array, axis, keepdims)
)
