"""The engine: dependencies, order, length, errors in the middle of a pass."""

from __future__ import annotations

import random
import weakref

import numpy as np
import pytest

import minigrad
from minigrad.autograd.recording import PassStarted, record
from minigrad.core.modes import modes

# ------------------------------------------------------------------ long chains


def test_a_chain_of_200_000_operations_runs_and_is_freed(collector_off):
    source = np.random.default_rng(1)
    start, sign, cotangent = (minigrad.tensor(source.standard_normal(2)) for _ in range(3))
    sign = sign / sign.abs()
    x = start.requires_grad_()
    y = x
    for _ in range(100_000):
        y = -(y * sign)
    first = weakref.ref(y.grad_fn)
    y.backward(cotangent)
    # a hundred thousand sign changes are an even number of them
    np.testing.assert_array_equal(y.detach().numpy(), x.detach().numpy())
    np.testing.assert_array_equal(x.grad.numpy(), cotangent.numpy())
    del y
    assert first() is None


def test_a_chain_that_was_never_run_is_freed(collector_off):
    x = minigrad.tensor([1.5], requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y + x
    last, one_of_them = weakref.ref(y.grad_fn), weakref.ref(y.grad_fn.next_functions[0][0])
    del y
    assert last() is None and one_of_them() is None


def test_a_chain_of_custom_functions_runs_and_is_freed(collector_off):
    class Negate(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return -x

        @staticmethod
        def backward(ctx, grad):
            return -grad

    x = minigrad.tensor([1.5, -2.5], requires_grad=True)
    y = x
    for _ in range(30_001):
        y = Negate.apply(y)
    ctx = weakref.ref(y.grad_fn)
    y.backward(minigrad.tensor([3.0, 7.0]))
    assert x.grad.tolist() == [-3.0, -7.0]
    del y
    assert ctx() is None


def test_a_long_chain_is_recorded_and_differentiated_twice():
    x = minigrad.tensor(2.0, dtype=minigrad.float64, requires_grad=True)
    y = x * x
    for _ in range(5_000):
        y = y * 1.0
    (first,) = minigrad.autograd.grad(y, x, create_graph=True)
    (second,) = minigrad.autograd.grad(first, x)
    assert (first.item(), second.item()) == (4.0, 2.0)


# ------------------------------------------------------------------ dependencies and order


def _order_of_leaves(torch, count):
    class Several(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *tensors):
            return tensors[0] * 1

        @staticmethod
        def backward(ctx, grad):
            return (grad,) * count

    leaves, seen = [torch.tensor(1.0, requires_grad=True) for _ in range(count)], []
    for number, leaf in enumerate(leaves):
        leaf.register_hook(lambda grad, number=number: seen.append(number))
    Several.apply(*leaves).backward()
    return seen


@pytest.mark.parametrize("count", [1, 2, 3, 5, 6, 7, 8, 11, 16, 23])
def test_many_leaves_accumulate_in_pytorchs_order(count):
    mine = _order_of_leaves(minigrad, count)
    assert sorted(mine) == [*range(count)]
    assert mine == _order_of_leaves(pytest.importorskip("torch"), count)


def _random_program(torch, seed):
    """Run a random graph with a hook on each tensor, and give what happened in which order."""
    choose, source = random.Random(seed), np.random.default_rng(seed)
    tensors = [torch.tensor(source.standard_normal(2), requires_grad=True) for _ in range(3)]
    for _ in range(25):
        a, b = choose.choice(tensors), choose.choice(tensors[-4:])
        kind = choose.randrange(5)
        tensors.append([a * b, a + b, (a - b).sin(), a.tanh(), -b][kind])
    log = []
    for number, tensor in enumerate(tensors):
        tensor.register_hook(lambda grad, number=number: log.append((number, grad.tolist())))
    roots = choose.sample(tensors[10:], 3)
    torch.autograd.backward(roots, [torch.tensor(source.standard_normal(2)) for _ in roots])
    grads = [None if t.grad is None else t.grad.tolist() for t in tensors[:3]]
    return [number for number, _ in log], [grad for _, grad in log], grads


@pytest.mark.parametrize("seed", range(25))
def test_random_graphs_run_in_pytorchs_order_with_pytorchs_values(seed):
    order, gradients, grads = _random_program(minigrad, seed)
    assert len(order) == len(set(order))
    theirs = _random_program(pytest.importorskip("torch"), seed)
    assert order == theirs[0]
    # two libraries' tanh and sin may differ in the last digits
    np.testing.assert_allclose(gradients, theirs[1], rtol=1e-12, atol=1e-14)
    for mine, other in zip(grads, theirs[2], strict=True):
        assert (mine is None) == (other is None)
        if mine is not None:
            np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-14)


def test_one_gradient_at_two_places_is_one_tensor_without_dimensions_too():
    a = minigrad.tensor(2.0, requires_grad=True)
    b = a + 1
    at_b, at_a = minigrad.autograd.grad(b * minigrad.tensor(3.0), [b, a])
    assert at_a is at_b


def test_hooks_see_arrays_without_dimensions_too(torch):
    x, seen = torch.tensor(2.0, requires_grad=True), []
    x.register_hook(lambda grad: seen.append(grad.numpy()))
    (x * x * 3).backward()
    assert type(seen[0]) is np.ndarray and seen[0] == 12


def test_that_a_gradient_is_missing_is_said_before_that_a_view_is_stale():
    _, part = minigrad.ones(2, 2, requires_grad=True).split([1, 1])
    with minigrad.no_grad():
        part.tanh_()
    with pytest.raises(RuntimeError, match="implicitly created only for scalar outputs"):
        part.backward()


@pytest.mark.parametrize("mode", ["inference_mode", "no_grad", "enable_grad"])
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.filterwarnings("ignore:Using backward")
def test_a_pass_records_as_it_is_told_in_the_mode_it_is_in(torch, mode, create_graph):
    x, seen = torch.ones(1, requires_grad=True), []
    y = x * x

    def hook(grad):
        seen.extend((torch.is_grad_enabled(), torch.is_inference_mode_enabled()))
        seen.append((grad * 2).is_inference())

    y.register_hook(hook)
    inference = mode == "inference_mode"
    with getattr(torch, mode)():
        y.backward(create_graph=create_graph)
        assert torch.is_grad_enabled() is (mode == "enable_grad")
    assert seen == [create_graph, inference, inference]
    assert x.grad.is_inference() is inference
    x.grad = None


@pytest.mark.parametrize("levels", ["many", "one"])
def test_a_pass_within_a_pass_gives_its_level_back(levels, monkeypatch):
    if levels != "many":
        monkeypatch.setattr(modes, "levels_left", 1)
    x = minigrad.ones(1, requires_grad=True)
    y, other = x * 2, x * 3
    y.register_hook(lambda grad: other.backward())
    levels = modes.levels_left
    (x * 1).backward()
    assert modes.levels_left == levels
    with record() as log:
        y.backward()
    assert modes.levels_left == levels
    assert x.grad.tolist() == [6.0]
    assert len(log.of(PassStarted)) == 2  # in another thread, too
