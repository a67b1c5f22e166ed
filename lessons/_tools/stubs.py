"""Make the learner's notebook out of the solution notebook: solutions become stubs."""

from __future__ import annotations

import ast
import re
import textwrap

from nbformat import NotebookNode

from _tools import folding
from _tools.canonical import canonical

BEGIN, END, STUB = "### BEGIN SOLUTION", "### END SOLUTION", "### STUB"
SOLVED = " (solved)"
"""What the title of a solution notebook ends in, so that nobody takes it for their own."""
_HERE = "# Your code here"
_MARK = re.compile(rf"\s*(?:{BEGIN}|{END}|{STUB}\b.*)")


def learner_from(solution: NotebookNode) -> NotebookNode:
    """Make the learner's notebook, without outputs: stubs for solutions, outcomes folded.

    Args:
        solution: a solution notebook.

    Raises:
        ValueError: where markers do not pair, or stand in a cell that is not an exercise's.
    """
    notebook = retitled(solution, "")
    used = _names_read(notebook)
    for number, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type != "code":
            continue
        cell.outputs, cell.execution_count = [], None
        solves = cell.metadata.get("nbgrader", {}).get("solution", False)
        if solves != (BEGIN in cell.source):
            raise ValueError(
                f"cell {number}: a cell with {BEGIN} has to be an exercise cell, and the reverse"
            )
        if solves:
            try:
                cell.source = stubbed(cell.source, used)
            except ValueError as error:
                raise ValueError(f"cell {number}: {error}") from None
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
        if cell.source.startswith("# "):
            title, newline, rest = cell.source.partition("\n")
            cell.source = title.removesuffix(SOLVED) + ending + newline + rest
    return result


def stubbed(source: str, used: frozenset[str] = frozenset()) -> str:
    """Replace every solution region of a cell by its stub.

    The stub is what stands after `### STUB ` in the region's lines. Without such lines it is
    `name = ...` for each name that the region gives a value and the notebook uses elsewhere, and
    otherwise `...`. Names inside of a function are nobody's business outside: there the stub is
    `...` below a comment, which `ruff format` leaves on a line of its own, ready to be typed over.

    Args:
        source: the source of the cell.
        used: names that the notebook reads outside of solution regions.

    Raises:
        ValueError: where markers do not pair.
    """
    lines: list[str] = []
    region: list[str] | None = None
    indent = ""
    for line in source.split("\n"):
        if line.strip() == BEGIN:
            if region is not None:
                raise ValueError(f"{BEGIN} inside a solution")
            region, indent = [], line[: len(line) - len(line.lstrip())]
        elif line.strip() == END:
            if region is None:
                raise ValueError(f"{END} without {BEGIN}")
            stub = _stub(region, used, in_function=_in_function(lines, indent))
            lines += [(indent + line).rstrip() for line in stub]
            region = None
        elif region is not None:
            region.append(line)
        else:
            lines.append(line)
    if region is not None:
        raise ValueError(f"{BEGIN} without {END}")
    return "\n".join(lines)


def without_marks(source: str) -> str:
    """Leave the lines with markers and stubs out of a source, for counting lines.

    Args:
        source: the source of a code cell.
    """
    return "\n".join(line for line in source.split("\n") if not _MARK.fullmatch(line))


def outside_solutions(source: str) -> tuple[str, ...]:
    """Give the parts of a source that stand outside of its solution regions.

    Args:
        source: the source of a cell of a solution notebook.
    """
    parts = re.split(rf"^\s*{BEGIN}\n.*?^\s*{END}$", source, flags=re.M | re.S)
    return tuple(part.strip("\n") for part in parts)


def _in_function(above: list[str], indent: str) -> bool:
    """Tell whether a line with this indentation, below these lines, stands inside of a function."""
    width = len(indent)
    for line in reversed(above):
        deep = len(line) - len(line.lstrip())
        if line.strip() and deep < width:
            if re.match(r"\s*(?:async\s+)?def\b", line):
                return True
            # the last line of a long signature: "def" stands further up, as deep as this line
            width = deep + line.lstrip().startswith(")")
    return False


def _stub(region: list[str], used: frozenset[str], in_function: bool) -> list[str]:
    given = [line.strip().removeprefix(STUB) for line in region if line.strip().startswith(STUB)]
    if given:
        return [line.removeprefix(" ") for line in given]
    if in_function:
        return [_HERE, "..."]
    names = [name for name in _names_given(region) if name in used]
    return [f"{name} = ...  {_HERE}" for name in names] or [f"...  {_HERE}"]


def _names_given(region: list[str]) -> list[str]:
    """List the names to which a region assigns at its top level, in order."""
    tree = ast.parse(_parsable("\n".join(region)))
    body = tree.body[0].body if isinstance(tree.body[0], ast.FunctionDef) else []
    names: list[str] = []
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            names.append(statement.name)
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names += [
                node.id
                for target in targets
                for node in ast.walk(target)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            ]
    return list(dict.fromkeys(names))


def _parsable(source: str) -> str:
    """Wrap a region in a function, so that `return` parses."""
    return "def region():\n" + textwrap.indent(textwrap.dedent(source), "    ") + "\n    pass\n"


def _names_read(notebook: NotebookNode) -> frozenset[str]:
    """Collect the names that code outside of solution regions reads."""
    names: set[str] = set()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            for part in outside_solutions(cell.source):
                names.update(re.findall(r"[A-Za-z_]\w*", part))
    return frozenset(names)
