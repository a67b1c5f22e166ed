"""Steps change arrays in place, and record nothing."""

from __future__ import annotations

import numpy as np
import pytest

import minigrad
from minigrad import optim

SETTINGS = [
    (optim.SGD, {"momentum": 0.5, "nesterov": True, "weight_decay": 0.25}),
    (optim.Adam, {"amsgrad": True, "weight_decay": 0.25}),
    (optim.AdamW, {"maximize": True}),
    (optim.RMSprop, {"centered": True, "momentum": 0.5}),
    (optim.Adagrad, {"lr_decay": 0.5}),
    (optim.Adadelta, {}),
]
every_kind = pytest.mark.parametrize(
    ("kind", "settings"), SETTINGS, ids=[kind.__name__ for kind, _ in SETTINGS]
)


def gradients(steps=6):
    rng = np.random.default_rng(0)
    return [rng.normal(size=(3, 2)).astype(np.float32) for _ in range(steps)]


def run(kind, settings, weight):
    optimizer = kind([weight], **settings)
    for gradient in gradients():
        weight.grad = minigrad.from_numpy(gradient.copy())
        optimizer.step()
    return weight.detach().numpy().copy(), optimizer


@every_kind
def test_memory_stays_the_same_and_versions_count(kind, settings):
    weight = minigrad.nn.Parameter(minigrad.ones(3, 2))
    array, version = weight._array, weight._version
    _, optimizer = run(kind, settings, weight)
    assert weight._array is array and weight._version >= version + 6
    state = {name: value._array for name, value in optimizer.state[weight].items()}
    weight.grad = minigrad.ones(3, 2)
    optimizer.step()
    assert all(optimizer.state[weight][name]._array is kept for name, kept in state.items())


@every_kind
def test_the_gradient_is_left_alone(kind, settings):
    weight = minigrad.nn.Parameter(minigrad.ones(3, 2))
    optimizer = kind([weight], **settings)
    for _ in range(3):
        weight.grad = minigrad.full((3, 2), 0.5)
        version = weight.grad._version
        optimizer.step()
        assert (weight.grad == 0.5).all() and weight.grad._version == version


@every_kind
def test_arrays_in_any_order_give_the_same(kind, settings):
    plain, _ = run(kind, settings, minigrad.nn.Parameter(minigrad.ones(3, 2)))
    turned = minigrad.nn.Parameter(minigrad.ones(2, 3).t())
    assert np.array_equal(run(kind, settings, turned)[0], plain)
    part = minigrad.ones(3, 4)[:, ::2].detach().requires_grad_()
    assert np.array_equal(run(kind, settings, part)[0], plain)


@every_kind
def test_overflow_is_silent(kind, settings):
    weight = minigrad.nn.Parameter(minigrad.ones(2))
    optimizer = kind([weight], **settings)
    for value in (1e30, float("inf"), float("nan"), 0.0):
        weight.grad = minigrad.full((2,), value)
        optimizer.step()  # a warning would be an error
    assert weight.shape == (2,)


def test_a_saved_weight_that_a_step_changed_is_noticed():
    weight = minigrad.nn.Parameter(minigrad.ones(2))
    optimizer = optim.Adam([weight])
    loss = (weight * weight).sum()
    weight.grad = minigrad.ones(2)
    optimizer.step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_a_step_in_inference_mode_is_refused_for_none_and_works():
    with minigrad.inference_mode():
        weight = minigrad.ones(2)
        weight.grad = minigrad.ones(2)
        optimizer = optim.RMSprop([weight], lr=0.5, alpha=0.75)
        optimizer.step()
        assert weight.tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside"):
        optimizer.step()


def test_steps_are_counted_in_the_default_dtype():
    minigrad.set_default_dtype(minigrad.float64)
    try:
        weight = minigrad.ones(2, requires_grad=True)
        weight.grad = minigrad.ones(2)
        optimizer = optim.Adam([weight])
        optimizer.step()
        steps = optimizer.state[weight]["step"]
    finally:
        minigrad.set_default_dtype(minigrad.float32)
    assert steps.dtype is minigrad.float64


@every_kind
def test_a_step_that_is_to_be_recorded_is_refused(kind, settings):
    with pytest.raises(NotImplementedError, match="records nothing"):
        kind([minigrad.ones(2, requires_grad=True)], **settings, differentiable=True)


def test_memory_that_entries_share_is_not_stepped_on():
    weight = minigrad.ones(1).expand(3).detach().requires_grad_()
    weight.grad = minigrad.ones(3)
    for kind, settings in SETTINGS:
        with pytest.raises(RuntimeError, match="written-to tensor"):
            kind([weight], **settings).step()


def test_half_precision_stays_half():
    weight = minigrad.ones(4, dtype=minigrad.float16, requires_grad=True)
    for kind, settings in SETTINGS:
        optimizer = kind([weight], **settings, lr=minigrad.tensor(0.125))
        weight.grad = minigrad.ones(4, dtype=minigrad.float16)
        optimizer.step()
        assert weight.dtype is minigrad.float16
        kept = [v for v in optimizer.state[weight].values() if v.ndim]
        assert all(value.dtype is minigrad.float16 for value in kept)


def test_the_plainest_step_takes_each_parameter_in_its_own_precision():
    kinds = [np.float32, np.float64, np.float16, np.float64]
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(3, 2)).astype(kind) for kind in kinds]
    arrays[1] = arrays[1].T[1:]  # neither in order, nor all of its memory
    weights = [minigrad.from_numpy(array).requires_grad_() for array in arrays]
    optimizer = optim.SGD(weights, lr=0.1)
    for weight, array in zip(weights, arrays, strict=True):
        weight.grad = minigrad.from_numpy(rng.normal(size=array.shape).astype(array.dtype))
    before = [array.copy() for array in arrays]
    versions = [weight._version for weight in weights]
    optimizer.step()
    for weight, old, version in zip(weights, before, versions, strict=True):
        expected = old - weight.grad.numpy() * old.dtype.type(0.1)
        np.testing.assert_array_equal(weight.detach().numpy(), expected)
        assert weight.detach().numpy().dtype == old.dtype and weight._version > version


def test_settings_that_fit_no_parameter_are_told():
    weight = minigrad.ones(2, 3, requires_grad=True)
    weight.grad = minigrad.ones(2, 3)
    with pytest.raises(TypeError):
        optim.Adagrad([weight], lr_decay=np.complex64(1j))
    with pytest.raises(ValueError, match="one entry"):
        optim.Adadelta([weight], minigrad.zeros(2))
