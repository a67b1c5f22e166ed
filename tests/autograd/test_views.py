"""Views and changes in place: gradients against an out-of-place twin, and what is refused."""

from __future__ import annotations

import random

import numpy as np
import pytest

import minigrad


class Twin:
    """The same program out of place: all memory is one vector, a view is a list of places."""

    def __init__(self, torch, vector):
        self.torch, self.vector = torch, vector

    def _places(self, positions):
        places = np.zeros((positions.size, self.vector.shape[0]))
        places[np.arange(positions.size), positions.ravel()] = 1
        return self.torch.tensor(places)

    def read(self, positions):
        return (self._places(positions) @ self.vector).reshape(positions.shape)

    def write(self, positions, part):
        places = self._places(positions)
        untouched = 1 - places.sum(0)
        written = (part + self.torch.zeros(positions.shape, dtype=part.dtype)).reshape(-1)
        self.vector = self.vector * untouched + written @ places


VIEWS = [
    lambda v: v.T if v.ndim == 2 else v[1:],
    lambda v: v[1:],
    lambda v: v[-1] if v.ndim > 1 else v[:2],
    lambda v: v[::2],
    lambda v: v[..., 1:],
    lambda v: v[None],
    lambda v: v[..., 0] if v.ndim > 1 else v[:],
]

CHANGES = [
    (lambda v, c, w: v.mul_(c), lambda v, c, w: v * c),
    (lambda v, c, w: v.add_(w), lambda v, c, w: v + w),
    (lambda v, c, w: v.mul_(w), lambda v, c, w: v * w),
    (lambda v, c, w: v.sub_(c, alpha=2), lambda v, c, w: v - 2 * c),
    (lambda v, c, w: v.sin_(), lambda v, c, w: v.sin()),
    (lambda v, c, w: v.copy_(w), lambda v, c, w: w),
    (lambda v, c, w: v.copy_(v.detach() * c), lambda v, c, w: v.detach() * c),
    (lambda v, c, w: v.zero_(), lambda v, c, w: v * 0),
    (lambda v, c, w: v.div_(w), lambda v, c, w: v / w),
    (lambda v, c, w: v.__setitem__(..., w * c), lambda v, c, w: w * c),
]


def _run(torch, seed):
    """Run a random program twice, in place and out of place; give what was read and the leaves."""
    choose, source = random.Random(seed), np.random.default_rng(seed)

    def draw(*shape):
        return torch.tensor(np.asarray(source.standard_normal(shape)))

    x, w = draw(3, 4).requires_grad_(), (draw() + 2).requires_grad_()
    base = x * 1
    twin = Twin(torch, (x * 1).reshape(-1))
    faces = [(base, np.arange(12).reshape(3, 4))]
    mine, theirs = [], []
    for _ in range(7):
        tensor, positions = choose.choice(faces)
        view = choose.choice(VIEWS)
        if view(positions).size:
            faces.append((view(tensor), view(positions)))
        if choose.random() < 0.3:  # a view whose history is asked for before the next change
            assert faces[-1][0].grad_fn is not None
        tensor, positions = choose.choice(faces)
        in_place, out_of_place = choose.choice(CHANGES)
        constant = draw(*positions.shape)
        in_place(tensor, constant, w)
        twin.write(positions, out_of_place(twin.read(positions), constant, w))
        if choose.random() < 0.4:  # an old value is read before the next change
            tensor, positions = choose.choice(faces)
            mine.append(tensor * 3)
            theirs.append(twin.read(positions) * 3)
    mine += [tensor * 2 for tensor, _ in faces]
    theirs += [twin.read(positions) * 2 for _, positions in faces]
    cotangents = [draw(*each.shape) for each in mine]
    return (x, w), mine, theirs, cotangents


def _close(torch, one, other):
    # twelve numbers in two orders of summation, over up to seven changes
    return torch.allclose(one, other, rtol=1e-9, atol=1e-9)


