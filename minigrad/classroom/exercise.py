"""Declare what an exercise asks, what is often got wrong, and what to say about each answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from minigrad.classroom.describing import describe
from minigrad.classroom.feedback import laid_out

# What goes wrong when a detector looks into an answer that is not of the kind it was made for.
_OTHER_KIND = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError)


class Objection(Exception):
    """What a check has against an answer that it runs; its text is what the learner reads."""


@dataclass(frozen=True)
class Mistake:
    """A typical wrong answer: how to recognize it, and what to say to it.

    Give one of the four detectors.

    Args:
        says: what the learner reads: the likely misconception, in words, without the right answer.
        value: the wrong answer itself, or a function without arguments that computes it.
            Compared as the exercise compares.
        when: a function that gets the answer and says whether this is the mistake. Of a function
            or hook it gets the trials, and is only asked about runs that came to their end.
        like: for exercises whose answer is a function or a hook: a wrong function. An answer that
            gives the same results on every input has made this mistake.
        trouble: for a function or hook whose run did not come to its end: words, one of which the
            error has in its name or text. It is said behind the error itself.

    Example:
        >>> Mistake("The sign is lost: the derivative of -x is negative.", value=1.0).value
        1.0
    """

    says: str
    value: Any = ...
    when: Callable[[Any], object] | None = None
    like: Callable[..., Any] | None = None
    trouble: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the declaration."""
        detectors = (self.value is not ..., self.when, self.like, self.trouble)
        if sum(map(bool, detectors)) != 1:
            raise ValueError("a Mistake needs exactly one of value=, when=, like= and trouble=")

    def seen_in(self, answer: Any) -> bool:
        """Ask the `when` detector; an answer that it cannot look into is not this mistake."""
        if self.when is None:
            return False
        try:
            return bool(self.when(answer))
        except _OTHER_KIND:
            return False


@dataclass(frozen=True)
class Finding:
    """What an exercise found in an answer that is not right yet.

    Args:
        says: what is wrong with this answer.
        gave: the answer in words, or None where `says` has told it already.
    """

    says: str
    gave: str | None = None


@dataclass(frozen=True, repr=False)
class Verdict:
    """What a check came to. It is true when the exercise is solved.

    Args:
        exercise: the id of the exercise.
        status: "right", "wrong" or "unsolved".
        head: the first line of what is said.
        lines: the paragraphs that follow.
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
    """One exercise; its kinds are in `answers` and `behaviors`.

    Args:
        id: lesson and number, such as "06.2".
        asks: what is expected, in words, as it follows "Asked for:".
        right: what to say to a right answer: one sentence that is worth reading.
        hints: two hints, the second one a step further than the first.
        mistakes: typical wrong answers; the first that fits speaks.
    """

    id: str
    asks: str
    right: str
    hints: tuple[str, str]
    mistakes: Sequence[Mistake] = ()

    def __post_init__(self) -> None:
        """Check the declaration."""
        if "." not in self.id:
            raise ValueError(f'an exercise id looks like "06.2", not {self.id!r}')
        if len(self.hints) != 2:
            raise ValueError(f"exercise {self.id} needs two hints, not {len(self.hints)}")

    @property
    def lesson(self) -> str:
        """The lesson that the exercise belongs to: "06" for "06.2"."""
        return self.id.rpartition(".")[0]

    def praise(self) -> tuple[str, ...]:
        """Say what there is to say to a right answer."""
        return (self.right,)

    @abstractmethod
    def examine(self, answer: Any) -> Finding | None:
        """Look for what is wrong with an attempted answer.

        Args:
            answer: what the learner gave.

        Returns:
            None where the answer is right.
        """


def wrong_kind(answer: Any, wanted: str, advice: str = "") -> Finding:
    """Say that the answer is not of the kind that was asked for.

    Example:
        >>> wrong_kind("0.5", "a number", "Remove the quotes.").says
        'This exercise wants a number. Remove the quotes.'
    """
    return Finding(f"This exercise wants {wanted}. {advice}".strip(), describe(answer))


def computed(value: Any) -> Any:
    """Give a value, or the result of a function without arguments that computes it.

    Example:
        >>> computed(3), computed(lambda: 1 + 2)
        (3, 3)
    """
    return value() if callable(value) else value
