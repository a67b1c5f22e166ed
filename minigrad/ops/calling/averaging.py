"""Call products, variances, standard deviations, sums without NaN, smallest and largest entries."""

from __future__ import annotations

import builtins
import math
import warnings
from typing import Any

import numpy as np

from minigrad.ops import elementwise, pairs, statistics
from minigrad.ops.calling import reducing, results
from minigrad.ops.calling.arguments import cast, check_tensor, dimension, dimensions
from minigrad.ops.calling.out import with_out
from minigrad.ops.calling.results import with_named_out
from minigrad.ops.calling.spellings import numpy_spellings, one_dimension
from minigrad.tensor import Tensor, wrap

__all__ = [
    "aminmax",
    "nanmean",
    "nansum",
    "prod",
    "std",
    "std_mean",
    "var",
    "var_mean",
]


def added_up_in(input: Tensor, dtype: Any) -> tuple[Tensor, Any]:
    """Give a tensor, and the NumPy dtype in which to add up or multiply its entries.

    Integers and booleans are added up in int64. Floats are converted on the way, which leaves no
    node of its own in the graph.
    """
    own = input._array.dtype
    if dtype is None:
        return (cast(input, np.dtype("int64")), None) if own.kind in "iub" else (input, None)
    wanted = dtype.numpy
    if own.kind == wanted.kind == "f":
        return input, None if own == wanted else wanted
    return cast(input, wanted), None


def _over(dim: Any, input: Tensor) -> tuple[int, ...] | None:
    """Give the numbers of dimensions; None if none was said, which means all."""
    return None if dim is None else dimensions(dim, input.ndim)


@with_out
@numpy_spellings
def prod(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
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
    check_tensor("prod", input)
    input, wanted = added_up_in(input, dtype)
    if dim is None:
        if keepdim:
            raise TypeError("prod() takes keepdim only together with one dim")
        return statistics.prod_all(input, wanted)  # type: ignore[no-any-return]
    number = one_dimension("prod", dim, input)
    return statistics.prod_dim(input, number, keepdim, wanted)  # type: ignore[no-any-return]


# ---------------------------------------------------------------------- variances


def _spread_of(
    name: str, input: Tensor, dim: Any, unbiased: Any, keepdim: bool, correction: Any
) -> tuple[Any, ...]:
    """Check the arguments of a variance, and give its dimensions, correction and `keepdim`."""
    check_tensor(name, input)
    if isinstance(dim, bool):  # x.std(False)
        dim, unbiased = None, dim
    if unbiased is not None and correction is not None:
        raise TypeError(f"{name}() takes correction or unbiased, not both")
    if input._array.dtype.kind in "iub":
        names = name if name.endswith("mean") else "std and var"
        raise RuntimeError(f"{names} only support floating point and complex dtypes")
    correction = (1 if unbiased is None else int(unbiased)) if correction is None else correction
    dims = _over(dim, input)
    sizes = input._array.shape
    reduced = math.prod(sizes) if dims is None else math.prod(sizes[d] for d in dims)
    others = () if dims is None else (size for d, size in enumerate(sizes) if d not in dims)
    if reduced - correction <= 0 or 0 in others:
        warnings.warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
            "reduction factor (input numel divided by output numel).",
            UserWarning,
            stacklevel=4,
        )
    return dims, correction, keepdim


def _variance(name: str, operation: Any, what: str, example: str, *, pair: bool) -> Any:
    def function(
        input: Tensor,
        dim: Any = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: Any = None,
    ) -> Any:
        return operation(input, *_spread_of(name, input, dim, unbiased, keepdim, correction))

    function.__name__ = name
    function.__doc__ = rf"""Give the {what} of all entries, or along dimensions.

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
        >>> torch.{name}(torch.tensor([1.0, 2.0, 3.0, 6.0]))
        {example}
    """
    spelled = numpy_spellings(function)
    return spelled if pair else with_out(spelled)


var = _variance("var", statistics.var, "variance", "tensor(4.6667)", pair=False)
std = _variance("std", statistics.std, "standard deviation", "tensor(2.1602)", pair=False)
var_mean = _variance(
    "var_mean", pairs.var_mean, "variance and the mean", "(tensor(4.6667), tensor(3.))", pair=True
)
std_mean = _variance(
    "std_mean",
    pairs.std_mean,
    "standard deviation and the mean",
    "(tensor(2.1602), tensor(3.))",
    pair=True,
)


