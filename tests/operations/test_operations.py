"""Every operation of the table: PyTorch's values, nodes and errors, and right derivatives.

PyTorch's part is recorded (`python3 -m tests.operations.record`). Derivatives are compared with
central differences, on inputs that are drawn at random, away from kinks. At the end every rule of
the book is made wrong by a thousandth, to see that the table would notice.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import minigrad as torch
from minigrad.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck
from minigrad.core.operation import registry
from minigrad.core.tensor import wrap
from minigrad.signatures.lazy_loading import load_all
from tests.oracle.compare import differences
from tests.oracle.log import run
from tests.planting import plant

from .record import FOLDER
from .running import LAYERS, OPEN, OPERATIONS, SCENARIOS, TABLES, evaluate, tensors_of
from .table import Operation

load_all()
# Not the operations that other tests make.
BOOK = {name: o for name, o in registry.items() if o.__module__.startswith("minigrad.")}
ALL = [(family, name) for family, scenarios in SCENARIOS.items() for name in scenarios]
# The sizes of the inputs are 0.3 to 1.7, and functions are smooth there: a central difference with
# steps of 1e-6 errs by some 1e-10. PyTorch's tolerances would let a rule pass that is wrong by a
# thousandth; these do not.
UNUSUAL = "ignore:Using a target size"  # of losses that broadcast
EXACT = {"atol": 1e-7, "rtol": 1e-5, "check_grad_dtypes": True}
CHECKED = {name: o for name, o in OPERATIONS.items() if o.checked}
grad = partial(torch.autograd.grad, materialize_grads=True)


# ---------------------------------------------------------------------- PyTorch


@cache
def recorded(family: str) -> dict[str, Any]:
    """Give what PyTorch was recorded doing."""
    told: dict[str, Any] = json.loads((FOLDER / f"{family}.json").read_text(encoding="utf-8"))
    return told


def differing(family: str, name: str, library: Any) -> list[str]:
    """Compare a library's log with the recording, but for what that leaves open."""
    expected = recorded(family)["scenarios"][name]
    found = run(SCENARIOS[family][name], library)
    for place, event in enumerate(expected[: len(found)]):
        if event[0] in OPEN and event[1:] == [None]:
            found[place] = [found[place][0], None]
    return differences(expected, found, words=False)


@pytest.mark.parametrize(("family", "name"), ALL)
def test_minigrad_does_what_pytorch_was_recorded_doing(family: str, name: str) -> None:
    """Values, dtypes, nodes, what they save, strides, gradients, second derivatives, errors."""
    assert differing(family, name, torch) == []


@pytest.mark.parametrize("family", SCENARIOS)
def test_the_recording_is_what_pytorch_does(family: str, request: pytest.FixtureRequest) -> None:
    """With `--all`, and where PyTorch is there in the recorded version."""
    assert set(recorded(family)["scenarios"]) == set(SCENARIOS[family])
    if request.config.getoption("--all", default=False):
        real = pytest.importorskip("torch")
        if real.__version__.split("+")[0] == recorded(family)["torch"]:
            told = {name: differing(family, name, real) for name in SCENARIOS[family]}
            assert {name: found for name, found in told.items() if found} == {}


def test_every_fault_is_refused() -> None:
    """What the table calls a fault raises an error in PyTorch."""
    for family, table in (*TABLES.items(), ("layers", LAYERS)):
        for name, events in recorded(family)["scenarios"].items():
            faults = [each for each in events if each[0] in table[name].faults]
            assert len(faults) == len(table[name].faults)
            assert [each for each in faults if "error" not in each[1]] == []


# ---------------------------------------------------------------------- derivatives


def drawn(operation: Operation, seed: int = 0) -> list[Any]:
    """Draw inputs with sizes from 0.3 to 1.7, so that none is near a kink at 0."""
    draw = np.random.default_rng((len(operation.shapes), seed))
    arrays = [np.asarray(draw.uniform(0.3, 1.7, shape)) for shape in operation.shapes]
    if operation.positive:
        return arrays
    return [np.asarray(a * draw.choice([-1.0, 1.0], a.shape)) for a in arrays]


