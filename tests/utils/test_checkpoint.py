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


def test_it_is_reached_as_in_pytorch(torch):
    assert torch.utils.checkpoint.checkpoint is not None
    assert issubclass(torch.utils.checkpoint.CheckpointError, RuntimeError)


# ------------------------------------------------------------------ gradients


@BOTH
def test_gradients_are_those_without_a_checkpoint(torch, checkpoint, draw, reentrant):
    def part(x, w):
        return ((x @ w).tanh() @ w).sin() * x

    x, w, v = draw(3, 3), draw(3, 3), draw(3, 3, requires_grad=False)
    (part(part(x, w), w) * v).sum().backward()
    expected = x.grad, w.grad
    x.grad = w.grad = None
    y = checkpoint(part, x, w, use_reentrant=reentrant)
    z = checkpoint(part, y, w, use_reentrant=reentrant)
    (z * v).sum().backward()
    # the gradients that meet at w may be added in another order
    np.testing.assert_allclose(x.grad.numpy(), expected[0].numpy(), rtol=1e-12)
    np.testing.assert_allclose(w.grad.numpy(), expected[1].numpy(), rtol=1e-12)


@BOTH
@pytest.mark.parametrize("depth", [2, 4])
@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad=True:UserWarning")
def test_checkpoints_within_checkpoints(torch, checkpoint, draw, reentrant, depth):
    runs = []

    def level(x, depth):
        runs.append(depth)
        y = x.sin() * x
        if depth:
            y = checkpoint(level, y, depth - 1, use_reentrant=reentrant)
        return y.tanh() * x

    def plain(x, depth):
        y = x.sin() * x
        return (plain(y, depth - 1) if depth else y).tanh() * x

    x, v = draw(3), draw(3, requires_grad=False)
    (plain(x, depth) * v).sum().backward()
    expected, x.grad = x.grad, None
    (checkpoint(level, x, depth, use_reentrant=reentrant) * v).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), expected.numpy())
    # each level runs once more than the one around it
    assert [runs.count(d) for d in range(depth, -1, -1)] == [*range(2, depth + 3)]


def test_second_derivatives_pass_through(torch, checkpoint, draw):
    def part(x):
        return (x * x).sin() * x

    x, v = draw(3), draw(3, requires_grad=False)
    results = []
    for y in (part(x), checkpoint(part, x, use_reentrant=False)):
        (first,) = torch.autograd.grad((y * v).sum(), x, create_graph=True)
        results.append(torch.autograd.grad((first * v).sum(), x)[0].numpy())
    np.testing.assert_array_equal(*results)


@BOTH
def test_a_deep_chain_of_checkpoints(torch, checkpoint, draw, reentrant):
    x = draw(2)
    y = x
    for _ in range(300):
        y = checkpoint(lambda y: y.sin() * 1.01, y, use_reentrant=reentrant)
    y.sum().backward()
    z = plain = x.detach().requires_grad_()
    for _ in range(300):
        z = z.sin() * 1.01
    z.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), plain.grad.numpy())


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


# ------------------------------------------------------------------ random numbers


@BOTH
@pytest.mark.parametrize("preserve", [True, False])
def test_dropout_drops_the_same_entries_twice(torch, checkpoint, draw, reentrant, preserve):
    masks = []

    def part(x):
        masks.append((torch.rand(50) > 0.5).to(torch.float64))
        return (x * masks[-1]).tanh()

    x, v = draw(50), draw(50, requires_grad=False)
    y = checkpoint(part, x, use_reentrant=reentrant, preserve_rng_state=preserve)
    torch.rand(3)
    state = torch.get_rng_state()
    (y * v).sum().backward()
    first, second = masks
    assert torch.equal(first, second) is preserve
    assert torch.equal(state, torch.get_rng_state()) is preserve
    if preserve:
        expected = (v * first * (1 - y * y)).detach()
        np.testing.assert_allclose(x.grad.numpy(), expected.numpy(), rtol=1e-12, atol=1e-15)


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


@BOTH
def test_after_an_error_everything_works_again(torch, checkpoint, draw, reentrant):
    calls = []

    def part(x):
        calls.append(x)
        y = x.exp()
        if len(calls) == 2:
            raise KeyError("in the second run")
        return y * y

    x = draw(2)
    y = checkpoint(part, x, use_reentrant=reentrant)
    with pytest.raises(KeyError, match="in the second run"):
        y.sum().backward(retain_graph=True)
    assert torch.is_grad_enabled()
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), (2 * (2 * x).exp()).detach().numpy(), rtol=1e-12)
