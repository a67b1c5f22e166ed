"""What a proof can't do ends as undecided, with a reason; and None of a rule is no derivative."""

from __future__ import annotations

from typing import Any

import pytest

import minigrad as torch
from minigrad.autograd import Function
from minigrad.symbolic import Refuted, Undecided, derive, prove, symbols


def product(*gives: bool | None) -> Any:
    """Make a product of two whose rule gives the gradient (True), zeros (False), or None."""

    class Product(Function):
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            a, b = ctx.saved_tensors
            right = grad * b, grad * a
            return tuple(
                g if give else give if give is None else torch.zeros_like(g)
                for g, give in zip(right, gives, strict=True)
            )

    return Product.apply


PLANTED = {
    "None for the first": (None, True),
    "None for the second": (True, None),
    "None for both": (None, None),
    "zeros for the first": (False, True),
    "zeros and None": (False, None),
}
PROGRAMS: dict[str, Any] = {
    "alone": lambda rule, x, w: rule(x, w),
    "behind others": lambda rule, x, w: (rule(x.exp(), w * 2) - 1) ** 2,
    "beside a right way": lambda rule, x, w: rule(x, w) + x * w,
    "twice the same": lambda rule, x, w: rule(x, x) * w,
}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("planted", PLANTED)
def test_a_rule_that_leaves_an_input_out_is_refuted(planted: str, program: str) -> None:
    """By both referees; each names the gradient that is wrong."""
    rule = product(*PLANTED[planted])
    x, w = symbols("x w", requires_grad=True)
    with pytest.raises(Refuted, match="gradient of"):
        derive(PROGRAMS[program](rule, x, w)).check()
    with pytest.raises(Refuted, match="gradient of"):
        prove(lambda a, b: PROGRAMS[program](rule, a, b), (), ())


def test_the_counterexample_says_that_no_gradient_came() -> None:
    """The message names the missing derivative, and a point at which it is not 0."""
    x, w = symbols("x w", requires_grad=True)
    with pytest.raises(Refuted) as refuted:
        derive(product(True, None)(x, w)).check()
    assert str(refuted.value) == ("the gradient of w: 0 is not x: at x = 2 they are 0 and 2")


def two_of_one_name(lost: bool) -> Any:
    first, second = (symbols("x", requires_grad=True) for _ in range(2))
    return derive(product(None if lost else True, True)(first, second)).check()


@pytest.mark.parametrize("lost", [False, True])
def test_two_inputs_of_one_name_are_undecided(lost: bool) -> None:
    """In formulas they would be one: a right rule would be refuted, or a wrong one proved."""
    with pytest.raises(Undecided, match=r"could not decide, because two .* would be called x"):
        two_of_one_name(lost)


def _fails(error: Exception) -> Any:
    def program(x: Any) -> Any:
        raise error

    return program


FAILURES = [RuntimeError("it broke"), IndexError("no such entry"), ZeroDivisionError("by zero")]


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
def test_a_program_that_fails_on_symbols_is_undecided(error: Exception) -> None:
    """Whatever its error, the reason is reported; and the error itself is its cause."""
    with pytest.raises(Undecided, match=f"could not decide, because .*{error}") as undecided:
        prove(_fails(error), ())
    assert undecided.value.__cause__ is error


def test_what_sympy_can_not_do_is_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of SymPy's ends one comparison, not the check."""
    from minigrad.symbolic import derivation

    def broken(*formulas: Any, **settings: Any) -> Any:
        raise AttributeError("SymPy broke")

    x, w = symbols("x w", requires_grad=True)
    derived = derive(x * w)
    monkeypatch.setattr(derivation.equality, "decide_in_parts", broken)
    checked = derived.check()
    assert not checked.sympy and not checked.steps
    assert all("could not decide, because" in each for each in checked.open)
