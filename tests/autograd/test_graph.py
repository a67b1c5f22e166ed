"""Looking at the graph: which hooks sit on a node."""

from __future__ import annotations

import functools

import minigrad
from minigrad.autograd.graph import AccumulateGrad, HookRecord, hooks_of


def test_a_node_without_hooks_has_none():
    x = minigrad.tensor([1.0], requires_grad=True)
    assert hooks_of((x * 2).grad_fn) == []


def test_hooks_are_listed_in_the_order_in_which_they_run():
    x, seen = minigrad.tensor([1.0], requires_grad=True), []
    y = x * 2
    node = y.grad_fn

    def note(name):
        def hook(*arguments):
            seen.append(name)

        hook.__name__ = name
        return hook

    node.register_hook(note("after"))
    node.register_prehook(note("before"))
    y.retain_grad()
    y.register_hook(note("first"))
    last = y.register_hook(note("second"))
    assert hooks_of(node) == [
        HookRecord("tensor pre-hook", "first", 0),
        HookRecord("tensor pre-hook", "second", 0),
        HookRecord("retain_grad", "retain_grad", 0),
        HookRecord("node pre-hook", "before", 0),
        HookRecord("node hook", "after", 0),
    ]
    y.backward(minigrad.tensor([3.0]))
    listed = [record.name for record in hooks_of(node) if record.kind != "retain_grad"]
    assert seen == listed
    last.remove()
    assert "second" not in [record.name for record in hooks_of(node)]


def test_hooks_of_a_leaf_are_found_on_its_accumulate_node():
    x = minigrad.tensor([1.0], requires_grad=True)

    def early(grad):
        return None

    x.register_hook(early)
    node = (x * 2).grad_fn.next_functions[0][0]
    assert isinstance(node, AccumulateGrad)
    x.register_post_accumulate_grad_hook(functools.partial(print))
    assert hooks_of(node) == [
        HookRecord("tensor pre-hook", "early"),
        HookRecord("post-accumulate", "partial"),
    ]


def test_each_output_of_a_node_has_its_own_hooks():
    x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    first, second = x.unbind(0)

    def watch(grad):
        return None

    second.register_hook(watch)
    assert hooks_of(first.grad_fn) == [HookRecord("tensor pre-hook", "watch", 1)]


def test_a_hook_may_say_what_is_shown_in_its_place():
    x = minigrad.tensor([1.0], requires_grad=True)
    node = (x * 2).grad_fn

    def hook(grads):
        return None

    hook.shown_as = [("full backward", "a"), ("full backward", "b")]
    node.register_prehook(hook)
    assert hooks_of(node) == [HookRecord("full backward", "a"), HookRecord("full backward", "b")]


def test_a_retained_tensor_that_is_gone_is_not_listed():
    x = minigrad.tensor([1.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    node = y.grad_fn
    assert [record.kind for record in hooks_of(node)] == ["retain_grad"]
    del y
    assert hooks_of(node) == []
