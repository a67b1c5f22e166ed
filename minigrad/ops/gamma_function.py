r"""Compute the logarithm of the gamma function and its derivatives of arrays, with NumPy alone.

.. math:: \psi(x) = \frac{d}{dx} \ln \Gamma(x), \qquad
          \psi^{(n)}(x) = (-1)^{n+1} n! \sum_{k=0}^\infty \frac{1}{(x + k)^{n+1}}

Far from 0 they are sums of a few powers, with Bernoulli's numbers (Euler and Maclaurin); from
where x is small the recurrence :math:`\psi(x) = \psi(x + 1) - 1/x` leads there, and from the
negative side the reflection :math:`\psi(x) = \psi(1 - x) - \pi / \tan(\pi x)` does.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from minigrad.ops.overriding import overridable

_FAR = 10  # from here on the sums of powers are as good as float64
_TERMS = 8


_quietly: Any = np.errstate(all="ignore")  # poles give infinities


@overridable
def lgamma(array: Any) -> Any:
    """Give the logarithm of the absolute value of the gamma function of each entry.

    Args:
        array: Floating-point numbers.

    Returns:
        An array of the same shape and type; infinity at 0 and the negative whole numbers.

    Example:
        >>> lgamma(np.array([1.0, 5.0, 0.0]))
        array([0.        , 3.17805383,        inf])
    """
    pole = (array <= 0) & (array == np.floor(array))
    values = np.where(pole, 1, array).ravel().tolist()
    found = np.array([_lgamma_of_one(value) for value in values], array.dtype)
    return np.where(pole, array.dtype.type(np.inf), found.reshape(array.shape))


def _lgamma_of_one(value: float) -> float:
    try:
        return math.lgamma(value)
    except OverflowError:
        return math.inf


@overridable
@_quietly
def digamma(array: Any) -> Any:
    """Give the derivative of `lgamma` at each entry.

    Args:
        array: Floating-point numbers.

    Returns:
        An array of the same shape and type; an infinity at 0, and NaN at negative whole numbers.

    Example:
        >>> digamma(np.array([1.0, 0.5, 0.0]))
        array([-0.57721566, -1.96351003,        -inf])
    """
    given = np.asarray(array, np.float64)
    negative = given < 0
    x = np.where(negative, 1 - given, given)
    total = np.zeros_like(x)
    for _ in range(_FAR):
        near = x < _FAR
        total -= np.where(near, 1 / x, 0)
        x = x + near
    square = 1 / (x * x)
    series = np.zeros_like(x)
    for k in range(_TERMS, 0, -1):
        series = (series + float(bernoulli(2 * k)) / (2 * k)) * square
    total += np.log(x) - 0.5 / x - series
    # the angle without whole half-turns, so that it does not lose digits
    total -= np.where(negative, np.pi / np.tan(np.pi * np.fmod(given, 1)), 0)
    total = np.where(given == 0, np.copysign(np.inf, -given), total)
    total = np.where(given == np.inf, np.inf, total)
    return np.where(negative & (given == np.floor(given)), np.nan, total).astype(array.dtype)


@overridable
@_quietly
def polygamma(array: Any, n: int) -> Any:
    """Give the n-th derivative of `digamma` at each entry.

    Args:
        array: Floating-point numbers.
        n: How often to differentiate, from 0 on.

    Returns:
        An array of the same shape and type.

    Example:
        >>> polygamma(np.array([1.0, 0.5]), 1)
        array([1.64493407, 4.9348022 ])
    """
    if n == 0:
        return digamma(array)
    if n == 1:
        return _trigamma(array)
    sign = (-1.0) ** (n + 1)
    return (sign * math.factorial(n) * _zeta(n + 1, array.astype(np.float64))).astype(array.dtype)


def _trigamma(array: Any) -> Any:
    """Give the derivative of `digamma`, reflected where x is below 1/2.

    At negative whole numbers there is no pole but the square of a rounding error, as in PyTorch.
    """
    below = array < 0.5
    angle = array.astype(np.float32) if array.dtype == np.float16 else array
    sine = np.sin(angle.dtype.type(np.pi) * angle)
    x = np.where(below, 1 - array, array).astype(np.float64)
    value = _zeta(2, x)
    value = np.where(x == np.inf, 0, value)
    reflected = np.pi**2 / (sine * sine).astype(np.float64) - value
    return np.where(below, reflected, value).astype(array.dtype)


def _zeta(power: int, x: Any) -> Any:
    """Give the sum of (x + k) ** -power over all k from 0 on."""
    pole = (x <= 0) & (x == np.floor(x))
    x = np.where(pole, 1, x)
    total = np.zeros_like(x)
    near = x < _FAR
    while near.any():
        total += np.where(near, x**-power, 0)
        x = x + near
        near = x < _FAR
    total += x ** (1 - power) / (power - 1) + 0.5 * x**-power
    factor = power / 2 * x ** (-power - 1)  # rising factorial over (2k)!, times the power of x
    for k in range(1, _TERMS + 1):
        total += float(bernoulli(2 * k)) * factor
        factor = factor * (power + 2 * k - 1) * (power + 2 * k) / (x * x)
        factor /= (2 * k + 1) * (2 * k + 2)
    total = np.where(np.isinf(x), np.nan, total)  # as PyTorch has it
    return np.where(pole, np.inf, total)


@cache
def bernoulli(n: int) -> Fraction:
    """Give Bernoulli's number: 1, -1/2, 1/6, 0, -1/30, ...

    Example:
        >>> bernoulli(4)
        Fraction(-1, 30)
    """
    if n == 0:
        return Fraction(1)
    rest = sum((math.comb(n + 1, k) * bernoulli(k) for k in range(n)), Fraction(0))
    return -rest / (n + 1)
