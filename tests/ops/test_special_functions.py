"""The error function is as exact as it says, for few numbers and many; NumPy's own functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import minigrad as torch
from minigrad.ops import special_functions

FINE = np.concatenate([np.linspace(-6.5, 6.5, 20001), np.linspace(-0.6, 0.6, 5001)])
ENDS = [0.0, -0.0, np.inf, -np.inf, np.nan, 30.0, -30.0, 1e300]


def units(actual: Any, expected: Any) -> float:
    """Give the largest error in units of the last digit, relative to each number's size."""
    error = np.abs(actual.astype(np.float64) - expected)
    return float((error / np.abs(expected) / np.finfo(actual.dtype).eps).max())


@pytest.mark.parametrize(("dtype", "limit"), [(np.float32, 3), (np.float64, 5)])
def test_erf_is_exact_to_a_few_units(dtype: Any, limit: float) -> None:
    """Many numbers at once agree with Python's own function for one."""
    x = FINE[FINE != 0].astype(dtype)
    expected = np.array([math.erf(value) for value in x.tolist()])
    assert units(special_functions.erf.forward(x), expected) < limit
    assert np.abs(special_functions.erf.forward(x)).max() == 1


@pytest.mark.parametrize(("dtype", "last", "limit"), [(np.float32, 9.0, 5), (np.float64, 26.0, 10)])
def test_erfc_is_exact_where_it_is_small(dtype: Any, last: float, limit: float) -> None:
    """The relative error stays small as far out as the type can hold the number."""
    x = np.concatenate([FINE, np.linspace(0, last, 5001)]).astype(dtype)
    expected = np.array([math.erfc(value) for value in x.tolist()])
    assert units(special_functions.erfc.forward(x), expected) < limit


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", ["erf", "erfc"])
def test_few_and_many_agree_at_the_ends(name: str, dtype: Any) -> None:
    """Infinities, NaN, zeros of both signs, in both ways of computing."""
    with np.errstate(over="ignore"):
        few = np.array(ENDS).astype(dtype)
    many = np.tile(few, 100).reshape(20, 40)
    function = getattr(special_functions, name).forward
    found, expected = function(many), np.tile(function(few), 100).reshape(20, 40)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))
    exact = [getattr(math, name)(value) for value in few.tolist()]
    np.testing.assert_array_equal(function(few), np.array(exact, dtype))


def test_erf_of_a_transposed_part() -> None:
    """The memory's order does not matter."""
    x = np.linspace(-2, 2, 4000).reshape(50, 80)
    np.testing.assert_array_equal(
        special_functions.erf.forward(x.T[::2]), special_functions.erf.forward(x).T[::2]
    )


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_of_many(approximate: str) -> None:
    """Many numbers, in any order in memory, have the values and slopes that few have."""
    ends = np.tile(np.array([*ENDS[:5], 5.0, -5.0, 1e20, -1e20], np.float32), 100)
    generator = np.random.default_rng(0)
    plain = generator.normal(0, 3, (60, 70, 20)).astype(np.float32)
    for x in (plain, plain.transpose(2, 0, 1), plain[::2, ::-1], plain[:, :1].repeat(3, 1), ends):
        leaf, wide = (torch.tensor(x.astype(d), requires_grad=True) for d in (None, np.float64))
        cotangent = torch.tensor(generator.standard_normal(x.shape))
        result, exact = (torch.nn.functional.gelu(y, approximate=approximate) for y in (leaf, wide))
        limits = {"rtol": 1e-6, "atol": 1e-6}
        np.testing.assert_allclose(result.detach(), exact.detach(), **limits)
        slope, steep = (
            torch.autograd.grad(y, at, cotangent.to(y.dtype), retain_graph=True)[0]
            for y, at in ((result, leaf), (exact, wide))
        )
        np.testing.assert_allclose(slope, steep, **limits)
        again = torch.autograd.grad(result, leaf, cotangent.float(), create_graph=True)[0]
        np.testing.assert_allclose(again.detach(), steep, **limits)


def test_gelu_of_a_saved_input_that_a_hook_replaced() -> None:
    """The rule computes with what it is handed, not with what the forward left."""
    x = torch.linspace(-3, 3, 1000, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda kept: kept, lambda kept: kept * 0 + 1):
        y = torch.nn.functional.gelu(x)
    (slope,) = torch.autograd.grad(y.sum(), x)
    np.testing.assert_allclose(slope, np.full(1000, 1.0833155), rtol=1e-6)


ONE = """
    tan arcsin arccos arctan sinh cosh arcsinh arccosh arctanh exp2 log2 log10 deg2rad rad2deg
    floor ceil trunc rint signbit isnan positive
""".split()  # noqa: SIM905 - one name after the other reads better
TWO = """
    remainder floor_divide logical_and logical_or logical_xor isclose
""".split()  # noqa: SIM905


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated")  # from NumPy 2.5 on
@pytest.mark.parametrize("name", [name for name in ONE if hasattr(np, name)])
def test_numpy_functions_of_tensors(name: str) -> None:
    """NumPy's functions take tensors, give tensors, and record themselves."""
    x = np.array([0.25, 0.75, 0.5]) + (1 if name == "arccosh" else 0)
    tensor = torch.tensor(x, requires_grad=True)
    result = getattr(np, name)(tensor)
    assert isinstance(result, torch.Tensor)
    np.testing.assert_allclose(result.detach().numpy(), getattr(np, name)(x), rtol=1e-14)
    assert result.requires_grad == (result.dtype is torch.float64)


@pytest.mark.parametrize("name", TWO)
def test_numpy_functions_of_two(name: str) -> None:
    """A tensor with a tensor, with an array on either side, and with a number."""
    x, y = np.array([0.25, -0.75, 0.5]), np.array([1.5, 2.0, 0.5])
    function = getattr(np, name)
    s, t = torch.tensor(x), torch.tensor(y)
    for result in (function(s, t), function(x, t), function(s, y)):
        assert isinstance(result, torch.Tensor)
        np.testing.assert_allclose(result.numpy(), function(x, y), rtol=1e-14)
    np.testing.assert_allclose(function(s, 2.0).numpy(), function(x, 2.0), rtol=1e-14)


def test_numpy_bits() -> None:
    """Bits of integers, by NumPy's functions."""
    x, y = np.array([6, -3, 1]), np.array([3, 1, 2])
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"):
        result = getattr(np, name)(torch.tensor(x), y)
        assert result.tolist() == getattr(np, name)(x, y).tolist()
    assert np.invert(torch.tensor(x)).tolist() == (~x).tolist()
    assert np.logical_not(torch.tensor(x)).tolist() == [False] * 3
