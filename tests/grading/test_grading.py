"""Grading: whatever a submission does, nothing is hurt, and each student gets what is due."""

import json
import os
import re

import nbformat
import pytest

from _tools import canonical, places
from _tools.grading import reports, running, submissions
from tests.grading import hostile

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")

ANSWERS = {
    "06-1": "all_five = (1, 72, 11, 22, 1)",
    "06-2": hostile.RIGHT,
}
ATTACKS = {
    **hostile.FAILS,
    **hostile.ANSWERS_FAIL,
    **{name: (source + hostile.RIGHT, words) for name, (source, words) in hostile.CHANGES.items()},
    **{name: (source + hostile.RIGHT, "") for name, source in hostile.PASSES.items()},
    **{name: (source + hostile.RIGHT, "") for name, source in hostile.CHANNEL.items()},
}
# Tests ask for these one by one.
BY_NAME = {"an answer that never returns", "a wrong range"}


TAKEN = {  # out of the checks, in a lesson that uses parts of them
    "what they show": "clip = shown",
    "a wrapped one": "from functools import partial\nclip = partial(shown)",
}
SHOWS = "\nfrom minigrad.classroom import tables\nshown = tables.solution('06.2').answer({})"


def mark_of(cell):
    return cell.metadata.get("nbgrader", {}).get("grade_id", "")


def shortened():
    """The imports of a lesson, which shows a part of its checks, and two of its exercises.

    The first exercise comes after the second, which is attacked.
    """
    imports, *cells = (
        cell
        for cell in canonical.read(places.learner_of(places.solution("06"))).cells
        if cell.cell_type == "code"
    )
    # Each submission is a Python of its own: what else the lesson imports would take it seconds.
    imports.source = "import minigrad as torch\nfrom minigrad.classroom import check, hint" + SHOWS
    cells = [imports, *(cell for cell in cells if mark_of(cell)[:4] in ("06-1", "06-2"))]
    cells.sort(key=lambda cell: mark_of(cell).startswith("06-1"))
    return canonical.nbformat.v4.new_notebook(cells=cells, metadata={})


def with_answers(answers):
    notebook = shortened()
    for cell in notebook.cells:
        cell.source = answers.get(mark_of(cell), cell.source)
    return notebook


def put(notebook, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")


def odd_notebooks(folder):
    """Hand in what is no attack, and no ordinary notebook either."""
    (folder / "broken").mkdir(parents=True)
    (folder / "broken" / "06_full.ipynb").write_text('{"cells": [', encoding="utf-8")
    (folder / "empty").mkdir()
    (folder / "empty" / "06_full.ipynb").write_text("")
    (folder / "deep").mkdir()
    (folder / "deep" / "06_full.ipynb").write_text("[" * 200_000)
    put({"cells": [], "nbformat": 4, "metadata": {}}, folder / "without cells" / "06_full.ipynb")
    put(with_answers(ANSWERS), folder / "flat.ipynb")
    put(with_answers(ANSWERS), folder / "06" / "by lesson.ipynb")
    put(with_answers({}), folder / "unattempted" / "06_full.ipynb")
    deleted = with_answers(ANSWERS)
    deleted.cells = [c for c in deleted.cells if c.metadata.get("nbgrader", {}).get("solution")]
    put(deleted, folder / "only answers" / "06_full.ipynb")
    turned = with_answers(ANSWERS)
    turned.cells.reverse()
    put(turned, folder / "reordered" / "06_full.ipynb")
    twice = with_answers(ANSWERS)
    wrong = with_answers({**ANSWERS, "06-1": "all_five = 7"})
    at = [mark_of(cell) for cell in twice.cells].index("06-1")
    twice.cells.insert(at, wrong.cells[at])
    put(twice, folder / "twice" / "06_full.ipynb")
    own = with_answers(ANSWERS)
    own.cells[at].metadata = {}  # copied into a cell without a mark
    for source in ("while True: pass", "import a_package_that_is_missing"):
        own.cells.insert(at, nbformat.v4.new_code_cell(source))
    put(own, folder / "own cells" / "06_full.ipynb")
    (folder / "notes.txt").write_text("read me")
    mallory = "<script>alert(1)"
    put(
        with_answers({**ANSWERS, "06-1": "raise ValueError('<img src=x>')"}),
        folder / mallory / "06_f.ipynb",
    )


@pytest.fixture(scope="module")
def grades(request, tmp_path_factory):
    """All that the tests ask for, graded at once: by student."""
    asked = {
        item.callspec.params.get("name")
        for item in request.session.items
        if item.path == request.path and hasattr(item, "callspec")
    }
    base = tmp_path_factory.mktemp("grading")
    folder, published = base / "handed in", base / "published"
    put(shortened(), published / "06_full_backward_hooks.ipynb")
    odd_notebooks(folder)
    for name, source in TAKEN.items():
        put(with_answers({**ANSWERS, "06-2": source}), folder / name / "06_full.ipynb")
    victim = base / "victim"
    victim.write_text("precious")
    victim.chmod(0o600)
    for name, (source, _) in ATTACKS.items():
        if name not in asked | BY_NAME:
            continue
        for word, value in words(base).items():
            source = source.replace(word, value)
        put(with_answers({**ANSWERS, "06-2": source}), folder / name / "06_full.ipynb")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    found, others = submissions.found_in(folder, published=published)
    limits = running.Limits(seconds=4, memory=1e9)
    graded = running.graded(found, [folder], os.cpu_count() or 2, limits)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert victim.read_text() == "precious"
    assert victim.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in base.iterdir() if path.is_file()] == ["victim"]
    return base, others, {grade.submission.student: grade for grade in graded}


