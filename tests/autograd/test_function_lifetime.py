"""Custom functions: nothing holds a graph in a cycle, long chains are fine, classes are pickled."""

from __future__ import annotations

import pickle
import sys
import weakref

import pytest


class Marker:
    """Something to put on ctx and to see freed with it."""


def marked(change, save):
    """Make a forward that puts a marker on ctx and saves what `save` chooses."""

    def forward(ctx, x):
        ctx.marker = Marker()
        result = change(ctx, x)
        ctx.save_for_backward(*save(x, result))
        return result

    return forward


def _fresh(ctx, x):
    return x * 2


def _itself(ctx, x):
    return x


def _changed(ctx, x):
    ctx.mark_dirty(x)
    return x.mul_(2)


def _part(ctx, x):
    return x[0]


@pytest.mark.parametrize("change", [_fresh, _itself, _changed, _part])
@pytest.mark.parametrize("of", [lambda x: x * 1, lambda x: (x * 1)[0]], ids=["result", "view"])
@pytest.mark.usefixtures("collector_off")
def test_ctx_and_outputs_are_freed_by_reference_counts(torch, draw, define, change, of):
    x = draw(2, 3, requires_grad=True)
    if torch.__name__ == "torch" and change is _changed and of(x)._is_view():
        pytest.skip("PyTorch itself keeps the base of a changed view that was saved")
    forward = marked(change, lambda x, result: (x, result, result * 2))
    function = define(forward, lambda ctx, grad: grad * 2)
    source = of(x)
    y = function.apply(source)
    base = y._base if y._is_view() else y
    node = y.grad_fn if change is not _changed or not y._is_view() else base.grad_fn
    gone = [weakref.ref(y), weakref.ref(base), weakref.ref(node)]
    del source, y, base, node
    assert [reference() for reference in gone] == [None, None, None]


@pytest.mark.usefixtures("collector_off")
def test_ctx_is_freed_after_each_kind_of_pass(torch, draw, define):
    def backward(ctx, grad):
        x, result = ctx.saved_tensors
        return grad * result * x

    forward = marked(lambda ctx, x: x.exp(), lambda x, result: (x, result))
    function = define(forward, backward)
    x, cotangent = draw(2, requires_grad=True), draw(2)
    for keep, create in ((False, False), (True, False), (True, True)):
        y = function.apply(x)
        marker = weakref.ref(y.grad_fn.marker)
        (grad,) = torch.autograd.grad(y, x, cotangent, keep, create)
        assert marker() is not None and grad.requires_grad is create
        del y, grad
        assert marker() is None


@pytest.mark.usefixtures("collector_off")
def test_a_function_that_is_not_recorded_keeps_no_ctx(torch, draw, define):
    markers = []

    def forward(ctx, x):
        ctx.marker = Marker()
        ctx.save_for_backward(x)
        markers.append(weakref.ref(ctx.marker))
        return x * 2

    function, x = define(forward, lambda ctx, grad: grad * 2), draw(2, requires_grad=True)
    with torch.no_grad():
        outside = function.apply(x)
    constant = function.apply(x.detach())
    assert [marker() for marker in markers] == [None, None]
    assert torch.equal(outside, constant) and not outside.requires_grad


def test_a_long_chain_is_run_and_freed_without_recursion(torch, draw, define):
    function = define(lambda ctx, x: x + 1, lambda ctx, grad: grad)
    length = 10 * sys.getrecursionlimit()
    x, cotangent = draw(2, requires_grad=True), draw(2)
    y = x
    for _ in range(length):
        y = function.apply(y)
    y.backward(cotangent)
    assert torch.equal(x.grad, cotangent)
    assert torch.allclose(y.detach(), x.detach() + length)
    last = weakref.ref(y.grad_fn)
    del y
    assert last() is None


def test_function_classes_are_pickled_by_name(torch, draw, define, monkeypatch):
    function = define(lambda ctx, x: x * 2, lambda ctx, grad: grad * 2, name="Pickled")
    function.__module__, function.__qualname__ = __name__, "Pickled"
    monkeypatch.setattr(sys.modules[__name__], "Pickled", function, raising=False)
    assert pickle.loads(pickle.dumps(function)) is function


def test_an_error_in_forward_leaves_no_trace(torch, draw, define):
    def forward(ctx, x):
        torch.set_grad_enabled(True)
        raise LookupError("planted")

    function, x = define(forward), draw(2, requires_grad=True)
    with torch.no_grad():
        with pytest.raises(LookupError, match="planted"):
            function.apply(x)
        assert not torch.is_grad_enabled()
