"""Declare exercises: what is asked, what is often got wrong; and those whose answer is a value."""

from __future__ import annotations

import ast
import inspect
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from minigrad.classroom import tables, values
from minigrad.classroom.values import agrees, as_number, as_printed, describe, leaves, same
from minigrad.classroom.watching import laid_out

_DEFINED = re.compile(r"^(?:def |class )?(\w+)(?: =|[(:])", re.M)


class Objection(Exception):
    """What a check has against an answer that it runs; its text is what the learner reads."""


@dataclass(frozen=True)
class Finding:
    """What an exercise found in an answer that is not right yet.

    Args:
        says: what is wrong with this answer.
        gave: the answer in words, or None where `says` has told it already.
        shows: lines of a program that shows it, to be set as they are.
    """

    says: str
    gave: str | None = None
    shows: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class Verdict:
    """What a check came to. It is true when the exercise is solved.

    Args:
        exercise: the id of the exercise.
        status: "right", "wrong" or "unsolved".
        head: the first line of what is said.
        lines: the paragraphs that follow.

    Example:
        >>> from minigrad.classroom import judge
        >>> verdict = judge("demo.1", ...)
        >>> verdict.status, bool(verdict)
        ('unsolved', False)
    """

    exercise: str
    status: Literal["right", "wrong", "unsolved"]
    head: str
    lines: tuple[str, ...]

    @property
    def message(self) -> str:
        """What was said, as text."""
        return laid_out(self.head, self.lines)

    def __bool__(self) -> bool:
        """Tell whether the exercise is solved."""
        return self.status == "right"

    def __repr__(self) -> str:
        """Give what was printed."""
        return self.message

    def _ipython_display_(self) -> None:
        # The message has been printed; Jupyter would show it a second time.
        return


@dataclass(frozen=True, kw_only=True)
class Exercise(ABC):
    """One exercise; its kinds are here, in `behaviors` and in the checks.

    Args:
        id: lesson and number, such as "06.2".
        asks: what is expected, in words, as it follows "Asked for:".
        right: what to say to a right answer: one sentence that is worth reading.
        hints: two hints, the second one a step further than the first.
        mistakes: a table of typical wrong answers, as `tables.read` reads it; the first row that
            fits speaks. Its programs can use what the lesson's notebook imports, and what stands
            where the exercise's functions are defined.
        solution: a right answer as text that ends in the definition of it; by default the cell in
            the solved notebook of the lesson.

    Example:
        >>> class Even(Exercise):
        ...     def examine(self, answer):
        ...         return Finding("This number is odd.") if answer % 2 else None
        >>> even = Even(id="demo.9", asks="an even number", right="Yes.", hints=("Try 2.", "Or 4."))
        >>> even.examine(2) is None, even.examine(3).says, even.lesson
        (True, 'This number is odd.', 'demo')
    """

    id: str
    asks: str
    right: str
    hints: tuple[str, str]
    mistakes: str = ""
    solution: str = ""

    @property
    def lesson(self) -> str:
        """The lesson that the exercise belongs to: "06" for "06.2"."""
        return self.id.rpartition(".")[0]

    def praise(self) -> tuple[str, ...]:
        """Say what there is to say to a right answer."""
        return (self.right,)

    @cached_property
    def program(self) -> tables.Program:
        """The text of a right answer."""
        if self.solution:
            source = inspect.cleandoc(self.solution)
            return tables.Program(source, _DEFINED.findall(source)[-1])
        found = tables.solution(self.id)
        if found is None:
            raise ValueError(f"{self.id} has no solution: give one, as solution=...")
        return found

    @cached_property
    def rows(self) -> tuple[tables.Row, ...]:
        """The typical mistakes."""
        return tables.read(self.mistakes, lambda: self.program)

    @cached_property
    def names(self) -> dict[str, Any]:
        """What the solution and the table can name."""
        found = None if self.solution else tables.solution(self.id)
        imported = tables.imports(self.lesson, f"{found and found.source}\n{self.mistakes}")
        mine = (getattr(each, "__globals__", {}) for each in vars(self).values())
        given = {name: each for names in mine for name, each in names.items()}
        return {"alike": values.alike, **imported, **given}

    @cached_property
    def solved(self) -> Any:
        """A right answer."""
        return self.program.answer(self.names)

    @property
    def wanted(self) -> Any:
        """The value that is expected: of the field `expected`, or else of the solution."""
        expected = getattr(self, "expected", ...)
        return self.solved if expected is ... else computed(expected)

    def known_mistake(self, answer: Any, fits: Callable[[Any], object]) -> str | None:
        """Say what there is to say to the first mistake of the table that an answer makes.

        Args:
            answer: what the expressions of the table call `answer`.
            fits: compares the answer with a wrong one.
        """
        for row in self.rows:
            wrong = (each.answer(self.names) for each in row.versions)
            if row.holds(self.names, answer=answer) or any(map(fits, wrong)):
                return row.says
        return None

    @abstractmethod
    def examine(self, answer: Any) -> Finding | None:
        """Look for what is wrong with an attempted answer.

        Args:
            answer: what the learner gave.

        Returns:
            None where the answer is right.
        """


