"""Every operation in the book: its value, its gradient and its second derivative are right.

Values are compared with NumPy formulas, gradients with central differences in float64. Cotangents
are random. At the end every rule is made wrong by a thousandth, to see that it would be noticed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import signature
from typing import Any

import numpy as np
import pytest

import minigrad as torch
from minigrad.autograd import grad

from .book import BOOK, CASES, Case

ALL = [
    pytest.param(name, case, id=f"{name}-{position}")
    for name, cases in CASES.items()
    for position, case in enumerate(cases)
]
STEP = 1e-6
# A central difference of a smooth function of size 1 errs by about STEP**2 + 2**-52 / STEP, less
# than 1e-9; sizes here go up to some tens. A rule that is wrong by a thousandth errs by 1e-3.
TOLERANCE = 1e-6


def tensors_of(arrays: list[Any], dtype: Any = torch.float64) -> list[Any]:
    """Make leaves of arrays."""
    return [torch.tensor(array, dtype=dtype, requires_grad=True) for array in arrays]


def random(seed: int, shape: tuple[int, ...]) -> Any:
    """Draw numbers of which none is near 0."""
    return np.random.default_rng(seed).uniform(0.5, 1.5, shape)


def compare(actual: Any, expected: Any, what: str) -> None:
    """Compare an array with what it should be, relative to the size of the largest entry."""
    assert actual.shape == expected.shape, what
    scale = max(1.0, np.abs(expected).max(initial=0))
    assert np.abs(actual - expected).max(initial=0) < TOLERANCE * scale, what


def differences(function: Callable[[list[Any]], float], arrays: list[Any]) -> list[Any]:
    """Differentiate a function of arrays by central differences."""
    found = []
    for array in arrays:
        slopes = np.zeros_like(array)
        for place in np.ndindex(array.shape):
            kept = array[place]
            array[place] = kept + STEP
            above = function(arrays)
            array[place] = kept - STEP
            slopes[place] = (above - function(arrays)) / (2 * STEP)
            array[place] = kept
        found.append(slopes)
    return found


def gradients(name: str, case: Case, inputs: list[Any], cotangent: Any) -> list[Any]:
    """Give the gradients by the rules on arrays."""
    tensors = tensors_of(inputs)
    result = case.call(BOOK[name], *tensors)
    return [g.numpy() for g in grad(result, tensors, torch.tensor(cotangent))]


def check_gradient(name: str, case: Case) -> None:
    """Compare the gradient with differences of the value."""
    inputs = case.inputs()
    cotangent = random(1, np.shape(case.reference(*inputs)))
    expected = differences(lambda arrays: (case.reference(*arrays) * cotangent).sum(), inputs)
    for position, (actual, slopes) in enumerate(
        zip(gradients(name, case, inputs, cotangent), expected, strict=True)
    ):
        compare(actual, slopes, f"gradient of {name} in its input {position}")


def check_second_derivative(name: str, case: Case) -> None:
    """Compare the derivative of the recorded gradient with differences of the gradient."""
    inputs = case.inputs()
    cotangent = random(1, np.shape(case.reference(*inputs)))
    weights = [random(7 + position, array.shape) for position, array in enumerate(inputs)]

    def weighted(arrays: list[Any]) -> float:
        *given, last = arrays
        found = gradients(name, case, given, last)
        return float(sum((w * g).sum() for w, g in zip(weights, found, strict=True)))

    tensors = tensors_of([*inputs, cotangent])
    result = case.call(BOOK[name], *tensors[:-1])
    first = grad(result, tensors[:-1], tensors[-1], create_graph=True)
    total = sum((g * torch.tensor(w)).sum() for g, w in zip(first, weights, strict=True))
    if total.requires_grad:
        second = [
            g.numpy() for g in grad(total, tensors, allow_unused=True, materialize_grads=True)
        ]
    else:
        second = [np.zeros_like(array) for array in [*inputs, cotangent]]
    expected = differences(weighted, [*inputs, np.array(cotangent)])
    for position, (actual, slopes) in enumerate(zip(second, expected, strict=True)):
        compare(actual, slopes, f"second derivative of {name} in its input {position}")


def test_the_table_is_complete() -> None:
    """An operation that is added to the book must be added to the cases."""
    assert set(CASES) == set(BOOK)


@pytest.mark.parametrize(("name", "case"), ALL)
def test_value(name: str, case: Case) -> None:
    """The value is NumPy's."""
    inputs = case.inputs()
    actual = case.call(BOOK[name], *map(torch.tensor, inputs)).numpy()
    expected = case.reference(*inputs)
    assert actual.shape == np.shape(expected)
    # the formulas here are other ones, so the last digits may differ
    np.testing.assert_allclose(actual, expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize(("name", "case"), ALL)
def test_gradient(name: str, case: Case) -> None:
    """The rules give the derivative."""
    check_gradient(name, case)


@pytest.mark.parametrize(("name", "case"), ALL)
def test_second_derivative(name: str, case: Case) -> None:
    """The rules, recorded, give the second derivative, also in the cotangent."""
    check_second_derivative(name, case)


KEEPING = [p for p in ALL if p.values[0] != "to_copy" and not p.values[0].endswith("_as")]


@pytest.mark.parametrize(("name", "case"), KEEPING)
def test_float32_stays_float32(name: str, case: Case) -> None:
    """Neither the result nor a gradient, recorded or not, widens to float64."""
    tensors = tensors_of(case.inputs(), torch.float32)
    result = case.call(BOOK[name], *tensors)
    assert result.dtype is torch.float32
    cotangent = torch.tensor(random(1, result.shape), dtype=torch.float32)
    for recorded in (False, True):
        found = grad(result, tensors, cotangent, create_graph=recorded, retain_graph=True)
        assert {g.dtype for g in found} == {torch.float32}
        assert [g.shape for g in found] == [x.shape for x in tensors]


# ---------------------------------------------------------------------- planted wrong rules

RULES = [(name, argument) for name, operation in BOOK.items() for argument in operation.rules]


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], None]]:
    """Give a function that makes a rule wrong: by a thousandth of it, or of 1 where it is 0."""

    def wrong(name: str, place: str) -> None:
        names = BOOK[name].__globals__
        twin = place.replace("rule_", "twin_")  # for broadcast inputs
        if twin != place and twin in names:
            wrong(name, twin)
        right = names[place]

        def rule(grad: Any, *needs: Any) -> Any:
            gradient = right(grad, *needs)
            entries = getattr(gradient, "_array", gradient)
            return gradient * 1.001 if np.any(entries) else gradient + 0.001

        monkeypatch.setitem(names, place, rule)

    yield wrong