def words(base):
    return {
        "{victim}": str(base / "victim"),
        "{lessons}": str(places.LESSONS),
        "{other}": str(base / "handed in" / "flat.ipynb"),
    }


def points(grade):
    return [each.points for each in grade.results]


def said(grade, exercise=None):
    own = [" ".join(each.lines) for each in grade.results if exercise in (None, each.exercise)]
    return "\n".join([*own, *grade.notes])


@pytest.mark.parametrize("name", [*hostile.FAILS, *hostile.ANSWERS_FAIL])
def test_an_attack_gets_no_point_and_costs_no_other(grades, name):
    base, _, found = grades
    expected = ATTACKS[name][1]
    for word, value in words(base).items():
        expected = expected.replace(word, value)
    assert expected in said(found[name], "06.2")
    assert points(found[name]) == [0, 1], said(found[name])


def test_a_loop_without_an_end_is_a_mistake_and_no_attack(grades):
    assert grades[2]["an answer that never returns"].notes == ()


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_taken_out_of_the_checks_is_no_answer(grades, name):
    assert points(grades[2][name]) == [0, 1], said(grades[2][name])
    assert "It is taken out of the checks" in said(grades[2][name], "06.2")


@pytest.mark.parametrize("name", hostile.CHANGES)
def test_who_changes_the_grading_gets_an_alarm_and_no_point_from_there(grades, name):
    grade = grades[2][name]
    assert ATTACKS[name][1] in said(grade, "06.2")
    assert points(grade) == [0, 0], said(grade)
    assert len(grade.alarms) == 1  # not one for each exercise
    assert re.search(r" 0/2! +0/2$", reports.as_text([grade]), re.M)


@pytest.mark.parametrize("name", hostile.PASSES)
def test_what_is_odd_and_right_gets_its_point(grades, name):
    grade = grades[2][name]
    assert points(grade) == [1, 1], said(grade)
    assert grade.notes == ()


@pytest.mark.parametrize("name", hostile.CHANNEL)
def test_the_channel_of_results_is_out_of_reach(grades, name):
    grade = grades[2][name]
    assert points(grade) == [0, 1], said(grade)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("broken", "isn't a notebook"),
        ("empty", "isn't a notebook"),
        ("deep", "isn't a notebook"),
        ("without cells", "no cells"),
    ],
)
def test_what_is_no_notebook_is_named(grades, name, why):
    grade = grades[2][name]
    assert grade.submission.problem
    assert why in grade.remarks[0]


@pytest.mark.parametrize(
    "name", ["flat", "by lesson", "only answers", "reordered", "twice", "own cells"]
)
def test_what_is_unusual_is_graded(grades, name):
    assert points(grades[2][name]) == [1, 1], said(grades[2][name])


def test_what_is_unusual_is_told(grades):
    _, others, graded = grades
    assert others == ["notes.txt: not a notebook."]
    assert graded["twice"].remarks == ("06.1 is answered in 2 cells: the last one counts.",)
    missing, endless = graded["own cells"].remarks
    assert missing.startswith("a cell of their own failed: ModuleNotFoundError")
    assert endless.startswith("a cell of their own failed: It ran longer")
    assert graded["own cells"].alarms == ()
    assert [each.status for each in graded["unattempted"].results] == ["unsolved"] * 2


def test_pages_can_be_read_and_do_nothing(grades, tmp_path):
    graded = list(grades[2].values())
    written = reports.write_pages(graded, tmp_path)
    assert len(written) == len(graded) == len({path.name.lower() for path in written})
    for path in [*written, tmp_path / "index.html"]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(
            r"<(?:script|img|link|iframe)|\bon\w+=|(?:src|action)=['\"]|url\(", text
        )
        assert set(re.findall(r'href="(.)', text)) <= (
            {"#"} if path.name != "index.html" else set(text)
        )
        assert "prefers-color-scheme" in text
        assert '<html lang="en">' in text
    wrong = reports.page("a wrong range", [grades[2]["a wrong range"]])
    assert "Every negative gradient is zero now" in wrong
    assert "Asked for:" in wrong
    assert "else g.clamp(0, 1) for g" in wrong  # the answer itself


def test_tables(grades, tmp_path):
    graded = list(grades[2].values())
    text = reports.as_text(graded)
    assert re.search(r"^flat +2/2 +2/2$", text, re.M)
    assert re.search(r"^empty +failed +0/2$", text, re.M)
    reports.write_table(graded, tmp_path / "grades.csv")
    rows = (tmp_path / "grades.csv").read_text(encoding="utf-8-sig").splitlines()
    assert rows[0] == "student,lesson,points,of,!,06.2,06.1,remarks"
    assert "flat,06,2,2,,1,1," in rows
    assert "unattempted,06,0,2,,,," in rows
    changed = "replaces check,06,0,2,!,0,0,! 06.2: The notebook changed"
    assert any(row.startswith(changed) for row in rows)
    assert len(rows) == len(graded) + 1
