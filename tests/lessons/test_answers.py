"""Replay the bank: each typical wrong answer is refused by name, each right one accepted."""

import ast
import importlib.util
import re
import sys
from pathlib import Path

import pytest

from minigrad.classroom import judge, rounded
from minigrad.classroom.behaviors import Behavior
from minigrad.classroom.data import CHECKS
from minigrad.classroom.desk import find, shipped, unproved
from minigrad.classroom.exercises import Choice, Number, Numbers, Objection, Order
from minigrad.classroom.values import as_number, leaves

HERE = Path(__file__).parent


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ANSWERS


BANKS = {path.stem.removeprefix("answers_"): load(path) for path in HERE.glob("answers_*.py")}
LESSONS = sorted(path.stem.removeprefix("lesson_") for path in CHECKS.glob("lesson_*"))
ENTRIES = [(key, entry) for bank in map(BANKS.get, LESSONS) for key, entry in sorted(bank.items())]
EACH = pytest.mark.parametrize(("exercise", "entry"), ENTRIES, ids=[key for key, _ in ENTRIES])


BY_LESSON = pytest.mark.parametrize("lesson", LESSONS)


@BY_LESSON
def test_every_exercise_has_a_bank(lesson):
    bank = BANKS.get(lesson, {})
    assert sorted(bank) == sorted(exercise.id for exercise in shipped(lesson))
    for key, entry in bank.items():
        assert len(entry["wrong"]) >= 5, key
        assert len(entry["right"]) >= 3, key


@BY_LESSON
def test_each_message_is_said_and_each_wrong_answer_refused(lesson, objections):
    """Rows are proved by their own versions, objections are raised, banks learn what fits."""
    wrong = []
    for known in shipped(lesson):
        wrong += unproved(known.id)
        assert len({row.says for row in known.rows}) == len(known.rows), known.id
        for keyword, answer in BANKS[lesson][known.id]["wrong"]:
            verdict = judge(known.id, answer)
            said = " ".join(verdict.message.split())
            if verdict.status != "wrong" or keyword not in said:
                wrong.append(f"{keyword}: {said}")
            own = without_the_question(known, verdict)
            assert len(own.split()) >= 5, said
            assert not re.search(r"\b(?:wrong answer|is incorrect|try again)\b", own, re.I), said
            assert not re.search(r"0x[0-9a-f]{4}|/\w+/\w+/", said), said
            gives_nothing_away(known, answer, verdict, own)
            if not isinstance(known, Behavior):  # running each of them twice takes long
                assert judge(known.id, answer).message == verdict.message
    assert wrong == []
    assert objections(lesson) == []


@pytest.fixture
def objections(monkeypatch):
    """List the objections in a lesson's checks that nobody has met since the test began."""
    met = set()

    def note(self, text):
        caller = sys._getframe(1)
        met.add((caller.f_code.co_filename, caller.f_lineno))
        Exception.__init__(self, text)

    monkeypatch.setattr(Objection, "__init__", note)

    def unmet(lesson):
        paths = [*CHECKS.glob(f"lesson_{lesson}.py"), *CHECKS.glob(f"lesson_{lesson}/*.py")]
        calls = [
            (str(path), node)
            for path in paths
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Objection"
        ]
        return [
            f"{path}:{node.lineno}"
            for path, node in calls
            if not any((path, line) in met for line in range(node.lineno, node.end_lineno + 1))
        ]

    return unmet


@EACH
def test_each_right_answer_is_accepted(exercise, entry):
    verdicts = [judge(exercise, answer) for answer in [find(exercise).solved, *entry["right"]]]
    assert [v.message for v in verdicts if v.status != "right"] == []


@EACH
def test_an_unattempted_exercise_is_unsolved(exercise, entry):
    for stub in (..., lambda *args: ...):
        assert judge(exercise, stub).status == "unsolved"


def without_the_question(known, verdict):
    """What is said to an answer, without what was asked for and what was given."""
    text = " ".join(re.sub(r"\n  ", "\n", verdict.message).split())
    text = text.removeprefix(f"{known.id}: not yet. ")
    return text.replace(" ".join(f"Asked for: {known.asks}.".split()), "")


