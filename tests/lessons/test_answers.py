"""Replay the bank: each typical wrong answer is refused by name, each right one accepted."""

import importlib.util
import inspect
import re
from pathlib import Path

import pytest

from minigrad.classroom import judge, rounded
from minigrad.classroom.behaviors import Behavior
from minigrad.classroom.data import CHECKS
from minigrad.classroom.desk import find, shipped
from minigrad.classroom.exercises import Choice, Number, Numbers, Order, computed
from minigrad.classroom.values import as_number, leaves

HERE = Path(__file__).parent


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ANSWERS


BANKS = {path.stem.removeprefix("answers_"): load(path) for path in HERE.glob("answers_*.py")}
LESSONS = sorted(path.stem.removeprefix("lesson_") for path in CHECKS.glob("lesson_*"))
ENTRIES = [(key, entry) for bank in BANKS.values() for key, entry in sorted(bank.items())]
EACH = pytest.mark.parametrize(("exercise", "entry"), ENTRIES, ids=[key for key, _ in ENTRIES])


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_exercise_has_a_bank(lesson):
    bank = BANKS.get(lesson, {})
    assert sorted(bank) == sorted(exercise.id for exercise in shipped(lesson))
    for key, entry in bank.items():
        assert len(entry["wrong"]) >= 5, key
        assert len(entry["right"]) >= 2, key


@pytest.mark.examples
@EACH
def test_each_wrong_answer_is_refused_with_its_reason(exercise, entry, run_once):
    known = find(exercise)
    runs = not isinstance(known, Number | Numbers | Order | Choice)
    said_first = []
    run_as_usual = run_once(known)
    for number, (keyword, answer) in enumerate(entry["wrong"], start=1):
        verdict = judge(exercise, answer)
        said = " ".join(verdict.message.split())
        which = f"answer {number}, {keyword}: {said}"
        assert verdict.status == "wrong", which
        assert keyword in said, which
        own = without_the_question(known, verdict)
        assert len(own.split()) >= 5, which
        assert not re.search(r"\b(?:wrong answer|incorrect|try again)\b", own, re.I), which
        assert not re.search(r"0x[0-9a-f]{4}|/\w+/\w+/", said), which
        gives_nothing_away(known, answer, verdict, own)
        said_first.append(verdict.message)
    # Printed text is stored and compared: nothing in it may differ from run to run.
    run_as_usual()
    again = entry["wrong"][: 2 if runs else None]  # running all of them twice takes long
    assert [judge(exercise, answer).message for _, answer in again] == said_first[: len(again)]


@pytest.mark.examples
@EACH
def test_each_right_answer_is_accepted(exercise, entry, run_once):
    first, *others = entry["right"]
    verdicts = [judge(exercise, first)]
    run_once(find(exercise))
    verdicts += [judge(exercise, answer) for answer in others]
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
        expected = float(computed(known.expected))
        told = [known.asks, hints, *(mistake.says for mistake in known.mistakes)]
        told.append(verdict.message.replace(f"You gave {rounded(answer)}", ""))
        given = {float(rounded(expected, digits)) for digits in (3, 4, 5, 6)}
        assert not given & numbers_in(" ".join(told))
    if isinstance(known, Numbers):
        expected = [as_number(value) for _, value in leaves(computed(known.expected))]
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
        names = [str(name) for name in computed(known.expected)]
        gave = re.search(r"You gave (.*?)\. ", said)
        rest = said.replace(gave[0], "") if gave else said
        for joined in (", ", " ", " -> ", ""):
            assert joined.join(names) not in rest
            assert joined.join(names) not in hints
    if isinstance(known, Choice):
        right = re.escape(known.option)
        tells = re.compile(
            rf"(?:answer|letter|option|choice) (?:is )?[\"'(]?{right}\b|\({right}\)", re.I
        )
        rest = re.sub(r"You gave .*?[.] ", "", said)  # the learner's own letter is quoted
        assert not tells.search(rest), said
        assert not tells.search(hints), hints
    if isinstance(known, Behavior) and known.reference is not None:
        code = inspect.getsource(known.reference)
        body = [
            " ".join(line.split())
            for line in code.splitlines()
            if line.strip().startswith("return ")
        ]
        for line in body:
            if len(line) > 20:
                assert line not in said
                assert line not in hints


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
    verdict = judge(known.id, written(known.option))
    assert verdict.status == "right", verdict.message
    assert f"Compare your reason with this one: {known.model}" in verdict.lines[0]


@EACH_CHOICE
def test_nobody_reads_the_reason_before_giving_one(known):
    assert len(known.model.split()) >= 8
    blank = [known.option, (known.option, "because ..."), (known.option, None), (known.option, "b")]
    wrong = [(letter, known.model) for letter in known.why_not]
    for answer in [*blank, *wrong]:
        verdict = judge(known.id, answer)
        assert verdict.status == "wrong", answer
        assert known.model not in verdict.message
        assert ("Add your reason" in verdict.message) == (answer in blank)


def test_there_is_something_to_replay():
    assert sum(len(entry["wrong"]) for _, entry in ENTRIES) >= 30
    assert sum(len(entry["right"]) for _, entry in ENTRIES) >= 12