# ---------------------------------------------------------------------- without NaN


@with_out
@numpy_spellings
def nansum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Add up all entries, or those along dimensions, and count NaN as 0.

    Example:
        >>> import minigrad as torch
        >>> torch.nansum(torch.tensor([1.0, float("nan"), 2.0]))
        tensor(3.)
    """
    check_tensor("nansum", input)
    if input._array.dtype.kind == "c":
        raise RuntimeError("nansum on CPU does not support complex inputs")
    if input._array.dtype.kind in "iub":
        return reducing.sum(input, dim, keepdim, dtype=dtype)
    input, wanted = added_up_in(input, dtype)
    dims = _over(dim, input)
    return statistics.nansum(input, dims, keepdim, wanted)  # type: ignore[no-any-return]


@with_out
@numpy_spellings
def nanmean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Average all entries, or those along dimensions, that are not NaN.

    Example:
        >>> import minigrad as torch
        >>> torch.nanmean(torch.tensor([1.0, float("nan"), 2.0]))
        tensor(1.5000)
    """
    check_tensor("nanmean", input)
    if input._array.dtype.kind in "iub":
        raise RuntimeError(
            "nanmean(): expected input to have floating point or complex dtype but got "
            f"{input.dtype.tensor_type}"
        )
    present = np.equal(input._array, input._array)
    kept: Any = keepdim
    number = np.add.reduce(present, axis=_over(dim, input), keepdims=kept, dtype=np.int64)
    return elementwise.div(nansum(input, dim, keepdim, dtype=dtype), wrap(number))  # type: ignore[no-any-return]


# ---------------------------------------------------------------------- smallest and largest


@with_named_out
@numpy_spellings
def aminmax(input: Tensor, *, dim: Any = None, keepdim: bool = False) -> Any:
    """Give the smallest and the largest entry, of all or along a dimension.

    Equal ones share the gradient.

    Example:
        >>> import minigrad as torch
        >>> torch.aminmax(torch.tensor([3.0, 1.0, 2.0]))
        torch.return_types.aminmax(
        min=tensor(1.),
        max=tensor(3.))
    """
    check_tensor("aminmax", input)
    if input._array.dtype.kind == "c":
        raise NotImplementedError(
            f"\"aminmax_cpu\" not implemented for '{input.dtype.tensor_type}'"
        )
    if dim is None:
        if not input._array.size:
            raise RuntimeError(
                "aminmax(): cannot compute aminmax over an empty dimension as the operation has "
                "no identity."
            )
    else:
        dim = one_dimension("aminmax", dim, input)
        if input.ndim and not input._array.shape[dim]:
            raise IndexError(f"aminmax: Expected reduction dim {dim} to have non-zero size.")
    return results.aminmax(*pairs.aminmax(input, dim, keepdim))


methods: dict[str, Any] = {name: globals()[name] for name in __all__ if "_mean" not in name}


def _of_numpy(function: Any) -> Any:
    def reduction(
        a: Tensor, axis: Any = None, dtype: Any = None, ddof: int = 0, keepdims: bool = False
    ) -> Tensor:
        return function(a, axis, keepdim=keepdims, correction=ddof)  # type: ignore[no-any-return]

    return reduction


def _product(
    a: Tensor, axis: Any = None, dtype: Any = None, keepdims: bool = False, **others: Any
) -> Tensor:
    axes = range(a.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if axis is None and not keepdims:
        return prod(a)
    for number in builtins.sorted((dimension(d, a.ndim) for d in axes), reverse=True):
        a = prod(a, number, keepdims)
    return a


functions: dict[Any, Any] = {
    np.prod: _product,
    np.var: _of_numpy(var),
    np.std: _of_numpy(std),
    np.nansum: lambda a, axis=None, keepdims=False: nansum(a, axis, keepdims),
    np.max: lambda a, axis=None, keepdims=False: reducing.amax(a, axis, keepdims),
    np.min: lambda a, axis=None, keepdims=False: reducing.amin(a, axis, keepdims),
    np.nanmean: lambda a, axis=None, keepdims=False: nanmean(a, axis, keepdims),
}
ufuncs: dict[Any, Any] = {
    (np.minimum, "reduce"): lambda array, axis=0, keepdims=False, **options: reducing.amin(
        array, axis, keepdims
    ),
    (np.multiply, "reduce"): lambda array, axis=0, keepdims=False, **options: _product(
        array, axis, keepdims=keepdims
    ),
}
