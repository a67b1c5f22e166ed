"""Looking at the graph: which hooks sit on a node, what it shows of what it saved."""

from __future__ import annotations

import functools
import weakref

import pytest

import minigrad
from minigrad import fast
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


def test_a_retained_tensor_that_is_gone_is_not_listed():
    x = minigrad.tensor([1.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    node = y.grad_fn
    assert [record.kind for record in hooks_of(node)] == ["retain_grad"]
    del y
    assert hooks_of(node) == []


# ------------------------------------------------------------------ what a node shows


def test_a_node_lists_what_it_saved_under_pytorchs_names():
    x = minigrad.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    node = (x @ x).grad_fn
    listed = [name for name in dir(node) if "_saved_" in name]
    assert listed == ["_raw_saved_mat2", "_raw_saved_self", "_saved_mat2", "_saved_self"]
    assert node._saved_self is x and node._saved_mat2 is x


def test_the_factor_of_a_sum_is_shown():
    x = minigrad.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    assert (x + x).grad_fn._saved_alpha == 1
    assert x.add(x, alpha=3).grad_fn._saved_alpha == 3


def test_index_tensors_are_shown_as_tensors():
    x = minigrad.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (shown,) = x[[2, 0]].grad_fn._saved_indices
    assert isinstance(shown, minigrad.Tensor) and shown.tolist() == [2, 0]


@pytest.mark.parametrize(
    "name",
    [
        "_saved_result",
        "_raw_saved_result",
        "_saved_",
        "saved_self",
        "_rawsaved_self",
        "_raw_saved_alpha",
    ],
)
def test_what_a_node_did_not_save(name):
    x = minigrad.tensor([1.0], requires_grad=True)
    node = (x + x).grad_fn
    with pytest.raises(AttributeError, match=f"'AddBackward0' object has no attribute '{name}'"):
        getattr(node, name)
    assert not hasattr((x * x).grad_fn, "_saved_alpha")


def test_what_a_tensor_is_cannot_be_assigned():
    for tensor in (minigrad.ones(2), minigrad.nn.Parameter(minigrad.ones(2))):
        for name in ("shape", "is_leaf", "dtype"):
            with pytest.raises(AttributeError, match=f"property '{name}' of .* has no setter"):
                setattr(tensor, name, None)


@pytest.mark.skipif(not fast.on, reason="MINIGRAD_FAST=0: only with their node")
def test_watched_places_are_let_go():
    index = minigrad.tensor([0, 1])
    y = minigrad.ones(2, requires_grad=True).gather(0, index)
    node, held = y.grad_fn, weakref.ref(index._array)
    y.sum().backward()
    del index, y
    assert node is not None and held() is None


def test_a_saved_result_is_gone_after_release():
    z = minigrad.tensor([1.0, 2.0], requires_grad=True).exp()
    z.sum().backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        _ = z.grad_fn._saved_result


def test_a_hook_on_what_was_a_leaf_once_hears_of_both_its_lives(torch, refused):
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    y, seen = x * 5, []
    x.requires_grad_(False).mul_(w).register_hook(lambda grad: seen.append(grad.tolist()))
    with refused(RuntimeError, "leaf variable has been moved into the graph interior"):
        y.sum().backward()
    x.sum().backward()
    assert seen == [[5.0, 5.0], [1.0, 1.0]]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_leaf_with_data_of_another_dtype_has_another_node(torch, dtype):
    x = torch.ones(2, requires_grad=True)
    node = (x * 2).grad_fn.next_functions[0][0]
    x.data = torch.zeros(2, dtype=getattr(torch, dtype))
    assert ((x * 2).grad_fn.next_functions[0][0] is node) == (dtype == "float32")


def test_a_table_of_post_accumulate_hooks_is_assigned(torch):
    x, seen = torch.ones(2, requires_grad=True), []
    x._post_accumulate_grad_hooks = {0: lambda leaf: seen.append(leaf.grad.tolist())}
    (x * 3).sum().backward()
    assert seen == [[3.0, 3.0]]