@pytest.mark.parametrize(("name", "argument"), RULES)
def test_a_rule_wrong_by_a_thousandth_is_caught(
    name: str, argument: str, plant: Callable[[str, str], None]
) -> None:
    """The check of the gradient fails for each rule if that rule is wrong, in every case."""
    plant(name, f"rule_{argument}")
    for case in CASES[name]:
        with pytest.raises(AssertionError, match=f"gradient of {name}"):
            check_gradient(name, case)


@pytest.mark.parametrize(("name", "argument"), RULES)
def test_a_recorded_rule_wrong_by_a_thousandth_is_caught(
    name: str, argument: str, plant: Callable[[str, str], None]
) -> None:
    """The check of the second derivative fails as well, where the gradient is not constant."""
    place = f"recorded_rule_{argument}"
    case = CASES[name][0]
    tensors = tensors_of(case.inputs())
    node = case.call(BOOK[name], *tensors).grad_fn
    gradient = node._run(random(1, np.shape(case.reference(*case.inputs()))))
    position = list(BOOK[name].rules).index(argument)
    if not np.any(gradient[position]):
        rule = BOOK[name].rules[argument]
        needed = len(signature(rule).parameters)
        assert rule(*[np.ones(3)] * needed).tolist() == [0, 0, 0]
        return
    plant(name, place)
    with pytest.raises(AssertionError, match=f"second derivative of {name}"):
        check_second_derivative(name, case)