def wrong_kind(answer: Any, expected: str, advice: str = "") -> Finding:
    """Say that the answer is not of the kind that was asked for.

    Example:
        >>> wrong_kind("0.5", "a number", "Remove the quotes.").says
        'This exercise wants a number. Remove the quotes.'
    """
    return Finding(f"This exercise wants {expected}. {advice}".strip(), describe(answer))


def computed(value: Any) -> Any:
    """Give a value, or the result of a function without arguments that computes it.

    Example:
        >>> computed(3), computed(lambda: 1 + 2)
        (3, 3)
    """
    return value() if callable(value) else value


FACTORS = {
    -1.0: "Right size, wrong sign: look for a lost or extra minus.",
    2.0: "Twice as much as it should be: look for an extra factor of 2.",
    0.5: "Half of what it should be: look for a lost factor of 2.",
}
"""What to say where all numbers are off by the same factor."""


Leaves = Mapping[Any, Any]  # values by their places, as `leaves` gives them


def difference(have: Leaves, want: Leaves, digits: int, fits: Callable[..., bool]) -> str:
    """Say how values, by their places, differ from those expected.

    Args:
        have: the values, as `leaves` gives them.
        want: those expected.
        digits: how many significant digits have to be right.
        fits: compares two of them.
    """
    if have.keys() != want.keys():
        if len(have) == len(want):
            return "You have the right number of values, arranged differently: check the brackets."
        here = "1 value" if len(have) == 1 else f"{len(have)} values"
        return f"It should not be {here}: {len(want)} are asked for."
    given, targets = [have[place] for place in want], list(want.values())
    if len(given) > 1 and all(map(fits, given, reversed(targets))):
        return "The right values in the opposite order."
    if any(targets) and (said := values.said_of_factor(given, targets, FACTORS, digits)):
        return said
    if len(given) == 1:
        return "It does not fit: work this case out by hand, and compare step by step."
    wrong = [place for place in want if not fits(have[place], want[place])]
    place = "".join(f"[{index!r}]" for index in wrong[0])
    return (
        f"{len(want) - len(wrong)} of {len(want)} values fit. The first that does not fit is entry "
        f"{place}: {describe(have[wrong[0]], zero=0.0)}."
    )


_SHORTEST_REASON = 3  # in letters: less is no sentence in any language
_CLOSE = 0.05  # so far off, relative to the right number, a number is nearly right


@dataclass(frozen=True, kw_only=True)
class Number(Exercise):
    """The answer is one number, right when its first digits are.

    Rounding and cutting off are both accepted. Besides the declared mistakes it recognizes a lost
    sign, twice and half, a shifted decimal point and too few digits.

    Args:
        expected: the number, or (better) a function without arguments that computes it;
            by default what the solution gives.
        digits: how many significant digits have to be right.

    Example:
        >>> slope = Number(id="demo.9", asks="the slope of x**2 at x = 3", expected=lambda: 2 * 3,
        ...                right="The slope is 2x.",
        ...                hints=("Which rule?", "The power rule."))
        >>> slope.examine(6.0) is None, slope.examine(-6).says.partition(",")[0]
        (True, 'Right size')
    """

    expected: Any = ...
    digits: int = 4

    def examine(self, answer: Any) -> Finding | None:
        """Compare by value, then look for the mistake."""
        given = taken(answer)
        if isinstance(given, list | tuple) and len(given) == 1:
            given = given[0]
        number = as_number(given)
        if number is None:
            return wrong_kind(answer, "one number", "Write it in digits; call a function first.")
        expected = float(self.wanted)
        if agrees(number, expected, self.digits) or as_printed(number, expected):
            return None
        said = self.known_mistake(number, lambda v: agrees(number, float(v), self.digits))
        return Finding(said or self._what_is_off(number, expected), describe(answer))

    def _what_is_off(self, number: float, expected: float) -> str:
        if not math.isfinite(number):
            return "This isn't a finite number: look for a division by zero or an overflow."
        if expected == 0:
            return "Something that should cancel or vanish is still in there."
        if said := values.said_of_factor([number], [expected], FACTORS, self.digits):
            return said
        powers = (10.0**power for power in (-3, -2, -1, 1, 2, 3))
        moved = dict.fromkeys(powers, "The digits are right, but the decimal point isn't.")
        if said := values.said_of_factor([abs(number)], [abs(expected)], moved, self.digits):
            return said
        if abs(number / expected - 1) <= _CLOSE:
            return (
                f"Close, but {self.digits} significant digits are asked for. Carry more digits "
                "through the calculation, and round only at the end."
            )
        return "Check each step separately, its sign and its size."


