"""Read what was handed in, also in a zip: whose it is, which lesson, what is the student's own."""

from __future__ import annotations

import ast
import re
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath, PurePosixPath
from typing import Literal

from nbformat import NotebookNode

from _start.console import Trouble
from _tools import canonical, places
from _tools.canonical import mark_of

MOST_BYTES = 50_000_000  # of a file; with all its pictures, a lesson has one or two million
MOST_UNPACKED = 4_000_000_000  # bytes, of all notebooks in a zip
LESSON = re.compile(r"([0-9]{2})(?:[_ -].*)?")
_NUMBER = re.compile(r"[0-9]{2}")  # nothing else becomes part of a path
# How Moodle and Canvas name what they collect: student, numbers, and perhaps the student's file.
_COLLECTED = (
    re.compile(r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_\w+?_*(?P<file>(?<=_)\d\d[_ -].*)?"),
    re.compile(r"(?P<name>[^_]+)(?:_LATE)?_(?P<id>\d+)_\d+_(?P<file>.+)"),
)
_AGAIN = re.compile(r"(.*?) ?\((\d+)\)")  # what browsers call a second download
_MAGIC = re.compile(r"(\s*)(?:[%!?].*|[^#\"']*\?\s*)$")


class Unreadable(Exception):
    """A file is no notebook of a lesson; why, in words."""


@dataclass(frozen=True)
class Cell:
    """A cell of code as it is run.

    Args:
        source: Python.
        kind: Whether the lesson brings it, or it answers an exercise, or the student added or
            changed it, or it checks an exercise.
        exercise: What it answers or checks.
        points: What the exercise is worth.
    """

    source: str
    kind: Literal["published", "answer", "own", "check"]
    exercise: str = ""
    points: int = 0


@dataclass(frozen=True)
class Submission:
    """One notebook of one student.

    Args:
        student: The name of the folder or file.
        path: Where it is.
        lesson: Its number; empty where that cannot be told.
        problem: Why it cannot be graded, or nothing.
        cells: What to run; where it cannot be graded, the published lesson's, for what it is worth.
        remarks: What is unusual about it, in sentences.
    """

    student: str
    path: Path
    lesson: str = ""
    problem: str = ""
    cells: tuple[Cell, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass
class Found:
    """What a folder holds: submissions, and sentences about files that are none."""

    submissions: list[Submission] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


def unpack(archive: Path, folder: Path) -> tuple[Path, list[str]]:
    """Write the notebooks of a zip file, as Moodle and Canvas make them, into a folder.

    Args:
        archive: The file.
        folder: Where to; nothing is written elsewhere.

    Returns:
        The folder with the students, below one that holds all the others if there is such a folder;
        and sentences about what else is in the file.

    Raises:
        Trouble: Where it can't be unpacked, or holds more than anybody hands in.
    """
    others = []
    try:
        with zipfile.ZipFile(archive) as file:
            if sum(member.file_size for member in file.infolist()) > MOST_UNPACKED:
                raise ValueError(f"its files are larger than {MOST_UNPACKED // 10**9} GB together")
            for member in file.infolist():
                name = PurePosixPath(member.filename)
                if name.is_absolute() or ".." in name.parts:
                    others.append(f"{name}: left out, because it leads out of the folder.")
                elif name.suffix == ".ipynb":
                    file.extract(member, folder)
                elif not member.is_dir():
                    others.append(f"{name}: not a notebook.")
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError) as error:
        raise Trouble(
            f"{archive.name} can't be unpacked: {error}.",
            "Download it again, or unpack it yourself and name the folder.",
        ) from None
    tops = [path for path in folder.glob("*") if not _is_hidden(path.name)]
    if len(tops) == 1:
        inside = [path.relative_to(tops[0]) for path in tops[0].rglob("*.ipynb")]
        found = set(students(inside).values())
        if len(found) > 1 and not any(map(LESSON.fullmatch, found)):
            return tops[0], others
    return folder, others


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "__"))


