"""Inference mode: the mode itself, what is made in it, and modules and functions around it."""

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


@pytest.fixture
def infer(torch, draw):
    """Draw a tensor in inference mode."""

    def make(*shape, requires_grad=False):
        with torch.inference_mode():
            return draw(*shape, requires_grad=requires_grad)

    return make


def state(torch):
    return torch.is_grad_enabled(), torch.is_inference_mode_enabled()


# ------------------------------------------------------------------ the mode itself


def test_modes_nest_and_are_restored(torch):
    seen = [state(torch)]
    with torch.inference_mode():
        seen.append(state(torch))
        with torch.enable_grad():
            seen.append(state(torch))
        with torch.inference_mode(mode=False):
            seen.append(state(torch))
            with torch.no_grad():
                seen.append(state(torch))
        seen.append(state(torch))
    with torch.no_grad():
        with torch.inference_mode(False):
            seen.append(state(torch))
        seen.append(state(torch))
    normal, inside, off = (True, False), (False, True), (False, False)
    assert seen == [normal, inside, (True, True), normal, off, inside, normal, off]
    assert state(torch) == normal


@pytest.mark.parametrize("mode", [True, False])
def test_modes_are_restored_after_an_error(torch, mode):
    for outer in (torch.no_grad, torch.enable_grad, torch.inference_mode):
        with outer():
            before = state(torch)
            with pytest.raises(LookupError), torch.inference_mode(mode):
                raise LookupError
            assert state(torch) == before


def test_decorators(torch, draw):
    x = draw(2, requires_grad=True)

    @torch.inference_mode()
    def called(depth):
        """Say something."""
        return [x * 2, *(called(depth - 1) if depth else [])]

    @torch.inference_mode
    def bare():
        return state(torch)

    @torch.inference_mode(False)
    def left():
        return state(torch)

    assert called.__doc__ == "Say something."
    assert all(t.is_inference() and not t.requires_grad for t in called(2))
    assert bare() == (False, True) and left() == (True, False)
    with torch.inference_mode():
        assert left() == (True, False) and bare() == (False, True)
    assert state(torch) == (True, False)


def test_generators(torch, draw):
    x = draw(2, requires_grad=True)

    @torch.inference_mode()
    def steps():
        received = None
        while True:
            received = yield received, x * 2

    walk = steps()
    assert next(walk)[1].is_inference() and (x * 2).requires_grad
    with torch.no_grad():
        received, result = walk.send(3)
    assert received == 3 and result.is_inference()
    walk.close()
    assert state(torch) == (True, False)


def test_one_context_within_itself():
    import minigrad as torch  # PyTorch stays in inference mode after this

    mode = torch.inference_mode()
    with mode:
        with mode:
            assert torch.is_inference_mode_enabled()
        assert torch.is_inference_mode_enabled()
    assert state(torch) == (True, False)


# ------------------------------------------------------------------ inside


def test_what_is_made_inside(torch, draw):
    x, plain = draw(3, requires_grad=True), draw(3)
    y = x * 2
    with torch.inference_mode():
        results = [x * 2, y.sum(), plain.exp(), torch.cat([x, plain]), x[[0, 1]], x > 0, x.clone()]
        results += [torch.ones(2), torch.tensor([1, 2]), torch.randn(2), torch.ones_like(x)]
        views = [t.view(3, 1) for t in (x, y, plain)] + [y[0], x.unbind(0)[1], plain.expand(2, 3)]
        leaf = torch.ones(2, requires_grad=True)
        assert not (leaf * 2).requires_grad and not leaf.view(2, 1).requires_grad
    for result in results:
        assert torch.is_inference(result) and not result.requires_grad and result.is_leaf
        assert not result._is_view() and result._base is None
    for view, base in zip(views, [x, y, plain, y, x, plain], strict=True):
        assert not view.is_inference() and view._is_view() and view._base is base
        assert view.requires_grad is base.requires_grad and view.grad_fn is None
    assert leaf.is_inference() and leaf.requires_grad
    assert not (x * 2).is_inference() and not torch.ones(2).is_inference()