@dataclass(frozen=True, kw_only=True)
class Numbers(Exercise):
    """The answer is several values of one shape: a tensor, an array, or nested lists and tuples.

    Values are compared one by one, each relative to its own size, however small that is; entries
    may be None, as in a hook's grad_input.

    Args:
        expected: the values, or a function without arguments that computes them;
            by default what the solution gives.
        digits: how many significant digits of each have to be right.

    Example:
        >>> tiny = Numbers(id="demo.9", asks="two", expected=(1.0, 2e-23), right="Yes.",
        ...                hints=("first", "second"))
        >>> tiny.examine((1, 2e-23)) is None, tiny.examine((1, 3e-23)).gave
        (True, 'a tuple: (1, 3e-23)')
    """

    expected: Any = ...
    digits: int = 4

    def examine(self, answer: Any) -> Finding | None:
        """Compare type, shape and entries, in this order."""
        gave = describe(answer, zero=0.0)
        if isinstance(answer, set | frozenset) and len(answer) > 1:
            return wrong_kind(answer, "numbers in order", "A set has none: write a list.")
        answer = taken(answer)
        if isinstance(answer, str | bool) or (callable(answer) and not values.is_tensor(answer)):
            return wrong_kind(answer, "numbers", "Give the values themselves.")
        expected = self.wanted
        if isinstance(expected, tuple) and isinstance(answer, list):
            answer = tuple(answer)  # which of them it is, no exercise is about
        want = dict(leaves(expected))
        have = self._arranged(dict(leaves(answer)), want)
        if self._alike(have, want):
            return None
        if any(isinstance(each, str) and each.casefold() == "none" for each in have.values()):
            return Finding("None in quotes is a string: write it without quotes.", gave)
        said = self.known_mistake(answer, lambda v: self._alike(have, dict(leaves(v))))
        return Finding(said or difference(have, want, self.digits, self._same), gave)

    def _same(self, answer: Any, expected: Any) -> bool:
        a, b = as_number(answer), as_number(expected)
        printed = a is not None and b is not None and as_printed(a, b)
        return printed or same(answer, expected, self.digits)

    def _arranged(self, have: Leaves, want: Leaves) -> Leaves:
        """Take entries in equal brackets, or under names, for a plain row of values."""
        outer = [path[:1] for path in have]
        row = len(have) == len(want) and all(len(path) == 1 for path in want)
        equal = row and len(set(map(outer.count, outer))) == 1
        return dict(zip(want, have.values(), strict=True)) if equal else have

    def _alike(self, have: Leaves, want: Leaves) -> bool:
        return have.keys() == want.keys() and all(self._same(have[p], want[p]) for p in want)


@dataclass(frozen=True, kw_only=True)
class Order(Exercise):
    """The answer is a sequence of names: which comes first, which next.

    Lists and tuples of strings are accepted, and one string with commas, arrows or blanks between
    names, or nothing if they are single letters. Capitals do not matter.

    Args:
        expected: the names in order, or a function without arguments that computes them;
            by default what the solution gives.

    Example:
        >>> order = Order(id="demo.9", asks="which node runs first", expected=["mul", "exp"],
        ...               right="The last operation comes first.", hints=("Which?", "The last."))
        >>> order.examine("mul -> exp") is None, order.examine("exp, mul").says
        (True, 'Exactly reversed: which end does it start from?')
    """

    expected: Any = ...

    def examine(self, answer: Any) -> Finding | None:
        """Compare name by name."""
        want = list(self.wanted)
        have = _names(answer, want)
        if have is None:
            return wrong_kind(answer, 'a list of names, such as ["first", "second"]')
        if have == want:
            return None
        said = self.known_mistake(have, lambda value: have == list(value))
        gave = values.shortened(", ".join(have))
        return Finding(said or self._what_is_off(have, want), gave)

    def _what_is_off(self, have: Sequence[str], want: Sequence[str]) -> str:
        for name in have:
            if name not in want:
                return f"{values.shortened(name)!r} does not belong here: is it a typo?"
        if len(have) != len(want):
            there = "more: is one missing?" if len(have) < len(want) else "fewer."
            return f"You named {len(have)} steps, and there are {there}"
        if list(have) == list(reversed(want)):
            return "Exactly reversed: which end does it start from?"
        fit = next(k for k, (a, b) in enumerate(zip(have, want, strict=True)) if a != b)
        start = ("The first is wrong", "The first fits")[fit] if fit < 2 else f"The first {fit} fit"
        return f"{start}; look again at {have[fit]!r}: what has to be known before it can happen?"


