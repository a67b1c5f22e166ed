"""One hook for the gradients of several tensors: counted per pass and thread, freed with them."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

import minigrad


@pytest.fixture
def register(torch):
    return torch.autograd.graph.register_multi_grad_hook


def test_the_hook_sees_what_tensor_hooks_see(torch, draw, register):
    x, y = draw(3, requires_grad=True), draw(3, requires_grad=True)
    inner = x * y
    seen, each = [], []
    inner.register_hook(lambda grad: grad * 2)
    inner.register_hook(each.append)
    x.register_hook(each.append)
    register((inner, x, y), seen.append)
    (inner * x).backward(draw(3))
    ((of_inner, of_x, of_y),) = seen
    assert torch.equal(of_inner, each[0]) and torch.equal(of_x, each[1])
    assert torch.equal(of_y, y.grad)


def test_gradients_are_those_of_the_unhooked_twin(torch, draw, register):
    x, y, cotangent = draw(3, requires_grad=True), draw(3, requires_grad=True), draw(3)
    expected = torch.autograd.grad((x * y).exp(), (x, y), cotangent)
    for mode in ("all", "any"):
        register((x, y), lambda gradients: 5, mode=mode)
    (x * y).exp().backward(cotangent)
    assert torch.equal(x.grad, expected[0]) and torch.equal(y.grad, expected[1])


@pytest.mark.parametrize("mode", ["all", "any"])
def test_each_pass_calls_it_once(torch, draw, register, mode):
    x, y, calls = draw(3, requires_grad=True), draw(3, requires_grad=True), []
    handle = register((x, y), lambda gradients: calls.append(1), mode=mode)
    total = (x * y).sum()
    for times in (1, 2, 3):
        total.backward(retain_graph=True)
        assert len(calls) == times
    handle.remove()
    handle.remove()
    total.backward()
    assert len(calls) == 3


def test_each_thread_counts_its_own_passes(torch, draw, register):
    x, y = draw(3, requires_grad=True), draw(3, requires_grad=True)
    seen, count = [], 20
    register((x, y), lambda gradients: seen.append([g.tolist() for g in gradients]))
    factors = [draw(3) for _ in range(4)]

    def run(factor):
        for _ in range(count):
            (x * y * factor).sum().backward()

    threads = [threading.Thread(target=run, args=(factor,)) for factor in factors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == count * len(factors)
    for factor in factors:
        pair = [(y * factor).tolist(), (x * factor).tolist()]
        assert seen.count(pair) == count


def test_the_hook_goes_with_the_tensors(torch, draw, register, collector_off):
    class Hook:
        def __call__(self, gradients):
            raise AssertionError("never called")

    hook = Hook()
    alive = weakref.ref(hook)
    x = draw(3, requires_grad=True)
    inner = x * 2
    register((inner,), hook)
    del hook, inner
    gc.collect()
    assert alive() is None


def test_gradients_of_a_pass_are_let_go(collector_off):
    x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    y = minigrad.tensor([3.0, 4.0], requires_grad=True)
    alive = []

    def look(gradients):
        alive.extend(weakref.ref(gradient) for gradient in gradients)

    minigrad.autograd.graph.register_multi_grad_hook((x, y), look)
    (x * y).sum().backward()
    assert [reference() for reference in alive] == [None, None]


def test_a_failed_pass_leaves_nothing_behind(collector_off):
    x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    y = minigrad.tensor([3.0, 4.0], requires_grad=True)
    inner, alive, calls = y * 2, [], []

    def fail(grad):
        raise ValueError("stop")

    x.register_hook(lambda grad: alive.append(weakref.ref(grad)))
    handle = inner.register_hook(fail)
    minigrad.autograd.graph.register_multi_grad_hook((inner, x), calls.append)
    for _ in range(2):
        with pytest.raises(ValueError, match="stop"):
            (inner * x).sum().backward(retain_graph=True)
    assert len(alive) == 2 and calls == []
    assert [reference() for reference in alive] == [None, None]
    handle.remove()
    (inner * x).sum().backward()
    assert len(calls) == 1


def test_a_large_graph_is_looked_over_once():
    inputs = [minigrad.tensor([1.0], requires_grad=True) for _ in range(300)]
    total = inputs[0] * 1
    for tensor in inputs[1:]:
        for _ in range(10):
            total = total * 1
        total = total + tensor
    calls = []
    minigrad.autograd.graph.register_multi_grad_hook(inputs, calls.append)
    total.backward()
    assert [len(gradients) for gradients in calls] == [300]
