"""A class of thirty hands a lesson in: right, wrong, unsolved, looping, broken, and odd.

As a program it writes the notebooks, for a look at them or for timing what grades them:
`python3 tests/lessons/class_of_thirty.py FOLDER 06`
"""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = map(str, (Path(__file__).parents[2], Path(__file__).parents[2] / "lessons"))

from _start import merging
from _tools import canonical, places
from _tools.canonical import mark_of as mark
from minigrad.classroom import desk

ENDLESS = "while True: pass"
DEAF = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"


class Handed:
    """A learner's notebook, and how to work on it."""

    def __init__(self, number):
        path = places.solution(number)
        self.name, self.lesson = path.name, number
        self.notebook = canonical.read(places.learner_of(path))
        self.solution = {mark(cell): cell.source for cell in canonical.read(path).cells}
        self.exercises = [key for key in self.solution if key and not key.endswith("-check")]

    def cell(self, key):
        return next(cell for cell in self.notebook.cells if mark(cell) == key)

    def solve(self, *exercises):
        for key in exercises or self.exercises:
            self.cell(key).source = self.solution[key]

    def solve_but_first(self, source):
        """Solve all but the first exercise, which is answered with this."""
        self.solve()
        self.cell(self.exercises[0]).source = source

    def make_a_mistake(self, number):
        """Answer each exercise wrongly, by a row of its table."""
        for key in self.exercises:
            versions = [
                v for row in desk.find(canonical.exercise_of(key)).rows for v in row.versions
            ]
            wrong = versions[number % len(versions)]
            name = re.search(r"check\([^,]+, (\w+)\)", self.solution[f"{key}-check"])[1]
            self.cell(key).source = f"{wrong.source}\n{name} = {wrong.gives}"

    def insert(self, before, *sources):
        at = self.notebook.cells.index(self.cell(before))
        self.notebook.cells[at:at] = [
            canonical.nbformat.v4.new_code_cell(source) for source in sources
        ]

    def text(self):
        return canonical.nbformat.writes(self.notebook)


@dataclass(frozen=True)
class Student:
    """What somebody does, and which exercises are solved then: "all", "none", "but first", "odd".

    Args:
        works: Works on the notebook, and may give another text or another name for the file.
        solved: Which exercises nbgrader and `minigrad grade` have to find solved.
    """

    works: Callable[[Handed], dict[str, str] | None]
    solved: str


def odd(handed):
    handed.solve(*handed.exercises[::2])


def changed_check(handed):
    key = handed.exercises[0]
    handed.solve(*handed.exercises[1:])
    handed.cell(f"{key}-check").source = "print('solved')"


def without(*ends):
    def works(handed):
        handed.solve()
        gone = [handed.exercises[0] + end for end in ends]
        cells = handed.notebook.cells
        cells[:] = [cell for cell in cells if mark(cell) not in gone]

    return works


def extra(handed):
    handed.solve()
    handed.insert(handed.exercises[1], "x_of_mine = 1 + 1\nx_of_mine", "1 / 0", "%time 1 + 1")
    handed.notebook.cells += [canonical.nbformat.v4.new_markdown_cell("Was **not** easy.")]


def merged(handed):
    """A copy brought up to date: a stub has changed, and the answer stands below it."""
    first = handed.exercises[0]
    handed.solve(*handed.exercises[1:])
    handed.insert(f"{first}-check", f"# {merging.ANSWER}\n{handed.solution[first]}")
    at = handed.notebook.cells.index(handed.cell(f"{first}-check"))
    note = {"kept": merging.CHANGED, "grade_id": first}
    handed.notebook.cells[at - 1].metadata["minigrad"] = note


def noisy(handed):
    handed.solve()
    handed.insert(handed.exercises[1], "for k in range(200_000): print(k, 'x' * 40)")


def one_long_line(handed):
    handed.solve()
    handed.insert(handed.exercises[1], "'x' * 5_000_000")


def copied_cell(handed):
    """The answer's cell stands twice, with its mark: what was meant comes last."""
    handed.solve()
    cell = handed.cell(handed.exercises[0])
    twin = canonical.nbformat.from_dict({**cell, "id": "copied", "source": "1 / 0"})
    handed.notebook.cells.insert(handed.notebook.cells.index(cell), twin)


def another_kernel(handed):
    handed.solve()
    handed.notebook.metadata.kernelspec.update(name="my-own-python", display_name="Mine")


def with_outputs(handed):
    handed.solve()
    for cell in handed.notebook.cells:
        if cell.cell_type == "code":
            cell.execution_count = 7
            cell.outputs = [canonical.nbformat.v4.new_output("stream", text="solved\n")]


def renamed(handed):
    handed.solve()
    return {"name": "Homework 1.ipynb"}


def first(source):
    return lambda handed: handed.solve_but_first(source)


def mistaken(number):
    return lambda handed: handed.make_a_mistake(number)


CLASS = {
    "ann-right": Student(Handed.solve, "all"),
    "ben-unsolved": Student(lambda handed: None, "none"),
    "cleo-half": Student(odd, "odd"),
    "dan-wrong": Student(mistaken(0), "none"),
    "eve-loops": Student(first(ENDLESS), "but first"),
    "fay-exits": Student(first("import os\nos._exit(0)"), "but first"),
    "gus-renamed": Student(renamed, "all"),
    "hal-missing": Student(lambda handed: {"name": "notes.txt"}, "none"),
    "ida-changes-check": Student(changed_check, "but first"),
    "jon-no-check": Student(without("-check"), "all"),
    "kim-extra": Student(extra, "all"),
    "lea-merged": Student(merged, "all"),
    "max-noisy": Student(noisy, "all"),
    "ned-raises": Student(first("1 / 0"), "but first"),
    "ola-syntax": Student(first("def f(:"), "but first"),
    "pia-deaf-loop": Student(first(DEAF), "but first"),
    "qua-sys-exit": Student(first("import sys\nsys.exit()"), "but first"),
    "rod-exit": Student(first("exit()"), "but first"),
    "sue-no-answer": Student(without("", "-check"), "but first"),
    "tim-no-answer-cell": Student(without(""), "but first"),
    "una-long-line": Student(one_long_line, "all"),
    "vic-copied-cell": Student(copied_cell, "all"),
    "wes-kernel": Student(another_kernel, "all"),
    "xia-outputs": Student(with_outputs, "all"),
    "yan-empty-file": Student(lambda handed: {"text": ""}, "none"),
    "zoe-no-json": Student(lambda handed: {"text": '{"cells": ['}, "none"),
    "abe-wrong": Student(mistaken(1), "none"),
    "bea-wrong": Student(mistaken(2), "none"),
    "cal-right": Student(Handed.solve, "all"),
    "dee-right": Student(Handed.solve, "all"),
}


def hand_in(folder, name, number):
    """Write what a student hands in into a folder; give the exercises that are solved in it."""
    handed = Handed(number)
    done = CLASS[name].works(handed) or {}
    folder.mkdir(parents=True, exist_ok=True)
    text = done.get("text", handed.text())
    (folder / done.get("name", handed.name)).write_text(text, encoding="utf-8")
    keys = {
        "all": handed.exercises,
        "none": [],
        "odd": handed.exercises[::2],
        "but first": handed.exercises[1:],
    }
    return {canonical.exercise_of(key) for key in keys[CLASS[name].solved]}


def main(folder, number):
    """Write the whole class into a folder, and which exercises each has solved beside it."""
    place = Path(folder)
    solved = {name: sorted(hand_in(place / name, name, number)) for name in CLASS}
    print(json.dumps(solved, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