def _names(answer: Any, known: Sequence[str]) -> list[str] | None:
    """Read a sequence of names, however it is written; known ones as they are known."""
    if isinstance(answer, str):
        text = answer.strip(" ,\n")
        answer = re.split(r"\s*(?:,|->|→|\n)\s*", text)
        if len(answer) == 1 and not any(" " in name for name in known):
            answer = text.split()
        if len(answer) == 1 and all(len(name) == 1 for name in known):
            answer = list(text)
    if not isinstance(answer, list | tuple) or not all(isinstance(each, str) for each in answer):
        return None
    meant = {name.casefold(): name for name in known}
    return [meant.get(name.strip().casefold(), name.strip()) for name in answer]


@dataclass(frozen=True, kw_only=True)
class Choice(Exercise):
    """The answer is a letter and a reason: `("b", "because ...")`.

    The letter is judged. A reason has to be there, and any sentence will do: it is read by a
    person, who compares it with the one that is shown as soon as the letter is right.

    Args:
        model: a good reason, in a sentence or two.
        mistakes: a row for each other letter, with what speaks against it.

    Example:
        >>> why = Choice(id="demo.9", asks="whether the sum is even, and why", right="Even.",
        ...              model="Two odd numbers have two ones left over, and these make a pair.",
        ...              hints=("Draw it.", "Draw the ones left over."),
        ...              solution="choice = ('a', 'a pair of ones')",
        ...              mistakes='''
        ...                  = "b"
        ...                      Try two odd numbers.
        ...              ''')
        >>> why.examine(("a", "two odd numbers leave a pair")) is None
        True
        >>> why.examine(("b", "two odd numbers leave a pair")).says
        'Try two odd numbers.'
    """

    model: str

    def praise(self) -> tuple[str, ...]:
        """Show a reason to compare with."""
        return (f"The letter is right. Compare your reason with this one: {self.model}", self.right)

    def examine(self, answer: Any) -> Finding | None:
        """Judge the letter, and ask for a reason where there is none."""
        right = self.solved[0]
        why_not = {each.answer({}): row.says for row in self.rows for each in row.versions}
        options = ", ".join(sorted([right, *why_not]))
        advice = f'Write it as ("a", "because ..."), with one of the letters {options}.'
        letter, *reason = answer if isinstance(answer, list | tuple) and answer else [answer]
        if isinstance(letter, str) and not reason:  # all in one text: "b) because ..."
            letter, *reason = re.split(r"(?<=^\w)\W+", letter.strip(" ("), maxsplit=1)
        chosen = letter.strip(" ().").lower() if isinstance(letter, str) else None
        if chosen not in {right, *why_not}:
            return wrong_kind(answer, "a letter and a reason", advice)
        gave = f"the choice {chosen!r}"
        if chosen != right:
            return Finding(why_not[chosen], gave)
        written = "".join(part for part in reason if isinstance(part, str))
        said = re.sub(r"because|\W", "", written.casefold())
        if len(said) < _SHORTEST_REASON:
            ask = "The letter is right. Add your reason in a sentence, to compare it with ours."
            return Finding(f"{ask} {advice}", gave)
        return None


def taken(answer: Any) -> Any:
    """Read what was meant: numbers in quotes, values of a dict or a set.

    Example:
        >>> taken(("2", "two"))
        (2, 'two')
    """
    if isinstance(answer, str):
        try:
            read = ast.literal_eval(answer.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return answer
        return answer if isinstance(read, str | bool) or read is None else read
    if isinstance(answer, dict | set | frozenset):
        return [taken(each) for each in (answer.values() if isinstance(answer, dict) else answer)]
    if isinstance(answer, list | tuple):
        return type(answer)([taken(entry) for entry in answer])
    return answer
