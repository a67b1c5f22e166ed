r"""Compute the error function and its complement of arrays, with NumPy alone.

.. math:: \operatorname{erf} x = \frac{2}{\sqrt\pi} \int_0^x e^{-t^2} dt, \qquad
          \operatorname{erfc} x = 1 - \operatorname{erf} x

Python computes them of one number, NumPy not at all. Here each is a simple factor times a smooth
function, and the latter a polynomial, fitted at the first use to Python's values at Chebyshev's
points. Its variable is `1 / (x + c)` or `1 / (x^2 + c)`, in which the function is nearly straight
(the idea of M. M. Shepherd and J. G. Laframboise, Mathematics of Computation 36, 1981).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from minigrad.ops.type_promotion import overridable

_FEW = 256  # so many numbers are computed sooner one by one
_BLOCK = 32768  # so many at a time stay in the processor's nearer memory


@overridable
def erf(array: Any) -> Any:
    """Give the error function of each entry, accurate to a few units of the last digit.

    Args:
        array: Floating-point numbers.

    Returns:
        An array of the same shape and type.

    Example:
        >>> erf(np.array([0.0, 1.0, -np.inf]))
        array([ 0.        ,  0.84270079, -1.        ])
    """
    return _apply(math.erf, _erf_block, array)


@overridable
def erfc(array: Any) -> Any:
    """Give the complement of the error function of each entry, also where it is very small.

    Args:
        array: Floating-point numbers.

    Returns:
        An array of the same shape and type.

    Example:
        >>> erfc(np.array([0.0, 10.0, np.inf]))
        array([1.00000000e+00, 2.08848758e-45, 0.00000000e+00])
    """
    return _apply(math.erfc, _erfc_block, array)


def _apply(of_one: Callable[[float], float], of_block: Callable[..., None], array: Any) -> Any:
    dtype = array.dtype
    if array.size <= _FEW:
        return np.array([*map(of_one, array.ravel().tolist())], dtype).reshape(array.shape)
    wide = np.ascontiguousarray(array, np.float32 if dtype == np.float16 else dtype)
    result = np.empty_like(wide)
    entries, results = wide.reshape(-1), result.reshape(-1)
    with np.errstate(all="ignore"):
        for start in range(0, entries.size, _BLOCK):
            of_block(entries[start : start + _BLOCK], results[start : start + _BLOCK])
    return result.astype(dtype, copy=False)


def _erf_block(x: Any, result: Any) -> None:
    """Compute erf as x / (x^2 + c) times a polynomial in u, a variable made of x^2."""
    single = x.dtype == np.float32
    last, middle, count = (4.0, 6.0, 13) if single else (6.0, 16.0, 27)
    coefficients, slope, shift = _fit(_odd_factor, 0.0, last**2, middle, count)
    np.clip(x, -last, last, out=result)
    scale = result * result
    scale += middle
    np.reciprocal(scale, out=scale)
    u = scale * slope
    u += shift
    result *= scale
    result *= _polynomial(coefficients, u)
    np.clip(result, -1, 1, out=result)
    beyond = np.abs(x) >= last
    if beyond.any():  # there it rounds to 1
        result[beyond] = np.sign(x[beyond])


def _odd_factor(square: float, middle: float) -> float:
    x = math.sqrt(square)
    return (square + middle) * (math.erf(x) / x if x > 1e-8 else 2 / math.sqrt(math.pi))


def _erfc_block(x: Any, result: Any) -> None:
    """Compute erfc as 1 - erf up to 1/2, then as e^(-x^2) / (1 + 2x) times a polynomial in u."""
    first, last, middle = 0.5, 27.0, 2.0
    size = np.abs(x)
    within = np.clip(size, first, last)
    count = 13 if x.dtype == np.float32 else 25
    coefficients, slope, shift = _fit(_smooth_factor, first, last, middle, count)
    factor = _polynomial(coefficients, slope / (within + middle) + shift)
    factor /= 1 + 2 * within
    # the square is that of a number so short that it is exact, and a rest
    short = np.rint(within * 64) / 64
    factor *= np.exp((short - within) * (short + within))
    factor *= np.exp(-(short * short))
    factor[size >= last] = 0
    np.subtract(2, factor, out=factor, where=x < 0)
    _erf_block(x, result)
    np.subtract(1, result, out=result)
    np.copyto(result, factor, where=size > first)


def _smooth_factor(x: float, middle: float) -> float:
    """Give (1 + 2x) e^(x^2) erfc(x): from 1 at 0 it goes to 2 / sqrt(pi)."""
    if x > 5:  # where erfc is small, by its continued fraction
        fraction = x
        for n in range(60, 0, -1):
            fraction = x + n / 2 / fraction
        return (1 + 2 * x) / (math.sqrt(math.pi) * fraction)
    short = round(x * 64) / 64
    powers = math.exp(short * short) * math.exp((x - short) * (x + short))
    return (1 + 2 * x) * powers * math.erfc(x)


@cache
def _fit(
    function: Callable[[float, float], float], first: float, last: float, middle: float, count: int
) -> tuple[list[float], float, float]:
    """Interpolate a function in a variable u that goes from -1 at `first` to 1 at `last`.

    Returns:
        The coefficients of the powers of u, and the numbers in `u = slope / (x + middle) + shift`.
    """
    start, end = 1 / (first + middle), 1 / (last + middle)
    slope = 2 / (end - start)
    shift = -1 - slope * start
    odd = 2 * np.arange(count) + 1
    points = slope / (np.cos(np.pi * odd / (2 * count)) - shift) - middle
    values = np.array([function(max(x, first), middle) for x in points.tolist()])
    level = values.mean()  # what is left without it is small, and so is what rounding does to it
    turns = np.outer(np.arange(count), odd) % (4 * count)
    cosines = np.cos(np.pi * np.minimum(turns, 4 * count - turns) / (2 * count))
    series = 2 / count * cosines @ (values - level)
    series[0] = series[0] / 2 + level
    return np.polynomial.chebyshev.cheb2poly(series).tolist(), slope, shift


def _polynomial(coefficients: list[float], x: Any) -> Any:
    """Give a polynomial's values, by Horner's rule in place."""
    *lower, highest = coefficients
    total = np.full_like(x, highest)
    for coefficient in reversed(lower):
        total *= x
        total += coefficient
    return total


@overridable
def erfinv(array: Any) -> Any:
    """Give the number whose error function is each entry.

    Args:
        array: Floating-point numbers from -1 to 1.

    Returns:
        An array of the same shape and type; infinities at -1 and 1, and NaN beyond.

    Example:
        >>> erfinv(np.array([0.5, 1.0, 2.0]))
        array([0.47693628,        inf,        nan])
    """
    given = np.asarray(array, np.float64)
    with np.errstate(all="ignore"):
        return np.copysign(_inverse(np.abs(given), 1 - np.abs(given)), given).astype(array.dtype)


def _inverse(value: Any, rest: Any) -> Any:
    """Solve erf(x) = value, or erfc(x) = rest, the smaller of both, by Halley's method.

    The first guess is S. Winitzki's: it errs by less than a hundredth.
    """
    a = 8 * (math.pi - 3) / (3 * math.pi * (4 - math.pi))
    logarithm = np.where(rest < 0.5, np.log(rest) + np.log1p(value), np.log1p(-value * value))
    half = 2 / (math.pi * a) + logarithm / 2
    x = np.sqrt(np.maximum(np.sqrt(half * half - logarithm / a) - half, 0))
    for _ in range(5):
        error = np.where(rest < 0.5, rest - erfc(x), erf(x) - value)
        step = error * np.exp(x * x) * (math.sqrt(math.pi) / 2)
        x = x - step / (1 + x * step)
    x = np.where((rest == 0) & (value == 1), np.inf, x)
    return np.where((rest < 0) | (value < 0), np.nan, x)
