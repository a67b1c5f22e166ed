"""Nodes: names, edges, calls by hand; and the accumulation of gradients at the leaves."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import minigrad

# ------------------------------------------------------------------ the graph as one sees it


def test_edges_lead_to_the_nodes_of_the_inputs(torch, draw):
    x, constant = draw(2, requires_grad=True), draw(2)
    a = x * constant
    b = a.exp()
    c = b - a
    assert [type(t.grad_fn).__name__ for t in (a, b, c)] == [
        "MulBackward0",
        "ExpBackward0",
        "SubBackward0",
    ]
    assert c.grad_fn.name() == "SubBackward0"
    assert c.grad_fn.next_functions == ((b.grad_fn, 0), (a.grad_fn, 0))
    (leaf, number), nothing = a.grad_fn.next_functions
    assert (type(leaf).__name__, number, nothing) == ("AccumulateGrad", 0, (None, 0))
    assert leaf.name() == "torch::autograd::AccumulateGrad"
    assert leaf.variable is x and leaf.next_functions == ()


def test_the_accumulate_node_is_one_while_somebody_holds_it(torch, draw):
    x = draw(2, requires_grad=True)
    first = x.view_as(x).grad_fn.next_functions[0][0]
    assert (x * 2).grad_fn.next_functions[0][0] is first
    seen = []
    first.register_hook(lambda ins, outs: seen.append((ins, outs)))
    cotangent = draw(2)
    (x * 2).backward(cotangent)
    ((ins, (out,)),) = seen
    assert ins == () and torch.equal(out, cotangent * 2)


def test_metadata_is_a_dict_that_stays(torch, draw):
    node = draw(2, requires_grad=True).exp().grad_fn
    node.metadata["note"] = 7
    assert node.metadata == {"note": 7}


def test_a_node_can_be_called(torch, draw, refused):
    x, w, cotangent = draw(2, requires_grad=True), draw(2, requires_grad=True), draw(2)
    node = (x * w).grad_fn
    to_x, to_w = node(cotangent)
    assert torch.equal(to_x, cotangent * w) and torch.equal(to_w, cotangent * x)
    assert torch.equal(x.exp().grad_fn(cotangent), cotangent * x.exp())
    with refused(TypeError, "expected 1 arguments, got 2 instead"):
        node(cotangent, cotangent)


def test_saved_values_have_names(torch, draw, refused):
    x, w = draw(2, requires_grad=True), draw(2, requires_grad=True)
    y = x * w
    node = y.grad_fn
    assert node._saved_self is x and node._saved_other is w
    result = x.exp()
    saved = result.grad_fn._saved_result
    assert torch.equal(saved, result) and saved is not result
    assert saved.grad_fn is result.grad_fn
    assert (x**3).grad_fn._saved_exponent == 3
    assert "_saved_other" in dir(node)
    with pytest.raises(AttributeError):
        _ = node._saved_nothing
    y.backward(draw(2))
    with refused(RuntimeError, "Trying to backward through the graph a second time (or directly"):
        _ = node._saved_self


def test_nothing_is_saved_for_an_input_that_needs_no_gradient(torch, draw):
    x, constant = draw(2, requires_grad=True), draw(2)
    node = (x * constant).grad_fn
    assert node._saved_self is None and node._saved_other is constant


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


def test_a_second_pass_adds_in_place(torch, draw):
    x, first, second = draw(2, 3, requires_grad=True), draw(2, 3), draw(2, 3)
    (x * 1).backward(first)
    kept = x.grad
    version = kept._version
    (x * 1).backward(second)
    assert x.grad is kept
    assert torch.equal(kept, first + second)
    assert kept._version == version + 1


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
@pytest.mark.parametrize("hooked", [True, False])
def test_no_gradient_shares_memory_with_what_somebody_holds(name, root_is_result, hooked):
    source = np.random.default_rng(11)
    x, w = (minigrad.tensor(source.standard_normal((2, 2))) for _ in "xw")
    held = []
    for leaf in (x.requires_grad_(), w.requires_grad_()):
        if hooked:
            leaf.register_hook(held.append)

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


# PyTorch warns once in the life of the process
@pytest.mark.filterwarnings("ignore:.*create_graph=True will create a reference cycle")
def test_no_gradient_shares_memory_under_create_graph(torch, draw):
    x, w, cotangent = draw(2, requires_grad=True), draw(2, requires_grad=True), draw(2)
    (x + w).backward(cotangent, create_graph=True)
    arrays = [tensor.detach().numpy() for tensor in (x.grad, w.grad, cotangent)]
    assert not np.shares_memory(arrays[0], arrays[1])
    assert not np.shares_memory(arrays[0], arrays[2])
    assert not np.shares_memory(arrays[1], arrays[2])


def test_a_gradient_that_nobody_holds_becomes_the_memory_of_grad():
    class Watched(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            result = grad * 2
            made.append(weakref.ref(result.numpy()))
            if keeping:
                kept.append(result)
            return result

    made, kept = [], []
    for keeping in (False, True):
        x = minigrad.tensor([1.0, 2.0, 3.0], requires_grad=True)
        Watched.apply(x).backward(minigrad.tensor([5.0, 6.0, 7.0]))
        assert (x.grad.numpy() is made[-1]()) is not keeping
        assert x.grad.tolist() == [10.0, 12.0, 14.0]


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_one_entry_is_added_as_many_are(torch, name):
    source = np.random.default_rng(5)
    dtype = getattr(torch, name)
    # sums that round, overflow, vanish, and are not numbers
    special = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 6e4, 3e38, 1e308, 5e-324, 1e-45])
    numpy_dtype = np.dtype(name)
    with np.errstate(over="ignore"):
        first = np.concatenate([source.standard_normal(40), special, special]).astype(numpy_dtype)
        second = np.concatenate(
            [source.standard_normal(40) * 1e-3, special, np.roll(special, 1)]
        ).astype(numpy_dtype)
    together = torch.zeros(60, dtype=dtype, requires_grad=True)
    apart = [torch.zeros(1, dtype=dtype, requires_grad=True) for _ in range(60)]
    for values in (first, second):
        (together * 1).backward(torch.tensor(values))
        for position, leaf in enumerate(apart):
            (leaf * 1).backward(torch.tensor(values[position : position + 1]))
    one_by_one = np.concatenate([leaf.grad.numpy() for leaf in apart])
    np.testing.assert_array_equal(one_by_one, together.grad.numpy())


def test_a_gradient_that_cannot_be_written_to_is_replaced():
    x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    fixed = np.array([10.0, 20.0], dtype=np.float32)
    fixed.flags.writeable = False
    x.grad = minigrad.tensor([0.0, 0.0])
    x.grad._array = fixed
    (x * 2).backward(minigrad.tensor([1.0, 5.0]))
    assert x.grad.tolist() == [12.0, 30.0]
    assert fixed.tolist() == [10.0, 20.0]
