"""Every operation in the book: its value, its gradient and its second derivative are right.

Values are compared with NumPy formulas, gradients with central differences by gradcheck. Inputs are
drawn at random, away from kinks. At the end every rule is made wrong by a thousandth, to see that
it would be noticed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
import pytest

import minigrad as torch
from minigrad.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck
from minigrad.core.tensor import wrap
from tests.planting import plant

from .book import BOOK, CASES, Case

# The sizes of the book's inputs are 0.3 to 1.7, and its functions are smooth there: a central
# difference with steps of 1e-6 errs by some 1e-10. PyTorch's tolerances would let a rule pass that
# is wrong by a thousandth; these do not.
EXACT = {"atol": 1e-7, "rtol": 1e-5, "check_grad_dtypes": True}
grad = partial(torch.autograd.grad, materialize_grads=True)
WIDENS = {name for name in CASES if name == "to_copy" or name.endswith("_as")}


def called(name: str, case: Case, seed: int = 0) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Give an operation as a function of its differentiable inputs, and such inputs."""
    inputs = [torch.tensor(array, requires_grad=True) for array in case.inputs(seed)]
    return (lambda *given: case.call(BOOK[name], *given)), tuple(inputs)


def check_recorded(function: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
    """Check the second derivative, also in the incoming gradient."""
    assert gradgradcheck(function, inputs, gen_non_contig_grad_outputs=True, **EXACT)


def test_the_table_is_complete() -> None:
    """An operation that is added to the book must be added to the cases."""
    assert set(CASES) == set(BOOK)
    assert all(CASES.values())


@pytest.mark.parametrize("name", CASES)
def test_value(name: str) -> None:
    """The value is NumPy's."""
    for case in CASES[name]:
        inputs = case.inputs()
        actual = case.call(BOOK[name], *map(torch.tensor, inputs)).numpy()
        expected = case.reference(*inputs)
        assert actual.shape == np.shape(expected)
        # the formulas here are other ones, so the last digits may differ
        np.testing.assert_allclose(actual, expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("name", CASES)
def test_the_rules_are_the_derivatives(name: str) -> None:
    """The rules give the derivative; recorded, they give the same, and the second one."""
    for case in CASES[name]:
        function, inputs = called(name, case, 1)
        assert gradcheck(function, inputs, **EXACT)
        check_recorded(function, inputs)
        result = function(*inputs)
        cotangent = torch.tensor(incoming(result.shape))
        plain = grad(result, inputs, cotangent, retain_graph=True)
        recorded = grad(result, inputs, cotangent, create_graph=True)
        for one, other in zip(plain, recorded, strict=True):  # roundings may differ
            np.testing.assert_allclose(one, other.detach(), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", sorted(CASES.keys() - WIDENS))
def test_float32_stays_float32(name: str) -> None:
    """Neither the result nor a gradient, recorded or not, widens to float64."""
    for case in CASES[name]:
        single = torch.float32
        tensors = [torch.tensor(a, dtype=single, requires_grad=True) for a in case.inputs()]
        result = case.call(BOOK[name], *tensors)
        assert result.dtype is single
        cotangent = torch.tensor(incoming(result.shape), dtype=single)
        for recorded in (False, True):
            found = grad(result, tensors, cotangent, create_graph=recorded, retain_graph=True)
            assert {g.dtype for g in found} == {single}
            assert [g.shape for g in found] == [x.shape for x in tensors]


def with_gaps(array: Any) -> Any:
    """Give the same numbers, the last row first in memory, with NaN between the rows."""
    return np.insert(array[::-1], range(len(array)), np.nan, 0)[::-2] if array.ndim else array


def turned(array: Any) -> Any:
    """Give the same numbers column by column, in memory that may not be written to."""
    return np.broadcast_to(np.asfortranarray(array), (1, *array.shape))[0]


@pytest.mark.parametrize("name", sorted(CASES.keys() - {"view", "as_strided"}))
def test_how_numbers_lie_in_memory_makes_no_difference(name: str) -> None:
    """Result and gradients are the same, also if one number in memory is the whole gradient."""

    def found(case: Case, arrays: Any, cotangent: Any) -> list[Any]:
        inputs = [wrap(array).requires_grad_() for array in arrays]
        result, given = case.call(BOOK[name], *inputs), wrap(cotangent)
        plain = grad(result, inputs, given, retain_graph=True)
        return [result, *plain, *grad(result, inputs, given, create_graph=True)]

    for case in CASES[name]:
        inputs = case.inputs()
        shape = case.call(BOOK[name], *map(torch.tensor, inputs)).shape
        expected = found(case, inputs, incoming(shape))
        others = [
            (expected, found(case, [*map(lay, inputs)], lay(incoming(shape))))
            for lay in (with_gaps, turned)
        ]
        for value in (0.0, 1.0, 2.0):
            one = found(case, inputs, np.full(shape, value))
            others.append((one, found(case, inputs, np.broadcast_to(value, shape))))
        for one, other in ((a, b) for pair in others for a, b in zip(*pair, strict=True)):
            np.testing.assert_allclose(one.detach(), other.detach(), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", sorted(CASES.keys() - {"view", "as_strided"}))
def test_a_recorded_gradient_lies_in_memory_as_the_plain_one(name: str) -> None:
    """Whoever looks at its strides, or at another shape of it, meets no other one."""
    for case in CASES[name]:
        for lay in (np.array, turned):
            inputs = [wrap(lay(array)).requires_grad_() for array in case.inputs()]
            result = case.call(BOOK[name], *inputs)
            cotangent = wrap(incoming(result.shape))
            plain = grad(result, inputs, cotangent, retain_graph=True)
            recorded = grad(result, inputs, cotangent, create_graph=True)
            for one, other in zip(plain, recorded, strict=True):
                assert one.numpy().squeeze().strides == other.detach().numpy().squeeze().strides


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_gradient_is_the_same_if_no_other_is_wanted(name: str) -> None:
    """A rule leaves nothing out that only the other inputs of its operation would need."""
    for case in CASES[name]:
        function, inputs = called(name, case)
        result = function(*inputs)
        cotangent = torch.tensor(incoming(result.shape))
        expected = grad(result, inputs, cotangent)
        for place, wanted in enumerate(inputs):
            alone = [each if each is wanted else each.detach() for each in inputs]
            (found,) = grad(function(*alone), wanted, cotangent)
            np.testing.assert_array_equal(found, expected[place])


# ---------------------------------------------------------------------- planted wrong rules

RULES = [(name, argument) for name, operation in BOOK.items() for argument in operation.rules]


def incoming(shape: tuple[int, ...]) -> Any:
    """Draw a gradient of the result, nowhere near 0."""
    return np.random.default_rng(1).uniform(0.5, 1.5, shape)


RECORDED = "recorded_vjp"


def a_thousandth_more(gradient: Any, *_: Any) -> Any:
    """Make a gradient wrong by a thousandth of it, or of 1 where all of it is 0."""
    return gradient * 1.001 if np.any(gradient) else gradient + 0.001


def a_thousandth_steeper(gradient: Any, *_: Any) -> Any:
    """Leave a gradient as it is, and make its derivative wrong by a thousandth."""
    return gradient + (gradient - gradient.detach()) * 0.001


@pytest.mark.examples
@pytest.mark.parametrize(("name", "argument"), RULES)
def test_a_rule_wrong_by_a_thousandth_is_caught(
    name: str, argument: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each rule, made wrong, is found in every case, and only its own input is blamed."""
    plant(monkeypatch, BOOK[name], argument, a_thousandth_more)
    position = list(BOOK[name].rules).index(argument)
    blamed = f"^Jacobian mismatch for output 0 with respect to input {position},"
    for case in CASES[name]:
        with pytest.raises(GradcheckError, match=blamed):
            gradcheck(*called(name, case), **EXACT)


@pytest.mark.examples
@pytest.mark.parametrize(("name", "argument"), RULES)
def test_a_recorded_rule_wrong_by_a_thousandth_is_caught(
    name: str, argument: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each recorded rule that gives anything but zeros is found if its derivative is wrong."""
    checked = [called(name, case) for case in CASES[name]]
    position = list(BOOK[name].rules).index(argument)

    def gives_zeros(function: Callable[..., Any], inputs: tuple[Any, ...]) -> bool:
        result = function(*inputs)
        found = grad(result, inputs, torch.tensor(incoming(result.shape)))
        return not np.any(found[position].numpy())

    checked = [each for each in checked if not gives_zeros(*each)]
    if not checked:
        rule = BOOK[name].rules[argument]
        assert not np.any(rule(*[np.ones(3)] * len(signature(rule).parameters)))
    plant(monkeypatch, BOOK[name], argument, a_thousandth_steeper, RECORDED)
    for function, inputs in checked[:1]:  # it is one rule, whatever the case
        with pytest.raises(GradcheckError, match=r"^Jacobian mismatch for output"):
            check_recorded(function, inputs)


def test_a_recorded_rule_wrong_by_a_thousandth_shows_in_no_first_derivative(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So what is found above is found by the check of second derivatives alone."""
    plant(monkeypatch, BOOK["exp"], "self", a_thousandth_steeper, RECORDED)
    assert gradcheck(*called("exp", CASES["exp"][0]), **EXACT)


def test_the_usual_tolerance_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch's rtol of 1e-3 lets a rule pass that is wrong by a thousandth."""
    plant(monkeypatch, BOOK["exp"], "self", lambda gradient, *_: gradient * 1.001)
    function, inputs = called("exp", CASES["exp"][0])
    assert gradcheck(function, inputs)
    assert not gradcheck(function, inputs, rtol=5e-4, raise_exception=False)
