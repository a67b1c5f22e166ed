"""nbgrader makes the learners' notebooks of the solutions, and grades what comes back.

Two students hand a lesson in; with `MINIGRAD_CLASS=all` the whole class of `class_of_thirty.py`,
and `MINIGRAD_GRADE=06` names another lesson (`all`: each of them).
"""

import csv
import importlib.util
import json
import os
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from _start import commands
from _tools import canonical, places, release
from _tools.grading import running, submissions
from _tools.nbgrader import course
from tests.lessons.class_of_thirty import CLASS, Handed, hand_in, mark

# Imported by the tests that need it: it takes seconds.
INSTALLED = importlib.util.find_spec("nbgrader") is not None
pytestmark = pytest.mark.skipif(not INSTALLED, reason="nbgrader is not installed")
GRADED = os.environ.get("MINIGRAD_GRADE", "07")
LESSONS = [places.number_of(path.name) for path in places.solutions()]
STUDENTS = list(CLASS) if os.environ.get("MINIGRAD_CLASS") else ["cleo-half", "jon-no-check"]
# With the whole class, two processes share the grade book; each starts in seconds.
JOBS = "2" if len(STUDENTS) > 2 else "1"
# As they are typed, one after the other in one process: a start of nbgrader takes seconds.
NBGRADER = """
import json, sys
sys.modules["rfc3987_syntax"] = None  # takes two seconds to import, and nothing needs it
from nbgrader.apps import NbGraderApp
for line in sys.stdin:
    for command in json.loads(line):
        NbGraderApp.clear_instance()
        NbGraderApp.launch_instance(command.split())
    print("all done", flush=True)
"""
SCORES = """
select student_id, base_cell.name, auto_score, grade_cells.max_score
from grade
join submitted_notebook on grade.notebook_id = submitted_notebook.id
join submitted_assignment on submitted_assignment.id = submitted_notebook.assignment_id
join base_cell on base_cell.id = grade.cell_id
join grade_cells on grade_cells.id = base_cell.id
where not needs_manual_grade
"""


