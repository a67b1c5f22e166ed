"""Read what was handed in, also in a zip: whose it is, which lesson, what is the student's own."""

from __future__ import annotations

import ast
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Literal

from nbformat import NotebookNode

from _start import notebooks
from _start.console import Trouble
from _tools import canonical, places
from _tools.canonical import exercise_of, mark_of

MOST_UNPACKED = 4_000_000_000  # bytes, of all that is in a zip
LESSON = re.compile(r"([0-9]{2})(?:[_ -].*)?")
_MARK = re.compile(r"([0-9]{2})-.*")  # nothing but a number becomes part of a path
# How Moodle and Canvas name what they collect: student, numbers, and perhaps the student's file.
_COLLECTED = (
    re.compile(r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_\w+?_*(?P<file>(?<=_)\d\d[_ -].*)?"),
    re.compile(r"(?P<name>[^_]+)(?:_LATE)?_(?P<id>\d+)_\d+_(?P<file>.+)"),
)
_AGAIN = re.compile(r" ?\((\d+)\)$")  # what browsers call a second download
_MAGIC = re.compile(r"(\s*)(?:[%!?].*|[^#\"']*\?\s*)$")
_Kind = Literal["published", "answer", "own", "check"]


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
    kind: _Kind
    exercise: str = ""
    points: int = 0


@dataclass(frozen=True)
class Submission:
    """One notebook of one student.

    Args:
        student: The name of the folder or file.
        path: Where it is.
        lesson: Its number; empty if unknown.
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


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack a zip file, as Moodle and Canvas make them, into a folder.

    Args:
        archive: The file.
        folder: Where to; nothing is written elsewhere.

    Returns:
        The folder with the students, below one that holds all the others if there is such a folder.

    Raises:
        Trouble: Where it can't be unpacked, or holds more than anybody hands in.
    """
    try:
        with zipfile.ZipFile(archive) as file:
            if sum(member.file_size for member in file.infolist()) > MOST_UNPACKED:
                raise ValueError(f"its files are larger than {MOST_UNPACKED // 10**9} GB together")
            file.extractall(folder)
    except Exception as error:  # whatever may be in such a file
        raise Trouble(
            f"{archive} is neither a folder nor a zip file that can be unpacked: {error}.",
            "Name the folder with the submissions, or download the zip file again.",
        ) from None
    tops = [path for path in folder.glob("*") if not _is_hidden(path)]
    if len(tops) == 1:
        inside = [path.relative_to(tops[0]) for path in tops[0].rglob("*.ipynb")]
        found = set(students(inside).values())
        if len(found) > 1 and not any(map(LESSON.fullmatch, found)):
            return tops[0]
    return folder


def _is_hidden(path: PurePath) -> bool:
    return any(part.startswith((".", "__")) for part in path.parts)


def found_in(
    folder: Path, lessons: Sequence[str] = (), published: Path = places.LESSONS
) -> tuple[list[Submission], list[str]]:
    """Read all submissions in a folder: `student/NN_name.ipynb`, `student.ipynb`, `NN/student...`.

    Args:
        folder: Where they are.
        lessons: Which numbers to take; all if there are none. What may be one of them is taken.
        published: The folder of the published lessons.

    Returns:
        Submissions, and sentences about files that are none.
    """
    files = [path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file()]
    files = [shown for shown in files if not _is_hidden(shown)]
    others = [f"{shown}: not a notebook." for shown in files if shown.suffix != ".ipynb"]
    names = students([shown for shown in files if shown.suffix == ".ipynb"])
    found, taken = list[Submission](), dict[tuple[str, str], PurePath]()
    for shown in sorted(names, key=lambda each: -int("".join(_AGAIN.findall(each.stem)) or 0)):
        path, student, problem = folder / shown, names[shown], ""
        cells: list[NotebookNode] = []
        try:
            if not path.resolve().is_relative_to(folder.resolve()):
                raise notebooks.Unreadable("a link that leads out of the folder")
            for cell in notebooks.read(path)["cells"]:
                cells.append(NotebookNode(cell, metadata=NotebookNode(cell["metadata"])))
        except (notebooks.Unreadable, OSError) as error:
            problem = str(error)
        number = _number(cells, shown)
        if lessons and number and number not in lessons:
            continue
        first = taken.setdefault((student, number), shown) if cells else shown
        if first != shown:
            others.append(f"{shown}: left out, because {student} also handed in {first}.")
            continue
        lesson = published_cells(number, published)
        if not problem and not (cells and lesson):
            problem = "it doesn't say which lesson it is" if cells else "it has no cells"
        found.append(Submission(student, path, number, problem, *assembled(lesson, cells)))
    return found, others


def published_cells(lesson: str, folder: Path = places.LESSONS) -> list[NotebookNode]:
    """Give the cells of a published lesson; none where there is no such lesson.

    Args:
        lesson: Its number.
        folder: Where the published lessons are.
    """
    paths = sorted(folder.glob(f"{lesson}_*.ipynb")) if lesson else []
    return canonical.read(paths[0]).cells if paths else []


def assembled(
    published: Sequence[NotebookNode], handed_in: Sequence[NotebookNode]
) -> tuple[tuple[Cell, ...], tuple[str, ...]]:
    """Put together the code that is run: the published cells, and the student's in their places.

    Args:
        published: Cells of the published lesson.
        handed_in: Cells of what came back.

    Returns:
        The cells up to the last check, and remarks.
    """
    theirs = Counter(mark_of(cell) for cell in handed_in)
    remarks, cells = [], list[Cell]()
    for kind, cell in merged(published, handed_in):
        if cell.cell_type != "code":
            continue
        mark = mark_of(cell)
        exercise, points = exercise_of(mark), cell.metadata.get("nbgrader", {}).get("points", 0)
        cells.append(Cell(_python(cell.source), kind, exercise, points))
        if kind == "answer" and theirs[mark] > 1:
            remarks.append(f"{exercise} is answered in {theirs[mark]} cells: the last one counts.")
    while cells and cells[-1].kind != "check":
        cells.pop()
    return tuple(cells), tuple(remarks)


def merged(
    released: Sequence[NotebookNode], handed_in: Sequence[NotebookNode]
) -> list[tuple[_Kind, NotebookNode]]:
    """Put what is a student's into the lesson as it was released.

    A student's are the answers, known by nbgrader's mark, and every cell that is not in the
    lesson; these stay where they were, after the last cell before them that is.

    Args:
        released: Cells of the lesson.
        handed_in: Cells of what came back. Of those with the same mark the last one counts.

    Returns:
        Cells, each with its kind.
    """
    texts = [(mark_of(cell), cell.source.strip()) for cell in released]
    places_of = {text: number for number, both in enumerate(texts) for text in both if text}
    behind = defaultdict[int, list[tuple[_Kind, NotebookNode]]](list)
    answers, here, now = dict[int, str](), set[int](), -1
    for number, cell in enumerate(handed_in):
        source = cell.source.strip()
        known = [places_of[text] for text in (mark_of(cell), source) if text in places_of]
        now = known[0] if known else now
        if known and source != texts[now][1]:
            answers[now] = cell.source
        elif source and not known:
            own = NotebookNode({**cell, "id": f"own-{number}", "metadata": NotebookNode()})
            behind[now].append(("own", own))
        here.add(now)
    result, code = behind[-1], [each.cell_type == "code" for each in released]
    for number, cell in enumerate(released):
        kind = _kind(cell)
        source = answers.get(number, cell.source) if kind == "answer" else cell.source
        result.append((kind, NotebookNode({**cell, "source": source})))
        following = next((n for n in range(number + 1, len(code)) if code[n]), number)
        # Where the answer's cell is gone, the answer may be in one of theirs: after the stub.
        if following not in here and _kind(released[following]) == "answer":
            behind[number + 1] = behind[number] + behind[number + 1]
        else:
            result += behind[number]
    return result


def _kind(cell: NotebookNode) -> _Kind:
    mark = mark_of(cell)
    return "check" if mark.endswith("-check") else "answer" if mark else "published"


def _number(cells: Sequence[NotebookNode], shown: PurePath) -> str:
    """Tell the lesson: by the marks of its exercises, else by the names of file and folders."""
    marks = Counter(match[1] for cell in cells if (match := _MARK.fullmatch(mark_of(cell))))
    named = (LESSON.fullmatch(part) for part in reversed(_parts(shown)[1]))
    numbers = [each for each, _ in marks.most_common(1)] + [match[1] for match in named if match]
    return next(iter(numbers), "")


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
        shown: f"{parts[0]} {key}"
        if people[parts[0]] > 1 and key
        else next((part for part in parts if not LESSON.fullmatch(part)), parts[0])
        for shown, (key, parts) in split.items()
    }


def _parts(shown: PurePath) -> tuple[str, list[str]]:
    """Split a path into a platform's number of the student, and what may be student or lesson."""
    parts = [*shown.parts[:-1], _AGAIN.sub("", shown.stem)]
    for number, part in enumerate(parts):
        for pattern in _COLLECTED:
            if match := pattern.fullmatch(part):
                # What stands above is the platform's, such as the name of the course.
                above, file = filter(LESSON.fullmatch, parts[:number]), match["file"]
                own = [match["name"].strip(), *above, *filter(None, [file]), *parts[number + 1 :]]
                return match["id"], own
    return "", parts


def _python(source: str) -> str:
    """Leave out what only Jupyter understands: `%time`, `!pip`, `help?`."""
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "\n".join(_MAGIC.sub(r"\1pass", line) for line in source.split("\n"))
    return source
