"""Formula and Rule exercises: SymPy judges, and what is said fits the answer."""

import re
import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy

import minigrad as torch
from minigrad.classroom import register
from minigrad.classroom.desk import checks, judge
from minigrad.symbolic import symbols

LESSON: Any = checks("10")
Formula, Rule = LESSON.Formula, LESSON.Rule
X, W = sympy.symbols("x w", real=True)
HINTS = ("Think.", "Think harder.")


def product(**options):
    return Formula(
        id="demo.71",
        asks="the derivative of (w x)^2 in x",
        symbols="w x",
        solution="slope = 2 * w**2 * x",
        right="Two factors.",
        hints=HINTS,
        **options,
    )


@pytest.mark.parametrize(
    "answer",
    [
        2 * W**2 * X,
        2 * W * (W * X + 1) - 2 * W,
        torch.symbolic.tensor_of(2 * W**2 * X),
        [2 * W**2 * X],
        sympy.Matrix([2 * W**2 * X]),
        2 * sympy.Symbol("w") ** 2 * sympy.Symbol("x"),  # other assumptions, same names
        2.0 * W**2 * X,
        (1 - 1 / 3) * 3 * W**2 * X,  # of floats
    ],
)
def test_every_form_of_the_right_formula_is_right(answer):
    assert product().examine(answer) is None


@pytest.mark.parametrize(
    ("says", "answer"),
    [
        ("quotes", "2*w**2*x"),
        ("what a function returns", lambda w, x: 2 * w**2 * x),
        ("wants a formula", [W, X]),
        ("sign", -2 * W**2 * X),
        ("constant factor", W**2 * X),
        ("depends on b", 2 * W**2 * X + sympy.Symbol("b")),
        ("does not depend on w", 2 * X),
        ("does not depend on w", 0.3),
        ("yours is", 2 * W * X),
        ("wants a formula", object()),
    ],
)
def test_a_wrong_formula_is_told_what_is_wrong_with_it(says, answer):
    finding = product().examine(answer)
    assert says in f"{finding.says}"


def test_a_counterexample_is_one():
    says = product().examine(2 * W * X).says
    found = re.fullmatch(r"At w = (\S+), x = (\S+) yours is (\S+); it should be (\S+)\.", says)
    w, x, yours, due = (Fraction(each) for each in found.groups())
    assert (yours, due) == (2 * w * x, 2 * w * w * x)
    assert yours != due


def test_a_known_mistake_speaks_first_and_in_every_form():
    exercise = product(
        mistakes="""
            ~ w**2 => w
                The inner derivative.
            ? answer.is_number
            = 3
                No number.
        """
    )
    finding = exercise.examine(W * X + W * X)
    assert finding.says == "The inner derivative."
    assert exercise.examine(7).says == "No number."


def test_what_was_given_is_named_and_cut_when_long():
    assert product().examine(X).gave == "the formula x"
    assert len(product().examine(sympy.expand((X + W) ** 30)).gave) < 120


def weighted(**options):
    return Rule(
        id="demo.73",
        asks="the rule of x * w, where w is broadcast over rows",
        forward=lambda x, w: x * w,
        shapes=[{"x": (2, 2), "w": 2}, {"x": (2, 3), "w": 3}],
        right="Summed over the rows.",
        hints=HINTS,
        **options,
    )


def test_a_right_rule_is_proved():
    assert weighted().examine(lambda grad, x, w: (grad * w, (grad * x).sum(0))) is None
    assert weighted().examine(lambda grad, x, w: [grad * w, torch.einsum("ij,ij->j", grad, x)]) is (
        None
    )


@pytest.mark.parametrize(
    ("says", "rule"),
    [
        ("gradient of x is refuted at entry [0, 0]", lambda g, x, w: (g, (g * x).sum(0))),
        ("gradient of w is refuted at entry [0]", lambda g, x, w: (g * w, (g * x).sum(1))),
        ("shape (2, 2), and w itself has (2,)", lambda g, x, w: (g * w, g * x)),
        ("Gradients asked for: 2", lambda g, x, w: g * w),
        ("it is None", lambda g, x, w: (g * w, None)),
        ("has to be a tensor", lambda g, x, w: (g * w, 3.0)),
        ("AttributeError", lambda g, x, w: (g * w, (g * x).total(0))),
        ("without brackets", 3.0),
    ],
)
def test_a_wrong_rule_is_refuted(says, rule):
    assert says in weighted().examine(rule).says


def test_what_a_gradient_of_ones_would_hide_is_said():
    found = weighted().examine(lambda g, x, w: (g * w, g.mean(0) * x.sum(0)))
    assert found.says.endswith("With a gradient of ones it would have been right.")
    assert "it should be" in found.says
    found = weighted().examine(lambda g, x, w: (g * w, g.sum(0) * x.sum(0)))
    assert "ones" not in found.says


def test_a_known_wrong_rule_is_recognized():
    exercise = weighted(
        solution="rule = lambda g, x, w: (g * w, (g * x).sum(0))",
        mistakes="""
            ~ (g * x).sum(0) => g.mean(0) * x.sum(0)
                Spread out.
            ~ g * w => g * float(w[0])
            ! expression to float
                A symbol is no float.
        """,
    )
    found = exercise.examine(lambda g, x, w: (w * g, x.sum(0) * g.sum(0) / 2))
    assert found.says == "Spread out."
    found = exercise.examine(lambda g, x, w: (w * float(g[0, 0]), g))
    assert found.says.endswith("A symbol is no float.")


def test_the_gradient_has_its_own_symbols_for_each_entry():
    seen = []
    weighted().examine(lambda grad, x, w: seen.append(grad))
    assert seen[0].tolist() == symbols("g", (2, 2)).tolist()


def test_an_unwritten_rule_is_unsolved():
    def rule(grad, x, w): ...

    def later(grad, x, w):
        raise NotImplementedError

    register(weighted())
    assert [judge("demo.73", each).status for each in (rule, later)] == ["unsolved"] * 2


def test_the_desk_judges_both():
    register(product(), weighted())
    assert judge("demo.71", 2 * X * W**2).status == "right"
    assert "You gave the formula w." in judge("demo.71", W).message
    assert judge("demo.73", lambda g, x, w: (g * w, (g * x).sum(0))).status == "right"
    assert judge("demo.73", ...).status == "unsolved"


def test_wrong_answers_do_not_change_what_is_right():
    array = np.array([2 * W**2 * X], object)
    assert product().examine(array) is None
    assert array[0] == 2 * W**2 * X


def test_sympy_is_loaded_only_when_something_is_judged():
    code = (
        "import sys\n"
        "from minigrad.classroom.desk import checks\n"
        "print(checks('10').Rule.__name__, 'sympy' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["Rule", "False"]


def test_without_sympy_it_is_said_how_to_get_it():
    code = (
        "import sys; sys.modules['sympy'] = None\n"
        "from minigrad.classroom import judge\n"
        "try: judge('10.1', 3)\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install sympy" in run.stdout