def found_in(folder: Path, lessons: Sequence[str] = (), published: Path = places.LESSONS) -> Found:
    """Read all submissions in a folder: `student/NN_name.ipynb`, `student.ipynb`, `NN/student...`.

    Args:
        folder: Where they are.
        lessons: Which numbers to take; all if there are none. What may be one of them is taken.
        published: The folder of the published lessons.
    """
    found = Found()
    taken: dict[tuple[str, str], Path] = {}
    notebooks: list[Path] = []
    for path in sorted(folder.rglob("*")):
        shown = path.relative_to(folder)
        if path.is_dir() or any(map(_is_hidden, shown.parts)):
            continue
        if path.suffix == ".ipynb":
            notebooks.append(shown)
        else:
            found.others.append(f"{shown}: not a notebook.")
    names = students(notebooks)
    for shown in sorted(notebooks, key=_latest_first):
        path, student = folder / shown, names[shown]
        try:
            if not path.resolve().is_relative_to(folder.resolve()):
                raise Unreadable("a link that leads out of the folder")
            cells, named = _cells(path)
            number = _number(cells, shown)
            if lessons and number and number not in lessons:
                continue
            first = taken.setdefault((student, number), shown)
            if first != shown:
                found.others.append(f"{shown}: left out, as {student} has handed in {first} too.")
                continue
            if named not in ("", "python"):
                raise Unreadable(f"it was made for the language {named!r}, not for Python")
            made = assembled(published_cells(number, published), cells)
            found.submissions.append(Submission(student, path, number, "", *made))
        except Unreadable as why:
            number = _number([], shown)
            if not lessons or not number or number in lessons:
                stubs = _stubs(number, published)
                found.submissions.append(Submission(student, path, number, str(why), stubs))
    return found


def published_cells(lesson: str, folder: Path = places.LESSONS) -> list[NotebookNode]:
    """Give the cells of a published lesson.

    Args:
        lesson: Its number.
        folder: Where the published lessons are.

    Raises:
        Unreadable: Where there is no such lesson.
    """
    paths = sorted(folder.glob(f"{lesson}_*.ipynb")) if lesson else []
    if not paths:
        raise Unreadable("it cannot be told which lesson it is")
    return _cells(paths[0])[0]


def _stubs(lesson: str, folder: Path) -> tuple[Cell, ...]:
    """Give what is run where nothing was handed in."""
    try:
        return assembled(published_cells(lesson, folder), [])[0]
    except Unreadable:
        return ()


def assembled(
    published: Iterable[NotebookNode], handed_in: Sequence[NotebookNode]
) -> tuple[tuple[Cell, ...], tuple[str, ...]]:
    """Put together what is run: the published cells, with those of the student that are theirs.

    A student's are the answers, known by nbgrader's mark, and every cell of code that is not in the
    published lesson; these run where they stand, behind the last cell before them that is.

    Args:
        published: Cells of the published lesson.
        handed_in: Cells of what came back.

    Returns:
        The cells, and remarks.
    """
    base = [cell for cell in published if cell["cell_type"] == "code"]
    known = {cell["source"].strip(): number for number, cell in enumerate(base)}
    places_of = {mark_of(cell): number for number, cell in enumerate(base) if mark_of(cell)}
    behind: dict[int, list[str]] = {}
    answers: dict[str, list[str]] = {}
    changed: list[str] = []
    here = {mark_of(cell) for cell in handed_in}
    now = -1
    for cell in handed_in:
        source, mark = cell["source"].strip(), mark_of(cell)
        if cell["cell_type"] != "code" or not source:
            continue
        if mark in places_of:
            now = places_of[mark]
            if source == base[now]["source"].strip():
                continue
            if mark.endswith("-check"):
                changed.append(canonical.exercise_of(mark))
            else:
                answers.setdefault(mark, []).append(source)
        elif source in known:
            now = known[source]
        else:
            behind.setdefault(now, []).append(source)
    remarks = [
        f"{canonical.exercise_of(mark)} is answered in {len(given)} cells: the last one counts."
        for mark, given in answers.items()
        if len(given) > 1
    ]
    remarks += [
        f"The cell that checks {each} was changed: the lesson's counts." for each in changed
    ]
    cells = [Cell(_python(own), "own") for own in behind.get(-1, ())]
    waiting: list[Cell] = []
    for number, cell in enumerate(base):
        mark = mark_of(cell)
        exercise = canonical.exercise_of(mark) if mark else ""
        if mark.endswith("-check"):
            points = int(cell["metadata"]["nbgrader"].get("points", 1))
            cells.append(Cell(cell["source"], "check", exercise, points))
        elif mark:
            source = answers.get(mark, [cell["source"]])[-1]
            cells.append(Cell(_python(source), "answer", exercise))
        else:
            cells.append(Cell(cell["source"], "published"))
        waiting += [Cell(_python(own), "own") for own in behind.get(number, ())]
        following = base[number + 1] if number + 1 < len(base) else cell
        # Where the answer's cell is gone, the answer may stand in one of theirs: behind the stub.
        if not _is_answer(following) or mark_of(following) in here:
            cells += waiting
            waiting = []
    while cells and cells[-1].kind != "check":
        cells.pop()
    return tuple(cells), tuple(remarks)


