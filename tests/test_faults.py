"""Plain words for what NumPy or Python refuses inside a function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as torch

X = torch.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda: X.sum(1, "yes"), TypeError, r"argument 'keepdim' .* must be bool, not str"),
        (lambda: X.clamp_([1]), TypeError, "must be Number, not list"),
        (lambda: X.add(X, alpha=np.array("a")), TypeError, r"alpha.* must be Number"),
        (lambda: X.sum(dtype=3), TypeError, r"dtype.* must be torch.dtype, not int"),
        (lambda: torch.ones(2**62), RuntimeError, r"ones\(\) can't be computed"),
        (lambda: X.sum("a"), TypeError, "dim must be int, not str"),
        (lambda: X.softmax(2), IndexError, "Dimension out of range"),
    ],
)
def test_it_is_told_which_argument_was_wrong(call: Any, kind: type[Exception], says: str) -> None:
    """The message names the argument and what it must be, nothing from inside."""
    with pytest.raises(kind, match=says) as told:
        call()
    assert told.value.__suppress_context__ or told.value.__context__ is None


def test_numbers_of_other_kinds_set_what_they_say() -> None:
    """Set with NumPy's numbers and tensors of one number what Python's set."""
    assert torch.equal(X.add(X, alpha=np.float64(0.5)), X * 1.5)
    assert X.add(X, alpha=np.float64(0.5)).dtype == torch.float32
    assert torch.equal(X.tril(torch.tensor(1)), X.tril(1))
    assert X.clamp(0.5, np.float64(2)).dtype == torch.float32
    assert X.lerp(X, np.float64(0.5)).dtype == torch.float32
    assert X.masked_fill(X > 1, np.float64(0.5)).dtype == torch.float32
    assert torch.nn.functional.normalize(X, np.float64(2)).dtype == torch.float32
    assert [len(each) for each in X[0].split(torch.tensor(2))] == [2, 1]


class Broken:
    """A number whose own code fails."""

    def __index__(self) -> int:
        """Fail."""
        raise ZeroDivisionError("mine")


def test_errors_of_the_users_own_code_stay_as_they_are() -> None:
    """Let pass what a hook or a number of the user raises, and their wrong signatures."""
    with pytest.raises(ZeroDivisionError, match=r"^mine$"):
        X.tril(Broken())

    def pack(_: Any) -> Any:
        return [][0]

    leaf = torch.ones(2, requires_grad=True)
    with (
        pytest.raises(IndexError, match=r"^list index out of range$"),
        torch.autograd.graph.saved_tensors_hooks(pack, pack),
    ):
        torch.exp(leaf)
    none: Any = lambda: None  # noqa: E731
    with (
        pytest.raises(TypeError, match="takes 0 positional arguments"),
        torch.autograd.graph.saved_tensors_hooks(none, none),
    ):
        torch.exp(leaf)


@pytest.mark.parametrize(
    "call",
    [
        torch.relu,
        torch.nn.functional.relu6,
        torch.nn.functional.celu,
        torch.nn.functional.softplus,
        lambda z: z.clamp(min=0),
        lambda z: z < 1,
        lambda z: z >= z,
    ],
)
def test_what_needs_an_order_takes_no_complex_numbers(call: Any) -> None:
    """Refuse what is neither larger nor smaller."""
    with pytest.raises(NotImplementedError, match=r"complex types|ComplexFloat"):
        call(torch.tensor([1j]))


def test_a_convolution_of_no_samples_has_gradients_of_zeros() -> None:
    """Go backward through an empty batch."""
    weight, bias = torch.ones(2, 1, 3, requires_grad=True), torch.ones(2, requires_grad=True)
    torch.nn.functional.conv1d(torch.ones(0, 1, 5), weight, bias).sum().backward()
    assert torch.equal(weight.grad, torch.zeros(2, 1, 3))
    assert torch.equal(bias.grad, torch.zeros(2))


def test_values_without_a_place_get_no_gradient() -> None:
    """Scatter a part of the values; PyTorch fails to go backward there."""
    rows, weights = torch.tensor([[0, 2], [1, 0]]), torch.tensor([1.0, 5.0, -7.0])
    for scatter in (torch.scatter, torch.scatter_add):
        src = torch.ones(2, 3, requires_grad=True)
        (scatter(torch.zeros(2, 3), 1, rows, src) * weights).sum().backward()
        assert src.grad.tolist() == [[1, -7, 0], [5, 1, 0]]


def test_what_is_computed_beside_arrays_and_odd_settings() -> None:
    """Meet an array in a power, a number for a dtype, and NaN at the edge of a shrinking."""
    assert torch.equal(X ** np.full((2, 3), 2.0), X.double() ** 2)
    assert torch.nn.functional.softshrink(torch.tensor([torch.nan, 2.0])).isnan().tolist() == [
        True,
        False,
    ]
    mixed = torch.nn.functional.cosine_similarity(X, X.half())
    assert mixed.dtype == torch.float32


def test_a_draw_has_no_derivative() -> None:
    """Go back through draws with one chance: PyTorch refuses."""
    leaf = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="derivative for aten::bernoulli is not implemented"):
        leaf.bernoulli(0.5).sum().backward()
