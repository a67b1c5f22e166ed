"""Hooks of several gradients and gradient edges: what they count, and what they keep alive."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

import minigrad


@pytest.fixture
def register(torch):
    return torch.autograd.graph.register_multi_grad_hook


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


@pytest.fixture
def edge_of(torch):
    return torch.autograd.graph.get_gradient_edge


def test_an_edge_does_not_keep_the_tensor(torch, draw, edge_of, collector_off):
    x = draw(3, requires_grad=True)
    inner = x * 2
    alive, edge = weakref.ref(inner), edge_of(inner)
    result = inner.sum()
    del inner
    assert alive() is None
    assert torch.autograd.grad(result, edge)[0].tolist() == [1.0, 1.0, 1.0]


def test_an_edge_of_a_leaf_keeps_its_accumulate_node(torch, draw, edge_of, collector_off):
    x = draw(3, requires_grad=True)
    edge = edge_of(x)
    assert (x * 2).grad_fn.next_functions[0][0] is edge.node
    assert edge_of(x).node is edge.node


def test_the_accumulate_node_goes_when_nothing_holds_it(collector_off):
    x = minigrad.tensor([1.0], requires_grad=True)
    y = x * 2
    node = weakref.ref(y.grad_fn.next_functions[0][0])
    assert node() is not None
    del y
    assert node() is None
