"""The engine: dependencies, order, length, errors in the middle of a pass."""

from __future__ import annotations

import random
import weakref

import numpy as np
import pytest

import minigrad

# ------------------------------------------------------------------ long chains


def test_a_chain_of_a_million_operations_runs_and_is_freed(collector_off):
    source = np.random.default_rng(1)
    start, sign, cotangent = (minigrad.tensor(source.standard_normal(2)) for _ in range(3))
    sign = sign / sign.abs()
    x = start.requires_grad_()
    y = x
    for _ in range(500_000):
        y = -(y * sign)
    first = weakref.ref(y.grad_fn)
    y.backward(cotangent)
    # half a million sign changes are an even number of them
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
    for _ in range(100_001):
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


def test_a_diamond_runs_its_top_once_after_both_sides(torch, draw):
    x, left_factor, right_factor, cotangent = draw(3, requires_grad=True), *(draw(3) for _ in "abc")
    top = x * 2
    left, right = top * left_factor, top * right_factor
    seen = []
    for name, tensor in {"top": top, "left": left, "right": right}.items():
        tensor.register_hook(lambda grad, name=name: seen.append((name, grad.clone())))
    (left + right).backward(cotangent)
    assert [name for name, _ in seen] == ["right", "left", "top"]
    expected = cotangent * (left_factor + right_factor)
    assert torch.allclose(seen[-1][1], expected)
    assert torch.allclose(x.grad, 2 * expected)


def test_nested_diamonds_take_one_run_for_each_node(torch):
    x = torch.tensor(1.0, requires_grad=True)
    y, runs = x, []
    for depth in range(60):  # 2 ** 60 paths
        y = y + y
        y.register_hook(lambda grad, depth=depth: runs.append(depth))
    y.backward()
    assert x.grad.item() == 2.0**60
    assert runs == [*range(59, -1, -1)]


def test_a_tensor_used_a_thousand_times_calls_its_hook_once_with_the_sum(torch, draw):
    x, factors = draw(2, requires_grad=True), [draw(2) for _ in range(1000)]
    middle, seen = x * 1, []
    middle.register_hook(lambda grad: seen.append(grad.clone()))
    torch.autograd.backward([middle * factor for factor in factors], [torch.ones(2)] * 1000)
    assert len(seen) == 1
    expected = np.sum([factor.numpy() for factor in factors], axis=0)
    # a thousand sums in another order
    np.testing.assert_allclose(seen[0].numpy(), expected, rtol=1e-11)
    assert torch.equal(x.grad, seen[0])


def test_the_latest_ready_node_runs_first_and_leaves_before_all(torch, draw):
    early, late = draw(2, requires_grad=True), draw(2, requires_grad=True)
    seen = []
    a = early.exp()
    b = late.exp()
    c = a.sin()
    result = c * b
    for name, tensor in dict(early=early, late=late, a=a, b=b, c=c).items():
        tensor.register_hook(lambda grad, name=name: seen.append(name))
    result.backward(draw(2))
    assert seen == ["c", "b", "late", "a", "early"]


def test_set_sequence_nr_changes_the_order(torch, draw):
    x, seen = draw(2, requires_grad=True), []
    a, b = x.exp(), x.sin()
    for name, tensor in dict(a=a, b=b).items():
        tensor.register_hook(lambda grad, name=name: seen.append(name))
    result, cotangent = a * b, draw(2)
    result.backward(cotangent, retain_graph=True)
    a.grad_fn._set_sequence_nr(b.grad_fn._sequence_nr() + 1)
    assert a.grad_fn._sequence_nr() == b.grad_fn._sequence_nr() + 1
    result.backward(cotangent)
    assert seen == ["b", "a", "a", "b"]


def test_sequence_numbers_count_the_nodes(torch):
    x = torch.tensor(1.0, requires_grad=True)
    a = x * 2
    b = a.exp()
    assert b.grad_fn._sequence_nr() - a.grad_fn._sequence_nr() == 1
    assert a.grad_fn.next_functions[0][0]._sequence_nr() == 2**64 - 1


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


def test_four_leaves_of_one_node_accumulate_in_the_order_of_the_queue(torch):
    assert _order_of_leaves(torch, 4) == [0, 2, 1, 3]


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


# ------------------------------------------------------------------ what does not run


def test_nodes_that_do_not_lead_to_an_input_do_not_run(torch, draw):
    x, w, seen = draw(2, requires_grad=True), draw(2, requires_grad=True), []
    a, b = x.exp(), w.exp()
    for name, tensor in dict(x=x, w=w, a=a, b=b).items():
        tensor.register_hook(lambda grad, name=name: seen.append(name))
    y = a * b
    y.backward(draw(2), inputs=[x], retain_graph=True)
    assert seen == ["a", "x"]
    assert w.grad is None
    seen.clear()
    torch.autograd.grad(y, [b], draw(2))
    assert seen == ["b"]


def test_an_output_without_gradient_arrives_as_none(torch, draw):
    class Pair(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, first, second):
            arrived.append((first, second))
            return second * 3

    arrived, seen = [], []
    x, cotangent = draw(2, requires_grad=True), draw(2)
    first, second = Pair.apply(x)
    first.register_hook(seen.append)
    second.backward(cotangent)
    assert seen == [None]
    assert arrived[0][0] is None and torch.equal(arrived[0][1], cotangent)
    assert torch.allclose(x.grad, cotangent * 3)


# ------------------------------------------------------------------ errors in the middle


def test_a_hook_that_raises_stops_the_pass_and_nothing_else(torch, draw):
    x, w, cotangent = draw(2, requires_grad=True), draw(2, requires_grad=True), draw(2)
    early = x * 2
    y = early.exp() * w

    def fail(grad):
        raise LookupError("the hook's own words")

    handle = early.register_hook(fail)
    for enabled in (True, False):
        with torch.set_grad_enabled(enabled):
            with pytest.raises(LookupError, match=r"^the hook's own words$"):
                y.backward(cotangent, retain_graph=True)
            assert torch.is_grad_enabled() is enabled
    assert x.grad is None  # never reached
    assert torch.allclose(w.grad, 2 * cotangent * early.exp().detach())  # reached twice
    handle.remove()
    w.grad = None
    y.backward(cotangent)
    twin = x.detach().clone().requires_grad_()
    ((twin * 2).exp() * w).backward(cotangent)
    assert torch.equal(x.grad, twin.grad)
