"""Gradient edges: the same gradients as with tensors, without keeping the tensors."""

from __future__ import annotations

import weakref

import pytest

import minigrad


@pytest.fixture
def edge_of(torch):
    return torch.autograd.graph.get_gradient_edge


def test_as_input_it_gives_what_the_tensor_gives(torch, draw, edge_of):
    x, cotangent = draw(2, 3, requires_grad=True), draw(2)
    inner = x * x
    first, second = inner.unbind(1)[:2]
    result = (first * second.exp()).tanh()
    tensors = (inner, first, second, x)
    expected = torch.autograd.grad(result, tensors, cotangent, retain_graph=True)
    found = torch.autograd.grad(result, [edge_of(t) for t in tensors], cotangent)
    for a, b in zip(expected, found, strict=True):
        assert torch.equal(a, b)


def test_as_root_it_gives_what_the_tensor_gives(torch, draw, edge_of):
    x, cotangents = draw(2, 3, requires_grad=True), [draw(2, 3), draw(2)]
    inner = x.exp()
    column = (inner * x).unbind(1)[1]
    roots = [inner, column]
    expected = torch.autograd.grad(roots, x, cotangents, retain_graph=True)[0]
    torch.autograd.backward([edge_of(root) for root in roots], cotangents)
    assert torch.equal(x.grad, expected)


def test_under_create_graph(torch, draw, edge_of):
    x, cotangent = draw(3, requires_grad=True), draw(3)
    inner = x * x
    (first,) = torch.autograd.grad(
        edge_of(inner.exp()), edge_of(inner), cotangent, create_graph=True
    )
    second = torch.autograd.grad(first, x, cotangent)[0]
    squares = x.detach() ** 2
    expected = 2 * x.detach() * squares.exp() * cotangent * cotangent
    assert torch.allclose(second, expected)


def test_an_edge_does_not_keep_the_tensor(torch, draw, edge_of, collector_off):
    x = draw(3, requires_grad=True)
    inner = x * 2
    alive, edge = weakref.ref(inner), edge_of(inner)
    result = inner.sum()
    del inner
    assert alive() is None
    assert torch.autograd.grad(result, edge)[0].tolist() == [1.0, 1.0, 1.0]


def test_an_edge_keeps_the_graph(torch, draw, edge_of):
    x, cotangent = draw(3, requires_grad=True), draw(3)
    edge = edge_of(x.sin())
    torch.autograd.backward(edge, cotangent)
    assert torch.equal(x.grad, cotangent * x.detach().cos())


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


def test_an_edge_hooks_and_retained_gradients(torch, draw, edge_of):
    x, cotangent = draw(3, requires_grad=True), draw(3)
    inner = x * 3
    inner.register_hook(lambda grad: grad * 2)
    torch.autograd.backward(edge_of(inner.exp()), cotangent, inputs=[edge_of(x)])
    assert torch.allclose(x.grad, cotangent * inner.detach().exp() * 6)


def test_a_leaf_that_needs_its_gradient_no_more(torch, draw):
    x, w = draw(3, requires_grad=True), draw(3, requires_grad=True)
    seen = []
    x.register_post_accumulate_grad_hook(lambda x: seen.append(1))
    y = (x * w).sum()
    x.requires_grad_(False)
    y.backward(retain_graph=True)
    assert x.grad is None and torch.equal(w.grad, x) and seen == [1]
    x.requires_grad_()
    y.backward()
    assert torch.equal(x.grad, w.detach()) and seen == [1, 1]
