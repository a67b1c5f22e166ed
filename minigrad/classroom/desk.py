"""Check answers, give hints, compare predictions, and note on this machine what is solved."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from minigrad.classroom import values
from minigrad.classroom.behaviors import Unsolved
from minigrad.classroom.data import CHECKS, of_the_lessons
from minigrad.classroom.execution import HeldBack, as_usual
from minigrad.classroom.exercises import Exercise, Finding, Verdict, taken, wrong_kind
from minigrad.classroom.watching import Status, Verbatim, laid_out, shell, tell

_HIT, _ALL_HIT = ": correct.", ": every value as predicted."
_NOISE = 1e-12  # what is printed as zero
# The checks are loaded under a name that no module of a learner's has.
_PACKAGE = "_minigrad_lesson_checks"
_NOTHING = "You handed in None. backward() returns None; x.grad is None without requires_grad=True."
_registered: dict[str, Exercise] = {}
_written: dict[str, Any] = {}


def register(*exercises: Exercise) -> None:
    """Make exercises known, besides those that come with the lessons.

    Args:
        *exercises: to be found by `check` and `hint` under their ids; an id that is known already
            is replaced.

    Example:
        >>> from minigrad.classroom import Number
        >>> register(Number(id="mine.1", asks="the slope of 3x", expected=3, right="It's 3.",
        ...                 hints=("Take two points.", "x = 0 and x = 1.")))
        >>> judge("mine.1", 3)
        mine.1: right.
          It's 3.
    """
    for exercise in exercises:
        _registered[exercise.id] = exercise


def exercises_of(lesson: str) -> list[Exercise]:
    """List the exercises of a lesson, in order.

    The exercises of lesson "06" are the list `EXERCISES` of `lessons/checks/lesson_06`.

    Args:
        lesson: the lesson's number as it stands in file names.

    Example:
        >>> [exercise.id for exercise in exercises_of("demo")][:2]
        ['demo.1', 'demo.2']
    """
    own = [exercise for exercise in _registered.values() if exercise.lesson == lesson]
    return list({exercise.id: exercise for exercise in [*shipped(lesson), *own]}.values())


def shipped(lesson: str) -> list[Exercise]:
    """List the exercises that come with a lesson, without those that `register` added.

    Args:
        lesson: its number, such as "06".

    Example:
        >>> len(shipped("06"))
        6
    """
    return list(getattr(checks(lesson), "EXERCISES", ()))


def checks(lesson: str, folder: Path | None = CHECKS) -> ModuleType | None:
    """Load the checks of a lesson, wherever the notebook is that asks.

    Args:
        lesson: its number, such as "06".
        folder: where the checks of all lessons are.

    Returns:
        The module `lessons/checks/lesson_06`; None where there is none for this lesson.

    Raises:
        FileNotFoundError: where the lessons are not there.

    Example:
        >>> checks("06").EXERCISES[0].id
        '06.1'
    """
    if folder is None:
        raise FileNotFoundError("no lessons/checks here. It comes with the lessons: work in a copy")
    if _PACKAGE not in sys.modules:
        sys.modules[_PACKAGE] = ModuleType(_PACKAGE)
        sys.modules[_PACKAGE].__path__ = [str(folder)]
    name = f"lesson_{lesson}"
    if not name.isidentifier() or importlib.util.find_spec(f"{_PACKAGE}.{name}") is None:
        return None
    return importlib.import_module(f"{_PACKAGE}.{name}")


def find(exercise: str) -> Exercise:
    """Find an exercise by its id.

    Args:
        exercise: such as "06.2".

    Raises:
        ValueError: where there is none; the message lists those that there are.
    """
    if exercise in _registered:
        return _registered[exercise]
    known = {entry.id: entry for entry in exercises_of(str(exercise).rpartition(".")[0])}
    if exercise not in known:
        listed = f" There are {', '.join(known)}." if known else ' Put the id in quotes: "00.1".'
        if known and exercise[-1:].isalpha():
            listed = " A letter names a prediction, which has no check and no hint."
        raise ValueError(f"There is no exercise {exercise!r}.{listed}")
    return known[exercise]


def judge(exercise: str, answer: Any) -> Verdict:
    """Examine an answer without printing anything.

    Args:
        exercise: its id.
        answer: what the learner gave.

    Example:
        >>> judge("demo.1", ...).status
        'unsolved'
    """
    return _judged(find(exercise), answer)[0]


def unproved(exercise: str) -> list[str]:
    """List the rows of an exercise's table that its own wrong answers don't prove.

    Each wrong answer of a row has to be refused with that row's sentence.

    Args:
        exercise: its id.

    Returns:
        For each row that isn't proved: its sentence, and what was said instead.

    Example:
        >>> unproved("06.2")
        []
    """
    known, found = find(exercise), []
    for row in known.rows:
        for each in row.versions:
            verdict = judge(exercise, each.answer(known.names))
            if verdict.status != "wrong" or row.says not in " ".join(verdict.lines):
                found.append(f"{row.says}\n  {each.source or each.gives}\n  {verdict.message}")
        if not row.versions:
            found.append(f"{row.says}\n  It has no wrong answer that shows it.")
    return found


def _judged(known: Exercise, answer: Any) -> tuple[Verdict, list[str]]:
    """Examine an answer; give the verdict and what was unusual around it."""
    if values.is_unattempted(answer):
        return _unsolved(known), []
    printed = HeldBack.lines
    with as_usual() as unusual:
        try:
            finding: Finding | None
            if answer is None:
                finding = Finding(_NOTHING, "None")
            elif hasattr(answer, "__next__"):  # reading it might never end
                finding = wrong_kind(answer, "values", "Make a list of this iterator.")
            else:
                finding = known.examine(answer)
        except Unsolved:
            return _unsolved(known), unusual
        except ImportError:  # SymPy is missing: no fault of the answer
            raise
        except Exception as error:
            # Whatever a learner hands in, the notebook goes on. That the check itself is at fault
            # would show in the bank of wrong answers, which knows what is said to each.
            finding = Finding(
                f"The check couldn't read this answer: it failed with {type(error).__name__}. "
                "That says little about the answer; give it in its simplest form.",
                f"a {type(answer).__name__}",
            )
    if finding is None:
        return _verdict(known, "right", "right.", list(known.praise())), unusual
    lines = [f"Asked for: {known.asks}."]
    if finding.gave is not None:
        lines.append(f"You gave {finding.gave}.")
    lines += [finding.says, *map(Verbatim, finding.shows)]
    if HeldBack.lines > printed:
        lines.append("What it prints is held back here: call it in a cell of its own to read that.")
    return _verdict(known, "wrong", "not yet.", lines), unusual


def check(exercise: str, answer: Any = ...) -> Verdict:
    """Check an answer and print what is right or wrong with it.

    An exercise that was not attempted yet is said to be so; nothing is raised, and the notebook
    goes on. Only where nbgrader runs the notebook does a missing or wrong answer raise, because
    nbgrader gives points for cells that do not.

    Args:
        exercise: its id, such as "06.2".
        answer: a value, a function, a hook, or a choice with its reason, as the exercise asks.

    Returns:
        A verdict, true when the exercise is solved. Jupyter does not display it.

    Raises:
        ValueError: where there is no such exercise.
        AssertionError: under nbgrader, where the exercise is not solved.

    Example:
        >>> verdict = check("demo.1")
        ○ demo.1: not solved yet.
          Put your answer where the ... stands, run that cell, then this one.
          For a nudge: hint("demo.1")
        >>> bool(verdict)
        False
    """
    verdict, unusual = _judged(find(exercise), answer)
    lines = [*verdict.lines, *(f"Besides: {says}" for says in unusual)]
    graded = os.environ.get("NBGRADER_EXECUTION") in {"autograde", "validate"}
    if exercise not in _registered and not graded and verdict.status != "unsolved":
        ids = [known.id for known in shipped(exercise.rpartition(".")[0])]
        lines += _noted("solved" if verdict else "tried", exercise, ids)
    tell(verdict.status, verdict.head, lines)
    if graded and not verdict:
        raise AssertionError(verdict.message)
    return verdict


def hint(exercise: str, step: int = 1) -> None:
    """Print a hint: the first on request, the second on a second request.

    Args:
        exercise: its id, such as "06.2".
        step: 1 or 2.

    Raises:
        ValueError: where there is no such exercise or no such hint.

    Example:
        >>> hint("demo.1")
        demo.1, hint 1 of 2
          How fast does the inner function grow, and how fast the outer one?
          If that is not enough: hint("demo.1", 2)
    """
    known = find(exercise)
    if step not in (1, 2):
        raise ValueError(f'There are two hints: hint("{exercise}", 1) and hint("{exercise}", 2).')
    lines = [known.hints[step - 1]]
    if step == 1:
        lines.append(f'If that is not enough: hint("{exercise}", 2)')
    print(laid_out(f"{exercise}, hint {step} of 2", lines))


def _unsolved(exercise: Exercise) -> Verdict:
    lines = ["Put your answer where the ... stands, run that cell, then this one."]
    lines.append(f'For a nudge: hint("{exercise.id}")')
    return _verdict(exercise, "unsolved", "not solved yet.", lines)


def _verdict(exercise: Exercise, status: Status, head: str, lines: list[str]) -> Verdict:
    return Verdict(exercise.id, status, f"{exercise.id}: {head}", tuple(lines))


_FACTORS = {
    -1.0: "the right size with the opposite sign",
    2.0: "twice as much",
    0.5: "half of it",
}


def predict(prediction: str, value: Any = ...) -> None:
    """Write down what you expect. A wrong guess teaches more than none.

    Args:
        prediction: a name for it, such as "06.a", by which `compare` finds it again.
        value: what you expect: a number, several numbers, a word (capitals do not matter). With
            `...` nothing is noted.

    Example:
        >>> predict("demo.a", 0.5)
        ○ Prediction demo.a noted: 0.5
    """
    if values.is_unattempted(value):
        _written.pop(prediction, None)
        open_still = "is still open: replace the ... with your guess before you go on."
        tell("unsolved", f"Prediction {prediction} {open_still}")
        return
    _written[prediction] = value
    said = f"Prediction {prediction} noted: {values.rounded(value)}"
    tell("unsolved", said, _noted("predicted", prediction))


def compare(prediction: str, actual: Any, digits: int = 4) -> None:
    """Print what came beside what was predicted, and how far apart they are.

    Args:
        prediction: the name given to `predict`.
        actual: what came.
        digits: how many significant digits count as a hit.

    Example:
        >>> predict("demo.a", 0.5)
        ○ Prediction demo.a noted: 0.5
        >>> compare("demo.a", 1.0)
        ✗ It is 1.0. You predicted 0.5: half of it.
        >>> compare("demo.b", 1.0)
        ○ You made no prediction demo.b this time.
          It is 1.0.
    """
    came = f"It is {values.rounded(actual, max(digits, 5))}."
    if prediction not in _written:
        # In this order: of a folded output the first line may show, and that tells nothing.
        tell("unsolved", f"You made no prediction {prediction} this time.", [came])
        return
    guess = _written[prediction]
    if type(guess) in {str, tuple, list} and not isinstance(actual, str):
        guess = taken(guess)  # numbers in quotes
    have, want = dict(values.leaves(guess)), dict(values.leaves(actual))
    if len(want) == 1:
        verdict = _how_close(guess, next(iter(want.values())), digits)
    elif have.keys() != want.keys():
        verdict = ": not the same number or arrangement of values."
    else:
        hits = sum(_fits(have[path], want[path], digits) for path in want)
        verdict = _ALL_HIT if hits == len(want) else f": {hits} of {len(want)} fit."
    if missed := verdict not in (_HIT, _ALL_HIT):
        _noted("missed", prediction)
    tell("wrong" if missed else "right", f"{came} You predicted {values.rounded(guess)}{verdict}")


def _how_close(guess: Any, entry: Any, digits: int) -> str:
    """Say in words how a guess relates to a single value."""
    entries = [value for _, value in values.leaves(guess)]
    number, expected = values.as_number(entries[0]) if entries else None, values.as_number(entry)
    if len(entries) == 1 and _fits(entries[0], entry, digits):
        return _HIT
    if len(entries) != 1 or expected is None or number is None:
        return ". Why does it come out differently?"
    if expected and (said := values.said_of_factor([number], [expected], _FACTORS, digits)):
        return f": {said}."
    if isinstance(entry, int) or expected * number <= 0:
        return f": {abs(number - expected):g} {'more' if number > expected else 'less'}."
    return f", {values.rounded(number / expected, 3)} times as much."


def _fits(guess: Any, actual: Any, digits: int) -> bool:
    """Compare two single values: words but for how they are set, zero without a margin."""
    if isinstance(actual, str):  # "w1" is as good as "w_1", and so is the symbol
        guess, actual = (
            re.sub(r"[\s_{}$\"']", "", str(each)).strip(".").casefold() for each in (guess, actual)
        )
    exact = isinstance(actual, str) or actual != 0
    return values.same(guess, actual, digits) and (exact or guess == actual or abs(guess) < _NOISE)


VARIABLE = "MINIGRAD_PROGRESS"
"""Environment variable: the file to use; empty, or `none`, to keep no notes at all."""

Notes = dict[str, list[str]]
_KEYS = ("solved", "tried", "predicted", "missed", "finished")
_LESSONS = Path(__file__).resolve().parents[2] / "lessons"


def place(variables: Mapping[str, str] = os.environ, lessons: Path | None = None) -> Path | None:
    """Tell where the notes are kept; None where none are.

    They are kept beside the lessons, where Git ignores them, or in the home directory if there is
    no such place or it cannot be written to. They hold the names of exercises and no answers.
    What pytest runs is nobody's progress: there is none, unless the variable names a file.

    Args:
        variables: the environment variables.
        lessons: the folder of the lessons, if not that of this checkout or of the open notebook.

    Example:
        >>> place({"MINIGRAD_PROGRESS": "none"}) is None
        True
        >>> place({"MINIGRAD_PROGRESS": "notes.json"}).name
        'notes.json'
    """
    if VARIABLE in variables:
        named = variables[VARIABLE]
        return None if named.strip().lower() in ("", "none") else Path(named).expanduser()
    if "PYTEST_VERSION" in variables:
        return None
    mine = of_the_lessons("mine")
    own = lessons or (mine.parent if mine else _LESSONS)
    if (lessons or mine or (own / "__main__.py").is_file()) and os.access(own, os.W_OK):
        return own / ".progress.json"
    home = os.path.expanduser("~")
    return Path(home) / ".minigrad" / "progress.json" if os.path.isabs(home) else None


def read(path: Path) -> Notes:
    """Read the notes; what is missing or no notes at all reads as nothing.

    Args:
        path: where they are.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {key: [str(each) for each in found.get(key, ())] for key in _KEYS}
    except (OSError, ValueError, AttributeError, TypeError):
        return {key: [] for key in _KEYS}


