"""Stage the lessons, the instructors' pages and the reference as sources of the book."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
from nbformat import NotebookNode

import minigrad
from _tools import canonical, places, stubs
from minigrad.classroom.desk import exercises_of
from minigrad.classroom.exercises import Exercise

PAGES = ("INSTRUCTORS.md", "instructors", "reference")
# What stands below these pages in the book's contents.
BELOW = {
    "INSTRUCTORS.md": "\n```{toctree}\n:hidden:\n:glob:\n\ninstructors/*\n```\n",
    "pytorch.md": "\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n",
}
# What a lesson's page says below its title: the lesson speaks to somebody who can run it.
TO_READ = """:::{note}
This page is for reading: no cell runs here, and the keys and buttons that are named are
JupyterLab's. Guess where the lesson asks for a prediction, then open what is folded; hints and a
solution stand folded below each exercise. To run the cells and have your own answers checked, take
the notebook ([how](../index.md)).
:::"""
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
_CODE = re.compile(r"^(`{3,}).*?^\1|(`+)[^`].*?\2", re.M | re.S)
_QUESTION = re.compile(r"\*\*The question:\*\* (.+)")


def stage(folder: Path, only: Iterable[str] = ()) -> None:
    """Write the sources, laid out as in the repository, so that relative links hold.

    Args:
        folder: where to.
        only: numbers of the lessons to take; all by default.
    """
    target = folder / "lessons"
    target.mkdir(parents=True)
    (folder / "extra").mkdir()
    lessons = [places.learner_of(path) for path in places.chosen(tuple(only))]
    for path in (*lessons, *(places.LESSONS / name for name in PAGES)):
        if path.is_dir():
            shutil.copytree(path, target / path.name)
        else:
            shutil.copy(path, target)
    home = (Path(__file__).parent / "home.md").read_text(encoding="utf-8")
    home = home.replace("LESSONS", contents(lessons))
    (folder / "index.md").write_text(home, encoding="utf-8", newline="\n")
    for path in target.glob("*.ipynb"):
        source = canonical.read(places.solution(path.stem))
        made = page(canonical.read(path), source, exercises_of(places.number_of(path.name)))
        for cell in made.cells:
            if cell.cell_type == "markdown":
                cell.source = linked(cell.source, target, folder)
            for html in [cell.source, *(o.data.get("text/html", "") for o in outputs_of(cell))]:
                offer(html, folder / "extra")
        nbformat.write(made, path)
    for path in target.rglob("*.md"):
        text = linked(path.read_text(encoding="utf-8"), path.parent, folder)
        path.write_text(text + BELOW.get(path.name, ""), encoding="utf-8", newline="\n")


def page(learner: NotebookNode, source: NotebookNode, exercises: list[Exercise]) -> NotebookNode:
    """Give the learner's notebook as a page: hints and solution folded below each exercise.

    Args:
        learner: the notebook as it is released; it stays as it is.
        source: the solution notebook.
        exercises: those of the lesson, with their hints.
    """
    hints = {each.id: each.hints for each in exercises}
    answers: dict[str, list[str]] = {}
    said: dict[str, str] = {}
    for cell in source.cells:
        if "nbgrader" not in cell.metadata:
            continue
        name = canonical.exercise_of(cell.metadata.nbgrader.grade_id)
        if cell.metadata.nbgrader.solution:
            answers.setdefault(name, []).append(stubs.without_marks(cell.source))
        else:
            said[name] = "".join(o.data.get("text/html", "") for o in outputs_of(cell))
    made = canonical.canonical(learner)
    cells = []
    for cell in made.cells:
        cells.append(cell)
        if cell.get("metadata", {}).get("nbgrader", {}).get("grade"):
            name = canonical.exercise_of(cell.metadata.nbgrader.grade_id)
            help_ = below(hints.get(name, ()), "\n\n".join(answers.get(name, ())), said[name])
            cells.append(nbformat.v4.new_markdown_cell(help_, id=f"{cell.id}-help"))
    made.cells = cells
    title, _, rest = cells[0].source.partition("\n")
    cells[0].source = f"{title}\n\n{TO_READ}\n{rest}"
    return made


def outputs_of(cell: NotebookNode) -> list[NotebookNode]:
    """Give the outputs of a cell that are shown as data, not as a stream or an error."""
    return [output for output in cell.get("outputs", []) if "data" in output]


def below(hints: Iterable[str], answer: str, said: str) -> str:
    """Write what is folded below an exercise, as Markdown.

    Args:
        hints: in the order in which they are given.
        answer: code.
        said: what the check says to it, as HTML.
    """
    folds = [
        f"<details>\n<summary>Hint {number}</summary>\n"
        f"<p>{escape(hint, quote=False)}</p>\n</details>"
        for number, hint in enumerate(hints, 1)
    ]
    said = re.sub(r"\n\s*\n", "\n", said)  # an empty line would end the HTML
    code = f"```python\n{answer}\n```"
    folds.append(f"<details>\n<summary>A solution</summary>\n\n{code}\n\n{said}\n\n</details>")
    return "\n\n".join(folds)


def linked(text: str, place: Path, folder: Path) -> str:
    """Let the links of a page lead to what is in the book.

    A link to a solution leads to the lesson, which has it folded. A file of the repository that is
    no page is staged, so that it can be had. What is not there is no link any more.

    Args:
        text: Markdown.
        place: the folder in which the page is staged.
        folder: that of all sources.
    """

    def lead(match: re.Match[str]) -> str:
        words, target = match.groups()
        parts = urlsplit(target)
        if parts.scheme or not parts.path:
            return match[0]
        inside = (place / parts.path).resolve().relative_to(folder.resolve())
        if inside.parts[:2] == ("lessons", "solutions"):
            up = "../" * (len(place.relative_to(folder).parts) - 1)
            return (
                f"[{words}]({up}{inside.name})" if inside.suffix else f"[{words}]({up}../index.md)"
            )
        if not (folder / inside).exists():
            original = repository(inside)
            if inside.suffix in (".md", ".ipynb") or not original.is_file():
                return words
            (folder / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(original, folder / inside)
        return match[0]

    return relinked(text, lead)


def relinked(text: str, lead: Callable[[re.Match[str]], str]) -> str:
    """Write the links of a page anew; what is shown as code stays as it is.

    Args:
        text: Markdown.
        lead: gets a match of a link, its words and its target, and gives what stands there.
    """
    shown = [code.span() for code in _CODE.finditer(text)]
    return _LINK.sub(
        lambda match: match[0] if any(a < match.start() < b for a, b in shown) else lead(match),
        text,
    )


def offer(html: str, folder: Path) -> None:
    """Lay files of the package to which HTML links where those links lead.

    Args:
        html: of an output or within Markdown; Sphinx does not look into it.
        folder: of what goes into the book as it is.
    """
    for name in re.findall(r'href="\.\./(minigrad/[^"#]+)', html):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(repository(Path(name)), folder / name)


def repository(inside: Path) -> Path:
    """Find a file of the repository; of an installed package, parts stand in other places.

    Args:
        inside: its path from the repository on.
    """
    top, *rest = inside.parts
    known = {"lessons": places.LESSONS, "minigrad": Path(minigrad.__file__).parent}
    return known.get(top, places.ROOT / top).joinpath(*rest)


def contents(lessons: Iterable[Path]) -> str:
    """Write the table of lessons with their questions, and the entries of the book's contents.

    Args:
        lessons: the learners' notebooks.
    """
    lessons = list(lessons)
    rows = []
    for path in lessons:
        first = canonical.read(path).cells[0].source
        title = first.partition("\n")[0].removeprefix("# ")
        asked = _QUESTION.search(first)
        question = asked[1][0].upper() + asked[1][1:] if asked else ""
        rows.append(f"| [{title}](lessons/{path.name}) | {question} |")
    names = "\n".join(f"lessons/{path.stem}" for path in lessons)
    table = "\n".join(["| lesson | question |", "|---|---|", *rows])
    return f"{table}\n\n```{{toctree}}\n:hidden:\n:caption: Lessons\n\n{names}\n```"
