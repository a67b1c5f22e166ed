"""Nodes: names, edges, calls by hand; and the accumulation of gradients at the leaves."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import minigrad
from minigrad import fast

# ------------------------------------------------------------------ freeing


def _a_graph(x, retain):
    """Results saved, inputs saved, views, changes in place, hooks with closures, retained."""
    a = x.exp().tanh()
    b = (a * a).sigmoid()
    c = b[1:] * 2
    c.mul_(a[1:])
    d = b.t().reshape(-1)
    tensors = [a, b, c, d]
    for tensor in tensors:
        if retain:
            tensor.retain_grad()
        tensor.register_hook(lambda grad, held=x: None)
        tensor.grad_fn.register_hook(lambda ins, outs, held=x: None)
    return tensors, (c.sum() * d.sum()).sqrt()


@pytest.mark.parametrize("run", ["not", "backward", "retain", "grad"])
def test_graphs_are_freed_by_reference_counts_alone(run, collector_off):
    x = minigrad.tensor(np.random.default_rng(3).random((3, 2)), requires_grad=True)
    # under create_graph a retained gradient refers to its own tensor: a cycle, in PyTorch too
    tensors, y = _a_graph(x, retain=run != "grad")
    watched = [weakref.ref(t) for t in (*tensors, y)]
    watched += [weakref.ref(t.grad_fn) for t in (*tensors, y)]
    accumulate = weakref.ref(x.view_as(x).grad_fn.next_functions[0][0])
    if run in ("backward", "retain"):
        y.backward(retain_graph=run == "retain")
    elif run == "grad":
        (found,) = minigrad.autograd.grad(y, x, create_graph=True)
        watched += [weakref.ref(found), weakref.ref(found.grad_fn)]
        del found
    assert all(reference() is not None for reference in watched[:5])
    del tensors, y
    alive = [reference() for reference in watched if reference() is not None]
    assert alive == []
    assert accumulate() is None
    leaf = weakref.ref(x)
    del x
    assert leaf() is None


def test_the_leafs_hooks_die_with_the_leaf(collector_off):
    class Target:
        pass

    target = Target()
    x = minigrad.tensor([1.0], requires_grad=True)
    x.register_hook(lambda grad, target=target: None)
    x.register_post_accumulate_grad_hook(lambda leaf, target=target: None)
    (x * 2).backward()
    watched = weakref.ref(target)
    del target
    assert watched() is not None
    del x
    assert watched() is None


def _a_hook_that_holds_its_own_node(x, seen):
    y = x * 2
    node = y.grad_fn
    y.register_hook(lambda grad: seen.append(node.name()))
    return y * 3, weakref.ref(node)


def test_a_hook_that_holds_its_own_node_survives_and_is_collectable():
    seen = []
    z, watched = _a_hook_that_holds_its_own_node(minigrad.tensor([1.0], requires_grad=True), seen)
    gc.collect()
    z.backward()
    assert seen == ["MulBackward0"]
    del z
    gc.collect()
    assert watched() is None


# ------------------------------------------------------------------ accumulation


PROGRAMS = {
    "a sum": lambda x, w, keep: x + w,
    "a sum with itself": lambda x, w, keep: x + x,
    "views": lambda x, w, keep: x.view_as(x) + w.t().t(),
    "a sum that is used again": lambda x, w, keep: (x + w) + w,
    "broadcast": lambda x, w, keep: x + w[:1] + w[1:],
    "copies": lambda x, w, keep: x.clone() + w.clone(),
    "products": lambda x, w, keep: x * w,
    "a hook that keeps": lambda x, w, keep: keep(x * 1) + keep(w * 1),
    "a reshape alone": lambda x, w, keep: x.reshape(-1),
    "a reshape": lambda x, w, keep: x.reshape(-1).reshape(2, 2) + w.t(),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("root_is_result", [True, False])
@pytest.mark.parametrize("hooked", ["by one that keeps", "by one that replaces", ""])
def test_no_gradient_shares_memory_with_what_somebody_holds(name, root_is_result, hooked):
    source = np.random.default_rng(11)
    x, w = (minigrad.tensor(source.standard_normal((2, 2))) for _ in "xw")
    held = []

    def replace(gradient):
        held.append(gradient * 2)
        return held[-1]

    for leaf in (x.requires_grad_(), w.requires_grad_()):
        if hooked:
            leaf.register_hook(replace if "replaces" in hooked else held.append)

    def keep(tensor):
        tensor.register_hook(held.append)
        return tensor

    y = PROGRAMS[name](x, w, keep)
    if not root_is_result:
        y = y * 1
    given, more = (minigrad.tensor(source.standard_normal(tuple(y.shape))) for _ in "gm")
    held.append(given)
    y.backward(given, retain_graph=True)
    seen = [(each, each.numpy().copy()) for each in held]
    leaves = [leaf.grad for leaf in (x, w) if leaf.grad is not None]
    for leaf in leaves:
        assert all(leaf is not other for other in held)
        sharing = [other for other in (*held, *leaves) if other is not leaf]
        assert not any(np.shares_memory(leaf.numpy(), other.numpy()) for other in sharing)
    once = [leaf.numpy().copy() for leaf in leaves]
    y.backward(more)
    for leaf, first in zip(leaves, once, strict=True):
        assert not np.array_equal(leaf.numpy(), first)
    for tensor, values in seen:
        np.testing.assert_array_equal(tensor.numpy(), values)


@pytest.mark.skipif(not fast.on, reason="MINIGRAD_FAST=0: all are copied")
@pytest.mark.parametrize("keeping", [False, True])
@pytest.mark.parametrize("reshaped", [False, True])
def test_a_gradient_that_nobody_holds_becomes_the_memory_of_grad(keeping, reshaped):
    class Watched(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            result = (grad.reshape(3, 1) if reshaped else grad) * 2
            made.append(weakref.ref(result.numpy()))
            if keeping:
                kept.append(result)
            return result.reshape(3) if reshaped else result

    made, kept = [], []
    x = minigrad.tensor([1.0, 2.0, 3.0], requires_grad=True)
    Watched.apply(x).backward(minigrad.tensor([5.0, 6.0, 7.0]))
    memory = x.grad.numpy().base if reshaped else x.grad.numpy()
    assert (memory is not None and memory is made[-1]()) is not keeping
    assert x.grad.tolist() == [10.0, 12.0, 14.0]


def test_a_gradient_that_cannot_be_written_to_is_replaced():
    x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    fixed = np.array([10.0, 20.0], dtype=np.float32)
    fixed.flags.writeable = False
    x.grad = minigrad.tensor([0.0, 0.0])
    x.grad._array = fixed
    (x * 2).backward(minigrad.tensor([1.0, 5.0]))
    assert x.grad.tolist() == [12.0, 30.0]
    assert isinstance(x.grad, minigrad.Tensor)
    assert fixed.tolist() == [10.0, 20.0]


def test_a_gradient_of_another_shape_than_its_leaf_is_refused():
    x = minigrad.ones(4, requires_grad=True)
    y = (x * minigrad.ones(4)).sum()
    x.data = minigrad.zeros(2, 2)
    with pytest.raises(RuntimeError, match=r"got \[4\] but expected shape"):
        y.backward()
