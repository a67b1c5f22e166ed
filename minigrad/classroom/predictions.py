"""Write a prediction down before a cell runs, and see afterwards how close it was."""

from __future__ import annotations

from typing import Any

from minigrad.classroom import feedback, progress
from minigrad.classroom.describing import as_number, is_unattempted, leaves, same
from minigrad.classroom.showing import rounded

_HIT = ", and so it is."
_written: dict[str, Any] = {}


def predict(prediction: str, value: Any = ...) -> None:
    """Write down what you expect. A wrong guess teaches more than none.

    Args:
        prediction: a name for it, such as "06.a", by which `compare` finds it again.
        value: what you expect: a number, several numbers, a word (capitals do not matter). With
            `...` nothing is noted.

    Example:
        >>> predict("demo.a", 0.5)
        ○ Prediction demo.a noted: 0.5
        >>> predict("demo.b", ...)
        ○ Prediction demo.b is still open: replace the ... with your guess before you go on.
    """
    if is_unattempted(value):
        _written.pop(prediction, None)
        feedback.tell(
            "unsolved",
            f"Prediction {prediction} is still open: replace the ... with your guess before you "
            "go on.",
        )
        return
    _written[prediction] = value
    feedback.tell(
        "unsolved",
        f"Prediction {prediction} noted: {rounded(value)}",
        progress.note_prediction(prediction),
    )


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
    came = f"It is {rounded(actual, max(digits, 5))}."
    if prediction not in _written:
        # In this order: of a folded output the first line may show, and that tells nothing.
        feedback.tell("unsolved", f"You made no prediction {prediction} this time.", [came])
        return
    guess = _written[prediction]
    said = f"You predicted {rounded(guess)}"
    have, want = dict(leaves(guess)), dict(leaves(actual))
    if len(want) == 1:
        close = _how_close(guess, actual, next(iter(want.values())), digits)
        feedback.tell("right" if close == _HIT else "wrong", f"{came} {said}{close}")
        return
    if have.keys() != want.keys():
        feedback.tell("wrong", f"{came} {said}: not the same number or arrangement of values.")
        return
    hits = sum(same(_word(have[path]), _word(want[path]), digits) for path in want)
    all_fit = hits == len(want)
    verdict = "every value as predicted" if all_fit else f"{hits} of {len(want)} fit"
    feedback.tell("right" if all_fit else "wrong", f"{came} {said}: {verdict}.")


def _how_close(guess: Any, actual: Any, entry: Any, digits: int) -> str:
    """Say in words how a guess relates to a single value."""
    entries = [value for _, value in leaves(guess)]
    expected, number = as_number(entry), as_number(entries[0]) if len(entries) == 1 else None
    if expected is None or number is None:
        hit = len(entries) == 1 and _word(entries[0]) == _word(entry)
        return _HIT if hit else ". Why does it come out differently?"
    if same(number, expected, digits):
        return _HIT
    if expected == 0:
        return f", which is {rounded(abs(number))} away."
    ratio = number / expected
    for factor, words in (
        (-1.0, "the right size with the opposite sign"),
        (2.0, "twice as much"),
        (0.5, "half of it"),
        (0.0, "as if nothing came through"),
    ):
        if same(ratio, factor, digits):
            return f": {words}."
    if ratio < 0:
        return ", which has the opposite sign."
    if 0.1 <= ratio <= 10:
        off = abs(ratio - 1) * 100
        return (
            f", off by {off:.1f} percent." if off < 50 else f", {rounded(ratio, 2)} times as much."
        )
    return f", {rounded(ratio, 2)} times as much: another order of magnitude."


def _word(value: Any) -> Any:
    """Reduce a word to what counts in it; other values stay as they are."""
    return value.strip(" .").casefold() if isinstance(value, str) else value
