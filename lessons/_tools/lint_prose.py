"""Rules about words: spelled how, and which ones not at all; and limits, which are advice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from statistics import median

from nbformat import NotebookNode

from _tools.folding import untitled
from _tools.lesson import Lesson, Rule, lines_of, sentences
from _tools.stubs import SOLVED

MOST_WORDS, WORDS_A_CODE_LINE = 3200, 10
LONGEST_CELL, MEDIAN_CELL = 30, 4  # lines
MOST_KB = 800
PARTS = (
    *("The question:", "You will be able to", "You need", "Time:"),
    *("What you now know", "Test yourself", "Where to look further"),
)

_WORD = re.compile(r"[^\W\d_][\w'\u2019-]*")
_PATTERNS = {
    r"(?:behavi|col|fav|flav|hon|lab|neighb)our\w*|grey(?:s|ish|scale)?|cent(?:re|red|res|ring)"
    r"|(?:milli|centi|kilo)?met(?:re|res)|analys(?:e|ed|ing|er)|(?:licen|defen|preten)ce"
    r"|(?:travel|label|model|cancel|signal|total|channel)l(?:ed|ing|er|ers)|artefacts?|whilst"
    r"|(?:\w+(?:al|im|er|tom|dom)|\w\w+(?:ar|or|it|bol)|emphas|organ|util|recogn|token|modern)"
    r"is(?:e|ed|es|er|ers|ing|able|ation|ations)"
    r"|learnt|programmes?|catalogues?|judgements?|maths|amongst": "American English spells it "
    "differently",
    r"amazing\w*|awesome|blazing(?:ly)?|cutting[- ]edge|deep dives?|delv(?:e|es|ing)"
    r"|effortless(?:ly)?|exciting|game[- ]chang\w+|incredibl[ey]|leverag(?:e|es|ed|ing)"
    r"|magic(?:al|ally)?|mind[- ]blowing|powerful|revolution\w+|seamless(?:ly)?"
    r"|state[- ]of[- ]the[- ]art|supercharg\w+|unleash\w*|world[- ]class|obviously"
    r"|trivial(?:ly)?|needless to say|simply|of course": "say what it does, or leave it out",
}
WORDS = {re.compile(rf"\b(?:{words})\b", re.I): says for words, says in _PATTERNS.items()}
"""Words that no prose has, and what to say to them."""
NAMES = {
    name: re.compile(rf"\b(?!{name}\b)(?i:{name.replace('Lab', ' ?Lab')})\b")
    for name in ("PyTorch", "NumPy", "SymPy", "JupyterLab", "Jupyter", "Python", "GitHub")
}
_EMOJI = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f]")

Found = Iterator[tuple[str, str]]


def words_of(notebook: NotebookNode) -> int:
    """Count the words of the Markdown cells; a formula or a piece of inline code counts as one.

    That a title says it is solved does not count.

    Args:
        notebook: a lesson.
    """
    return sum(
        len(_WORD.findall(sentences(untitled(cell.source.replace(SOLVED, "")))))
        for cell in notebook.cells
        if cell.cell_type == "markdown"
    )


def slips_of(text: str) -> Iterator[str]:
    """Find words that prose does not have.

    Args:
        text: without code and formulas.
    """
    for pattern, says in WORDS.items():
        yield from (f"{match[0]!r}: {says}" for match in pattern.finditer(text))
    for name, pattern in NAMES.items():
        yield from (f"{match[0]!r} is written {name}" for match in pattern.finditer(text))


def words(lesson: Lesson) -> Found:
    """American spelling, names as projects write themselves, no hype, no emoji."""
    for cell in lesson.notebook.cells:
        if cell.cell_type == "markdown":
            yield from ((cell.id, says) for says in slips_of(sentences(cell.source)))
        if match := _EMOJI.search(cell.source):
            yield cell.id, f"the symbol {match[0]!r}: use words"


def limits(lesson: Lesson) -> Found:
    """A lesson has its parts, and stays short enough to be read: advice, no more."""
    prose = "\n".join(cell.source for cell in lesson.prose)
    for part in PARTS:
        if not re.search(rf"(?:^#+ |\*\*){part}", prose, re.M):
            yield "", f"there is no part {part!r}"
    # In the capstone the learner writes whole classes.
    given = [cell for cell in lesson.code if not cell.metadata.get("nbgrader", {}).get("solution")]
    lengths = [lines_of(cell) for cell in given] or [0]
    count, lines = words_of(lesson.notebook), sum(lengths)
    if count > MOST_WORDS:
        yield "", f"{count} words of prose, more than {MOST_WORDS}"
    if count < WORDS_A_CODE_LINE * lines:
        yield "", f"{count} words for {lines} lines of code: fewer than ten words a line"
    if max(lengths) > LONGEST_CELL or median(lengths) > MEDIAN_CELL:
        yield "", f"code cells have a median of {median(lengths):g} lines, at most {max(lengths)}"
    if len(lesson.text) > 1000 * MOST_KB:
        yield "", f"the notebook has {len(lesson.text) / 1000:.0f} kB; {MOST_KB} at most"


RULES: dict[str, Rule] = {"words": words}
WARNINGS: dict[str, Rule] = {"limits": limits}
