"""Undoing broadcasts: the sum over all places that a value was repeated to."""

from __future__ import annotations

import random

import numpy as np
import pytest

import minigrad
from minigrad.core.node import sum_to_shape


def _by_hand(gradient, shape):
    """Add up, entry by entry, the gradients of all places that each value was repeated to."""
    total = np.zeros(shape)
    origin = np.broadcast_to(np.arange(total.size).reshape(shape), gradient.shape)
    for place, value in zip(origin.ravel(), gradient.ravel(), strict=True):
        total.reshape(-1)[place] += value
    return total


def _shapes(seed):
    choose = random.Random(seed)
    full = tuple(choose.randint(1, 4) for _ in range(choose.randint(0, 4)))
    start = choose.randint(0, len(full))
    return full, tuple(1 if choose.random() < 0.4 else size for size in full[start:])


CASES = [_shapes(seed) for seed in range(60)]
CASES += [
    ((3, 2), (3, 2)),
    ((3, 2), ()),
    ((), ()),
    ((1, 1), (1,)),
    ((0, 3), (3,)),
    ((2, 0), (1, 1)),
    ((4, 2, 1), (1, 1)),
]


@pytest.mark.parametrize("full, shape", CASES)
def test_arrays_and_tensors_are_reduced_as_by_hand(full, shape):
    gradient = np.random.default_rng(7).standard_normal(full)
    expected = _by_hand(gradient, shape)
    # up to 256 summands, in another order
    close = dict(rtol=1e-12, atol=1e-12)
    found = np.asarray(sum_to_shape(gradient, shape))
    assert found.shape == shape
    np.testing.assert_allclose(found, expected, **close)
    tensor = minigrad.tensor(gradient, requires_grad=True)
    recorded = sum_to_shape(tensor, shape)
    assert recorded.shape == shape
    np.testing.assert_allclose(recorded.detach().numpy(), expected, **close)
    if gradient.size:
        # summing and repeating are each other's adjoint
        cotangent = np.asarray(np.random.default_rng(8).standard_normal(shape))
        (back,) = minigrad.autograd.grad(recorded, tensor, minigrad.tensor(cotangent))
        np.testing.assert_array_equal(back.numpy(), np.broadcast_to(cotangent, full))


@pytest.mark.parametrize("seed", range(12))
def test_an_operation_on_broadcast_inputs_gives_gradients_in_their_shapes(seed):
    source = np.random.default_rng(seed)
    full, shape = _shapes(seed + 100)
    x = minigrad.tensor(np.asarray(source.standard_normal(full)), requires_grad=True)
    w = minigrad.tensor(np.asarray(source.standard_normal(shape)), requires_grad=True)
    cotangent = np.asarray(source.standard_normal(full))
    (x * w).backward(minigrad.tensor(cotangent))
    assert x.grad.shape == full and w.grad.shape == shape
    np.testing.assert_array_equal(x.grad.numpy(), cotangent * w.detach().numpy())
    expected = _by_hand(cotangent * x.detach().numpy(), shape)
    np.testing.assert_allclose(w.grad.numpy(), expected, rtol=1e-12, atol=1e-12)


def test_shapes_that_do_not_broadcast(torch, draw, refused):
    message = (
        "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 1"
    )
    a, b = draw(4, 3, requires_grad=True), draw(4, 2)
    for operation in (torch.add, torch.mul, torch.sub, torch.div):
        with refused(RuntimeError, message, "compared from the right, sizes must be equal or 1"):
            operation(a, b)


def test_a_large_gradient_summed_to_one_number_reaches_its_leaf(torch):
    x = torch.tensor(np.random.default_rng(1).standard_normal(10_000), requires_grad=True)
    w = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    cotangent = torch.tensor(np.random.default_rng(2).standard_normal(10_000))
    (x * w).backward(cotangent)
    expected = (cotangent.numpy() * x.detach().numpy()).sum(keepdims=True)
    np.testing.assert_allclose(w.grad.numpy(), expected, rtol=1e-10)
