"""Make the learner's notebook out of the solution notebook: solutions become stubs."""

from __future__ import annotations

import re
import symtable
import textwrap

from nbformat import NotebookNode

from _tools import folding
from _tools.canonical import canonical

BEGIN, END, STUB = "### BEGIN SOLUTION", "### END SOLUTION", "### STUB"
SOLVED = " (solved)"
"""What the title of a solution notebook ends in, so that nobody takes it for their own."""
_HERE = "# Your code here"
_REGION = re.compile(
    rf"^(?P<indent> *){BEGIN}\n(?P<body>(?:(?! *### (?:BEGIN|END)).*\n)*) *{END}$", re.M
)
_MARK = re.compile(rf"^ *(?:{BEGIN}|{END}|{STUB}\b.*)(?:\n|\Z)", re.M)


def learner_from(solution: NotebookNode) -> NotebookNode:
    """Make the learner's notebook, without outputs: stubs for solutions, outcomes folded.

    Args:
        solution: a solution notebook.

    Raises:
        ValueError: where markers do not pair, or stand in a cell that is not an exercise's.
    """
    notebook = retitled(solution, "")
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    read = {
        name for cell in code for name in re.findall(r"[A-Za-z_]\w*", _REGION.sub("", cell.source))
    }
    for cell in code:
        cell.outputs, cell.execution_count = [], None
        solves = cell.metadata.get("nbgrader", {}).get("solution", False)
        if solves != (BEGIN in cell.source):
            raise ValueError(
                f"{cell.id}: a cell with {BEGIN} has to be an exercise cell, and vice versa"
            )
        cell.source = stubbed(cell.source, read)
        if _MARK.search(cell.source):
            raise ValueError(f"{cell.id}: {BEGIN} and {END} don't pair up")
    folding.fold(notebook, solution)
    return canonical(notebook)


def retitled(notebook: NotebookNode, ending: str = SOLVED) -> NotebookNode:
    """Give a notebook, in canonical form, whose title says that it is solved, or does not.

    Args:
        notebook: it stays as it is.
        ending: what the title is to end in: `SOLVED`, or nothing.
    """
    result = canonical(notebook)
    for cell in result.cells[:1]:
        title, newline, rest = cell.source.partition("\n")
        cell.source = title.removesuffix(SOLVED) + ending + newline + rest
    return result


def stubbed(source: str, used: set[str]) -> str:
    """Replace every solution region of a cell by its stub.

    The stub is what stands after `### STUB ` in the region's lines. Without such lines it is
    `name = ...` for each name that the region gives a value and the notebook uses elsewhere, and
    otherwise `...`. Names inside of a function are nobody's business outside: in a region that is
    indented the stub is `...` below a comment, which `ruff format` leaves on a line of its own.

    Args:
        source: the source of the cell.
        used: names that the notebook reads outside of solution regions.
    """

    def stub(region: re.Match[str]) -> str:
        body, indent = region["body"], region["indent"]
        lines = re.findall(rf"^ *{STUB} ?(.*)$", body, re.M)
        if not lines and indent:
            lines = [_HERE, "..."]
        elif not lines:
            symbols = symtable.symtable(body, "solution", "exec").get_symbols()
            names = [each.get_name() for each in symbols if each.is_assigned()]
            lines = [f"{name} = ...  {_HERE}" for name in names if name in used]
        return textwrap.indent("\n".join(lines or [f"...  {_HERE}"]), indent)

    return _REGION.sub(stub, source)


def without_marks(source: str) -> str:
    """Leave the lines with markers and stubs out of a source.

    Args:
        source: the source of a code cell.
    """
    return _MARK.sub("", source).rstrip("\n")
