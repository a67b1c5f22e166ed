"""The usual functions write into `out`, as quickly as before where it is not given."""

from __future__ import annotations

import numpy as np
import pytest

import minigrad as torch

ONE = """
    cos exp expm1 log log1p reciprocal rsqrt sigmoid sin sqrt square tanh
""".split()  # noqa: SIM905 - one name after the other reads better
TWO = "add div maximum minimum mul pow sub eq ne lt le gt ge".split()  # noqa: SIM905
LOGIC = "logical_and logical_or logical_xor".split()  # noqa: SIM905
BITS = "bitwise_and bitwise_or bitwise_xor".split()  # noqa: SIM905

X, Y = np.array([0.5, 2.0, 1.0], np.float32), np.array([1.5, 2.0, 0.5], np.float32)


@pytest.mark.parametrize("name", ONE)
def test_one_tensor(name: str) -> None:
    """The result is in the place, also in a wider type; without `out` it is the method's."""
    function, x = getattr(torch, name), torch.tensor(X)
    expected = getattr(x, name)()
    for dtype in (torch.float32, torch.float64):
        place = torch.zeros(3, dtype=dtype)
        assert function(x, out=place) is place
        assert torch.equal(place, expected.to(dtype))
    assert torch.equal(function(input=x), expected)
    with pytest.raises(RuntimeError, match="can't be cast to out"):
        function(x, out=torch.zeros(3, dtype=torch.int64))


LOWER = (
    "abs ceil floor frac neg round sgn sign trunc amax amin argmax log_softmax norm softmax tril"
)


@pytest.mark.parametrize("name", LOWER.split())
def test_a_place_of_a_lower_kind_is_refused(name: str) -> None:
    """Write into the result's own type, but no fractions into whole numbers, as PyTorch."""
    others = {"softmax": (-1,), "log_softmax": (-1,)}.get(name, ())
    function, x = getattr(torch, name), torch.tensor(X).view(1, 3)
    expected = function(x, *others)
    place = torch.zeros_like(expected)
    assert function(x, *others, out=place) is place
    assert torch.equal(place, expected)
    lower = torch.int64 if expected.is_floating_point() else torch.bool
    with pytest.raises(RuntimeError, match="can't be cast to out"):
        function(x, *others, out=torch.zeros(expected.shape, dtype=lower))


def test_sums_are_written_into_any_type() -> None:
    """Convert what is summed to what the sum is written into, before it is summed."""
    x = torch.tensor([1.7, 1.7])
    assert torch.sum(x, 0, out=torch.tensor(0)).item() == 2


@pytest.mark.parametrize("name", TWO + LOGIC)
def test_two_tensors(name: str) -> None:
    """So it is with two tensors, and a number as the second."""
    function, x, y = getattr(torch, name), torch.tensor(X), torch.tensor(Y)
    for other in (y, 2.0) if name in TWO and name not in ("maximum", "minimum") else (y,):
        expected = getattr(x, name)(other)
        place = torch.zeros(3)
        assert function(x, other, out=place) is place
        assert torch.equal(place, expected.float())
        assert torch.equal(function(x, other), expected)


@pytest.mark.parametrize("name", BITS)
def test_bits(name: str) -> None:
    """Integers go into a place for integers."""
    x, y, place = torch.tensor([6, 3]), torch.tensor([3, 5]), torch.zeros(2, dtype=torch.int64)
    assert getattr(torch, name)(x, y, out=place) is place
    assert place.tolist() == getattr(np, name)([6, 3], [3, 5]).tolist()


def test_settings() -> None:
    """`alpha`, limits and rounding go along with `out`."""
    x, place = torch.tensor(X), torch.zeros(3)
    assert torch.add(x, x, alpha=2, out=place).tolist() == (3 * X).tolist()
    assert torch.sub(x, x, alpha=2).tolist() == (-X).tolist()
    assert torch.clamp(x, max=0.75, out=place).tolist() == [0.5, 0.75, 0.75]
    assert torch.div(x, x, rounding_mode="floor", out=place).tolist() == [1.0, 1.0, 1.0]
    assert torch.pow(input=x, exponent=2, out=place).tolist() == (X**2).tolist()
    assert torch.logical_not(x, out=place).tolist() == [0.0, 0.0, 0.0]
    index = torch.tensor([2, 0])
    assert torch.gather(x, 0, index, out=torch.zeros(2)).tolist() == [1.0, 0.5]


def test_what_requires_grad_is_refused() -> None:
    """With `out` nothing is recorded, so nothing may ask for it."""
    x = torch.tensor(X, requires_grad=True)
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        torch.exp(x, out=torch.zeros(3))
    assert type(torch.exp(x).grad_fn).__name__ == "ExpBackward0"
    assert type(torch.mul(x, 2).grad_fn).__name__ == "MulBackward0"


def test_what_cannot_be_compared_is_refused() -> None:
    """The operators leave it to the other operand; the functions do not."""
    x = torch.tensor(X)
    assert (x == "a") is False
    for call in (
        lambda: torch.eq(x, "a"),
        lambda: torch.mul(x, "a"),
    ):
        with pytest.raises(TypeError, match="takes a tensor, and a tensor or a number"):
            call()
