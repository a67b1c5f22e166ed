"""The demo lesson goes all the way: release, lint, strict comparison by nbval."""

import os
import re
import subprocess
import sys

import nbformat
import pytest

from _start import console
from _tools import canonical, folding, lesson, lint, places, release, stubs
from _tools.nbgrader import course
from tests.lessons.drafted import notebook_of


def test_both_notebooks_are_clean(demo):
    assert lint.violations_of(demo[0]) == []


def test_the_learner_gets_stubs_and_no_solution(demo):
    sources = {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in canonical.read(demo[1]).cells
        if "nbgrader" in cell.metadata and cell.metadata.nbgrader.solution
    }
    assert sources == {
        "demo-1": "by_hand = ...  # Your code here",
        "demo-2": "slopes = (..., ..., ...)",
        "demo-4": 'answer = (..., "because ...")',
        "demo-5": "def slope(x):\n    # Your code here\n    ...",
        "demo-6": "def hook(step, gradient):\n    # return 2 * gradient\n    ...",
    }
    assert "SOLUTION" not in demo[1].read_text(encoding="utf-8")


def test_grading_marks_are_of_the_form_that_nbgrader_takes(demo):
    marks = [c.metadata.nbgrader for c in canonical.read(demo[0]).cells if "nbgrader" in c.metadata]
    assert len(marks) == 10
    assert marks[3] == {
        "grade": True,
        "grade_id": "demo-2-check",
        "locked": True,
        "points": 2,
        "schema_version": 3,
        "solution": False,
        "task": False,
    }
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]+", mark.grade_id) for mark in marks)


def test_nbval_compares_strictly_under_any_hash_seed(demo, tmp_path):
    notebook = canonical.read(demo[0])
    at = next(k for k, cell in enumerate(notebook.cells) if "quotient 24.0" in lesson.said(cell))
    for output in notebook.cells[at].outputs:
        output.text = output.text.replace("quotient 24.0", "quotient 25.0")
    changed = tmp_path / "lessons" / "solutions" / "demo_changed.ipynb"
    canonical.write(notebook, changed)
    paths_found = os.pathsep.join(filter(None, [str(places.ROOT), os.environ.get("PYTHONPATH")]))
    finished = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull),
            *("--nbval", "--nbval-current-env", "--nbval-cell-timeout=120", "--rootdir"),
            *(str(changed.parent), str(changed)),
        ],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONHASHSEED": "4711", "PYTHONPATH": paths_found},
        check=False,
    )
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    said = finished.stdout + finished.stderr
    assert finished.returncode == 1, said
    assert f"1 failed, {len(cells) - 1} passed" in said
    assert "quotient 25.0" in said


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("### BEGIN SOLUTION\nx = 1", "don't pair up"),
        ("### BEGIN SOLUTION\n### BEGIN SOLUTION\n### END SOLUTION", "don't pair up"),
        ("x = 1", "has to be an exercise cell"),
    ],
)
def test_markers_have_to_pair_in_an_exercise(source, says):
    notebook = notebook_of(f"# T\n\n```python\n{source}\n```\n")
    notebook.cells[1].metadata["nbgrader"] = {"grade_id": "demo-1", "solution": True}
    with pytest.raises(ValueError, match=says):
        stubs.learner_from(notebook)


def test_a_solution_outside_of_an_exercise_cell_is_refused():
    notebook = notebook_of("# T\n\n```python\n### BEGIN SOLUTION\nx = 1\n### END SOLUTION\n```\n")
    with pytest.raises(ValueError, match="has to be an exercise cell"):
        stubs.learner_from(notebook)


def test_grading_marks_follow_from_the_id():
    notebook = notebook_of("# T\n\n```python\n1\n```\n\n```python\n2\n```\n")
    for cell, name in zip(notebook.cells[1:], ("06-2", "06-2-check"), strict=True):
        cell.metadata["nbgrader"] = {"grade_id": name, "points": 3}
    answer, check = (each.metadata.nbgrader for each in canonical.canonical(notebook).cells[1:])
    assert (answer.solution, answer.grade, "points" in answer) == (True, False, False)
    assert (check.solution, check.grade, check.points) == (False, True, 3)


