"""NumPy's functions that rearrange and join give on tensors what they give on arrays, recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as torch

M, V, T = (2, 3), (4,), (2, 3, 4)

CALLS: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "broadcast_to": (lambda x: np.broadcast_to(x, (2, 4)), V),
    "concatenate": (lambda x: np.concatenate([x, x * 2], axis=1), M),
    "concatenate in a row": (lambda x: np.concatenate([x, x * 2], axis=None), M),
    "expand_dims": (lambda x: np.expand_dims(x, 1), M),
    "flip": (np.flip, M),
    "moveaxis": (lambda x: np.moveaxis(x, 0, -1), T),
    "ravel": (np.ravel, M),
    "reshape": (lambda x: np.reshape(x, (3, -1)), M),
    "squeeze": (lambda x: np.squeeze(x[None], axis=0), M),
    "stack": (lambda x: np.stack([x, x], axis=1), M),
    "swapaxes": (lambda x: np.swapaxes(x, 0, 1), M),
    "transpose": (lambda x: np.transpose(x, (1, 2, 0)), T),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_same_on_tensors_and_arrays(name: str) -> None:
    """Values are NumPy's, and the gradient of their sum counts how often an entry appears."""
    call, shape = CALLS[name]
    array = np.random.default_rng(0).uniform(1, 2, shape)
    tensor = torch.tensor(array, requires_grad=True)
    expected, actual = call(array), call(tensor)
    if not isinstance(expected, list):
        expected, actual = [expected], [actual]
    assert [part.shape for part in actual] == [part.shape for part in expected]
    for part, right in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(part.detach().numpy(), right)
        assert part.grad_fn is not None or part is tensor
    total = sum((part * part).sum() for part in actual)
    (found,) = torch.autograd.grad(total, tensor)
    step = 1e-6

    def value(of: Any) -> float:
        parts = call(of)
        return float(sum((p * p).sum() for p in (parts if isinstance(parts, list) else [parts])))

    slopes = np.zeros(shape)
    for place in np.ndindex(shape):
        moved = np.zeros(shape)
        moved[place] = step
        slopes[place] = (value(array + moved) - value(array - moved)) / (2 * step)
    # a central difference of a polynomial of size 10 errs by some 1e-9
    np.testing.assert_allclose(found.numpy(), slopes, rtol=1e-6, atol=1e-7)


def test_what_numpy_refuses() -> None:
    """Arguments that make no sense raise, and what is not offered is not recorded."""
    x = torch.zeros(2, 3)
    with pytest.raises(ValueError, match="equal division"):
        np.split(x, 2, axis=1)
    with pytest.raises(RuntimeError, match="nothing would be recorded"):
        np.ravel(x.requires_grad_(), order="F")
