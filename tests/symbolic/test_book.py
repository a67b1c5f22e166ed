"""Every rule in the book of derivatives is proved: its gradient is SymPy's derivative, exactly.

The gradient of the result is a symbol for each entry, so a proof holds for all gradients at once.
Operations with kinks are proved in each region around the kinks.
"""

import pytest
import sympy

from _tools import proofs
from minigrad import cat, split, stack, unbind
from minigrad.autograd import grad
from minigrad.symbolic import Refuted, Undecided, prove, prover, symbols

from ..ops import book as gradchecked
from .book import ATTEMPTS, BOOK, CASES, RESERVED, called, left, made
from .regions import broadcast, matrix, vector, x, y

AGAIN = "write the page again: python3 lessons/_tools proofs"


ALL = [(name, case) for name, cases in CASES.items() for case in cases]
# The longest stand where a usual run, which takes every twelfth, passes over them.
ALL[1:] = sorted(ALL[1:], key=lambda each: each[0] != "safe_softmax")
TOLD = proofs.told(proofs.PAGE.read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def _fewer_points(monkeypatch):
    """Run at a third of the points: here formulas prove, and gradcheck in tests/ops runs, too."""
    monkeypatch.setattr(prover, "_POINTS", 60)


@pytest.mark.examples
@pytest.mark.parametrize(("name", "case"), ALL)
def test_rule_is_the_derivative(name, case):
    inputs, settings, *_ = case
    proof = prove(called(name, settings), *made(inputs), settings=left(settings))
    assert len(proof.gradients) == len(inputs)
    assert proof.everywhere or TOLD[name][1] == proofs.BY_REGION


def test_every_operation_of_the_book_is_proved_or_the_reason_is_named():
    assert set(CASES) | set(RESERVED) == set(BOOK)
    assert not set(CASES) & set(RESERVED)
    assert all(CASES.values())


def test_the_page_tells_of_every_operation_what_the_tables_say():
    """Its verdicts are those of the proofs above: see test_rule_is_the_derivative."""
    assert list(TOLD) == sorted(BOOK), AGAIN
    for name, (count, verdict) in TOLD.items():
        assert count == len(CASES.get(name, ())), f"{name}: {AGAIN}"
        assert (verdict == proofs.UNDECIDED) == (name in RESERVED), f"{name}: {AGAIN}"
        assert verdict in (proofs.EVERYWHERE, proofs.BY_REGION, proofs.UNDECIDED)
    text = proofs.PAGE.read_text(encoding="utf-8")
    assert all(reason in text for reason in RESERVED.values()), AGAIN


@pytest.mark.examples
@pytest.mark.parametrize("name", sorted(RESERVED, key="binary_cross_entropy".__eq__))
def test_what_is_not_proved_is_checked_with_numbers_and_would_be_noticed(name):
    """Gradcheck stands in; and as soon as an attempt succeeds, the operation has to move."""
    assert gradchecked.CASES[name]
    inputs, settings = ATTEMPTS[name]
    with pytest.raises((Refuted, Undecided, TypeError, ValueError)) as failed:
        prove(called(name, settings), *made(inputs), settings=left(settings))
    told = str(failed.value)
    told_why = "undecided" in told or "could not decide, because" in told
    assert told_why or not isinstance(failed.value, Undecided)


# Functions made of several nodes, or of nodes with several inputs or outputs.
COMPOSED = {
    "cat": (lambda p, q: cat([p, q, p], 0), [*vector, ("y", 3)]),
    "stack": (lambda p, q: stack([p, q], 1), [*vector, ("y", 2)]),
    "unbind": (lambda p: unbind(p, 1)[0] * unbind(p, 1)[2], matrix),
    "unbind, one output unused": (lambda p: unbind(p, 1)[1] ** 2, matrix),
    "split": (lambda p: split(p, [1, 2], 1)[1] * split(p, 2, 1)[1], matrix),
    "products of transposes": (lambda p, q: p.t() @ q.t(), [("x", 3, 2), ("y", 2, 3)]),
    "batched product": (lambda p, q: p @ q, [("x", 2, 1, 2), ("y", 2, 1)]),
    "vector times matrix": (lambda p, q: p @ q, [("x", 2), ("y", 2, 2)]),
    "in place": (lambda p, q: (p * 1).mul_(q).add_(q).pow_(2), broadcast),
    "written part": (lambda p, q: _written(p * 1, q), [("x", 3), ("y",)]),
    "copied": (lambda p, q: (p * q).copy_(q), [("x", 2), ("y", 2)]),
    "part by indices": (lambda p: p[1:, [0, 2]] * p[0, -1], matrix),
    "difference of a number": (lambda p: (1 - p) / (2 / p), vector),
    "variance": (lambda p: ((p - p.mean()) ** 2).mean(), [("x", 3)]),
}


def _written(whole, part):
    whole[1] = part * part
    return whole * whole


@pytest.mark.parametrize("name", COMPOSED)
def test_composed_functions(name):
    function, inputs = COMPOSED[name]
    assert prove(function, *made(inputs)).everywhere


def test_a_condition_on_symbols_is_a_case_in_the_formula():
    first, second = made([("x",), ("y",)])
    proof = prove(lambda p, q: BOOK["where"](p > q, p * p, q), first, second)
    assert proof.forward == sympy.Piecewise((x() ** 2, x() > y()), (y(), True))


SMOOTH = """
    add_scaled sub_scaled rsub_number mul div pow_number pow_tensor sqrt rsqrt reciprocal exp log
    log1p expm1 sin cos tanh sigmoid silu view permute flip expand repeat select slice_dim index
    index_put index_add gather mm addmm mv dot bmm mse_loss sum_dim mean_all mean_dim softmax
    log_softmax logsumexp
""".split()  # noqa: SIM905 - one name after the other reads better


SMALL = {  # formulas grow fast
    "softmax": (vector, (0,)),
    "log_softmax": (vector, (0,)),
    "logsumexp": (vector, ((0,), False)),
}


@pytest.mark.examples
@pytest.mark.parametrize("name", SMOOTH)
def test_second_derivatives_by_recorded_rules(name):
    """The same rules, fed tensors, record themselves: their own derivative is proved here."""
    inputs, settings, *_ = SMALL.get(name, CASES[name][-1])
    tensors = made(inputs)
    function = called(name, settings)

    def gradient(direction, *given):
        result = function(*given)
        # not linear, so that the gradient of a linear function depends on its inputs too
        return grad((result * (result + 1) * direction).sum(), given[0], create_graph=True)[0]

    direction = symbols("v", tuple(function(*tensors, *left(settings)).shape), requires_grad=True)
    proof = prove(gradient, direction, *tensors, settings=left(settings))
    assert any(each != each * 0 for each in proof.gradients)
