"""Reductions, sorting and searching: what the tables of cases do not say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as torch
from minigrad.autograd import gradcheck

MATRIX = np.array([[1.0, 5.0, 3.5], [7.0, -1.0, 0.5]])


def leaf(values: Any = MATRIX) -> Any:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


NUMPY = {
    "prod": lambda x: np.prod(x, axis=1),
    "prod of all": np.prod,
    "multiply.reduce": lambda x: np.multiply.reduce(x, axis=0),
    "max": np.max,
    "min": lambda x: np.min(x, axis=1),
    "minimum.reduce": lambda x: np.minimum.reduce(x, axis=1),
}


@pytest.mark.parametrize("name", NUMPY)
def test_numpy_functions_record_themselves(name: str) -> None:
    """NumPy's functions on tensors give NumPy's values, and gradients."""
    function, x = NUMPY[name], leaf()
    result = function(x)
    np.testing.assert_allclose(result.detach().numpy(), function(MATRIX), rtol=1e-14)
    assert result.requires_grad
    assert gradcheck(function, x)


QUESTIONS = {
    "argmax": lambda x: np.argmax(x, axis=1),
    "argmin": np.argmin,
    "any": lambda x: np.any(x > 4, axis=0),
    "all": lambda x: np.all(x),
    "nonzero": lambda x: np.stack(np.nonzero(x > 2)),
    "argwhere": lambda x: np.argwhere(x > 2),
    "count_nonzero": np.count_nonzero,
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_numpy_functions_without_gradients(name: str) -> None:
    actual = QUESTIONS[name](torch.tensor(MATRIX))
    assert isinstance(actual, torch.Tensor)
    np.testing.assert_array_equal(actual.numpy(), QUESTIONS[name](MATRIX))


def test_a_variance_of_too_few_warns() -> None:
    for name in ("std", "var"):
        with pytest.warns(UserWarning, match=rf"{name}\(\): degrees of freedom is <= 0"):
            result = getattr(torch, name)(torch.ones(1))
        assert np.isnan(result.item())


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.prod(keepdim=True),
        lambda x: x.median(keepdim=True),
        lambda x: x.argmax((0, 1)),
        lambda x: x.cumsum(1.0),
        lambda x: x.topk(1.5),
        lambda x: torch.where(x, x),
        lambda x: torch.where([True]),
        lambda x: torch.sort([1.0]),
    ],
)
def test_wrong_calls_are_type_errors(call: Any) -> None:
    with pytest.raises(TypeError):
        call(leaf())


def test_running_sums_of_float16_do_not_lose_their_small_terms() -> None:
    """They are added up in a wider type, as in PyTorch, which a sum in float16 would not be."""
    ones = torch.ones(4096, dtype=torch.float16)
    assert ones.cumsum(0)[-1].item() == 4096
    assert np.add.accumulate(ones.numpy())[-1] == 2048
