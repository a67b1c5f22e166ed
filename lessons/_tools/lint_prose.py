"""Rules about words: how many, spelled how, and which ones not at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from statistics import median

from nbformat import NotebookNode

from _tools.folding import untitled
from _tools.lesson import Lesson, Rule, lines_of, sentences
from _tools.lint_structure import is_long_answer
from _tools.stubs import SOLVED

FEWEST_WORDS, MOST_WORDS = 2000, 3200
WORDS_A_CODE_LINE = 10

_WORD = re.compile(r"[^\W\d_][\w'\u2019-]*")

# Stems of words with -ise, -isation and the like where American English writes -ize.
_ISE = (
    "initial normal general optim real recogn summar visual emphas minim maxim organ special "
    "symbol util vector final memor priorit regular standard character categor factor local "
    "stabil apolog critic modern random token serial parallel capital penal custom quant discret "
    "parameter equal neutral diagonal linear formal central synchron"
).replace(" ", "|")
BRITISH = re.compile(
    rf"""\b(?:
      (?:behavi|col|fav|flav|hon|hum|lab|neighb|harb|rum|endeav|vig|rig)our\w*
    | grey(?:s|ish|scale|ed)? | cent(?:re|red|res|ring) | (?:milli|centi|kilo)?met(?:re|res)
    | fib(?:re|res) | analys(?:e|ed|ing|er)
    | (?:{_ISE})is(?:e|ed|es|ing|er|ers|able|ation|ations)
    | (?:travel|label|model|cancel|signal|total|channel|fuel)l(?:ed|ing|er|ers)
    | (?:licen|defen|offen|preten)ce | artefacts? | catalogues? | programmes?
    | learnt | spelt | whilst | amongst | maths | judgements? | sceptic\w* | skilful\w* | fulfil
    | enrol | ageing
    )\b""",
    re.X | re.I,
)
TERMS = {
    "PyTorch": re.compile(r"\b(?!PyTorch\b)(?i:pytorch)\b"),
    "NumPy": re.compile(r"\b(?!NumPy\b)(?i:numpy)\b"),
    "SymPy": re.compile(r"\b(?!SymPy\b)(?i:sympy)\b"),
    "JupyterLab": re.compile(r"\b(?!JupyterLab\b)(?i:jupyter ?lab)\b"),
    "Jupyter": re.compile(r"\bjupyter\b"),
    "Python": re.compile(r"\bpython\b"),
    "GitHub": re.compile(r"\b(?!GitHub\b)(?i:github)\b"),
    "autograd": re.compile(r"\b(?:auto-grad|AutoGrad)\b"),
    "minigrad": re.compile(r"\b(?:Minigrad|MiniGrad|mini-grad)\b"),
}
HYPE = re.compile(
    r"""\b(?:
      amazing\w* | awesome | blazing(?:ly)? | breathtaking | cutting[- ]edge | deep\ dives?
    | delv(?:e|es|ing) | dive\ in(?:to)? | effortless(?:ly)? | exciting | game[- ]chang\w+
    | incredibl[ey] | leverag(?:e|es|ed|ing) | magic(?:al|ally)? | mind[- ]blowing | next[- ]level
    | powerful | revolution\w+ | seamless(?:ly)? | state[- ]of[- ]the[- ]art | stunning
    | supercharg\w+ | unleash\w* | unlock(?:s|ing)?\ the | world[- ]class
    | obviously | trivial(?:ly)? | needless\ to\ say | simply | of\ course
    )\b""",
    re.X | re.I,
)
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


def summary(notebook: NotebookNode) -> str:
    """Write the figures of a lesson on one line.

    Args:
        notebook: a lesson.
    """
    lengths = [lines_of(cell) for cell in notebook.cells if cell.cell_type == "code"] or [0]
    words, lines = words_of(notebook), sum(lengths)
    return (
        f"{words} words, {lines} lines of code, {words / max(lines, 1):.1f} words a line; "
        f"code cells: median {median(lengths):g}, longest {max(lengths)} lines"
    )


def prose_length(lesson: Lesson) -> Found:
    """A lesson has 2,000 to 3,200 words."""
    words = words_of(lesson.notebook)
    if not FEWEST_WORDS <= words <= MOST_WORDS:
        yield "", f"{words} words of prose; a lesson has {FEWEST_WORDS} to {MOST_WORDS}"


def prose_to_code(lesson: Lesson) -> Found:
    """Prose leads: ten or more words for each line of code."""
    given = [cell for cell in lesson.code if not is_long_answer(lesson, cell)]
    words, lines = words_of(lesson.notebook), sum(map(lines_of, given))
    if words < WORDS_A_CODE_LINE * lines:
        yield "", f"{words} words for {lines} lines of code: fewer than ten words a line"


def spelling(lesson: Lesson) -> Found:
    """American spelling, in prose and in code; names of projects as they write themselves."""
    for cell in lesson.notebook.cells:
        text = sentences(cell.source) if cell.cell_type == "markdown" else cell.source
        for match in BRITISH.finditer(text):
            yield cell.id, f"{match[0]!r} is spelled differently in American English"
        if cell.cell_type == "markdown":
            for right, pattern in TERMS.items():
                for match in pattern.finditer(text):
                    yield cell.id, f"{match[0]!r} is written {right}"


def plain_words(lesson: Lesson) -> Found:
    """No hype, no emoji, nothing that calls a thing easy that a reader may find hard."""
    for cell in lesson.notebook.cells:
        text = sentences(cell.source) if cell.cell_type == "markdown" else cell.source
        if cell.cell_type == "markdown":
            for match in HYPE.finditer(text):
                yield cell.id, f"{match[0]!r}: say what it does instead, or leave the word out"
        match = _EMOJI.search(cell.source)
        if match:
            yield cell.id, f"the symbol {match[0]!r}: use words"


RULES: dict[str, Rule] = {
    "prose-length": prose_length,
    "prose-to-code": prose_to_code,
    "spelling": spelling,
    "plain-words": plain_words,
}
