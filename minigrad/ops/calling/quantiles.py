"""Call quantiles, and covariances and correlations between rows of observations."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from minigrad.ops import elementwise, parts, shape, statistics, triangular
from minigrad.ops.calling import choosing, products, ranking, reducing, shaping
from minigrad.ops.calling.arguments import check_tensor
from minigrad.ops.calling.out import with_out
from minigrad.ops.calling.spellings import numpy_spellings, one_dimension
from minigrad.tensor import Tensor, wrap

__all__ = ["corrcoef", "cov", "nanquantile", "quantile"]

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")
_ROUNDING: dict[str, Any] = {"lower": np.floor, "higher": np.ceil, "nearest": np.round}


def _quantile(name: str, what: str, *, skips: bool) -> Any:
    def function(
        input: Tensor,
        q: Any,
        dim: int | None = None,
        keepdim: bool = False,
        *,
        interpolation: str = "linear",
    ) -> Tensor:
        check_tensor(name, input)
        levels = _levels(input, q, name)
        number = None if dim is None else one_dimension(name, dim, input)
        if interpolation not in _INTERPOLATIONS:
            raise RuntimeError(
                "quantile() interpolation must be one of linear, lower, higher, midpoint or "
                f"nearest, but got {interpolation}"
            )
        return _interpolated(input, levels, number, keepdim, interpolation, skips)

    function.__name__ = name
    function.__doc__ = rf"""Give the value below which a part of the entries lies{what}.

    With :math:`n` entries in order it is between those at the places next to :math:`q (n - 1)`.

    Args:
        input: The tensor, of float32 or float64.
        q: The part, from 0 to 1; or a tensor of several, which come first in the result.
        dim: The dimension; all entries if it is left out.
        keepdim: Keep the dimension, with size 1.
        interpolation: What to give between two entries: "linear", "lower", "higher", "midpoint"
            or "nearest".

    Raises:
        RuntimeError: If there are no entries, or `q` is not from 0 to 1.

    Example:
        >>> import minigrad as torch
        >>> torch.{name}(torch.tensor([4.0, 1.0, 3.0, 2.0]), 0.5)
        tensor(2.5000)
    """
    return with_out(numpy_spellings(function))


def _levels(input: Tensor, q: Any, name: str) -> Tensor:
    """Check what a quantile is asked of, and give the levels as a tensor."""
    if not isinstance(q, (Tensor, int, float)):
        raise TypeError(f"{name}(): argument 'q' must be a Tensor or a number")
    if not isinstance(q, Tensor):
        if not 0 <= q <= 1:
            raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q}")
        q = wrap(np.asarray(q, input._array.dtype if input._array.dtype.kind == "f" else None))
    levels = q._array
    if not input._array.size:
        raise RuntimeError("quantile() input tensor must be non-empty")
    if levels.ndim > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if input._array.dtype.kind != "f" or input._array.itemsize < 4:
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if levels.dtype != input._array.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if not np.all((levels >= 0) & (levels <= 1)):
        raise RuntimeError("quantile() q values must be in the range [0, 1]")
    return q  # type: ignore[no-any-return]


def _interpolated(
    input: Tensor, q: Tensor, dim: int | None, keepdim: bool, interpolation: str, skips: bool
) -> Tensor:
    """Take the entries on both sides of each level, and go between them."""
    sizes = list(input._array.shape)
    if dim is None:
        flat = input if len(sizes) == 1 else shaping.reshape(input, (-1,))
        ordered = ranking.sort(flat).values
        left = [1] * len(sizes) if keepdim else []
    else:
        if sizes and dim == len(sizes) - 1:
            ordered = ranking.sort(input).values
        else:
            moved = shape.transpose(shape.unsqueeze(input, len(sizes)), dim, len(sizes))
            ordered = ranking.sort(moved).values
        left = [1 if d == dim else size for d, size in enumerate(sizes) if keepdim or d != dim]
    size = ordered._array.shape[-1] if ordered.ndim else 1
    ordered = shape.view(ordered, (*left, size))
    entries, last = ordered._array, len(left)
    missing = np.isnan(entries)
    if skips:
        present = np.add.reduce(~missing, axis=-1, keepdims=True, dtype=np.int64)
        ranks = elementwise.mul(q, wrap(np.maximum(present - 1, 0)))
    else:
        any_missing = np.logical_or.reduce(missing, axis=-1, keepdims=True)
        ranks = elementwise.mul_number(q, size - 1)
        ranks = shaping.expand(ranks, np.broadcast_shapes(ranks.shape, any_missing.shape))
        # if one is NaN, so is the quantile: it is the last one
        ranks = choosing.masked_fill(ranks, wrap(any_missing), size - 1)
    if interpolation in _ROUNDING:
        ranks = wrap(_ROUNDING[interpolation](ranks._array))
    below = ranks._array.astype(np.int64)
    result = parts.gather(ordered, last, below)
    if interpolation in ("linear", "midpoint"):
        middle = np.full_like(ranks._array, 0.5)
        weight = (
            wrap(middle) if interpolation == "midpoint" else elementwise.sub(ranks, wrap(below))
        )
        above = np.ceil(ranks._array).astype(np.int64)
        result = statistics.between(result, parts.gather(ordered, last, above), weight)
    steps = 1 + (interpolation in ("linear", "midpoint"))  # that PyTorch takes in place
    if not q.ndim:
        result = shape.squeeze_product(result, last)
    else:
        result = statistics.turned(statistics.with_dimension(result, 0), 0, last + 1)
        result, steps = shape.squeeze_product(result, last + 1), steps + 2
    for _ in range(steps):
        result._bump_version()
    return result


quantile = _quantile("quantile", "", skips=False)
nanquantile = _quantile("nanquantile", ", leaving out NaN", skips=True)


# ---------------------------------------------------------------------- covariance


def _weights(name: str, weights: Tensor, kinds: str, what: str, number: int) -> None:
    if weights.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with "
            f"{weights.ndim} dimensions"
        )
    if weights._array.dtype.kind not in kinds:
        raise RuntimeError(
            f"cov(): expected {name} to have {what} dtype but got {name} with "
            f"{weights.dtype.tensor_type} dtype"
        )
    if weights.numel() != number:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the "
            f"input but got {weights.numel()} != {number}"
        )
    if (weights._array < 0).any():
        raise RuntimeError(f"cov(): {name} cannot be negative")


def cov(
    input: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    r"""Give the covariances between variables, whose observations are the rows.

    Args:
        input: A matrix with a row for each variable, or the row of one variable.
        correction: What is subtracted from the number of observations.
        fweights: How often each observation was made: whole numbers.
        aweights: How much each observation counts.

    Returns:
        A square matrix; for one variable its variance.

    Raises:
        RuntimeError: If there are more than 2 dimensions, or the weights do not fit.

    Example:
        >>> import minigrad as torch
        >>> torch.cov(torch.tensor([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]]))
        tensor([[ 1., -2.],
                [-2.,  4.]])
    """
    check_tensor("cov", input)
    if input.ndim > 2:
        raise RuntimeError(
            "cov(): expected input to have two or fewer dimensions but got an input with "
            f"{input.ndim} dimensions"
        )
    if input._array.dtype.kind == "b":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    rows = input if input.ndim == 2 else shaping.view(input, 1, -1)
    number = rows._array.shape[1]
    weights: Tensor | None = None
    if fweights is not None:
        _weights("fweights", fweights, "iu", "integral", number)
        weights = fweights
    if aweights is not None:
        _weights("aweights", aweights, "f", "floating point", number)
        weights = aweights if weights is None else elementwise.mul(weights, aweights)
    total: Any = number
    if weights is None:
        mean = elementwise.div(reducing.sum(rows, 1), _counted(number))
    else:
        total = reducing.sum(weights)
        if not total._array:
            raise RuntimeError("cov(): weights sum to zero, can't be normalized")
        mean = elementwise.div(reducing.sum(elementwise.mul(rows, weights), 1), total)
    return _covariance(rows, mean, weights, total, correction, aweights)


def _counted(number: Any) -> Tensor:
    return wrap(np.asarray(number, np.int64))


def _covariance(
    rows: Tensor, mean: Tensor, weights: Tensor | None, total: Any, correction: int, aweights: Any
) -> Tensor:
    freedom = total if isinstance(total, Tensor) else _counted(total)
    if correction and weights is not None and aweights is not None:
        squares = reducing.sum(elementwise.mul(weights, aweights))
        freedom = freedom - elementwise.mul(elementwise.div(squares, freedom), correction)
    elif correction:
        freedom = freedom - correction
    if freedom._array <= 0:
        warnings.warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the "
            "number of observations.",
            UserWarning,
            stacklevel=3,
        )
        freedom = wrap(np.zeros_like(freedom._array))
    centered = elementwise.sub(rows, shape.unsqueeze(mean, 1))
    weighted = centered if weights is None else elementwise.mul(centered, weights)
    product = products.mm(centered, shaping.t(weighted))
    return shaping.squeeze(elementwise.div(product, freedom))


def corrcoef(input: Tensor) -> Tensor:
    """Give the correlations between variables, whose observations are the rows.

    Example:
        >>> import minigrad as torch
        >>> torch.corrcoef(torch.tensor([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]]))
        tensor([[ 1., -1.],
                [-1.,  1.]])
    """
    check_tensor("corrcoef", input)
    if input.ndim > 2:
        raise RuntimeError(
            "corrcoef(): expected input to have two or fewer dimensions but got an input with "
            f"{input.ndim} dimensions"
        )
    covariances = cov(input)
    if not covariances.ndim:
        return elementwise.div(covariances, covariances)  # type: ignore[no-any-return]
    deviations = elementwise.sqrt(triangular.diagonal(covariances, 0, 0, 1))
    scaled = elementwise.div(covariances, shaping.view(deviations, -1, 1))
    scaled = elementwise.div(scaled, shaping.view(deviations, 1, -1))
    return choosing.clamp(scaled, -1, 1)


methods: dict[str, Any] = {name: globals()[name] for name in __all__}


def _of_numpy(function: Any, scale: float) -> Any:
    def quantiles(
        a: Tensor, q: Any, axis: Any = None, *, method: str = "linear", keepdims: bool = False
    ) -> Tensor:
        levels = q._array if isinstance(q, Tensor) else np.asarray(q)
        levels = wrap((levels / scale).astype(a._array.dtype))
        return function(a, levels, axis, keepdims, interpolation=method)  # type: ignore[no-any-return]

    return quantiles


def _median(a: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    return quantile(a, 0.5, axis, keepdims)  # type: ignore[no-any-return]


functions: dict[Any, Any] = {
    np.quantile: _of_numpy(quantile, 1),
    np.nanquantile: _of_numpy(nanquantile, 1),
    np.percentile: _of_numpy(quantile, 100),
    np.nanpercentile: _of_numpy(nanquantile, 100),
    np.median: _median,  # NumPy's: between the two in the middle
    np.nanmedian: lambda a, axis=None, keepdims=False: nanquantile(a, 0.5, axis, keepdims),
}
