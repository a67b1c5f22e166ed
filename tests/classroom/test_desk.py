"""Checks speak, hints help, predictions are compared, and a learner's mistakes do no harm."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy

from minigrad import classroom
from minigrad.classroom import check, compare, hint, judge, predict
from minigrad.classroom.execution import Endless, run
from minigrad.classroom.exercises import computed


def number(identifier="97.1", **changes):
    given = {
        "asks": "a number",
        "expected": 8.0,
        "right": "Yes.",
        "hints": ("first", "second"),
    }
    return classroom.Number(id=identifier, **(given | changes))


def test_check_prints_and_returns_a_verdict_that_jupyter_does_not_repeat(capsys):
    verdict = check("demo.1", 24)
    assert capsys.readouterr().out == f"✓ {verdict.message}\n"
    assert verdict
    assert verdict.status == "right"
    assert verdict._ipython_display_() is None
    assert capsys.readouterr().out == ""


def test_a_wrong_answer_raises_nothing(capsys):
    assert not check("demo.1", object())
    assert "demo.1: not yet." in capsys.readouterr().out


@pytest.mark.parametrize(("answer", "raises"), [(24, False), (25, True), (..., True)])
def test_under_nbgrader_an_unsolved_exercise_raises(monkeypatch, answer, raises):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    if raises:
        with pytest.raises(AssertionError, match=r"demo\.1"):
            check("demo.1", answer)
    else:
        assert check("demo.1", answer)


def test_hints_come_in_two_steps(capsys):
    hint("demo.1")
    first = capsys.readouterr().out
    hint("demo.1", 2)
    second = capsys.readouterr().out
    assert "hint 1 of 2" in first
    assert 'hint("demo.1", 2)' in first
    assert "hint 2 of 2" in second
    with pytest.raises(ValueError, match="two hints"):
        hint("demo.1", 3)


@pytest.mark.parametrize(
    ("identifier", "says"),
    [
        ("demo.77", r"are demo\.1"),
        ("nowhere.1", ""),
        ("", ""),
        (0.1, "quotes"),
        ("06.a", "A letter"),
    ],
)
def test_an_unknown_exercise_is_named(identifier, says):
    with pytest.raises(ValueError, match=f"There is no exercise.*{says}"):
        check(identifier, 1)


def test_the_checks_are_found_from_anywhere(tmp_path):
    program = (
        "import sys\n"
        "from minigrad.classroom import check\n"
        "import checks  # the learner's own\n"
        "print(check('06.1', 1).status, checks.OWN, [m for m in sys.modules if m == 'lessons'])\n"
    )
    (tmp_path / "checks.py").write_text("OWN = 'own'\n", encoding="utf-8")
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    root = str(Path(classroom.__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "program.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": root},
    )
    assert done.stdout.endswith("wrong own []\n"), done.stdout + done.stderr


def test_without_the_lessons_it_says_where_checks_are(registered, monkeypatch):
    with pytest.raises(FileNotFoundError, match="It comes with the lessons"):
        classroom.desk.checks("06", None)
    monkeypatch.setattr(classroom.desk.checks, "__defaults__", (None,))
    registered(number())
    assert check("97.1", 8)  # an exercise of one's own needs none


def test_instructors_register_their_own(registered):
    registered(number())
    assert judge("97.1", 8).status == "right"
    assert [exercise.id for exercise in classroom.exercises_of("97")] == ["97.1"]
    registered(number(expected=lambda: 9.0))
    assert judge("97.1", 9).status == "right"
    assert computed(lambda: 9.0) == 9.0


@pytest.mark.parametrize(
    ("expected", "digits", "answer", "right"),
    [
        (-0.407960678, 4, -0.4080, True),
        (-0.407960678, 4, -0.4079, True),
        (-0.407960678, 4, -0.407960678, True),
        (-0.407960678, 4, -0.41, False),
        (0.0, 4, 1e-9, True),
        (0.0, 4, 0.01, False),
        (float("inf"), 4, float("inf"), True),
        (float("inf"), 4, 1e300, False),
    ],
)
def test_rounding_and_cutting_off_count(registered, expected, digits, answer, right):
    registered(number(expected=expected, digits=digits))
    assert bool(judge("97.1", answer)) is right


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (-0.5, "its sign and its size"),
        (-0.50995, "lost factor of 2"),
        (-2.0398, "extra factor of 2"),
        (-0.10199, "the decimal point isn't"),
        (1.0199, "wrong sign"),
        (-1.5, "its sign and its size"),
        (-1.01, "Close, but 4 significant digits"),
        (-1.0, "Close, but 4 significant digits"),
        (float("nan"), "a finite number"),
    ],
)
def test_close_is_said_only_to_what_is_close(registered, answer, says):
    registered(number(expected=-1.019901696))
    assert says in " ".join(judge("97.1", answer).message.split())


def test_of_several_numbers_the_first_wrong_one_is_named():
    pair = classroom.Numbers(
        id="97.3",
        asks="two numbers",
        expected=(1 / 3, 2.0),
        right="Yes.",
        hints=("first", "second"),
    )
    assert "1 of 2 values fit" in pair.examine((0.333, 2)).says
    assert "entry [0]" in pair.examine((0.3, 2)).says
    assert pair.examine((0.3333, 2)) is None


def test_tiny_numbers_are_compared_by_their_own_size_and_shown():
    four = classroom.Numbers(
        id="97.3",
        asks="four numbers",
        expected=(1.0, 2e-14, 3e-23, 0.0),
        right="Yes.",
        hints=("first", "second"),
    )
    assert four.examine((1, 2e-14, 3e-23, 0)) is None
    assert four.examine([(1, 2e-14), (3e-23, 0)]) is None  # in equal brackets
    assert "arranged differently" in four.examine([(1, 2e-14, 3e-23), 0]).says
    for small in (0.0, 4e-23, 3e-22):
        finding = four.examine((1, 2e-14, small, 0))
        assert "entry [2]" in finding.says
        assert str(small) in finding.says and str(small) in finding.gave


def test_an_order_may_be_written_in_many_ways():
    words = classroom.Order(
        id="97.4", asks="an order", expected=("f1", "f0"), right="Yes.", hints=("first", "second")
    )
    for answer in ("f1 f0", "F1, f0", "f1->f0", ["f1", " f0"], ("f1", "f0")):
        assert words.examine(answer) is None, answer
    for answer in ("f1f0", "f0 f1", ["f1"], 3):
        assert words.examine(answer) is not None, answer


def test_a_list_makes_the_same_mistake_as_a_tuple(registered):
    registered(function(mistakes="= lambda x: tuple(3 * entry for entry in x)\n    Tripled."))
    assert "Tripled." in judge("97.2", lambda x: [3 * entry for entry in x]).message


def function(**changes):
    given = {
        "asks": "f(x), which doubles",
        "inputs": lambda rng: [([1.0, 2.0],), ([rng.uniform(1, 2)],)],
        "reference": lambda x: tuple(2 * entry for entry in x),
        "right": "Yes.",
        "hints": ("first", "second"),
    }
    return classroom.Function(id="97.2", **(given | changes))


def in_place(x):
    for index in range(len(x)):
        x[index] *= 2
    return tuple(x)


def shouting(x):
    print("here")
    return tuple(2 * entry for entry in x)


def not_written(x):
    raise NotImplementedError


def by_the_forbidden_way(x):
    return np.tile(x, 2)


@pytest.mark.parametrize(
    ("answer", "status", "says"),
    [
        (in_place, "wrong", "changed what it was given"),
        (lambda x: [2 * entry for entry in x], "wrong", "of type tuple"),
        (shouting, "right", "Yes."),
        (not_written, "unsolved", "not solved yet"),
        (by_the_forbidden_way, "wrong", "without that"),
        (lambda x: x[7], "wrong", "IndexError"),
        (max, "wrong", "the number 2.0"),
        (lambda x: (*x, *x, *x), "wrong", "should not be 6 values"),
        (lambda x: tuple(-2 * entry for entry in x), "wrong", "wrong sign"),
        (lambda x: answerless(x), "wrong", "RecursionError"),
    ],
)
def test_a_function_is_run_and_its_mistakes_are_named(registered, capsys, answer, status, says):
    registered(function(returns=tuple, without=("tile",)))
    verdict = judge("97.2", answer)
    assert verdict.status == status, verdict.message
    assert says in " ".join(verdict.message.split())
    assert capsys.readouterr().out == ""


def answerless(x):
    return answerless(x)


def test_the_trace_of_a_debugger_comes_back():
    seen = []

    def trace(frame, event, argument):
        seen.append(event)

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run(lambda: 1)
        kept = sys.gettrace()
    finally:
        sys.settrace(before)
    assert kept is trace


def test_catching_every_exception_does_not_keep_a_loop_alive():
    def stubborn():
        while True:
            try:
                len("")
            except Exception:
                continue

    assert "didn't finish" in run(stubborn, most_lines=1000).trouble
    assert not issubclass(Endless, Exception)


def test_a_loop_on_one_line_is_stopped():
    # Compiled from text, because the formatter would break the line.
    space = {}
    exec("def forever():\n    while True: pass", space)
    assert "didn't finish" in run(space["forever"], most_lines=1000).trouble


def test_library_code_is_not_counted():
    assert run(lambda: sorted(range(10), key=lambda k: -k), most_lines=50).trouble is None
    assert run(lambda: np.linalg.norm(np.ones(3)), most_lines=5).trouble is None


@pytest.mark.parametrize(
    ("guess", "actual", "says"),
    [
        (0.5, 0.50001, ": correct."),
        (-0.5, 0.5, "opposite sign"),
        (1.0, 0.5, "twice as much"),
        (0.25, 0.5, "half of it"),
        (0.0, 0.5, ": 0.5 less."),
        (0, 4, "You predicted 0: 4 less."),
        (6.0, 5, ": 1 more."),
        (6, 5.0, "1.2 times as much"),
        (4.5, 5, ": 0.5 less."),
        ((0, 6e-8), (0.0, 5.9605e-08), "1 of 2 fit"),
        ((2e-8, 5.9605e-08), (0.0, 5.9605e-08), "1 of 2 fit"),
        ((0.0, -0.0), (0.0, 1e-3), "1 of 2 fit"),
        ("2", 2, ": correct."),
        (("27", 6), (27.0, 6.0), "every value as predicted"),
        (5, "2", "5. Why does it come out differently?"),
        ("w1", "w_1", ": correct."),
        ("W_{1}", "w_1", ": correct."),
        (sympy.Symbol("w_1"), "w_1", ": correct."),
        ("w_0", "w_1", "Why does it come out differently?"),
        (False, True, "Why does it come out differently?"),
        ([False, None], [False, None], "every value as predicted"),
        (0.45, 0.5, "0.9 times as much"),
        (50.0, 0.5, "100.0 times as much"),
        (1.0, 0.0, ": 1 more."),
        ("f0", "f0", ": correct."),
        ("Down.", "down", ": correct."),
        (["UP", 1], ["up", 1.0], "every value as predicted"),
        ("f0", "f1", "Why does it come out differently?"),
        ([1, 2], np.array([1.0, 3.0]), "1 of 2 fit"),
        ([1, 2], [1, 2], "every value as predicted"),
        ([1], [1, 2], "not the same number"),
    ],
)
def test_a_prediction_is_compared(capsys, guess, actual, says):
    predict("97.a", guess)
    assert "noted" in capsys.readouterr().out
    compare("97.a", actual)
    assert says in capsys.readouterr().out


def test_without_a_prediction_the_value_is_shown_all_the_same(capsys):
    predict("97.a", 1.0)
    predict("97.a", ...)
    compare("97.a", 0.5)
    printed = capsys.readouterr().out
    # The value comes last: of a folded output JupyterLab shows the first line.
    assert printed.endswith("You made no prediction 97.a this time.\n  It is 0.5.\n")
