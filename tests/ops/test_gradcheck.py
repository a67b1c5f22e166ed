"""Every operation in the book passes gradcheck and gradgradcheck, and a wrong rule does not.

The cases are those of the book: each has its inputs drawn at random, away from kinks, and shapes
that broadcast where the operation broadcasts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as torch
from minigrad.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck

from .book import BOOK, CASES, Case

ALL = [
    pytest.param(name, case, id=f"{name}-{position}")
    for name, cases in CASES.items()
    for position, case in enumerate(cases)
]
RULES = [(name, argument) for name, operation in BOOK.items() for argument in operation.rules]

# An operation that cannot be checked stands here with the reason.
NOT_CHECKED: dict[str, str] = {}

# Their first input gets zeros, which need no graph. Fast mode compares outputs of the gradient in
# order, as PyTorch's does, and must not meet one without a graph before one with a graph; so it is
# told not to ask for those zeros. The slow mode checks them.
ZEROS_FIRST = {"copy_values", "filled_with"}

# The sizes of the book's inputs are 0.3 to 1.7, and its functions are smooth there: a central
# difference with steps of 1e-6 errs by some 1e-10. PyTorch's tolerances would let a rule pass that
# is wrong by a thousandth; these do not.
EXACT = {"atol": 1e-7, "rtol": 1e-5}


def called(name: str, case: Case, seed: int = 0) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Give an operation as a function of its differentiable inputs, and such inputs."""
    inputs = [torch.tensor(array, requires_grad=True) for array in case.inputs(seed)]
    return (lambda *given: case.call(BOOK[name], *given)), tuple(inputs)


def plant(
    monkeypatch: pytest.MonkeyPatch, name: str, place: str, wrong: Callable[[Any], Any]
) -> None:
    """Put a wrong rule in the place of a right one, and of its twin for broadcast inputs."""
    names = BOOK[name].__globals__
    for each in (place, place.replace("rule_", "twin_")):
        if each in names:
            right = names[each]
            monkeypatch.setitem(names, each, lambda *given, right=right: wrong(right(*given)))


def a_thousandth_more(gradient: Any) -> Any:
    """Make a gradient wrong by a thousandth of it, or of 1 where all of it is 0."""
    return gradient * 1.001 if np.any(gradient) else gradient + 0.001


def a_thousandth_steeper(gradient: Any) -> Any:
    """Leave a gradient as it is, and make its derivative wrong by a thousandth."""
    return gradient + (gradient - gradient.detach()) * 0.001


def gives_zeros(name: str, argument: str, case: Case, seed: int) -> bool:
    """Tell whether a rule gives zeros only, for random incoming gradients."""
    function, inputs = called(name, case, seed)
    result = function(*inputs)
    cotangent = np.random.default_rng(seed).uniform(0.5, 1.5, result.shape)
    found = torch.autograd.grad(result, inputs, torch.tensor(cotangent))
    return not np.any(found[list(BOOK[name].rules).index(argument)].numpy())


def test_every_operation_has_a_case() -> None:
    """An operation that is added to the book must be added to the cases, or have a reason."""
    assert set(BOOK) == set(CASES) | set(NOT_CHECKED)
    assert not set(CASES) & set(NOT_CHECKED)
    assert all(CASES.values())


@pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])
@pytest.mark.parametrize(("name", "case"), ALL)
def test_the_rules_pass_gradcheck(name: str, case: Case, fast: bool) -> None:
    """The rules give the derivative."""
    function, inputs = called(name, case, 1 + fast)
    assert gradcheck(function, inputs, fast_mode=fast, check_grad_dtypes=True, **EXACT)


@pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])
@pytest.mark.parametrize(("name", "case"), ALL)
def test_the_rules_pass_gradgradcheck(name: str, case: Case, fast: bool) -> None:
    """The rules, recorded, give the second derivative, also in the incoming gradient."""
    function, inputs = called(name, case, 3 + fast)
    if fast and name in ZEROS_FIRST:
        inputs = (inputs[0].detach(), *inputs[1:])
    assert gradgradcheck(
        function,
        inputs,
        fast_mode=fast,
        check_grad_dtypes=True,
        gen_non_contig_grad_outputs=fast,
        **EXACT,
    )


# ---------------------------------------------------------------------- planted wrong rules


@pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])
@pytest.mark.parametrize(("name", "argument"), RULES)
def test_a_rule_wrong_by_a_thousandth_fails_gradcheck(
    name: str, argument: str, fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each rule, made wrong, is found in every case, and only its own input is blamed."""
    plant(monkeypatch, name, f"rule_{argument}", a_thousandth_more)
    position = list(BOOK[name].rules).index(argument)
    blamed = f"^Jacobian mismatch for output 0 with respect to input {position},"
    for case in CASES[name]:
        function, inputs = called(name, case, 5)
        with pytest.raises(GradcheckError, match=blamed):
            gradcheck(function, inputs, fast_mode=fast, **EXACT)
        assert not gradcheck(function, inputs, fast_mode=fast, raise_exception=False, **EXACT)


@pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])
@pytest.mark.parametrize(("name", "argument"), RULES)
def test_a_recorded_rule_wrong_by_a_thousandth_fails_gradgradcheck(
    name: str, argument: str, fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each recorded rule that gives anything but zeros is found if its derivative is wrong."""
    cases = [case for case in CASES[name] if not gives_zeros(name, argument, case, 7)]
    if not cases:
        rule = BOOK[name].rules[argument]
        assert not np.any(rule(*[np.ones(3)] * rule.__code__.co_argcount))
        return
    plant(monkeypatch, name, f"recorded_rule_{argument}", a_thousandth_steeper)
    for case in cases:
        function, inputs = called(name, case, 7)
        assert gradcheck(function, inputs, fast_mode=fast, **EXACT)
        if fast and name in ZEROS_FIRST:
            inputs = (inputs[0].detach(), *inputs[1:])
        with pytest.raises(GradcheckError, match=r"^Jacobian mismatch for output"):
            gradgradcheck(function, inputs, fast_mode=fast, **EXACT)


def test_the_usual_tolerance_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch's rtol of 1e-3 lets a rule pass that is wrong by a thousandth."""
    plant(monkeypatch, "exp", "rule_self", lambda gradient: gradient * 1.001)
    function, inputs = called("exp", CASES["exp"][0])
    assert gradcheck(function, inputs)
    assert not gradcheck(function, inputs, rtol=5e-4, raise_exception=False)