@contextmanager
def nbgrader(folder):
    """Give what runs commands of nbgrader in a course's folder."""
    log = folder.parent / "nbgrader.log"
    with log.open("w", encoding="utf-8") as said:
        process = subprocess.Popen(
            [sys.executable, "-c", NBGRADER],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(places.ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
        )

        def run(*typed):
            process.stdin.write(json.dumps(typed) + "\n")
            process.stdin.flush()
            done = any(line == "all done\n" for line in iter(process.stdout.readline, ""))
            assert done, log.read_text(encoding="utf-8")[-3000:]

        with process:
            yield run
    assert process.returncode == 0, log.read_text(encoding="utf-8")[-3000:]


def zipped(handed_in, archive):
    """Pack submissions as Moodle does."""
    archive.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w") as file:
        for path in handed_in.rglob("*.*"):
            file.write(path, f"{path.parent.name}_12_assignsubmission_file_/{path.name}")


@pytest.fixture(autouse=True)
def solutions_pass(monkeypatch):
    """Take it from the stored outputs: other tests run the notebooks."""
    monkeypatch.setattr(release, "executed", lambda notebook, folder: notebook)


@pytest.fixture
def closing():
    with ExitStack() as stack:
        yield stack


@pytest.mark.parametrize("lesson", LESSONS if GRADED == "all" else [GRADED])
def test_a_class_is_graded_as_minigrad_grades_it(lesson, tmp_path, monkeypatch, closing):
    monkeypatch.setenv("PYTHONPATH", str(places.ROOT))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    folder, handed_in, assignment = tmp_path / "course", tmp_path / "in", f"lesson_{lesson}"
    solved = {name: hand_in(handed_in / name, name, lesson) for name in STUDENTS}
    assert commands.main(["release", lesson, "--nbgrader", str(folder)]) == 0
    zipped(handed_in, folder / "downloaded" / assignment / "archive" / "moodle.zip")
    run = closing.enter_context(nbgrader(folder))
    run(f"generate_assignment {assignment}", f"zip_collect {assignment}")

    name = places.solution(lesson).name
    released = canonical.read(folder / "release" / assignment / name)
    ours = Handed(lesson).notebook
    assert [cell.source for cell in released.cells] == [cell.source for cell in ours.cells]
    assert not any(cell.get("outputs") for cell in released.cells)

    assert commands.main(["grade", str(folder), "--nbgrader", assignment, "--jobs", JOBS]) == 0
    run(f"generate_feedback {assignment}", "export")
    connection = sqlite3.connect(folder / "gradebook.db")
    rows = connection.execute(SCORES).fetchall()
    connection.close()
    got = {(student, canonical.exercise_of(cell)): score for student, cell, score, _ in rows}
    worth = {canonical.exercise_of(cell): most for _, cell, _, most in rows}
    there = {path.name for path in (folder / "submitted").iterdir()}
    assert there >= {name for name in STUDENTS if any((handed_in / name).glob("*.ipynb"))}
    assert got == {
        (name, key): most * (key in solved[name]) for name in there for key, most in worth.items()
    }

    with (folder / "grades.csv").open(encoding="utf-8") as file:
        sums = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    found = submissions.found_in(handed_in)[0]
    found = [each for each in found if len(STUDENTS) > 2 or each.student == "cleo-half"]
    for grade in running.graded(found, [], 2, running.Limits()):
        assert grade.points == sums[grade.submission.student], grade

    for student in there:
        page = folder / "feedback" / student / assignment / f"{Path(name).stem}.html"
        text = page.read_text(encoding="utf-8")
        assert f"(Score: {sums[student]} / {sum(worth.values())})" in text
        assert "<script src" not in text
        assert "<link" not in text


@pytest.fixture
def ours():
    from _tools.nbgrader import preprocessors

    return preprocessors


def test_all_lessons_become_what_learners_get(ours):
    from nbgrader.nbgraderformat import MetadataValidator
    from nbgrader.preprocessors import ClearSolutions

    for path in places.solutions():
        solution = canonical.read(path)
        MetadataValidator().validate_nb(solution)
        made, _ = ours.LessonStubs().preprocess(canonical.read(path), {})
        learners = canonical.read(places.learner_of(path))
        assert [cell.source for cell in made.cells] == [cell.source for cell in learners.cells]
        plain, _ = ClearSolutions().preprocess(solution, {})
        text = "".join(cell.source for cell in plain.cells)
        assert "SOLUTION" not in text
        answers = [
            cell for cell in learners.cells if cell.metadata.get("nbgrader", {}).get("solution")
        ]
        assert text.count("raise NotImplementedError()") == len(answers)


def test_what_never_ends_or_ends_the_kernel_costs_its_own_cell(ours):
    sources = {
        "import time": "",
        "time.sleep(1000)": "This cell ran longer than 3 s, and was left out.",
        "exit()": "This cell ended the program, and was left out.",
        "'long' * 1000": "... The rest of this cell's output was left out ...\n",
        "print(time.ctime() != '')": "True\n",
        "import os; os._exit(0)": "This cell ended the program, and was left out.",
        "2": "Not run: too many cells above never end, or end the program.",
    }
    notebook = new_notebook(cells=[new_markdown_cell("#"), *map(new_code_cell, sources)])
    runner = ours.RunToTheEnd(timeout=3, most_output=100, most_runs=3)
    done, _ = runner.preprocess(notebook, {"metadata": {"path": "."}})
    for cell, said in zip(done.cells[1:], sources.values(), strict=True):
        heard = [output.get("text", output.get("evalue")) for output in cell.outputs]
        assert heard == [said] * bool(said), cell.source
        # nbgrader gives points where there is no error.
        errors = [output for output in cell.outputs if output.output_type == "error"]
        assert len(errors) == said.startswith(("This", "Not"))


@pytest.mark.parametrize("gone", [("",), ("-check",), ("", "-check")])
def test_cells_that_were_deleted_come_back(gone):
    released, handed = Handed("06").notebook.cells, Handed("06")
    first = handed.exercises[0]
    handed.solve(first)
    answer = handed.cell(first)
    keys = [first + end for end in gone]
    cells = [cell for cell in handed.notebook.cells if mark(cell) not in keys]
    marks = [mark(cell) for _, cell in submissions.merged(released, cells)]
    assert marks == [mark(cell) for cell in released]
    # An answer in a cell of the student's own stays between the stub and the check.
    own = new_code_cell(answer.source)
    at = handed.notebook.cells.index(answer) + ("" not in gone)
    back = submissions.merged(released, [*cells[:at], own, *cells[at:]])
    where = {mark(cell) or kind: number for number, (kind, cell) in enumerate(back)}
    assert where[first] < where["own"] < where[f"{first}-check"]


def test_of_cells_with_one_mark_the_last_counts():
    handed = Handed("06")
    cell = handed.cell(handed.exercises[0])
    twin = canonical.nbformat.from_dict({**cell, "source": "1 / 0"})
    cell.source = "2"
    cell.metadata.nbgrader.points = 100
    del cell.metadata.nbgrader["schema_version"]
    back = [each for _, each in submissions.merged(Handed("06").notebook.cells, [twin, cell])]
    marked = [each for each in back if mark(each) == handed.exercises[0]]
    assert [each.source for each in marked] == ["2"]
    assert marked[0].metadata.nbgrader.schema_version == 3
    assert "points" not in marked[0].metadata.nbgrader


@pytest.mark.parametrize(
    ("student", "says"),
    [
        ("ann-right", ""),
        ("gus-renamed", "Homework 1.ipynb was graded as"),
        ("hal-missing", "wasn't handed in. No points."),
        ("zoe-no-json", "can't be read as a notebook. No points."),
    ],
)
def test_a_folder_is_prepared(student, says, tmp_path):
    hand_in(tmp_path, student, "06")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    released = places.learner_of(places.solution("06"))
    assert says in course.prepared(tmp_path, released)
    assert course.prepared(tmp_path, released) == ""
    kept = {path.name.removesuffix(".unreadable"): path.read_bytes() for path in tmp_path.iterdir()}
    assert set(before) <= set(kept)
    assert set(before.values()) <= {path.read_bytes() for path in tmp_path.iterdir()}


def test_trouble_says_what_to_do(tmp_path, capsys):
    assert commands.main(["grade", str(tmp_path), "--nbgrader", "lesson_06"]) == 1
    assert "nbgrader generate_assignment lesson_06" in capsys.readouterr().err
    (tmp_path / "release" / "lesson_06").mkdir(parents=True)
    (tmp_path / "release" / "lesson_06" / "06_x.ipynb").write_text("")
    assert commands.main(["grade", str(tmp_path), "--nbgrader", "lesson_06"]) == 1
    assert "nbgrader collect lesson_06" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    assert commands.main(["release", "06", "--nbgrader", str(tmp_path / "file")]) == 1
    assert "What to do: Free some space there, or name another place" in capsys.readouterr().err


def test_what_is_in_a_course_already_stays(tmp_path, capsys):
    (tmp_path / "nbgrader_config.py").write_text("mine")
    assert course.lay_out(tmp_path, ["06"]) == 0
    assert (tmp_path / "nbgrader_config.py").read_text() == "mine"
    assert "exists already, and stays" in capsys.readouterr().err
