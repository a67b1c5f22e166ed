"""nbgrader makes the learners' notebooks of the solutions, and grades what comes back.

Runs where the command `nbgrader` is found. One lesson is graded; `MINIGRAD_GRADE=all` grades all.
"""

import os
import shutil
import sqlite3
import subprocess

import pytest

from _tools import canonical, places

PROGRAM = shutil.which("nbgrader")
CONFIG = places.LESSONS / "instructors" / "nbgrader_config.py"
GRADED = os.environ.get("MINIGRAD_GRADE", "06")
SOLUTIONS = places.solutions()
CHOSEN = [path for path in SOLUTIONS if GRADED in ("all", places.number_of(path.name))]
SCORES = """
select student_id, notebook.name, base_cell.name, auto_score, grade_cells.max_score
from grade
join submitted_notebook on grade.notebook_id = submitted_notebook.id
join submitted_assignment on submitted_assignment.id = submitted_notebook.assignment_id
join notebook on notebook.id = submitted_notebook.notebook_id
join base_cell on base_cell.id = grade.cell_id
join grade_cells on grade_cells.id = base_cell.id
"""

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="the command nbgrader is not installed")


def nbgrader(course, *arguments):
    variables = {
        **os.environ,
        "MINIGRAD_REPOSITORY": str(places.ROOT),
        "PYTHONPATH": str(places.ROOT),
    }
    done = subprocess.run(
        [PROGRAM, *arguments],
        cwd=course,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done


def new_course(folder, solutions, config):
    (folder / "source" / "gradients").mkdir(parents=True)
    for path in solutions:
        shutil.copy(path, folder / "source" / "gradients")
    if config:
        shutil.copy(CONFIG, folder)
    nbgrader(folder, "generate_assignment", "gradients")
    return folder


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return new_course(tmp_path_factory.mktemp("course"), SOLUTIONS, config=True)


def exercise_of(cell, **marks):
    """The exercise that a cell belongs to, where it has these marks; else None."""
    found = cell.metadata.get("nbgrader")
    fits = found is not None and all(found[key] == value for key, value in marks.items())
    return canonical.exercise_of(found.grade_id) if fits else None


def hand_in(course, student, path, solved):
    """A student hands a lesson in, in which these exercises are solved and no others."""
    notebook = canonical.read(course / "release" / "gradients" / path.name)
    solution = canonical.read(path)
    for cell, right in zip(notebook.cells, solution.cells, strict=True):
        if exercise_of(right, solution=True) in solved:
            cell.source = right.source
    target = course / "submitted" / student / "gradients" / path.name
    target.parent.mkdir(parents=True, exist_ok=True)
    canonical_text = canonical.nbformat.writes(notebook)
    target.write_text(canonical_text, encoding="utf-8")


def points(path):
    cells = canonical.read(path).cells
    return {
        exercise_of(cell, grade=True): cell.metadata.nbgrader.points
        for cell in cells
        if exercise_of(cell, grade=True)
    }


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_its_learners_notebooks_are_ours(course, path):
    made = canonical.read(course / "release" / "gradients" / path.name)
    ours = canonical.read(places.learner_of(path))
    assert [cell.source for cell in made.cells] == [cell.source for cell in ours.cells]
    assert not any(cell.get("outputs") for cell in made.cells)


def test_without_our_settings_it_takes_them_too(tmp_path):
    course = new_course(tmp_path, SOLUTIONS, config=False)
    for path in SOLUTIONS:
        text = (course / "release" / "gradients" / path.name).read_text(encoding="utf-8")
        assert "SOLUTION" not in text
        assert text.count("raise NotImplementedError()") == len(points(path))


def test_each_student_gets_the_points_of_what_is_solved(course):
    students = {"right": lambda k: True, "half": lambda k: k % 2 == 0, "unsolved": lambda k: False}
    expected = {}
    for path in CHOSEN:
        worth = points(path)
        for student, solves in students.items():
            solved = {exercise for k, exercise in enumerate(worth) if solves(k)}
            hand_in(course, student, path, solved)
            for exercise, most in worth.items():
                expected[student, path.stem, exercise] = (most * (exercise in solved), most)
    nbgrader(course, "autograde", "gradients")
    connection = sqlite3.connect(course / "gradebook.db")
    try:
        rows = connection.execute(SCORES).fetchall()
    finally:
        connection.close()
    graded = {path.stem for path in CHOSEN}
    scores = {
        (student, lesson, canonical.exercise_of(cell)): (score, most)
        for student, lesson, cell, score, most in rows
        if lesson in graded
    }
    assert scores == expected