def test_views_of_inference_tensors_know_nothing(torch, infer):
    source = infer(3, requires_grad=True)
    outside = source.view(3, 1)
    with torch.inference_mode():
        inside = source[1:]
    for view in (inside, outside):
        assert view.is_inference() and not view._is_view() and view._base is None
        assert not view.requires_grad
    with torch.inference_mode():
        inside.zero_()
    assert source[1:].tolist() == [0, 0]


def test_normal_tensors_change_and_count_inside(torch, draw):
    x = draw(3, requires_grad=True)
    y = x * 2
    with torch.inference_mode():
        for tensor in (x, y):
            tensor.add_(1)
            tensor[0] = 5
            tensor.view(3, 1).mul_(2)
            assert tensor._version == 3 and not tensor.is_inference() and tensor.requires_grad
    assert y.grad_fn.name() == "MulBackward0" and x.is_leaf


def test_a_change_inside_is_noticed_by_backward(torch, draw):
    x = draw(3, requires_grad=True)
    y = x * 2
    z = y * y
    with torch.inference_mode():
        y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_a_number_met_inside_may_be_met_again(torch, draw):
    x, cotangent = draw(3, requires_grad=True), draw(3)
    with torch.inference_mode():
        _ = x * 6.5
    (x * 6.5).backward(cotangent)
    assert torch.equal(x.grad, cotangent * 6.5)


def test_flags_inside(torch, refused):
    with torch.inference_mode():
        tensor = torch.ones(2).requires_grad_()
        assert tensor.requires_grad and not tensor.requires_grad_(False).requires_grad
        with refused(RuntimeError, "only Tensors of floating point dtype can require gradients"):
            torch.arange(3).requires_grad_()


def test_backward_inside_over_a_graph_from_outside(torch, draw):
    x, cotangent = draw(3, requires_grad=True), draw(3)
    y = x * x
    with torch.inference_mode():
        y.backward(cotangent)
        assert not (x * 2).requires_grad
    assert torch.equal(x.grad, cotangent * 2 * x)
    assert state(torch) == (True, False)


# ------------------------------------------------------------------ functions and modules


def test_a_function_inside_is_not_recorded(torch, draw, infer, define):
    needs = []

    def forward(ctx, x):
        needs.append((ctx.needs_input_grad, *state(torch)))
        ctx.save_for_backward(x)
        return x * x

    square = define(forward, lambda ctx, grad: grad).apply
    x = draw(3, requires_grad=True)
    with torch.inference_mode():
        result = square(x)
    assert result.is_inference() and result.grad_fn is None and not result.requires_grad
    assert needs == [((True,), False, True)]
    assert not square(infer(3)).requires_grad


def test_a_function_cannot_save_them(torch, draw, infer, define, refused):
    def forward(ctx, x, factor):
        ctx.save_for_backward(factor)
        return x * factor

    scale = define(forward, lambda ctx, grad: (grad * ctx.saved_tensors[0], None)).apply
    x, made, cotangent = draw(3, requires_grad=True), infer(3), draw(3)
    with refused(RuntimeError, SAVED):
        scale(x, made)
    scale(x, made.clone()).backward(cotangent)
    assert torch.equal(x.grad, cotangent * made)


def test_a_module_with_hooks(torch, draw, infer):
    layer = torch.nn.Linear(3, 2).double()
    log = []
    layer.register_forward_pre_hook(lambda *given: log.append("before"))
    layer.register_forward_hook(lambda *given: log.append("after"))
    layer.register_full_backward_hook(lambda *given: log.append("backward"))
    x = draw(4, 3, requires_grad=True)
    expected = layer(x)
    del log[:]
    with torch.inference_mode():
        result = layer(x)
    assert log == ["before", "after"]
    assert result.is_inference() and torch.equal(result, expected)
    layer(x).backward(draw(4, 2))
    assert log == ["before", "after"] * 2 + ["backward"]
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved"):
        layer(infer(4, 3))


def test_a_model_made_inside_is_not_trained(torch, draw, refused):
    with torch.inference_mode():
        layer = torch.nn.Linear(3, 1).double()
        result = layer(draw(2, 3))
    assert layer.weight.is_inference() and layer.weight.requires_grad and result.is_inference()
    with refused(RuntimeError, SAVED):
        layer(draw(2, 3, requires_grad=True))
    with refused(RuntimeError, CHANGED):
        torch.nn.init.zeros_(layer.weight)
