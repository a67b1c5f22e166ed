"""Hooks that cannot be registered, and hooks that return what does not fit."""

from __future__ import annotations


def test_hooks_that_cannot_be_registered(torch, draw, refused):
    constant, y = draw(2), draw(2, requires_grad=True) * 1
    message = "cannot register a hook on a tensor that doesn't require gradient"
    with refused(RuntimeError, message):
        constant.register_hook(print)
    with refused(RuntimeError, message):
        constant.register_post_accumulate_grad_hook(print)
    message = "post accumulate grad hooks cannot be registered on non-leaf tensors"
    with refused(RuntimeError, message):
        y.register_post_accumulate_grad_hook(print)
    with refused(RuntimeError, "can't retain_grad on Tensor that has requires_grad=False"):
        constant.retain_grad()


def _double(grad):
    return grad.sum()


def _cast(grad):
    return grad.float()


def _number(grad):
    return 2.0


def test_a_tensor_hook_that_returns_what_does_not_fit(torch, draw, refused):
    x, cotangent = draw(2, requires_grad=True), draw(2)
    for hook, kind, text, advice in (
        (_double, RuntimeError, "hook '_double' has changed the size of value", "returned []"),
        (
            _cast,
            RuntimeError,
            "hook '_cast' has changed the type of value (was torch.DoubleTensor got "
            "torch.FloatTensor)",
            "",
        ),
        (_number, TypeError, "expected Variable, but hook returned 'float'", "replaces the grad"),
    ):
        for tensor in (x, x * 1):
            handle = tensor.register_hook(hook)
            with refused(kind, text, advice):
                (tensor * 1).backward(cotangent)
            handle.remove()
    (x * 1).backward(cotangent)
    assert torch.equal(x.grad, cotangent)


def test_a_node_hook_that_returns_what_does_not_fit(torch, draw, refused):
    x, w = draw(2, requires_grad=True), draw(2, requires_grad=True)

    def one(ins, outs=None):
        return ins[:1] * (3 if outs is None else 1)

    def bare(ins, outs=None):
        return ins[0]

    def larger(ins, outs=None):
        return tuple(torch.cat([g, g]) for g in ins)

    number = "hook 'one' has returned an incorrect number of values (got {}, but expected {})"
    size, kind = "hook 'larger' has changed the size of value", "but hook returned 'Tensor'"
    for register, got, expected in (("register_hook", 1, 2), ("register_prehook", 3, 1)):
        for hook, error, text in (
            (one, RuntimeError, number.format(got, expected)),
            (larger, RuntimeError, size),
            (bare, TypeError, f"expected tuple, {kind}"),
        ):
            y = x * w
            getattr(y.grad_fn, register)(hook)
            advice = "for a gradient of [2]" if hook is larger else ""
            with refused(error, text, advice):
                y.backward(draw(2))


def test_a_post_accumulate_hook_that_returns_something(torch, draw, refused):
    x = draw(2, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda leaf: leaf.grad)
    with refused(RuntimeError, "Tensor post accumulate grad hooks should return None."):
        (x * 1).backward(draw(2))
    assert x.grad is not None