def _check(torch, seed):
    leaves, mine, theirs, cotangents = _run(torch, seed)
    for one, other in zip(mine, theirs, strict=True):
        assert _close(torch, one, other)
    firsts = []
    for outputs in (mine, theirs):
        options = dict(create_graph=True, materialize_grads=True)
        firsts.append(torch.autograd.grad(outputs, leaves, cotangents, **options))
    for one, other in zip(*firsts, strict=True):
        assert _close(torch, one, other)
    seconds = []
    for first in firsts:
        both = sum((grad * leaf).sin().sum() for grad, leaf in zip(first, leaves, strict=True))
        seconds.append(torch.autograd.grad(both, leaves, materialize_grads=True))
    for one, other in zip(*seconds, strict=True):
        assert _close(torch, one, other)


@pytest.mark.parametrize("seed", range(80))
def test_random_changes_in_place_have_the_gradients_of_their_twin(seed):
    _check(minigrad, seed)


@pytest.mark.parametrize("seed", range(15))
def test_the_twin_is_right_about_pytorch(seed):
    _check(pytest.importorskip("torch"), seed)


# ------------------------------------------------------------------ the graph


def test_a_change_of_a_view_rewrites_the_history_of_base_and_sisters(torch, draw):
    x, factor, cotangent = draw(4, requires_grad=True), draw(2), draw(4)
    base = x * 1
    changed, sister = base[1:3], base[2:]
    old = base.grad_fn
    changed.mul_(factor)
    assert base.grad_fn.name() == "torch::autograd::CopySlices"
    assert base.grad_fn.next_functions == ((old, 0), (None, 0))
    for view in (changed, sister):
        assert view.grad_fn.name() == "AsStridedBackward0"
        assert view.grad_fn.next_functions == ((base.grad_fn, 0),)
    assert changed._base is base and changed._is_view() and not base._is_view()
    torch.autograd.backward([sister, base], [cotangent[:2], cotangent])
    total = cotangent.clone()
    total[2:] += cotangent[:2]
    total[1:3] *= factor
    assert torch.allclose(x.grad, total)


def test_a_view_of_a_view_has_the_first_tensor_as_its_base(torch, draw):
    x = draw(2, 3)
    assert x.t()[1:]._base is x
    assert (x * 1)._base is None


def test_what_flows_into_a_part_that_was_overwritten(torch, draw):
    x, w, cotangent = draw(3, requires_grad=True), draw(2, requires_grad=True), draw(3)
    base = x * 2
    base[1:] = w
    base.backward(cotangent)
    assert torch.allclose(x.grad, 2 * cotangent * torch.tensor([1.0, 0.0, 0.0]))
    assert torch.equal(w.grad, cotangent[1:])


def test_a_constant_that_receives_a_recorded_part(torch, draw):
    w, cotangent = draw(2, requires_grad=True), draw(3)
    constant = torch.zeros(3, dtype=torch.float64)
    part = constant[1:]
    part.copy_(w * 3)
    assert constant.requires_grad and part.requires_grad
    (constant * cotangent).sum().backward()
    assert torch.allclose(w.grad, 3 * cotangent[1:])


def test_hooks_of_views_that_were_changed_do_not_run(torch, draw):
    x, log = draw(4, requires_grad=True), []
    base = x * 1
    changed, sister, other_sister = base[:2], base[1:], base[1:]
    changed.register_hook(lambda grad: log.append("changed, before"))
    sister.register_hook(lambda grad: log.append("sister, before"))
    changed.mul_(2)
    # PyTorch crashes if the history was not asked for before the hook is registered
    assert other_sister.grad_fn.name() == "AsStridedBackward0"
    other_sister.register_hook(lambda grad: log.append("other sister, after"))
    other_sister.retain_grad()
    cotangent = draw(3)
    torch.autograd.backward([sister, other_sister, changed], [cotangent * 2, cotangent, draw(2)])
    assert log == ["other sister, after"]
    assert torch.equal(other_sister.grad, cotangent)


