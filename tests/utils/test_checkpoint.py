"""Checkpoints: what is freed, what comes back, and what errors say."""

from __future__ import annotations

import gc
import importlib
import warnings
import weakref

import numpy as np
import pytest

import minigrad

BOTH = pytest.mark.parametrize("reentrant", [False, True])


@pytest.fixture(params=["minigrad", "torch"])
def torch(request):
    return pytest.importorskip(request.param)


@pytest.fixture
def checkpoint(torch):
    return importlib.import_module(f"{torch.__name__}.utils.checkpoint").checkpoint


@pytest.fixture
def draw(torch):
    source = np.random.default_rng(7)

    def make(*shape, requires_grad=True):
        tensor = torch.tensor(np.asarray(source.standard_normal(shape)))
        return tensor.requires_grad_(requires_grad)

    return make


@pytest.fixture
def collector_off():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


# ------------------------------------------------------------------ memory


@BOTH
def test_what_lies_between_is_gone_after_forward(torch, checkpoint, draw, collector_off, reentrant):
    alive = []

    def part(x):
        for _ in range(3):
            x = x.sin()
            alive.append(weakref.ref(x))
        return x.sin()

    x = draw(3)
    kept = part(x)
    if torch is minigrad:  # PyTorch keeps them too, but not the Python objects
        assert all(reference() is not None for reference in alive)
    del kept
    alive.clear()
    y = checkpoint(part, x, use_reentrant=reentrant)
    assert [reference() for reference in alive] == [None] * 3
    alive.clear()
    y.sum().backward()
    assert [reference() for reference in alive] == [None] * 3


@BOTH
def test_arrays_between_are_gone_too(collector_off, reentrant):
    arrays = []

    def part(x):
        for _ in range(3):
            x = x.exp()
            arrays.append(weakref.ref(x._array))
        return x.sin()

    x = minigrad.tensor([0.1, -0.2], requires_grad=True)
    kept = part(x)
    assert all(reference() is not None for reference in arrays)
    del kept
    arrays.clear()
    y = minigrad.utils.checkpoint.checkpoint(part, x, use_reentrant=reentrant)
    assert [reference() for reference in arrays] == [None] * 3
    y.sum().backward(retain_graph=True)
    assert [reference() for reference in arrays] == [None] * 6
    y.sum().backward()
    assert [reference() for reference in arrays] == [None] * 9


@BOTH
def test_function_and_inputs_go_with_the_graph(torch, checkpoint, draw, collector_off, reentrant):
    class Part:
        def __call__(self, x, note):
            return x.exp() * x

    class Note:
        pass

    part, note, x = Part(), Note(), draw(2)
    before = x * 2
    references = [weakref.ref(part), weakref.ref(note), weakref.ref(before)]
    y = checkpoint(part, before, note, use_reentrant=reentrant)
    del part, note, before
    assert all(reference() is not None for reference in references)
    y.sum().backward()
    del y
    assert [reference() for reference in references] == [None] * 3


def test_what_a_pass_did_not_need_is_freed_with_it(collector_off):
    arrays = []

    def part(x, z):
        y = x.exp()
        arrays.append(weakref.ref(y._array))
        return y.sin(), z.sin()

    x = minigrad.tensor([0.1, -0.2], requires_grad=True)
    z = minigrad.tensor([0.3, -0.4], requires_grad=True)
    a, b = minigrad.utils.checkpoint.checkpoint(part, x, z, use_reentrant=False)
    b.sum().backward()
    assert [reference() for reference in arrays] == [None] * 2
    a.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), (x.exp().cos() * x.exp()).detach().numpy())


# ------------------------------------------------------------------ warnings and errors


def test_warnings_name_the_line_of_the_caller():
    x = minigrad.ones(2, requires_grad=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        minigrad.utils.checkpoint.checkpoint(minigrad.exp, x)
        minigrad.utils.checkpoint.checkpoint_sequential([minigrad.exp, minigrad.sin], 1, x)
    assert [warning.filename for warning in caught] == [__file__] * 2


def failing():
    calls = []

    def part(x):
        calls.append(x)
        return x.sin().exp() if len(calls) == 1 else x.cos()

    x = minigrad.ones(2, requires_grad=True)
    y = minigrad.utils.checkpoint.checkpoint(part, x, use_reentrant=False)
    with pytest.raises(minigrad.utils.checkpoint.CheckpointError) as caught:
        y.sum().backward()
    assert x.grad is None
    return str(caught.value)


def test_an_error_says_what_differs():
    text = failing()
    assert "Number of tensors saved during forward: 2" in text
    assert "Number of tensors saved during recomputation: 1" in text
