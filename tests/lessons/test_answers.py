"""Replay the bank: each typical wrong answer is refused by name, each right one accepted."""

import importlib.util
import re
from pathlib import Path

import pytest

from minigrad.classroom import exercises_of, judge, rounded
from minigrad.classroom.answers import Number
from minigrad.classroom.exercise import computed

HERE = Path(__file__).parent
CLASSROOM = HERE.parents[1] / "minigrad" / "classroom"


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ANSWERS


BANKS = {path.stem.removeprefix("answers_"): load(path) for path in HERE.glob("answers_*.py")}
LESSONS = sorted(path.stem.removeprefix("lesson_") for path in CLASSROOM.glob("lesson_*.py"))
ENTRIES = [(key, entry) for bank in BANKS.values() for key, entry in sorted(bank.items())]
WRONG = [
    pytest.param(key, keyword, answer, id=f"{key}-{number}-{keyword}")
    for key, entry in ENTRIES
    for number, (keyword, answer) in enumerate(entry["wrong"], start=1)
]
RIGHT = [
    pytest.param(key, answer, id=f"{key}-{number}")
    for key, entry in ENTRIES
    for number, answer in enumerate(entry["right"], start=1)
]


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_exercise_has_a_bank(lesson):
    bank = BANKS.get(lesson, {})
    assert sorted(bank) == sorted(exercise.id for exercise in exercises_of(lesson))
    for key, entry in bank.items():
        assert len(entry["wrong"]) >= 5, key
        assert len(entry["right"]) >= 2, key


@pytest.mark.parametrize(("exercise", "keyword", "answer"), WRONG)
def test_a_wrong_answer_is_refused_with_its_reason(exercise, keyword, answer):
    verdict = judge(exercise, answer)
    said = " ".join(verdict.message.split())
    assert verdict.status == "wrong", said
    assert keyword in said
    # Printed text is stored and compared: nothing in it may differ from run to run.
    assert judge(exercise, answer).message == verdict.message
    assert not re.search(r"0x[0-9a-f]{4}|/\w+/\w+/", said), said


@pytest.mark.parametrize(("exercise", "answer"), RIGHT)
def test_a_right_answer_is_accepted(exercise, answer):
    verdict = judge(exercise, answer)
    assert verdict.status == "right", verdict.message


@pytest.mark.parametrize("exercise", [key for key, _ in ENTRIES])
@pytest.mark.parametrize("stub", [..., None, lambda *args: ...], ids=["dots", "None", "function"])
def test_an_unattempted_exercise_is_unsolved(exercise, stub):
    assert judge(exercise, stub).status == "unsolved"


def numbers_in(text):
    return {float(number) for number in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", text)}


@pytest.mark.parametrize(("exercise", "keyword", "answer"), WRONG)
def test_feedback_does_not_give_the_number_away(exercise, keyword, answer):
    known = next(e for e in exercises_of(exercise.rpartition(".")[0]) if e.id == exercise)
    if not isinstance(known, Number):
        return
    expected = float(computed(known.expected))
    said = [known.asks, *known.hints, *(mistake.says for mistake in known.mistakes)]
    said.append(judge(exercise, answer).message.replace(f"You gave {rounded(answer)}", ""))
    given = {float(rounded(expected, digits)) for digits in (3, 4, 5, 6)}
    if isinstance(answer, str | list):
        return  # the learner's own words are quoted
    assert not given & numbers_in(" ".join(said))


def test_there_is_something_to_replay():
    assert len(WRONG) >= 30
    assert len(RIGHT) >= 12