def telling(numbers):
    """The numbers among these that say something: not those that stand in any sentence."""
    return {rounded(n, digits) for n in numbers for digits in (3, 4, 5, 6) if abs(n) % 1 > 1e-9}


def numbers_in(text):
    return {float(number) for number in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", text)}


def gives_nothing_away(known, answer, verdict, said):
    """Feedback and hints don't contain the answer."""
    hints = " ".join(known.hints)
    if isinstance(known, Number) and not isinstance(answer, str | list):  # words are quoted
        expected = float(known.wanted)
        told = [known.asks, hints, *(row.says for row in known.rows)]
        told.append(verdict.message.replace(f"You gave {rounded(answer)}", ""))
        given = {float(rounded(expected, digits)) for digits in (3, 4, 5, 6)}
        assert not given & numbers_in(" ".join(told))
    if isinstance(known, Numbers):
        expected = [as_number(value) for _, value in leaves(known.wanted)]
        given = [as_number(value) for _, value in leaves(answer)]
        own = telling([n for n in given if n is not None])
        wanted = telling([n for n in expected if n is not None]) - own
        found = {text for text in wanted if re.search(rf"(?<![\d.]){re.escape(text)}(?!\d)", said)}
        assert len(found) < max(len(expected), 1), (found, said)
        assert not (len(expected) == 1 and found)
        assert not all(text in hints for text in telling(n for n in expected if n is not None)) or (
            not wanted
        )
    if isinstance(known, Order):
        names = [str(name) for name in known.wanted]
        gave = re.search(r"You gave (.*?)\. ", said)
        rest = said.replace(gave[0], "") if gave else said
        for joined in (", ", " ", " -> ", ""):
            assert joined.join(names) not in rest
            assert joined.join(names) not in hints
    if isinstance(known, Choice):
        right = re.escape(known.solved[0])
        tells = re.compile(
            rf"(?:answer|letter|option|choice) (?:is )?[\"'(]?{right}\b|\({right}\)", re.I
        )
        rest = re.sub(r"You gave .*?[.] ", "", said)  # the learner's own letter is quoted
        assert not tells.search(rest), said
        assert not tells.search(hints), hints
    if isinstance(known, Behavior):
        for line in known.program.source.splitlines():
            if line.strip().startswith("return ") and len(line.strip()) > 20:
                assert line.strip() not in said
                assert line.strip() not in hints


@EACH
def test_the_second_hint_says_more_than_the_first(exercise, entry):
    first, second = find(exercise).hints
    assert first != second
    assert min(len(first.split()), len(second.split())) >= 3, (first, second)


CHOICES = [each for lesson in LESSONS for each in shipped(lesson) if isinstance(each, Choice)]
EACH_CHOICE = pytest.mark.parametrize("known", CHOICES, ids=[each.id for each in CHOICES])


@EACH_CHOICE
@pytest.mark.parametrize(
    "written",
    [
        lambda letter: (letter, "hooks are only run by __call__"),
        lambda letter: [letter.upper(), "bananas are rounding and curved"],
        lambda letter: f"({letter}) because it is so",
        lambda letter: f"{letter}: weil es so ist",
        lambda letter: (letter, "因为它先运行"),
        lambda letter: (letter, "because", "of the gate"),
    ],
)
def test_the_right_letter_with_any_sentence_is_right(known, written):
    verdict = judge(known.id, written(known.solved[0]))
    assert verdict.status == "right", verdict.message
    assert f"Compare your reason with this one: {known.model}" in verdict.lines[0]


@EACH_CHOICE
def test_nobody_reads_the_reason_before_giving_one(known):
    assert len(known.model.split()) >= 8
    right = known.solved[0]
    blank = [right, (right, "because ..."), (right, None), (right, "b")]
    others = [each.answer({}) for row in known.rows for each in row.versions]
    wrong = [(letter, known.model) for letter in others]
    for answer in [*blank, *wrong]:
        verdict = judge(known.id, answer)
        assert verdict.status == "wrong", answer
        assert known.model not in verdict.message
        assert ("Add your reason" in verdict.message) == (answer in blank)
