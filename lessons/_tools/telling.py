"""Tell whether a text gives away the outcome of a prediction: its numbers, or its words."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal

FEWEST_DIGITS, FEWEST_LETTERS = 3, 4
_SPELLED = (
    "three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
NUMBER_WORDS = {word: Decimal(value) for value, word in enumerate(_SPELLED.split(), start=3)}
"""Numbers in words, as far as they tell; "one" and "two" are in every other sentence."""

_GROUPED = re.compile(r"(?<=\d)(?:\{,\}|,|_|\\,)(?=\d{3}(?!\d))")
_NUMBER = re.compile(
    r"(?<![\w.])(?P<digits>\d+(?:\.\d+)?|\.\d+)"
    r"(?:[eE](?P<power>[+-]?\d+)"
    r"|\s*(?:\\cdot|\\times|[\u00b7\u00d7*])\s*10\s*(?:\^|\*\*)\s*\{?\s*(?P<raised>-?\d+)\s*\}?)?"
)
_WORD = re.compile(rf"(?<![\w.])[^\W\d]\w{{{FEWEST_LETTERS - 1},}}(?!-)\b")
# Numbers that count parts of the course, and say nothing about a value.
_NAMES = re.compile(
    r"\b(?:lessons?|sections?|exercises?|predictions?|cases?)\s+\d[\w.]*"
    r"|[\"']\d\d\.\w+[\"']|^#+\s+\d+(?=\.)|^\s*\d+\.(?=\s)",
    re.I | re.M,
)
_FOLDED = re.compile(r"<details\b[^>]*>.*?</details>", re.S)
_TITLE = re.compile(r"<summary>.*?</summary>", re.S)
_TARGET = re.compile(r"\]\([^)\s]*\)")
_TAG = re.compile(r"</?[a-zA-Z][^>]*>")
_FENCED = re.compile(r"^(`{3,}|~{3,}).*?^\1\s*$", re.M | re.S)


@dataclass(frozen=True)
class Number:
    """A number as a text shows it, without its sign.

    Args:
        shown: how it is written.
        value: what it is.
        digits: how many significant digits are written.
    """

    shown: str
    value: Decimal
    digits: int

    @property
    def telling(self) -> bool:
        """Whether it has so many digits that nobody takes it for another."""
        written = self.value.normalize()
        return len(written.as_tuple().digits) >= FEWEST_DIGITS

    def is_that_of(self, truth: Number) -> bool:
        """Whether it is a number, or that number rounded or cut off to three digits or more.

        Args:
            truth: what came.
        """
        if self.value == truth.value:
            return True
        digits = min(self.digits, truth.digits)
        return digits >= FEWEST_DIGITS and any(
            _round(self.value, digits, ROUND_HALF_UP) == _round(truth.value, digits, way)
            for way in (ROUND_HALF_UP, ROUND_DOWN)
        )


def numbers(text: str) -> list[Number]:
    """List the numbers that a text shows; numbers of lessons, sections and exercises are none.

    Args:
        text: Markdown, code or output.
    """
    found = []
    for match in _NUMBER.finditer(_GROUPED.sub("", _NAMES.sub(" ", text))):
        written = match["digits"]
        power = match["power"] or match["raised"] or "0"
        if len(power) > 4:  # no number of a lesson
            continue
        count = len(written.replace(".", "").lstrip("0"))
        found.append(Number(match[0], Decimal(f"{written}e{power}"), count))
    return found


def words(text: str) -> frozenset[str]:
    """Collect the words of a text that have four letters or more, in small letters.

    Args:
        text: prose, or what came.
    """
    return frozenset(word.casefold() for word in _WORD.findall(text))


def spelled_out(text: str) -> dict[str, Decimal]:
    """Collect the numbers from three to twenty that a text spells out.

    Args:
        text: prose.
    """
    known = set(re.findall(r"[a-z]+", text.casefold()))
    return {word: value for word, value in NUMBER_WORDS.items() if word in known}


def visible(markdown: str) -> str:
    """Leave out of a Markdown source what nobody sees before a click: details, link targets, tags.

    Args:
        markdown: a source.
    """
    text = _FOLDED.sub(lambda details: " ".join(_TITLE.findall(details[0])), markdown)
    return _TAG.sub(" ", _TARGET.sub("]", text))


def prose(markdown: str) -> str:
    """Leave the fenced blocks out of a Markdown source, too.

    Args:
        markdown: a source.
    """
    return _FENCED.sub("", visible(markdown))


def remarks(code: str) -> str:
    """Join the comments and the texts in quotes of a piece of code, where words are words.

    Args:
        code: a source.
    """
    return "\n".join(_remarks(code))


def _remarks(code: str) -> Iterator[str]:
    said = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", None)}
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type in said:
                yield token.string
    except (tokenize.TokenError, SyntaxError):
        return


def _round(value: Decimal, digits: int, way: str) -> Decimal:
    return Context(prec=digits, rounding=way).plus(value)
