"""Hooks on tensors and nodes: when they run, what they see, what they may return."""

from __future__ import annotations

import pytest

# ------------------------------------------------------------------ hooks on tensors


def test_a_hook_sees_the_gradient_and_replaces_it(torch, draw):
    x, factor, cotangent = draw(2, requires_grad=True), draw(2), draw(2)
    twin = x.detach().clone().requires_grad_()
    inner, twin_inner, seen = x.sin(), twin.sin(), []

    def change(grad):
        seen.append(grad.clone())
        return grad * factor

    inner.register_hook(seen.append)
    inner.register_hook(change)
    inner.register_hook(seen.append)
    (inner * inner).backward(cotangent)
    (twin_inner * twin_inner).backward(cotangent)
    arrived = 2 * cotangent * inner.detach()
    assert len(seen) == 3
    assert torch.allclose(seen[0], arrived) and torch.equal(seen[1], seen[0])
    assert torch.equal(seen[2], seen[0] * factor)
    # the derivative of what is upstream is linear in the gradient that the hook returned
    assert torch.allclose(x.grad, twin.grad * factor)


def test_hooks_run_once_each_pass_until_they_are_removed(torch, draw):
    x, seen = draw(2, requires_grad=True), []
    handles = [x.register_hook(lambda grad, n=n: seen.append(n)) for n in range(3)]
    y = x * 1
    y.backward(draw(2), retain_graph=True)
    handles[1].remove()
    handles[1].remove()
    y.backward(draw(2), retain_graph=True)
    with handles[0]:
        pass
    y.backward(draw(2))
    assert seen == [0, 1, 2, 0, 2, 2]


def test_a_hook_may_remove_itself(torch, draw):
    x, seen = draw(2, requires_grad=True), []

    def once(grad):
        seen.append(grad)
        handle.remove()

    handle = x.register_hook(once)
    x.register_hook(lambda grad: seen.append("after"))
    for _ in range(2):
        (x * 1).backward(draw(2))
    assert seen[1:] == ["after", "after"]


def test_a_tensor_hook_removed_by_an_earlier_one_still_runs_in_that_pass(torch, draw):
    x, seen = draw(2, requires_grad=True), []
    x.register_hook(lambda grad: later.remove())
    later = x.register_hook(lambda grad: seen.append("later"))
    for _ in range(2):
        (x * 1).backward(draw(2))
    assert seen == ["later"]


@pytest.mark.parametrize("leaf", [True, False])
def test_everything_around_one_node_in_its_order(torch, draw, leaf):
    x, log = draw(2, requires_grad=True), []
    y = x if leaf else x * 1
    node = x.view_as(x).grad_fn.next_functions[0][0] if leaf else y.grad_fn
    node.register_hook(lambda ins, outs: log.append("post"))
    node.register_prehook(lambda outs: log.append("pre"))
    y.register_hook(lambda grad: log.append("tensor 1"))
    if leaf:
        x.register_post_accumulate_grad_hook(
            lambda x: log.append(("accumulated", x.grad is not None))
        )
    y.register_hook(lambda grad: log.append(("tensor 2", x.grad is None)))
    (y * 2).backward(draw(2))
    after = [("accumulated", True)] if leaf else []
    assert log == ["tensor 1", ("tensor 2", True), "pre", *after, "post"]


def test_retain_grad_comes_after_tensor_hooks_and_before_node_hooks(torch, draw):
    x, factor, other, cotangent = draw(2, requires_grad=True), draw(2), draw(2), draw(2)
    y = x * 1
    y.retain_grad()
    y.retain_grad()
    y.register_hook(lambda grad: grad * factor)
    y.grad_fn.register_prehook(lambda grads: (grads[0] * other,))
    y.backward(cotangent)
    assert y.retains_grad
    assert torch.equal(y.grad, cotangent * factor)
    assert torch.equal(x.grad, cotangent * factor * other)
    # it is not the memory of the gradient that was given
    y = x * 1
    y.retain_grad()
    y.backward(cotangent)
    before = cotangent.clone()
    y.grad.zero_()
    assert torch.equal(cotangent, before)


def test_a_hook_that_changes_its_argument_in_place_changes_the_gradient(torch, draw):
    x, cotangent = draw(2, requires_grad=True), draw(2)
    y = x * 1
    y.register_hook(lambda grad: grad.mul_(3))
    (y * 1).backward(cotangent)
    assert torch.allclose(x.grad, cotangent * 3)