def _cells(path: Path) -> tuple[list[NotebookNode], str]:
    """Read the cells of a notebook, and its language."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(f"it is larger than {MOST_BYTES // 1_000_000} MB")
        with warnings.catch_warnings():  # of cells without an id, as older notebooks have them
            warnings.simplefilter("ignore")
            notebook = canonical.read(path)
        for cell in notebook.cells:
            cell.source = cell.source.replace("\r\n", "\n")
            cell.metadata.get("tags")
        language = str(notebook.metadata.get("kernelspec", {}).get("language", ""))
    except Exception as error:  # whatever may be in a file that somebody hands in
        said = str(error).partition("\n")[0][:200]
        raise Unreadable(f"it is no notebook that can be read: {said}") from None
    if not notebook.cells:
        raise Unreadable("it is a notebook without cells")
    return notebook.cells, language.lower()


def _is_answer(cell: NotebookNode) -> bool:
    return bool(mark_of(cell)) and not mark_of(cell).endswith("-check")


def _number(cells: Sequence[NotebookNode], shown: PurePath) -> str:
    """Tell the lesson: by the marks of its exercises, else by the names of file and folders."""
    marked = (mark_of(cell).partition("-")[0] for cell in cells)
    marks = Counter(mark for mark in marked if _NUMBER.fullmatch(mark))
    if marks:
        return marks.most_common(1)[0][0]
    named = (LESSON.fullmatch(part) for part in reversed(_parts(shown)[1]))
    return next((match[1] for match in named if match), "")


def students(notebooks: Sequence[PurePath]) -> dict[PurePath, str]:
    """Tell whose each notebook is: the first part of its path that does not name a lesson.

    Args:
        notebooks: Paths as they came, also with the names that Moodle and Canvas give.

    Returns:
        Names, with the platform's number where two people have the same.
    """
    split = {shown: _parts(shown) for shown in notebooks}
    people = Counter(name for name, _ in {(parts[0], key) for key, parts in split.values()})
    return {
        shown: f"{parts[0]} {key}" if people[parts[0]] > 1 and key else _student(parts)
        for shown, (key, parts) in split.items()
    }


def _student(parts: Sequence[str]) -> str:
    return next((part for part in parts if not LESSON.fullmatch(part)), parts[0])


def _parts(shown: PurePath) -> tuple[str, list[str]]:
    """Split a path into a platform's number of the student, and what may be student or lesson."""
    again = _AGAIN.fullmatch(shown.stem)
    parts = [*shown.parts[:-1], again[1] if again else shown.stem]
    for number, part in enumerate(parts):
        for pattern in _COLLECTED:
            if match := pattern.fullmatch(part):
                # What stands above is the platform's, such as the name of the course.
                above, file = filter(LESSON.fullmatch, parts[:number]), match["file"]
                own = [match["name"].strip(), *above, *filter(None, [file]), *parts[number + 1 :]]
                return match["id"], own
    return "", parts


def _latest_first(shown: Path) -> tuple[Path, str, int]:
    again = _AGAIN.fullmatch(shown.stem)
    return shown.parent, again[1] if again else shown.stem, -int(again[2]) if again else 0


def _python(source: str) -> str:
    """Leave out what only Jupyter understands: `%time`, `!pip`, `help?`."""
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "\n".join(_MAGIC.sub(r"\1pass", line) for line in source.split("\n"))
    return source