def test_retained_gradients_move_to_the_new_version(torch, draw):
    x, cotangent = draw(4, requires_grad=True), draw(2)
    view = (x * 1)[1:3]
    view.retain_grad()
    view.mul_(5)
    view.mul_(7)
    (view * 2).backward(cotangent)
    assert torch.equal(view.grad, cotangent * 2)
    assert torch.allclose(x.grad[1:3], cotangent * 70)


def test_a_sister_retains_the_gradient_of_its_newest_version_alone(torch, draw):
    base, cotangent = draw(2, requires_grad=True) * 1, draw(1)
    sister = base[:1]
    sister.retain_grad()
    old = sister * 2
    base.mul_(3)
    (old + sister * 5).backward(cotangent)
    assert torch.equal(sister.grad, cotangent * 5)


def test_a_repeated_view_of_changed_memory_adds_up(torch, draw):
    x, cotangent = draw(2, requires_grad=True), draw(3)
    base = x * 1
    repeated = base[:1].expand(3)
    base.mul_(3)
    repeated.backward(cotangent)
    assert torch.allclose(x.grad[0], 3 * cotangent.sum()) and x.grad[1].item() == 0


# ------------------------------------------------------------------ what is refused

NO_GRAD_VIEW = "A view was created in no_grad mode and {} modified inplace with grad mode enabled."


def test_leaves_and_their_views(torch, draw, refused):
    x = draw(2, 2, requires_grad=True)
    leaf = "a leaf Variable that requires grad is being used in an in-place operation."
    with refused(RuntimeError, leaf, "no_grad()"):
        x.mul_(2)
    for change in (x[0].mul_, x.t().add_, lambda two: x.__setitem__(0, two)):
        with refused(RuntimeError, "a view of a leaf Variable that requires grad is being used in"):
            change(2)
    with torch.no_grad():
        before = x.detach().clone()
        x[0].mul_(2)
    assert torch.equal(x.detach()[0], before[0] * 2)
    assert x.is_leaf and x.requires_grad


def test_views_made_without_recording(torch, draw, refused):
    base = draw(4, requires_grad=True) * 1
    with torch.no_grad():
        first, second = base[1:], base[:2]
    with refused(RuntimeError, NO_GRAD_VIEW.format("is being")):
        first.mul_(2)
    base.mul_(2)
    with refused(
        RuntimeError, NO_GRAD_VIEW.format("its base or another view of its base has been")
    ):
        _ = second.grad_fn
    assert repr(second).endswith("grad_fn=<Invalid>)")


def test_views_that_came_together(torch, draw, refused):
    first, _ = (draw(2, requires_grad=True) * 1).unbind(0)
    message = (
        "Output 0 of Unbind is a view and is being modified inplace. This view is the "
        "output of a function that returns multiple views."
    )
    with refused(RuntimeError, message):
        first.mul_(2)


def test_shapes_and_types_that_do_not_fit(torch, draw, refused):
    with refused(RuntimeError, "output with shape [2] doesn't match the broadcast shape [3, 2]"):
        draw(2).mul_(draw(3, 2))
    with refused(RuntimeError, "result type Float can't be cast to the desired output type Long"):
        torch.zeros(2, dtype=torch.int64).mul_(0.5)
    with refused(RuntimeError, "unsupported operation: more than one element of the written-to"):
        draw(1).expand(3).mul_(2)
    with refused(RuntimeError, "Can't detach views in-place. Use detach() instead."):
        (draw(2, requires_grad=True) * 1)[:1].detach_()
    message = "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimen"
    with refused(RuntimeError, message):
        draw(3).add_(draw(2))


def test_a_source_of_another_dtype_gets_its_gradient_in_its_own(torch, draw):
    cotangent = draw(3)
    for key in (slice(0, 2), slice(None)):
        target = draw(3, requires_grad=True) * 1
        source = torch.tensor([1.0, 2.0, 3.0][key], dtype=torch.float32, requires_grad=True)
        target[key] = source
        target.backward(cotangent)
        assert source.grad.dtype is torch.float32
        assert torch.allclose(source.grad, cotangent[key].to(torch.float32))
