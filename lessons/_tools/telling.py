"""Tell whether a text gives away the outcome of a prediction: its numbers, or its words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal

FEWEST_DIGITS = 3

_GROUPED = re.compile(r"(?<=\d)(?:\{,\}|,|_|\\,)(?=\d{3}(?!\d))")
_NUMBER = re.compile(
    r"(?<![\w.])(?P<digits>\d+(?:\.\d+)?|\.\d+)"
    r"(?:[eE](?P<power>[+-]?\d+)"
    r"|\s*(?:\\cdot|\\times|[\u00b7\u00d7*])\s*10\s*(?:\^|\*\*)\s*\{?\s*(?P<raised>-?\d+)\s*\}?)?"
)
_WORD = re.compile(r"(?<![\w.])[^\W\d]\w{3,}(?!-)\b")
# Numbers that count parts of the course, and say nothing about a value.
_NAMES = re.compile(
    r"\b(?:lessons?|sections?|exercises?|predictions?|cases?)\s+\d[\w.]*"
    r"|[\"']\d\d\.\w+[\"']|^#+\s+\d+(?=\.)|^\s*\d+\.(?=\s)",
    re.I | re.M,
)
_FOLDED = re.compile(r"<details\b[^>]*>.*?</details>", re.S)
_TITLE = re.compile(r"<summary>.*?</summary>", re.S)
_TARGET_OR_TAG = re.compile(r"(?<=\])\([^)\s]*\)|</?[a-zA-Z][^>]*>")


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
        return len(self.value.normalize().as_tuple().digits) >= FEWEST_DIGITS

    def is_that_of(self, truth: Number) -> bool:
        """Whether it is a number, or that number rounded or cut off to three digits or more.

        Args:
            truth: what came.
        """
        digits = min(self.digits, truth.digits)
        return self.value == truth.value or (
            digits >= FEWEST_DIGITS
            and any(
                Context(digits, ROUND_HALF_UP).plus(self.value)
                == Context(digits, way).plus(truth.value)
                for way in (ROUND_HALF_UP, ROUND_DOWN)
            )
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
        if len(power) <= 4:  # else it isn't a number of a lesson
            count = len(written.replace(".", "").lstrip("0"))
            found.append(Number(match[0], Decimal(f"{written}e{power}"), count))
    return found


def words(text: str) -> frozenset[str]:
    """Collect the words of a text that have four letters or more, in small letters.

    Args:
        text: prose, or what came.
    """
    return frozenset(word.casefold() for word in _WORD.findall(text))


def visible(markdown: str) -> str:
    """Leave out of a Markdown source what nobody sees before a click: details, link targets, tags.

    Args:
        markdown: a source.
    """
    text = _FOLDED.sub(lambda details: " ".join(_TITLE.findall(details[0])), markdown)
    return _TARGET_OR_TAG.sub(" ", text)
