"""Attributes of a tensor: what goes around the graph, and what may not be deleted or assigned."""

from __future__ import annotations

import copy
import pickle

import pytest


def test_data_is_written_to_unnoticed(torch, draw):
    x, cotangent = draw(3, requires_grad=True), draw(3)
    y = x * 2
    z = y * y
    y.data.mul_(10)
    assert y._version == 0 and y.data._version == 0 and not y.data.requires_grad
    z.backward(cotangent)
    assert torch.allclose(x.grad, 2 * y.detach() * 2 * cotangent)


def test_data_may_get_another_shape(torch, draw):
    x, other, cotangent = draw(3, requires_grad=True), draw(2, 2), draw(2, 2)
    x.data = other
    assert x.shape == (2, 2) and x.requires_grad and x.is_leaf
    (x * x).backward(cotangent)
    assert torch.allclose(x.grad, 2 * other * cotangent)
    other.mul_(3)
    assert torch.equal(x.detach(), other)


@pytest.mark.parametrize(
    "attribute, text",
    [
        ("data", "Deleting tensor data is not allowed. Delete tensor instead!"),
        ("requires_grad", "requires_grad must be a bool"),
        ("_grad_fn", "Deletion of _grad_fn not allowed. Detach tensor instead!"),
        ("_backward_hooks", "Deletion of _backwards_hooks not allowed!"),
    ],
)
def test_what_cannot_be_deleted(draw, refused, attribute, text):
    x = draw(2, requires_grad=True)
    with refused(RuntimeError, text):
        delattr(x, attribute)
    assert x.requires_grad


def test_detaching_in_place(torch, draw, refused):
    x, w, cotangent = draw(3, requires_grad=True), draw(3, requires_grad=True), draw(3)
    y = x * 2
    unsaved, saved = y + w, y * w
    assert y.detach_() is y and y.is_leaf and not y.requires_grad
    unsaved.backward(cotangent)
    assert torch.equal(x.grad, 2 * cotangent)
    with refused(RuntimeError, "Trying to use a saved tensor that has been detached in-place"):
        saved.backward(cotangent)
    with refused(RuntimeError, "Can't detach views in-place. Use detach() instead."):
        (x * 2)[0].detach_()
    y = x * 3
    y._grad_fn = None
    assert y.is_leaf
    with refused(RuntimeError, "_grad_fn can be only set to None"):
        y._grad_fn = saved.grad_fn


def test_hooks_of_a_leaf_are_a_table(torch, draw):
    x, cotangent = draw(3, requires_grad=True), draw(3)
    handle = x.register_hook(lambda grad: grad * 5)
    assert list(x._backward_hooks) == [handle.id]
    x._backward_hooks = None
    (x * 2).backward(cotangent)
    assert torch.equal(x.grad, 2 * cotangent)


@pytest.mark.parametrize("through", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_have_numbers_of_their_own(torch, draw, through):
    x = draw(2, 3, requires_grad=True)
    x.note = ["mine"]
    other = through(x)
    assert torch.equal(other, x) and other.requires_grad and other.is_leaf
    assert other.note == ["mine"] and other.note is not x.note
    with torch.no_grad():
        other.zero_()
    assert x.abs().min() > 0


def test_deep_copies_of_views_share_memory_again(torch, draw):
    base = draw(2, 3)
    copied, row, column, wide = copy.deepcopy([base, base[1], base.t()[2], base.expand(4, 2, 3)])
    assert torch.equal(wide[3], base) and torch.equal(row, base[1])
    before = base.clone()
    copied.mul_(2)
    for part, expected in ((row, before[1]), (column, before.t()[2]), (wide[0], before)):
        assert torch.equal(part, expected * 2)
    assert torch.equal(base, before)
    assert not any(part._is_view() for part in (row, column, wide))
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        wide.add_(1)


def test_only_leaves_are_deep_copied(draw, refused):
    text = "Only Tensors created explicitly by the user (graph leaves) support the deepcopy"
    with refused(RuntimeError, text):
        copy.deepcopy(draw(2, requires_grad=True) * 2)


@pytest.mark.parametrize(
    "value, text",
    [
        ("array", "assigned grad expected to be a Tensor or None but got grad of type numpy.ndar"),
        ("self", "can't assign Variable as its own grad"),
        ("float", "attempting to assign a gradient with dtype 'float' to a tensor with grad_dtyp"),
        ("shape", "attempting to assign a gradient of size '[3]' to a tensor of size '[2]'."),
    ],
)
def test_gradients_that_cannot_be_assigned(draw, refused, value, text):
    x = draw(2, requires_grad=True)
    values = {"array": draw(2).numpy(), "self": x, "float": draw(2).float(), "shape": draw(3)}
    with refused(TypeError if value == "array" else RuntimeError, text):
        x.grad = values[value]
    assert x.grad is None