def _noted(key: str, name: str, ids: Sequence[str] = ()) -> list[str]:
    """Note a name, if this is a notebook of a lesson and not one of the solutions.

    Args:
        key: the result: one of `_KEYS`.
        name: of an exercise or a prediction.
        ids: all exercises of its lesson.

    Returns:
        Sentences for the learner: where the notes are, the first time; and that the lesson is
        finished, once.
    """
    path = place()
    own = re.fullmatch(r"\d\d\.\w+", name) and shell() is not None  # and no program
    elsewhere = "NBGRADER_EXECUTION" in os.environ or Path.cwd().name == "solutions"
    if path is None or not own or elsewhere:
        return []
    is_new, notes, says = not path.exists(), read(path), list[str]()
    notes[key] = sorted({*notes[key], name})
    lesson = name.rpartition(".")[0]
    if ids and {*ids} <= {*notes["solved"]} and lesson not in notes["finished"]:
        notes["finished"] = sorted([*notes["finished"], lesson])
        says.append(
            f"That was the last open exercise of lesson {lesson}: all {len(ids)} are solved. "
            "You have finished it."
        )
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(notes, indent=1) + "\n", encoding="utf-8")
        draft.replace(path)
    except OSError:  # where nothing can be written there are no notes, and no harm
        return says
    if is_new:
        says.insert(
            0, f"(From now on, what you solve and predict is noted on this machine, in {path}.)"
        )
    return says
