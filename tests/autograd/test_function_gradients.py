"""Custom functions: what backward may give, and the errors where it does not fit."""

from __future__ import annotations

import pytest

# ------------------------------------------------------------------ what backward may give


def test_none_means_no_gradient(torch, draw, define):
    function = define(lambda ctx, x, w: x * w, lambda ctx, grad: (None, grad))
    x, w, seen = draw(2, requires_grad=True), draw(2, requires_grad=True), []
    inner, cotangent = x.exp(), draw(2)
    inner.register_hook(seen.append)
    function.apply(inner, w).backward(cotangent)
    assert x.grad is None and seen == [None]
    assert torch.equal(w.grad, cotangent)


def test_gradients_are_summed_and_converted_to_fit(torch, draw, define):
    function = define(lambda ctx, x: x.double().sum(0), lambda ctx, grad: grads[0])
    for shape in ((4, 3), (2, 4, 3)):
        grads = [draw(*shape)]
        x = draw(4, 3).float().requires_grad_()
        function.apply(x).backward(draw(3))
        assert x.grad.dtype is torch.float32
        expected = grads[0] if len(shape) == 2 else grads[0].sum(0)
        assert torch.allclose(x.grad, expected.float())


def test_trailing_nones_are_accepted(torch, draw, define):
    function = define(lambda ctx, x: x * 2, lambda ctx, grad: (grad * 2, None, None))
    x, cotangent = draw(2, requires_grad=True), draw(2)
    function.apply(x).backward(cotangent)
    assert torch.equal(x.grad, cotangent * 2)


@pytest.mark.parametrize(
    "backward, kind, text, advice",
    [
        (
            lambda ctx, grad: grad,
            RuntimeError,
            "function MineBackward returned an incorrect number of gradients (expected 2, got 1)",
            "one for each argument of forward",
        ),
        (
            lambda ctx, grad: (grad, None, grad),
            RuntimeError,
            "function MineBackward returned an incorrect number of gradients (expected 2, got 3)",
            "one for each argument of forward",
        ),
        (
            lambda ctx, grad: (grad[:1].reshape(1, 1).expand(3, 3), None),
            RuntimeError,
            "Function MineBackward returned an invalid gradient at index 0 - got [3, 3] but "
            "expected shape compatible with [2]",
            "",
        ),
        (
            lambda ctx, grad: (grad, grad),
            RuntimeError,
            "function MineBackward returned a gradient different than None at position 2, but the "
            "corresponding forward input was not a Variable",
            "",
        ),
        (lambda ctx, grad: (5, None), RuntimeError, "expected Variable or None (got int)", ""),
    ],
)
def test_gradients_that_do_not_fit(draw, define, refused, backward, kind, text, advice):
    function = define(lambda ctx, x, number: x * number, backward)
    y = function.apply(draw(2, requires_grad=True), 3.0)
    with refused(kind, text, advice):
        y.backward(draw(2))


def test_errors_of_backward_keep_their_words(torch, draw, define):
    def backward(ctx, grad):
        raise LookupError("exactly this")

    y = define(lambda ctx, x: x * 2, backward).apply(draw(2, requires_grad=True))
    with pytest.raises(LookupError, match=r"^exactly this$"):
        y.backward(draw(2))
    assert torch.is_grad_enabled()


def test_hooks_work_on_the_ctx(torch, draw, define):
    function = define(lambda ctx, x: x * 2, lambda ctx, grad: grad * 2)
    x, factor, cotangent, log = draw(2, requires_grad=True), draw(2), draw(2), []
    y = function.apply(x)
    y.grad_fn.register_prehook(lambda outs: (outs[0] * factor,))
    y.grad_fn.register_hook(lambda ins, outs: log.append((ins[0].clone(), outs[0].clone())))
    y.backward(cotangent)
    assert torch.equal(log[0][0], x.grad) and torch.allclose(log[0][1], cotangent * factor)
    assert torch.allclose(x.grad, 2 * cotangent * factor)


@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_functions_that_lack_a_part(torch, draw, define, refused):
    x = draw(2, requires_grad=True)
    with refused(RuntimeError, "Legacy autograd function with non-static forward method is depre"):
        define(lambda ctx, x: x)()(x)
    with refused(NotImplementedError, "You must implement the forward function for custom autogr"):
        type("Empty", (torch.autograd.Function,), {}).apply(x)
    y = define(lambda ctx, x: x * 2).apply(x)
    with refused(NotImplementedError, "You must implement either the backward or vjp method for"):
        y.backward(draw(2))
