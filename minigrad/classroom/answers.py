"""Kinds of exercises whose answer is a value: a number, several numbers, an order of names."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from minigrad.classroom.describing import (
    agrees,
    as_number,
    as_printed,
    describe,
    is_tensor,
    leaves,
    same,
    shortened,
)
from minigrad.classroom.exercise import Exercise, Finding, computed, wrong_kind

# How far off, relative to the right number, one answer or one of several counts as nearly right.
_CLOSE, _ROUNDED = 0.05, 0.01


@dataclass(frozen=True, kw_only=True)
class Number(Exercise):
    """The answer is one number, right when its first digits are.

    Rounding and cutting off are both accepted. Besides the declared mistakes it recognizes a lost
    sign, twice and half, a shifted decimal point, the reciprocal and too few digits.

    Args:
        expected: the number, or (better) a function without arguments that computes it.
        digits: how many significant digits have to be right.

    Example:
        >>> slope = Number(id="demo.9", asks="the slope of x**2 at x = 3", expected=lambda: 2 * 3,
        ...                right="The slope is 2x.",
        ...                hints=("Which rule?", "The power rule."))
        >>> slope.examine(6.0) is None, slope.examine(-6).says
        (True, 'The size fits, the sign does not: look for a minus that was lost or added.')
    """

    expected: Any
    digits: int = 4

    def examine(self, answer: Any) -> Finding | None:
        """Compare by value, then look for the mistake."""
        taken = _taken(answer)
        number = as_number(
            taken[0] if isinstance(taken, list | tuple) and len(taken) == 1 else taken
        )
        if number is None:
            return self._not_a_number(answer)
        expected = float(computed(self.expected))
        if agrees(number, expected, self.digits) or as_printed(number, expected):
            return None
        for mistake in self.mistakes:
            value = computed(mistake.value) if mistake.value is not ... else None
            if (value is not None and agrees(number, float(value), self.digits)) or (
                mistake.seen_in(number)
            ):
                return Finding(mistake.says, describe(answer))
        return Finding(self._what_is_off(number, expected), describe(answer))

    def _not_a_number(self, answer: Any) -> Finding:
        if isinstance(answer, str):
            return wrong_kind(answer, "a number", "Write it in digits, without words around it.")
        if is_tensor(answer) or isinstance(answer, list | tuple):
            return wrong_kind(answer, "one number", "You gave several values: which one is meant?")
        if callable(answer):
            return wrong_kind(answer, "a number", "Call the function, and give what it returns.")
        return wrong_kind(answer, "a number")

    def _what_is_off(self, number: float, expected: float) -> str:
        if number != number or number in (float("inf"), float("-inf")):
            return "This is not a finite number: look for a division by zero or an overflow."
        if expected == 0:
            return "Something that should cancel or vanish is still in there."
        if number == 0:
            return (
                "Zero would mean that nothing depends on it here. Something does: follow the path."
            )
        ratio = number / expected
        if agrees(ratio, -1, self.digits):
            return "The size fits, the sign does not: look for a minus that was lost or added."
        if agrees(ratio, 2, self.digits):
            return "A factor of two too large: is something counted twice, or added up twice?"
        if agrees(ratio, 0.5, self.digits):
            return "A factor of two too small: does the derivative of a square miss its 2?"
        if any(agrees(abs(ratio), 10.0**power, self.digits) for power in (-3, -2, -1, 1, 2, 3)):
            return "The digits are right, the decimal point is not."
        if agrees(number * expected, 1, self.digits):
            return "This is the reciprocal: what is divided by what?"
        if abs(ratio - 1) <= _CLOSE:
            fitting = (n for n in range(self.digits - 1, 0, -1) if agrees(number, expected, n))
            right_digits = next(fitting, 1)
            return (
                f"Close: it agrees to about {right_digits} significant digit"
                f"{'s' if right_digits > 1 else ''}, and {self.digits} are asked for. "
                "Carry more digits through the calculation, and round only at the end."
            )
        if ratio < 0:
            return (
                "The sign already differs: work out first whether it has to be above or below zero."
            )
        size = "large" if ratio > 1 else "small"
        return f"The sign fits, but the size is too {size}: check each factor by itself."


@dataclass(frozen=True, kw_only=True)
class Numbers(Exercise):
    """The answer is several values of one shape: a tensor, an array, or nested lists and tuples.

    Values are compared one by one; entries may be None, as in a hook's grad_input.

    Args:
        expected: the values, or a function without arguments that computes them.
        digits: how many significant digits of each have to be right.
    """

    expected: Any
    digits: int = 4

    def examine(self, answer: Any) -> Finding | None:
        """Compare type, shape and entries, in this order."""
        gave = describe(answer)
        if isinstance(answer, set | frozenset) and len(answer) > 1:
            return wrong_kind(answer, "numbers in order", "A set has none: write a list.")
        answer = _taken(answer)
        if isinstance(answer, str | bool) or (callable(answer) and not is_tensor(answer)):
            return wrong_kind(answer, "numbers", "Give the values themselves.")
        expected = computed(self.expected)
        if isinstance(expected, tuple) and isinstance(answer, list):
            answer = tuple(answer)  # which of them it is, no exercise is about
        have, want = dict(leaves(answer)), dict(leaves(expected))
        have = self._arranged(have, want)
        wrong = [path for path in want if path in have and not self._same(have[path], want[path])]
        if have.keys() == want.keys() and not wrong:
            return None
        for mistake in self.mistakes:
            if mistake.value is not ... and self._alike(
                have, dict(leaves(computed(mistake.value)))
            ):
                return Finding(mistake.says, gave)
            if mistake.seen_in(answer):
                return Finding(mistake.says, gave)
        if have.keys() != want.keys():
            return Finding(self._shape_is_off(have, want), gave)
        return Finding(self._entries_are_off(have, want, wrong), gave)

    def _same(self, answer: Any, expected: Any) -> bool:
        if same(answer, expected, self.digits):
            return True
        a, b = as_number(answer), as_number(expected)
        return a is not None and b is not None and as_printed(a, b)

    def _arranged(self, have: dict[Any, Any], want: Mapping[Any, Any]) -> dict[Any, Any]:
        """Take entries in brackets of their own, or under names, for a plain row of values."""
        if have.keys() != want.keys() and len(have) == len(want):
            singly = len({path[:1] for path in have}) in (1, len(have))
            if singly and all(len(path) == 1 for path in want):
                return dict(zip(want, have.values(), strict=True))
        return have

    def _alike(self, have: Mapping[Any, Any], want: Mapping[Any, Any]) -> bool:
        return have.keys() == want.keys() and all(self._same(have[p], want[p]) for p in want)

    def _shape_is_off(self, have: Mapping[Any, Any], want: Mapping[Any, Any]) -> str:
        if len(have) == len(want):
            if all(self._same(a, b) for a, b in zip(have.values(), want.values(), strict=True)):
                return "The values are right, their arrangement is not: mind shape and brackets."
            return "The number of values fits, their arrangement does not: mind the shape."
        here = "is 1 value" if len(have) == 1 else f"are {len(have)} values"
        return f"There {here} here; {len(want)} are asked for."

    def _entries_are_off(
        self, have: Mapping[Any, Any], want: Mapping[Any, Any], wrong: Sequence[Any]
    ) -> str:
        values, targets = list(have.values()), list(want.values())
        if all(self._same(a, b) for a, b in zip(values, reversed(targets), strict=True)):
            return "The right values in the opposite order."
        numbers = [(as_number(have[path]), as_number(want[path])) for path in want]
        pairs = [(a, b) for a, b in numbers if a is not None and b is not None]
        if len(pairs) == len(numbers):
            if all(agrees(a, -b, self.digits) for a, b in pairs):
                return "Every sign is the other way round."
            if all(agrees(a, 2 * b, self.digits) for a, b in pairs):
                return "Every value is twice as large as it should be: is something counted twice?"
        first = wrong[0]
        place = "".join(f"[{index!r}]" for index in first)
        if want[first] is None:
            return f"Entry {place} is {describe(have[first])}: does anything arrive there at all?"
        if have[first] is None:
            return f"Entry {place} is None, but something arrives there."
        fit = len(want) - len(wrong)
        off = [(as_number(have[path]), as_number(want[path])) for path in wrong]
        if all(a is not None and b and abs(a / b - 1) <= _ROUNDED for a, b in off):
            return (
                f"{fit} of {len(want)} values fit, and the others are close: {self.digits} "
                "significant digits are asked for."
            )
        return (
            f"{fit} of {len(want)} values fit. The first that does not is entry {place}: "
            f"{describe(have[first])}."
        )


@dataclass(frozen=True, kw_only=True)
class Order(Exercise):
    """The answer is a sequence of names: which comes first, which next.

    Lists and tuples of strings are accepted, and one string with commas, arrows or blanks between
    names, or nothing if they are single letters. Capitals do not matter.

    Args:
        expected: the names in order, or a function without arguments that computes them.
    """

    expected: Any

    def examine(self, answer: Any) -> Finding | None:
        """Compare name by name."""
        want = list(computed(self.expected))
        have = _names(answer, want)
        if have is None:
            return wrong_kind(answer, 'a list of names, such as ["first", "second"]')
        if have == want:
            return None
        gave = shortened(", ".join(have))
        for mistake in self.mistakes:
            if (mistake.value is not ... and have == list(computed(mistake.value))) or (
                mistake.seen_in(have)
            ):
                return Finding(mistake.says, gave)
        return Finding(self._what_is_off(have, want), gave)

    def _what_is_off(self, have: Sequence[str], want: Sequence[str]) -> str:
        unknown = [name for name in have if name not in want]
        if unknown:
            name = shortened(unknown[0])
            return f"{name!r} does not belong here: did you mistype it, or does it not happen?"
        if len(have) < len(want):
            return f"You name {len(have)} steps, and there are more: is one missing?"
        if len(have) > len(want):
            return f"You name {len(have)} steps, and there are fewer: does one happen only once?"
        if list(have) == list(reversed(want)):
            return "Exactly the other way round: which end does it start from?"
        fit = next(k for k, (a, b) in enumerate(zip(have, want, strict=True)) if a != b)
        start = (
            f"The first {fit} fit" if fit > 1 else "The first fits" if fit else "Not from the start"
        )
        return (
            f"{start}; then look again at {have[fit]!r}: what has to be known before it can happen?"
        )


def _names(answer: Any, known: Sequence[str]) -> list[str] | None:
    """Read a sequence of names, however it is written; known ones as they are known."""
    if isinstance(answer, str):
        text = answer.strip(" ,\n")
        answer = re.split(r"\s*(?:,|->|→|\n)\s*", text)
        if len(answer) == 1 and not any(" " in name for name in known):
            answer = text.split()
        if len(answer) == 1 and all(len(name) == 1 for name in known):
            answer = list(text)
    if not isinstance(answer, list | tuple) or not all(isinstance(name, str) for name in answer):
        return None
    meant = {name.casefold(): name for name in known}
    return [meant.get(name.strip().casefold(), name.strip()) for name in answer]


def _taken(answer: Any) -> Any:
    """Read what was meant: numbers in quotes, values of a dict or a set."""
    if isinstance(answer, str):
        try:
            read = ast.literal_eval(answer.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return answer
        return answer if isinstance(read, str | bool) or read is None else read
    if isinstance(answer, dict | set | frozenset):
        return [_taken(entry) for entry in _entries(answer)]
    if isinstance(answer, list | tuple):
        return type(answer)([_taken(entry) for entry in answer])
    return answer


def _entries(answer: Any) -> list[Any]:
    return list(answer.values()) if isinstance(answer, dict) else list(answer)
