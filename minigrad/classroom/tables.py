"""Read the tables of exercises: typical wrong answers, each with what to say to it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from textwrap import dedent
from typing import Any

from minigrad.classroom.data import of_the_lessons

# What goes wrong when an expression looks into an answer that is not of the kind it was made for.
_OTHER_KIND = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError)
_BLOCK = re.compile(r"((?:^[~|>=!?] ?.*\n)+)((?:^[ \t]+.*\n|^\n)+)", re.M)
_MARKS = re.compile(r"^[ \t]*### (?:BEGIN SOLUTION|END SOLUTION|STUB.*)\n?", re.M)


@dataclass(frozen=True)
class Program:
    r"""The text of an answer: a right one, or a typical wrong one.

    Args:
        source: statements.
        gives: an expression that gives the answer after them.

    Example:
        >>> Program("def double(x):\n    return 2 * x", "double").answer({})(4)
        8
    """

    source: str
    gives: str

    def answer(self, names: Mapping[str, Any]) -> Any:
        """Run the text and give the answer; it can use these names."""
        space = dict(names)
        exec(compile(self.source, "<answer>", "exec", dont_inherit=True), space)
        return eval(self.gives, space)

    def edited(self, edits: Mapping[str, str]) -> Program:
        """Replace pieces of the text, each wherever it stands.

        Args:
            edits: from what is there to what takes its place.

        Raises:
            ValueError: where there is no such piece.
        """
        source = self.source
        for old, new in edits.items():
            if old not in source:
                raise ValueError(f"the solution has no {old!r}:\n{source}")
            source = source.replace(old, new)
        return Program(source, self.gives)


@dataclass(frozen=True)
class Row:
    """A typical mistake: what to say to it, and what it is recognized by.

    Args:
        says: what the learner reads: the likely misconception, without the right answer.
        versions: wrong answers. An answer that does what one of them does has made the mistake.
        words: an error that has one of them in its name or text has come from this mistake.
        asks: expressions, true of what was seen where this is the mistake.
    """

    says: str
    versions: tuple[Program, ...]
    words: tuple[str, ...]
    asks: tuple[str, ...]

    def brings(self, trouble: str) -> bool:
        """Tell whether an error, its name and text, is one that this mistake brings."""
        return any(word in trouble for word in self.words)

    def holds(self, names: Mapping[str, Any], **seen: Any) -> bool:
        """Evaluate the expressions; what cannot be looked into so is not this mistake."""
        try:
            return any(eval(each, {**names, **seen}) for each in self.asks)
        except _OTHER_KIND:
            return False


def read(table: str, solution: Callable[[], Program]) -> tuple[Row, ...]:
    r"""Read a table: heads of a row, one a line, and the sentence below them, indented.

    `~ old => new` is an edit of the solution, and `| old => new` below it a further one in the same
    version; `= expression` is an answer, and so are lines of a program after `> `; `! word, word`
    are words of an error; `? expression` is asked of what was seen. A row is recognized by any of
    its heads.

    Args:
        table: the text. In edits, `\n` stands for a new line.
        solution: gives the solution.

    Raises:
        ValueError: where a line fits nowhere, or the solution has no such piece.

    Example:
        >>> solution = Program("def half(x):\n    return x / 2", "half")
        >>> [row] = read('''
        ...     ~ x / 2 => x * 2
        ...     ! NoneType
        ...         Half of it is asked for.
        ... ''', lambda: solution)
        >>> row.says, row.words, row.versions[0].answer({})(3)
        ('Half of it is asked for.', ('NoneType',), 6)
    """
    text = dedent(table).strip("\n") + "\n"
    if text.strip() and (rest := _BLOCK.sub("", text).strip()):
        raise ValueError(f"this stands in no row of the table:\n{rest}")
    return tuple(_row(heads, says, solution) for heads, says in _BLOCK.findall(text))


def _row(heads: str, says: str, solution: Callable[[], Program]) -> Row:
    versions: list[Program] = []
    words: list[str] = []
    asks: list[str] = []
    for first, more in re.findall(r"^([~>=!?]) ?(.*\n(?:[|] .*\n)*)", heads, re.M):
        line = more.rstrip("\n")
        if first == "~":
            sides = (f"{edit} ".partition(" => ") for edit in line.split("\n| "))
            edits = {_plain(old): _plain(new) for old, _, new in sides}
            versions.append(solution().edited(edits))
        elif first == "=":
            versions.append(Program("", line))
        elif first == "!":
            words += line.split(", ")
        elif first == "?":
            asks.append(line)
    if written := re.findall(r"^> ?(.*\n)", heads, re.M):
        versions.append(Program("".join(written), solution().gives))
    return Row(" ".join(says.split()), tuple(versions), tuple(words), tuple(asks))


def _plain(side: str) -> str:
    return side.strip().replace("\\n", "\n")


@cache
def _cells(lesson: str) -> tuple[str, ...]:
    folder = of_the_lessons("solutions")
    paths = sorted(folder.glob(f"{lesson}_*.ipynb")) if folder else []
    cells = [each for path in paths for each in json.loads(path.read_text("utf-8"))["cells"]]
    return tuple("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


@cache
def solution(exercise: str) -> Program | None:
    """Read the solution of an exercise from the solved notebook of its lesson.

    It is the cell above the one that checks it, without its markers.

    Args:
        exercise: its id, such as "06.2".

    Returns:
        The solution; None where no such notebook has the exercise.

    Example:
        >>> solution("06.3").source
        'letters = ["C", "A", "B", "D"]'
    """
    cells = _cells(exercise.rpartition(".")[0])
    for above, cell in pairwise(cells):
        if found := re.search(rf'check\("{re.escape(exercise)}", (\w+)\)', cell):
            return Program(_MARKS.sub("", above).strip("\n"), found[1])
    return None


def imports(lesson: str, text: str) -> dict[str, Any]:
    """Import what a text names and the solved notebook of its lesson imports.

    Args:
        lesson: its number, such as "06".
        text: of a program or of a table.

    Example:
        >>> [*imports("06", "torch.ones(2)")]
        ['torch']
    """
    space: dict[str, Any] = {}
    for line in re.findall(r"^(?:from [\w.]+ )?import [\w., ]+$", "\n".join(_cells(lesson)), re.M):
        given = re.findall(r"\w+(?=,|$)", line)
        if any(re.search(rf"\b{name}\b", text) for name in given):
            exec(line, space)
    return {name: each for name, each in space.items() if name != "__builtins__"}
