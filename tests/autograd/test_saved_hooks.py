"""Hooks on what operations save: the same gradients as without, nothing kept too long."""

from __future__ import annotations

import gc
import threading
import weakref
from contextlib import nullcontext

import numpy as np
import pytest

import minigrad


def keep(tensor):
    return tensor.detach()


def give(tensor):
    return tensor


def test_what_is_kept_on_the_cpu_holds_no_graph(collector_off):
    with minigrad.autograd.graph.save_on_cpu():
        y = minigrad.ones(2, requires_grad=True).exp()  # its result is what it saves
    node = weakref.ref(y.grad_fn)
    del y
    assert node() is None


@pytest.mark.parametrize("pinned", [False, True])
def test_what_is_pinned_is_a_copy(pinned):
    x = minigrad.ones(2, requires_grad=True)
    with minigrad.autograd.graph.save_on_cpu(pin_memory=pinned):
        y = x.sin()
    assert (y.grad_fn._saved_self.data_ptr() != x.data_ptr()) is pinned


class Token:
    """An object that weak references can watch."""


OPERATIONS = {
    "mul": lambda x, w: x * w,
    "div": lambda x, w: x / w,
    "pow": lambda x, w: x**3,
    "matmul": lambda x, w: x @ w.t(),
    "exp": lambda x, w: x.exp(),
    "tanh": lambda x, w: x.tanh(),
    "softmax": lambda x, w: x.softmax(1) * w,
    "relu": lambda x, w: x.relu(),
    "where": lambda x, w: (x * w).clamp(-0.5, 0.5),
    "max": lambda x, w: x.max() * w,
    "norm": lambda x, w: (x * w).norm(),
}


# ------------------------------------------------------------------ which thread, which context


def test_hooks_hold_in_their_thread_alone(torch, draw):
    x, packed = draw(2, requires_grad=True), []

    def elsewhere():
        x.exp()

    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(1) or keep(t), give):
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        assert packed == []
        x.exp()
    assert packed == [1]


def test_hooks_that_a_backward_hook_enters_are_gone_after_the_pass(torch, draw):
    x, packed = draw(1, requires_grad=True), []
    hooks = torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(1) or keep(t), give)
    y = x * x
    y.register_hook(lambda grad: hooks.__enter__())
    y.backward()
    assert (x * x).requires_grad and packed == []


# ------------------------------------------------------------------ memory


def test_what_was_packed_is_freed_by_backward(torch, draw, collector_off):
    x, alive = draw(2, requires_grad=True), []

    def pack(tensor):
        token = Token()
        token.tensor = tensor.detach()
        alive.append(weakref.ref(token))
        return token

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda token: token.tensor):
        y = (x * x).exp()
    assert len(alive) == 3 and all(reference() is not None for reference in alive)
    y.sum().backward()
    assert [reference() for reference in alive] == [None] * 3


def test_what_was_packed_is_freed_with_the_graph(torch, draw, collector_off):
    x, alive = draw(2, requires_grad=True), []

    def pack(tensor):
        token = Token()
        alive.append(weakref.ref(token))
        return token

    with torch.autograd.graph.saved_tensors_hooks(pack, give):
        y = (x * x).exp()
    del y
    assert [reference() for reference in alive] == [None] * 3


def test_hooks_are_let_go_with_the_graph(torch, draw, collector_off):
    x = draw(2, requires_grad=True)

    class Hooks:
        def pack(self, tensor):
            return tensor.detach()

        def unpack(self, tensor):
            return tensor

    hooks = Hooks()
    alive = weakref.ref(hooks)
    with torch.autograd.graph.saved_tensors_hooks(hooks.pack, hooks.unpack):
        y = x.exp()
    del hooks
    assert alive() is not None
    del y
    gc.collect()
    assert alive() is None


def test_a_result_that_is_packed_as_it_is_makes_no_cycle(collector_off):
    x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    with minigrad.autograd.graph.saved_tensors_hooks(give, give):
        y = x.exp()
    assert y.grad_fn._saved_result.grad_fn is y.grad_fn
    tensor, node, array = weakref.ref(y), weakref.ref(y.grad_fn), weakref.ref(y._array)
    del y
    assert (tensor(), node(), array()) == (None, None, None)


def nodes(root):
    """List all nodes above a root but the accumulate nodes, which the leaves keep."""
    found, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found and node.next_functions:
            found.append(node)
            waiting.extend(source for source, _ in node.next_functions)
    return found


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("pack", [None, give, keep])
def test_graphs_of_gradients_are_freed_by_counting_references(name, pack, collector_off):
    draw = np.random.default_rng(7).standard_normal
    x = minigrad.tensor(draw((2, 3)), requires_grad=True)
    w = minigrad.tensor(draw((2, 3)), requires_grad=True)
    hooks = minigrad.autograd.graph.saved_tensors_hooks(pack, give) if pack else nullcontext()
    with hooks:
        y = OPERATIONS[name](x, w)
        cotangent = minigrad.tensor(draw(y.shape))
        (first,) = minigrad.autograd.grad(y, x, cotangent, create_graph=True)
    alive = [weakref.ref(each) for each in (y, first, *nodes(y.grad_fn), *nodes(first.grad_fn))]
    assert len(alive) > 2
    del y, first
    assert [reference() for reference in alive] == [None] * len(alive)


def test_a_handle_packs_the_result_without_a_cycle(torch, draw, collector_off):
    x = draw(2, requires_grad=True)
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(keep, give)
    alive = weakref.ref(y)
    del y
    assert alive() is None


def test_packing_frees_the_tensor_itself(torch, draw, collector_off):
    x = draw(2, requires_grad=True)
    inner = x * 2
    alive = weakref.ref(inner)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), lambda v: None):
        y = inner.sin()
    del inner
    assert alive() is None
    with pytest.raises(TypeError, match="Output of saved tensor unpack_hook"):
        y.sum().backward()