def test_hooks_may_be_any_callable(torch, draw):
    class Double:
        def __call__(self, grad):
            return grad * 2

    x, cotangent = draw(2, requires_grad=True), draw(2)
    x.register_hook(Double())
    x.register_hook(cotangent.mul)
    (x * 1).backward(cotangent)
    assert torch.equal(x.grad, cotangent * 2 * cotangent)


def test_grad_mode_inside_hooks_follows_create_graph(torch, draw):
    x, modes = draw(2, requires_grad=True), []

    def note(*arguments):
        modes.append(torch.is_grad_enabled())

    y = x * x
    y.register_hook(note)
    y.grad_fn.register_prehook(note)
    y.grad_fn.register_hook(note)
    x.register_post_accumulate_grad_hook(note)
    y.backward(draw(2), retain_graph=True)
    assert modes == [False] * 4
    with torch.no_grad():
        torch.autograd.grad(y, x, draw(2), create_graph=True)
        assert not torch.is_grad_enabled()
    assert modes == [False] * 4 + [True] * 3


def test_a_hook_under_create_graph_is_differentiated_too(torch, draw):
    x, cotangent = draw(2, requires_grad=True), draw(2)
    y = x * 1
    y.register_hook(lambda grad: grad * x.sin())
    (first,) = torch.autograd.grad(y, x, cotangent, create_graph=True)
    (second,) = torch.autograd.grad(first, x, torch.ones_like(cotangent))
    assert torch.allclose(second, cotangent * x.detach().cos())


def test_hooks_before_and_after_a_change_in_place(torch, draw):
    x, factor, cotangent, seen = draw(2, requires_grad=True), draw(2), draw(2), {}
    y = x * 1
    y.register_hook(lambda grad: seen.update(old=grad.clone()))
    y.mul_(factor)
    y.register_hook(lambda grad: seen.update(new=grad.clone()))
    y.retain_grad()
    (y * 3).backward(cotangent)
    assert torch.equal(seen["new"], cotangent * 3)
    assert torch.equal(seen["old"], cotangent * 3 * factor)
    assert torch.equal(y.grad, seen["new"])


# ------------------------------------------------------------------ hooks on nodes


def test_node_hooks_replace_what_arrives_and_what_leaves(torch, draw):
    x, w, cotangent = draw(2, requires_grad=True), draw(2, requires_grad=True), draw(2)
    a, b, c = draw(3, 2)
    y, seen = x * w, []
    node = y.grad_fn
    node.register_prehook(lambda outs: (outs[0] * a,))
    node.register_hook(lambda ins, outs: (ins[0] * b, ins[1] * c))
    node.register_hook(lambda ins, outs: seen.append((ins, outs)))
    y.backward(cotangent)
    (((to_x, to_w), (out,)),) = seen
    assert torch.allclose(out, cotangent * a)
    assert torch.allclose(to_x, cotangent * a * w.detach() * b)
    assert torch.allclose(to_w, cotangent * a * x.detach() * c)
    assert torch.equal(x.grad, to_x) and torch.equal(w.grad, to_w)


def test_inputs_without_gradient_are_none_for_node_hooks(torch, draw):
    x, constant, seen = draw(2, requires_grad=True), draw(2), []
    y = constant * x
    y.grad_fn.register_hook(lambda ins, outs: seen.append([g is None for g in ins]))
    y.backward(draw(2))
    assert seen == [[True, False]]


# ------------------------------------------------------------------ post-accumulate hooks


def test_post_accumulate_hooks_step_and_clear(torch, draw):
    x, cotangent, order = draw(2, requires_grad=True), draw(2), []
    start = x.detach().clone()

    def step(leaf):
        order.append("step")
        assert leaf is x
        with torch.no_grad():
            leaf.sub_(leaf.grad * 0.5)
        leaf.grad = None

    x.register_post_accumulate_grad_hook(step)
    handle = x.register_post_accumulate_grad_hook(lambda leaf: order.append(leaf.grad))
    (x * 3).backward(cotangent)
    assert order == ["step", None]
    assert torch.allclose(x.detach(), start - 1.5 * cotangent)
    handle.remove()
    (x * 3).backward(cotangent)
    assert order == ["step", None, "step"]
