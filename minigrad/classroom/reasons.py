"""The kind of exercise whose answer is a letter and a reason, and how a reason is read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from minigrad.classroom.exercises import Exercise, Finding, wrong_kind
from minigrad.classroom.values import shortened

_FEWEST_WORDS = 4
_NEAR = 4
_NOT = frozenset(
    ("not", "no", "never", "neither", "nor", "without", "cannot", "nothing", "none", "nobody")
)
# What a sentence is held together by, and a heap of words is not.
_SMALL = frozenset(
    re.findall(
        r"\w+",
        "a an the it its is was are were be been has have had do does did and or so if when "
        "then of in on at to by from for with as that this what which where who only each "
        "every can will would must may they them there you we i my since "
        "after before until all any itself alone directly",
    )
)
_HEAP, _ROW = 6, 4
_BETWEEN = re.compile(r"[,;/+\n]|->|→|\band\b")
_ENDS = re.compile(r"[.;:!?\n]|,? but |,? whereas |,? while |,? although |,? though ")
_WORD = re.compile(r"[\w.'*^+\-]*\w[\w.'*^+]*|[-+*/^=<>]+")


GROUPS = {
    "RUN": "run|fire|call|execut|trigger|invok|happen|start",
    "KEEP": "sav|stor|keep|kept|hold|held|remember|cach|memor|record",
    "CHANGE": "chang|modif|overwr|alter|mutat|edit|replac|touch",
    "GO": "go|goes|going|went|come|comes|came|pass|passes",
    "SAME": "same|equal|identical",
    "EVERY": "every|each|all|any|both",
    "ONLY": "only|just|alone|solely|exclusively|merely",
    "BEFORE": "before|earlier|first|already",
    "LATE": "after|later|late|behind|past",
    "LOSE": "lose|loses|lost|loss|vanish|gone|disappear",
    "LARGE": "large|larger|big|bigger|wide",
    "COMPUTE": "comput|calculat|deriv",
    "MODULE": "model|module|layer|network",
    "GET": "get|gets|got|receiv",
    "AROUND": "around|past|outside|behind|bypass|skip",
    "NOTHING": "nothing|none|no|never|not",
}
"""Stems that a pattern names together: words that say much the same in a reason."""

_GROUP = re.compile(rf"\b({'|'.join(GROUPS)})\b")


@cache
def clauses(reason: str) -> tuple[tuple[str, ...], ...]:
    """Split a reason into clauses, and these into words: without capitals, accents and short forms.

    Args:
        reason: what the learner wrote.

    Example:
        >>> clauses("It isn't saved; the hook runs first.")
        (('it', 'is', 'not', 'saved'), ('the', 'hook', 'runs', 'first'))
    """
    text = unicodedata.normalize("NFKD", reason).casefold().replace("\u2019", "'")
    text = text.replace("can't", "cannot").replace("won't", "will not")
    text = re.sub(r"n't\b|\bdont\b|\bdoesnt\b|\bisnt\b", lambda m: " not", text)
    text = re.sub(r"(?<=\w)-(?=[a-z])|[()\[\]{}`\"]|'s\b", " ", text)
    text = re.sub(r"(?<=\d)\.(?=\d)", "\0", text)  # the point of a number ends no clause
    text = re.sub(r"(?<=\w)\.(?=[a-z_])", "\0", text)  # nor that of x.grad
    parts = (part.replace("\0", ".") for part in _ENDS.split(text))
    found = (tuple(word.strip(".'_") for word in _WORD.findall(part)) for part in parts)
    return tuple(words for words in found if words)


def is_a_heap(reason: str) -> bool:
    """Tell whether a reason is a heap of words and no sentence.

    Args:
        reason: what the learner wrote.

    Example:
        >>> is_a_heap("because saved result version error backward pass")
        True
        >>> is_a_heap("because rounding, step, difference, digits, float32")
        True
        >>> is_a_heap("because sqrt saved its result, and that was written to")
        False
    """
    if _is_a_row(reason):
        return True
    words = [word for part in clauses(reason) for word in part if word != "because"]
    held = not _SMALL.isdisjoint(words) or re.search(r"[,;:=<>*/]", reason) is not None
    return len(words) >= _HEAP and not held and _NOT.isdisjoint(words)


def _is_a_row(reason: str) -> bool:
    """Tell whether a reason is made of words with commas between them."""
    text = re.sub(r"^\W*because\b[\s,:]*", "", reason.casefold())
    parts = [part.split() for part in _BETWEEN.split(text) if part.split()]
    return len(parts) >= _ROW and all(len(part) <= 2 for part in parts)


def says(reason: str, pattern: str) -> bool:
    """Tell whether a reason says something: word stems that stand together in one clause.

    A pattern is written as stems with blanks between them: "sav result" is found in "it saves
    its own result" and in "the result is what it saved". A stem with a bar is one of several:
    "exp|itself", and a name of `GROUPS` is all of that group. A stem behind a tilde must not
    occur in the clause. A pattern that begins with "not" is found only where it is denied, one
    that begins with "is" only where it is not, any other in both.

    Args:
        reason: what the learner wrote.
        pattern: stems.

    Example:
        >>> says("Its result had been saved.", "sav result")
        True
        >>> says("It was never saved at all.", "is sav")
        False
        >>> says("sin keeps its input", "its input ~sin")
        False
    """
    return any(_in_clause(pattern, words) for words in clauses(reason))


def _in_clause(pattern: str, words: Sequence[str]) -> bool:
    stems = _GROUP.sub(lambda found: GROUPS[found[0]], pattern).casefold().split()
    polarity = stems.pop(0) if stems and stems[0] in ("is", "not") else ""
    unwanted = [stem[1:] for stem in stems if stem.startswith("~")]
    places = [_places(stem, words) for stem in stems if not stem.startswith("~")]
    if not all(places) or any(_places(stem, words) for stem in unwanted):
        return False
    if not polarity:
        return True
    first, last = min(map(min, places)), max(map(max, places))
    denied = any(word in _NOT for word in words[max(first - _NEAR, 0) : last + 1])
    return denied == (polarity == "not")


def _places(stem: str, words: Sequence[str]) -> list[int]:
    choices = tuple(stem.split("|"))
    return [place for place, word in enumerate(words) if word.startswith(choices)]


def says_any(reason: str, patterns: Sequence[str]) -> bool:
    """Tell whether a reason says one of several things.

    Args:
        reason: what the learner wrote.
        patterns: as `says` reads them.

    Example:
        >>> says_any("because a hook runs before that", ("hook first", "run before"))
        True
    """
    return any(says(reason, pattern) for pattern in patterns)


@dataclass(frozen=True, kw_only=True)
class Choice(Exercise):
    """The answer is a letter and a reason: `("b", "because ...")`.

    With the right letter a reason is right if it has two ideas of the right one, in whatever words,
    and none of a wrong one. A reason to compare with is shown in the end.

    Args:
        option: the letter of the right answer.
        why_not: for each other letter, what speaks against it.
        ideas: what a good reason says: for each idea, in words, the patterns that count, as `says`
            reads them. Two have to be there, or all if there are fewer.
        misled: what only a wrong reason says: for each such pattern what to answer.
        model: a good reason, in a sentence or two.

    Example:
        >>> why = Choice(id="demo.9", asks="whether the sum is even, and why", option="a",
        ...              why_not={"b": "Try two odd numbers."}, right="Even.",
        ...              ideas={"what is added": ("odd", "both"), "what comes": ("even", "pair")},
        ...              misled={"is first even": "The first is odd."},
        ...              model="Two odd numbers have two ones left over, and these make a pair.",
        ...              hints=("Draw it.", "Draw the ones left over."))
        >>> why.examine(("a", "two odd numbers leave a pair")) is None
        True
        >>> why.examine(("a", "both are odd, as I said")).says
        'The choice may stand, but the reason does not yet say what comes.'
        >>> why.examine(("a", "the first is even, the other odd")).says
        'The first is odd.'
    """

    option: str
    why_not: Mapping[str, str]
    ideas: Mapping[str, Sequence[str]] = field(default_factory=dict)
    misled: Mapping[str | tuple[str, ...], str] = field(default_factory=dict)
    model: str = ""

    def praise(self) -> tuple[str, ...]:
        """Show a reason to compare with."""
        model = [f"A reason to compare yours with: {self.model}"] if self.model else []
        return (self.right, *model)

    def examine(self, answer: Any) -> Finding | None:
        """Look at the letter first, then at the reason."""
        options = ", ".join(sorted([self.option, *self.why_not]))
        advice = f'Write it as ("a", "because ..."), with one of the letters {options}.'
        if isinstance(answer, Mapping) and len(answer) == 1:
            answer = next(iter(answer.items()))
        letter, reason = (
            answer if isinstance(answer, list | tuple) and len(answer) == 2 else (answer, None)
        )
        if not isinstance(letter, str):
            return wrong_kind(answer, "a letter and a reason", advice)
        if reason is None:  # all in one text: "b) because ..."
            parts = re.fullmatch(r"\s*\(?([A-Za-z])\)?\s*[,.:;)-]*\s+(.*)", letter, re.S)
            letter, reason = parts.groups() if parts else (letter, None)
        chosen = letter.strip(" ().").lower()
        if chosen not in {self.option, *self.why_not}:
            return wrong_kind(answer, "a letter and a reason", advice)
        gave = f"the choice {chosen!r}"
        if chosen != self.option:
            return Finding(self.why_not[chosen], gave)
        if not isinstance(reason, str) or reason.strip(" .") == "":
            return Finding(f"A letter can be guessed: add your reason. {advice}", gave)
        gave = f"the reason {shortened(reason)!r}"
        if len(reason.split()) < _FEWEST_WORDS:
            return Finding("Say a little more: a reason is a sentence.", gave)
        if is_a_heap(reason):
            return Finding("Those are words to the point. Make a sentence of them.", gave)
        for patterns, objection in self.misled.items():
            if says_any(reason, (patterns,) if isinstance(patterns, str) else patterns):
                return Finding(objection, gave)
        for mistake in self.mistakes:
            if mistake.seen_in(reason):
                return Finding(mistake.says, gave)
        missing = [idea for idea, patterns in self.ideas.items() if not says_any(reason, patterns)]
        if len(self.ideas) - len(missing) < min(2, len(self.ideas)):
            return Finding(
                f"The choice may stand, but the reason does not yet say {missing[0]}.", gave
            )
        return None