def called(name: str, call: str) -> Callable[..., Any]:
    """Give a call as a function of its inputs: those of its results that have gradients."""

    def function(*inputs: Any) -> Any:
        value = evaluate(OPERATIONS[name], call, torch, inputs)
        results = [each for each in tensors_of(value, torch) if each.requires_grad]
        return results[0] if len(results) == 1 else tuple(results)

    return function


def leaves(operation: Operation, seed: int = 0) -> tuple[Any, ...]:
    """Make inputs that have gradients."""
    return tuple(torch.tensor(array, requires_grad=True) for array in drawn(operation, seed))


def calls_of(name: str) -> list[tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Give the differentiable calls of an operation, each with inputs."""
    operation = CHECKED[name]
    found = []
    for call in operation.calls:
        inputs = leaves(operation, 1)
        function = called(name, call)
        if function(*inputs) != ():
            found.append((function, inputs))
    return found


def cotangents(results: Any) -> list[Any]:
    """Draw a gradient of each result, nowhere near 0."""
    draw = np.random.default_rng(1)
    return [torch.tensor(draw.uniform(0.5, 1.5, tuple(r.shape)), dtype=r.dtype) for r in results]


def as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple) else [value]


@pytest.mark.filterwarnings(UNUSUAL)
@pytest.mark.parametrize("name", CHECKED)
def test_the_rules_are_the_derivatives(name: str) -> None:
    """The rules give the derivative; recorded, they give the same, and the second one.

    And each gradient is the same if no other one is wanted.
    """
    for function, inputs in calls_of(name):
        assert gradcheck(function, inputs, **EXACT)
        assert gradgradcheck(function, inputs, gen_non_contig_grad_outputs=True, **EXACT)
        results = as_list(function(*inputs))
        given = cotangents(results)
        plain = grad(results, inputs, given, retain_graph=True)
        again = grad(results, inputs, given, create_graph=True)
        for one, other in zip(plain, again, strict=True):  # roundings may differ
            np.testing.assert_allclose(one, other.detach(), rtol=1e-12, atol=1e-13)
        for place, wanted in enumerate(inputs if len(inputs) > 1 else ()):
            alone = [each if each is wanted else each.detach() for each in inputs]
            results = as_list(function(*alone))
            if results:  # of which there may be fewer
                (found,) = grad(results, wanted, cotangents(results))
                assert len(results) < len(given) or found.tolist() == plain[place].tolist()


def with_gaps(array: Any) -> Any:
    """Give the same numbers, the last row first in memory, with NaN between the rows."""
    return np.insert(array[::-1], range(len(array)), np.nan, 0)[::-2] if array.ndim else array


def turned(array: Any) -> Any:
    """Give the same numbers column by column, in memory that may not be written to."""
    return np.broadcast_to(np.asfortranarray(array), (1, *array.shape))[0]


def alike(array: Any) -> Any:
    """Give ones: one number in memory for all."""
    return np.broadcast_to(np.ones(()), array.shape)


# What looks at memory, or at the numbers of another layout.
BY_LAYOUT = {"view", "as_strided", "reshape_alias", "qr of (2, 4)"}


@pytest.mark.filterwarnings(UNUSUAL)
@pytest.mark.parametrize("name", [n for n, o in CHECKED.items() if o.name not in BY_LAYOUT])
def test_how_numbers_lie_in_memory_makes_no_difference(name: str) -> None:
    """Results and gradients are the same, and recorded gradients lie as the plain ones."""
    operation = CHECKED[name]
    for call in operation.calls:
        function = called(name, call)
        if function(*leaves(operation)) == ():
            continue

        def found(lay: Any, way: Any, function: Any = function) -> list[Any]:
            inputs = [wrap(lay(array)).requires_grad_() for array in drawn(operation)]
            results = as_list(function(*inputs))
            given = [wrap(way(each.numpy())) for each in cotangents(results)]
            plain = grad(results, inputs, given, retain_graph=True)
            again = grad(results, inputs, given, create_graph=True)
            for one, other in zip(plain, again, strict=True):
                steps, others = (each.detach().numpy().squeeze().strides for each in (one, other))
                assert steps == others or way is not np.array
            return [*results, *plain, *again]

        for ways in (
            ((np.array, np.array), (with_gaps, with_gaps), (turned, turned), (turned, np.array)),
            ((np.array, np.ones_like), (np.array, alike)),
        ):
            one, *others = [found(*way) for way in ways]
            for other in others:
                for a, b in zip(one, other, strict=True):
                    np.testing.assert_allclose(a.detach(), b.detach(), rtol=1e-12, atol=1e-13)


# ---------------------------------------------------------------------- planted wrong rules

RULES = [(name, argument) for name, operation in BOOK.items() for argument in operation.rules]
RECORDED = "recorded_vjp"


def a_thousandth_more(gradient: Any, *_: Any) -> Any:
    """Make a gradient wrong by a thousandth of it, or of 1 where all of it is 0."""
    return gradient * 1.001 if np.any(gradient) else gradient + 0.001


def a_thousandth_steeper(gradient: Any, *_: Any) -> Any:
    """Leave a gradient as it is, and make its derivative wrong by a thousandth."""
    return gradient + (gradient - gradient.detach()) * 0.001


def rows_of(name: str) -> list[Any]:
    """Give the calls of all rows for an operation of the book."""
    return [each for key, o in CHECKED.items() if o.name == name for each in calls_of(key)]


@pytest.mark.filterwarnings(UNUSUAL)
@pytest.mark.parametrize(("name", "argument"), RULES)
def test_a_rule_wrong_by_a_thousandth_is_caught(
    name: str, argument: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each rule of the book, made wrong, is found by its first row that has this gradient."""
    plant(monkeypatch, BOOK[name], argument, a_thousandth_more)

    def caught(function: Any, inputs: Any) -> bool:
        try:
            return not gradcheck(function, inputs, **EXACT)
        except GradcheckError as error:
            return str(error).startswith("Jacobian mismatch for output")

    assert any(caught(*each) for each in rows_of(name))


@pytest.mark.filterwarnings(UNUSUAL)
@pytest.mark.parametrize(("name", "argument"), RULES)
def test_a_recorded_rule_wrong_by_a_thousandth_is_caught(
    name: str, argument: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So is each recorded rule that gives anything but zeros, if its derivative is wrong."""
    bends: list[bool] = []

    def wrong(gradient: Any, *_: Any) -> Any:
        bends.append(bool(np.any(gradient.detach().numpy())))
        return a_thousandth_steeper(gradient)

    def caught(function: Any, inputs: Any) -> bool:
        try:
            return not gradgradcheck(function, inputs, **EXACT)
        except GradcheckError:
            return True

    plant(monkeypatch, BOOK[name], argument, wrong, RECORDED)
    assert any(caught(*each) for each in rows_of(name)) or (bends and not any(bends))


def test_a_recorded_rule_wrong_by_a_thousandth_shows_in_no_first_derivative(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So what is found above is found by the check of second derivatives alone."""
    plant(monkeypatch, BOOK["exp"], "self", a_thousandth_steeper, RECORDED)
    assert gradcheck(*calls_of("exp")[0], **EXACT)


def test_the_usual_tolerance_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch's rtol of 1e-3 lets a rule pass that is wrong by a thousandth."""
    plant(monkeypatch, BOOK["exp"], "self", lambda gradient, *_: gradient * 1.001)
    function, inputs = calls_of("exp")[0]
    assert gradcheck(function, inputs)
    assert not gradcheck(function, inputs, rtol=5e-4, raise_exception=False)
