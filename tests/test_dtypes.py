"""Data types: their names, and the type in which two of them meet."""

from __future__ import annotations

import copy
import itertools
import pickle

import numpy as np
import pytest

import minigrad
from minigrad.creation import dtypes

NAMES = ["bool", "uint8", "int8", "int16", "int32", "int64"]
# PyTorch's complex32 is not among them, where float16 and a complex number without dimensions meet
NAMES += ["float16", "float32", "float64", "complex64", "complex128"]


@pytest.fixture(params=["minigrad", "torch"])
def torch(request):
    return pytest.importorskip(request.param)


def test_names_print_as_in_pytorch(torch):
    for name in NAMES:
        assert repr(getattr(torch, name)) == str(getattr(torch, name)) == f"torch.{name}"
    for alias, name in dict(
        half="float16", float="float32", double="float64", short="int16", int="int32",
        long="int64", cfloat="complex64", cdouble="complex128",
    ).items():  # fmt: skip
        assert getattr(torch, alias) is getattr(torch, name)


def test_attributes(torch):
    for name in NAMES:
        dtype, same = getattr(torch, name), np.dtype(name)
        assert dtype.itemsize == same.itemsize
        assert dtype.is_floating_point == (same.kind == "f")
        assert dtype.is_complex == (same.kind == "c")


def test_a_copied_dtype_is_the_same_object(torch):
    for name in NAMES:
        dtype = getattr(torch, name)
        assert pickle.loads(pickle.dumps(dtype)) is dtype
        assert copy.deepcopy(dtype) is dtype


# Rows and columns in the order of NAMES, for tensors of equal rank; found on PyTorch 2.13.0.
MEETING = """
bool       uint8      int8       int16      int32      int64      float16    float32    float64    complex64  complex128
uint8      uint8      int16      int16      int32      int64      float16    float32    float64    complex64  complex128
int8       int16      int8       int16      int32      int64      float16    float32    float64    complex64  complex128
int16      int16      int16      int16      int32      int64      float16    float32    float64    complex64  complex128
int32      int32      int32      int32      int32      int64      float16    float32    float64    complex64  complex128
int64      int64      int64      int64      int64      int64      float16    float32    float64    complex64  complex128
float16    float16    float16    float16    float16    float16    float16    float32    float64    complex64  complex128
float32    float32    float32    float32    float32    float32    float32    float32    float64    complex64  complex128
float64    float64    float64    float64    float64    float64    float64    float64    float64    complex128 complex128
complex64  complex64  complex64  complex64  complex64  complex64  complex64  complex64  complex128 complex64  complex128
complex128 complex128 complex128 complex128 complex128 complex128 complex128 complex128 complex128 complex128 complex128
"""  # noqa: E501


def test_two_tensors_meet_as_recorded(torch):
    table = [line.split() for line in MEETING.strip().splitlines()]
    for (i, a), (j, b) in itertools.product(enumerate(NAMES), repeat=2):
        one, other = (torch.ones(2, dtype=getattr(torch, name)) for name in (a, b))
        assert (one * other).dtype is getattr(torch, table[i][j]), (a, b)


@pytest.mark.parametrize("ranks", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_tensors_with_and_without_dimensions_meet_as_in_pytorch(ranks):
    judge = pytest.importorskip("torch")
    for names in itertools.product(NAMES, repeat=2):
        if names[0] != names[1] and "float16" in names and "complex" in "".join(names):
            continue
        if ranks[0] != ranks[1] and set(names) == {"float32", "complex128"}:
            continue  # below
        met = []
        for torch in (minigrad, judge):
            one, other = (
                torch.ones((2,) * rank, dtype=getattr(torch, name))
                for rank, name in zip(ranks, names, strict=True)
            )
            met.append(repr((one * other).dtype))
        assert met[0] == met[1], names


def test_a_complex_number_without_dimensions_takes_the_precision_of_the_other(torch):
    single, number = torch.ones(2), torch.ones((), dtype=torch.complex128)
    assert (single * number).dtype is (number * single).dtype is torch.complex64


@pytest.mark.parametrize("number", [True, 2, 2.5, 2.5j])
def test_numbers_meet_tensors_as_in_pytorch(number):
    judge = pytest.importorskip("torch")
    for name, shape in itertools.product(NAMES, [(), (2,)]):
        if name == "float16" and isinstance(number, complex):
            continue
        met = [
            repr((torch.ones(shape, dtype=getattr(torch, name)) * number).dtype)
            for torch in (minigrad, judge)
        ]
        assert met[0] == met[1], name


def test_a_number_does_not_widen_and_a_kind_does(torch):
    assert (torch.ones(2, dtype=torch.float16) * 2.5).dtype is torch.float16
    assert (torch.ones(2, dtype=torch.int8) * 2).dtype is torch.int8
    assert (torch.ones(2, dtype=torch.int64) * 2.5).dtype is torch.float32
    assert (torch.ones(2, dtype=torch.bool) * 2).dtype is torch.int64
    assert (torch.ones((), dtype=torch.float64) * torch.ones(2)).dtype is torch.float32
    assert (torch.ones((), dtype=torch.float64) * torch.arange(2)).dtype is torch.float64


def test_the_default_dtype(torch):
    assert torch.get_default_dtype() is torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.tensor(0.5).dtype is torch.float64
        assert torch.tensor([0.5, 1j]).dtype is torch.complex128
        assert torch.zeros(2).dtype is torch.randn(2).dtype is torch.float64
        assert torch.tensor(5).dtype is torch.int64
    finally:
        torch.set_default_dtype(torch.float32)
    with pytest.raises(TypeError, match="only floating-point types are supported as the default"):
        torch.set_default_dtype(torch.int64)
    assert torch.get_default_dtype() is torch.float32


def test_a_number_follows_the_default_dtype_of_the_moment(torch):
    whole, number = torch.ones(2, dtype=torch.int64), 1.8125
    assert (whole * number).dtype is torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert (whole * number).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    assert (whole * number).dtype is torch.float32


def test_array_types_that_tensors_do_not_have():
    with pytest.raises(TypeError, match="array of uint16"):
        dtypes.of_array(np.zeros(2, dtype=np.uint16))
    assert dtypes.scalar_name(np.zeros(2, dtype=np.complex64)) == "ComplexFloat"


def test_symbols_win_over_all_numbers():
    for name in NAMES:
        assert dtypes.promote(np.dtype(name), np.dtype(object)).kind == "O"
        assert dtypes.result_type(np.array(None), np.zeros(2, name)).kind == "O"


def test_three_tensors_meet_by_their_dimensions() -> None:
    """Let what has no dimensions count by its kind only, whatever it meets first."""
    double = minigrad.tensor(1.0, dtype=minigrad.float64)
    whole = minigrad.ones(3, dtype=minigrad.int64)
    assert minigrad.addcmul(double, whole, minigrad.ones(3)).dtype == minigrad.float32
    assert minigrad.addcdiv(whole, double, minigrad.ones(3)).dtype == minigrad.float32