def test_a_failing_release_leaves_the_old_notebooks(demo, tmp_path, monkeypatch, capsys):
    path = tmp_path / "lessons" / "solutions" / "demo_fails.ipynb"
    notebook = notebook_of("# T\n\n```python\n1 / 0\n```\n")
    canonical.write(notebook, path)
    before = path.read_bytes()
    monkeypatch.setattr(places, "solution", lambda which: path)
    assert release.main(["demo"]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().out
    assert path.read_bytes() == before
    assert not places.learner_of(path).exists()


def test_a_solution_that_fails_its_check_is_released_nowhere(demo, tmp_path, monkeypatch, capsys):
    path = tmp_path / "lessons" / "solutions" / "demo_fails.ipynb"
    ran = canonical.read(demo[0])
    canonical.write(ran, path)
    before = path.read_bytes()
    check = next(cell for cell in ran.cells if cell.source.startswith('check("demo.2"'))
    check.outputs = [nbformat.v4.new_output("stream", text="✗ demo.2: not yet.\n")]
    monkeypatch.setattr(places, "solution", lambda which: path)
    monkeypatch.setattr(release, "executed", lambda notebook, folder: ran)
    assert release.main(["demo"]) == 1
    said = capsys.readouterr().out
    assert "doesn't pass its own check" in said
    assert "lesson demo_fails, exercise demo.2:\n✗ demo.2: not yet." in said
    assert path.read_bytes() == before
    assert not places.learner_of(path).exists()
    with pytest.raises(console.Trouble, match=r"lesson demo_fails, exercise demo\.2"):
        course.lay_out(tmp_path / "course", ["demo"])
    assert not (tmp_path / "course").exists()


def folded(cell):
    return {name for name, hidden in cell.metadata.get("jupyter", {}).items() if hidden}


def test_the_learner_sees_no_output_between_a_prediction_and_the_next_heading(demo):
    cells = canonical.read(demo[1]).cells
    asked = next(k for k, cell in enumerate(cells) if "predict(" in cell.source)
    heading = next(k for k, cell in enumerate(cells) if "### An error that is meant" in cell.source)
    for number, cell in enumerate(cells):
        wanted = asked < number < heading and cell.cell_type == "code"
        assert ("outputs_hidden" in folded(cell)) == wanted, cell.id


@pytest.mark.parametrize(
    ("shown", "tells"),
    [
        ({"text/plain": "it is 131,071"}, True),
        ({"text/plain": "<svg>", "text/html": "<svg><text>131071</text></svg>"}, True),
        ({"text/plain": "<svg>", "text/html": '<svg><path d="M 131071 0"/></svg>'}, False),
        ({"text/plain": "131072"}, False),
        ({"text/plain": "-0.2448"}, True),
        ({"text/plain": "24"}, False),
    ],
)
def test_an_output_further_down_is_folded_where_it_shows_what_came(shown, tells):
    code = "```python\n{}\n```\n"
    parts = ["1", 'predict("x.a", 1)', 'compare("x.a", a)', 'predict("x.b", 1)']
    parts += ['compare("x.b", b)', "2"]
    text = "".join(code.format(part) for part in parts[:-1]) + "\n## Next\n\n" + code.format("2")
    notebook = notebook_of("# T\n\n" + text)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, came in ((2, "131071"), (4, "(-0.24478, 24)")):
        said = f"You predicted nothing.\n  It is {came}."
        cells[number].outputs = [nbformat.v4.new_output("stream", text=said)]
    for number in (0, 5):
        cells[number].outputs = [nbformat.v4.new_output("display_data", shown)]
    made = stubs.learner_from(notebook)
    hidden = ["outputs_hidden" in folded(cell) for cell in made.cells if cell.cell_type == "code"]
    assert hidden == [False, False, True, False, True, tells]


def test_what_reveals_is_folded_for_the_learner(demo):
    solution, learner = (canonical.read(path) for path in demo)
    pairs = zip(solution.cells, learner.cells, strict=True)
    prose, code = (pair for pair in pairs if "reveals" in pair[0].metadata.get("tags", []))
    title, text = "What the chain rule says", prose[0].source.partition("\n\n")[2]
    assert prose[0].source == f"**{title}**\n\n{text}"
    assert prose[1].source == f"<details>\n<summary>{title}</summary>\n\n{text}\n\n</details>"
    assert folding.title_of(prose[1].source) == title
    assert code[1].source == code[0].source
    assert folded(code[1]) == {"source_hidden", "outputs_hidden"}


@pytest.mark.parametrize(
    "source", ["So.", "**Why** so.", "**Why**\nSo.", "**Why `x`**\n\nSo.", "**Why**\n\n# So"]
)
def test_what_reveals_has_to_say_what_is_inside(source):
    with pytest.raises(ValueError, match="has no title"):
        folding.wrapped(source)
    assert folding.title_of(source) == ""


def test_a_stub_inside_a_function_names_nothing():
    region = "### BEGIN SOLUTION\n{0}used = 1\n{0}### END SOLUTION"
    inside = region.format("    ").replace("###", "    ###", 1)
    stub = "    # Your code here\n    ..."
    used = {"used"}
    for head in ("def f(x):\n", "def f(\n    x,\n):\n    y = 2\n", "class A:\n  def f(x):\n"):
        assert stubs.stubbed(head + inside, used) == head + stub
    assert stubs.stubbed(region.format(""), used) == "used = ...  # Your code here"


def test_the_learners_notebook_is_formatted_as_ruff_formats_it(demo):
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length=100", "--check"]
    finished = subprocess.run([*command, str(demo[1])], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr
