"""Inference tensors outside of inference mode, and views that were made in it."""

from __future__ import annotations

import pytest

SAVED = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
    "inference mode in computation tracked by autograd. To work around this, you can make a clone "
    "to get a normal tensor and use it in autograd, or use `torch.no_grad()` instead of "
    "`torch.inference_mode()`."
)
CHANGED = (
    "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone "
    "to get a normal tensor before doing inplace update.See "
    "https://github.com/pytorch/rfcs/pull/17 for more details."
)
REQUIRING = "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
VIEW = "A view was created in inference mode and {} modified inplace in normal mode."


@pytest.fixture
def infer(torch, draw):
    """Draw a tensor in inference mode."""

    def make(*shape, requires_grad=False):
        with torch.inference_mode():
            return draw(*shape, requires_grad=requires_grad)

    return make


# ------------------------------------------------------------------ outside


def test_results_outside_are_normal(torch, infer, draw):
    x, made = draw(3, requires_grad=True), infer(3)
    assert not (made * 2).is_inference() and not made.clone().is_inference()
    y = x + made
    y.sum().backward()
    assert y.requires_grad and x.grad.tolist() == [1, 1, 1]
    assert (x * made.clone()).requires_grad


def test_no_version(torch, infer, refused):
    with refused(RuntimeError, "Inference tensors do not track version counter."):
        _ = infer(3)._version


@pytest.mark.parametrize(
    "action",
    [
        lambda torch, x, made: x * made,
        lambda torch, x, made: made / x,
        lambda torch, x, made: x**made,
        lambda torch, x, made: torch.nn.functional.linear(made, x[None]),
        lambda torch, x, made: x * made.detach(),
        lambda torch, x, made: x * made[0],
        lambda torch, x, made: (x * 2).mul_(made),
    ],
)
def test_not_to_be_saved(torch, infer, draw, refused, action):
    x, made = draw(3, requires_grad=True), infer(3)
    with refused(RuntimeError, SAVED):
        action(torch, x, made)
    with torch.no_grad():
        assert not action(torch, x, made).requires_grad
    assert action(torch, x, made.clone()).requires_grad


@pytest.mark.parametrize("recording", [True, False])
@pytest.mark.parametrize(
    "change",
    [
        lambda t, other: t.add_(1),
        lambda t, other: t.add_(other),
        lambda t, other: t.sub_(other, alpha=2),
        lambda t, other: t.exp_(),
        lambda t, other: t.zero_(),
        lambda t, other: t.copy_(other),
        lambda t, other: t.__setitem__(0, 1.0),
        lambda t, other: t.view(3, 1).mul_(2),
    ],
)
def test_not_to_be_changed(torch, infer, draw, refused, change, recording):
    other = draw(3)
    with refused(RuntimeError, CHANGED), torch.set_grad_enabled(recording):
        change(infer(3), other)
    made = infer(3)
    with torch.inference_mode():
        expected = made.clone()
        change(made, other)
    clone = expected.clone()
    change(clone, other)
    assert torch.equal(made, clone)


def test_a_leaf_is_refused_as_a_leaf(torch, infer, refused):
    text = "a leaf Variable that requires grad is being used in an in-place operation."
    with refused(RuntimeError, text):
        infer(3, requires_grad=True).add_(1)


def test_flags_outside(torch, infer, refused):
    for made in (infer(3), infer(3)[1:], infer(3).detach()):
        with refused(RuntimeError, REQUIRING):
            made.requires_grad_()
        with refused(RuntimeError, REQUIRING):
            made.requires_grad = True
        assert made.requires_grad_(False).requires_grad is False
    with refused(RuntimeError, REQUIRING):
        torch.nn.Parameter(infer(3))


def test_a_leaf_from_inside_gets_its_gradient(torch, infer, draw):
    leaf, x, cotangent = infer(3, requires_grad=True), draw(3), draw(3)
    seen = []
    leaf.register_hook(seen.append)
    for _ in range(2):
        (leaf + x).backward(cotangent)
    assert torch.equal(leaf.grad, cotangent * 2) and not leaf.grad.is_inference()
    assert len(seen) == 2 and torch.equal(seen[0], cotangent)


def test_is_inference_wants_a_tensor(torch, refused):
    text = "is_inference(): argument 'input' (position 1) must be Tensor, not int"
    with refused(TypeError, text):
        torch.is_inference(3)


# ------------------------------------------------------------------ views of normal tensors


def test_a_view_from_inside_leads_nowhere(torch, draw):
    x = draw(3, requires_grad=True)
    y = x * 2
    with torch.inference_mode():
        view = y.view(3, 1)
    result = (view * view).sum()
    assert result.requires_grad
    result.backward()
    assert x.grad is None and view.grad is None


def test_a_view_from_inside_is_not_changed_outside(torch, draw, refused):
    y = draw(3, requires_grad=True) * 2
    with torch.inference_mode():
        view = y.view(3, 1)
    before = y.detach().clone()
    with refused(RuntimeError, VIEW.format("is being")):
        view.add_(1)
    text = VIEW.format("is being").replace("A view", "Output 0 of Select is a view of a view which")
    with refused(RuntimeError, text):
        view[0].add_(1)
    assert torch.equal(y, before)


def test_a_view_from_inside_whose_base_was_changed(torch, draw, refused):
    x = draw(3, requires_grad=True)
    for base in (x * 2, draw(3)):
        with torch.inference_mode():
            view = base.view(3, 1)
        base.mul_(x)
        text = VIEW.format("its base or another view of its base has been")
        with refused(RuntimeError, text):
            _ = view.grad_fn
        with refused(RuntimeError, text):
            view * 2
        assert view.requires_grad and not view.detach().requires_grad
        assert repr(view).endswith("grad_fn=<Invalid>)")


def test_a_view_from_inside_of_what_needs_no_gradient(torch, draw):
    base = draw(3)
    with torch.inference_mode():
        view = base.view(3, 1)
    view.add_(1)
    assert base._version == view._version == 1


def test_detach_in_place_does_nothing_inside(torch, draw, infer):
    y = draw(3, requires_grad=True) * 2
    leaf = infer(3, requires_grad=True)
    with torch.inference_mode():
        assert y.detach_() is y and y.view(3, 1).detach_().requires_grad
    assert y.grad_fn.name() == "MulBackward0"
    assert leaf.detach_().requires_grad
