"""gradcheck and gradgradcheck find what is wrong, say where, and leave everything as it was.

That verdicts, messages and calls are PyTorch's is held in the oracle; here is what has no twin.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as torch
from minigrad.autograd import Function, gradcheck, gradgradcheck
from minigrad.autograd.gradcheck import GradcheckError, without_gradient
from minigrad.core.operation import registry
from tests.planting import plant


def leaf(*values: float, dtype: Any = torch.float64) -> Any:
    return torch.tensor(values, dtype=dtype, requires_grad=True)


class Square(Function):
    """Its rule is wrong by a given amount at a given entry."""

    wrong_at, by = 0, 0.0

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        gradient = 2 * x * grad
        error = torch.zeros_like(gradient)
        error[Square.wrong_at] = Square.by
        return gradient + grad * error


@pytest.fixture(autouse=True)
def right_rule(monkeypatch):
    monkeypatch.setattr(Square, "by", 0.0)


# ------------------------------------------------------------------ what is found


@pytest.mark.parametrize("entry", [0, 1, 2])
def test_the_message_says_where(monkeypatch, entry):
    x = leaf(0.5, -1.25, 2.0)
    assert gradcheck(Square.apply, x)
    monkeypatch.setattr(Square, "wrong_at", entry)
    monkeypatch.setattr(Square, "by", 0.25)
    where = rf"Jacobian mismatch(.|\n)*differ most at row {entry}, column {entry}\.\n$"
    with pytest.raises(GradcheckError, match=where):
        gradcheck(Square.apply, x)
    assert gradcheck(Square.apply, x, raise_exception=False) is False


def test_a_number_that_is_none_counts_as_the_largest_difference():
    with pytest.raises(GradcheckError, match="at row 0, column 1"):
        gradcheck(lambda x: x.log(), leaf(2.0, -1.0))


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda g: g.astype(np.float32), {"check_grad_dtypes": True}, "^Gradient has dtype misma"),
        (lambda g: g.astype(np.float32), {}, "^grad is incorrect type$"),
        (lambda g: g.reshape(1, -1), {}, "^Analytical gradient has incorrect size$"),
        (lambda g: g[:1], {}, "^Analytical gradient has incorrect size$"),
    ],
)
def test_a_rule_with_a_wrong_dtype_or_shape_is_found(monkeypatch, change, options, message):
    plant(monkeypatch, registry["exp"], "self", lambda gradient, *_: change(gradient))
    x = leaf(1.0, 2.0) * 1  # at a leaf the engine itself would refuse a wrong shape
    with pytest.raises((GradcheckError, AssertionError), match=message):
        gradcheck(torch.exp, x, atol=1e-3, **options)


def test_a_gradient_that_is_missing_comes_as_none():
    seen = []
    x = leaf(1.0, 2.0)
    y = x * x
    y.grad_fn.register_prehook(lambda grads: seen.append(grads))
    blocked = without_gradient(y)
    assert blocked.tolist() == y.tolist()
    assert blocked.grad_fn.name() == "UndefinedGradBackward"
    blocked.backward(torch.ones(2, dtype=torch.float64))
    assert seen == [(None,)]
    assert x.grad is None


# ------------------------------------------------------------------ what stays


@pytest.mark.parametrize("check", [gradcheck, gradgradcheck])
def test_inputs_stay_as_they_were(check):
    x = leaf(0.1, 0.2, 0.3)
    assert check(lambda x: x.exp() * x, x)
    assert x.tolist() == [0.1, 0.2, 0.3]
    assert (x._version, x.grad, x.is_leaf) == (0, None, True)


@pytest.mark.parametrize("calls", [2, 3])
def test_an_error_leaves_the_inputs_as_they_were(calls):
    x = leaf(0.1, 0.2)
    count = []

    def breaks(x):
        count.append(x.tolist())
        if len(count) == calls:
            raise KeyError("here")
        return x * x

    with pytest.raises(KeyError, match="here"):
        gradcheck(breaks, x, raise_exception=False)
    assert count[-1] != [0.1, 0.2]
    assert x.tolist() == [0.1, 0.2]


def test_the_inputs_may_lie_in_memory_anyhow():
    matrix = torch.tensor([[0.5, 1.0, 2.0], [3.0, -1.0, 0.25]], dtype=torch.float64)
    for x in (matrix.t(), matrix[:, ::2], matrix[1], matrix[0, 0]):
        x = x.detach().requires_grad_()
        assert gradcheck(lambda x: x.exp(), x)
        assert gradgradcheck(lambda x: x.exp(), x)
    assert matrix.tolist() == [[0.5, 1.0, 2.0], [3.0, -1.0, 0.25]]


def test_an_integer_result_may_come_first():
    """PyTorch fails here with an IndexError of its own."""
    assert gradcheck(lambda x: ((x > 0).long(), x * x), leaf(1.0, -2.0))


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("check", "options", "missing"),
    [
        (gradcheck, {"check_forward_ad": True}, "forward mode"),
        (gradcheck, {"check_forward_ad": True, "check_batched_forward_grad": True}, "forward mode"),
        (gradcheck, {"check_batched_grad": True}, "batched"),
        (gradgradcheck, {"check_fwd_over_rev": True}, "forward mode"),
        (gradgradcheck, {"check_batched_grad": True}, "batched"),
    ],
)
def test_what_is_not_there_is_refused(check, options, missing):
    with pytest.raises(NotImplementedError, match=f"minigrad (has no|diff).*{missing}"):
        check(lambda x: x * x, leaf(1.0), raise_exception=False, **options)


def test_gradgradcheck_needs_something_to_differentiate():
    with pytest.raises(TypeError, match="at least one output to require gradient"):
        gradgradcheck(lambda x: x.detach(), leaf(1.0))


def test_the_warning_points_to_the_caller():
    with pytest.warns(UserWarning, match="Input #0 requires gradient and is not") as caught:
        gradcheck(lambda x: x * 2, leaf(1.0, dtype=torch.float32), atol=1)
    assert caught[0].filename == __file__


# ------------------------------------------------------------------ PyTorch beside


def test_fast_mode_comes_to_the_same_verdict():
    x = leaf(1.0, 2.0, dtype=torch.float64)
    assert gradcheck(torch.exp, x, fast_mode=True) and gradgradcheck(torch.exp, x, fast_mode=True)
    for wrong in (gradcheck, gradgradcheck):
        with pytest.raises(GradcheckError):
            wrong(lambda x: x.detach() * x, x, fast_mode=True)
