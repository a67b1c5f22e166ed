"""Grading: whatever a submission does, nothing is hurt, and each student gets what is due."""

import json
import os
import re

import pytest

from _tools import canonical, places
from _tools.grading import pages, running, submissions, tables
from tests.grading import hostile

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")

ANSWERS = {
    "01-1": "gradient_of_b1 = dL_ds",
    "01-2": hostile.RIGHT,
}
ATTACKS = {
    **hostile.FAILS,
    **hostile.ANSWERS_FAIL,
    **{name: (source + hostile.RIGHT, words) for name, (source, words) in hostile.CHANGES.items()},
    **{name: (source + hostile.RIGHT, "") for name, source in hostile.PASSES.items()},
    **{name: (source + hostile.RIGHT, "") for name, source in hostile.CHANNEL.items()},
}
# Tests ask for these one by one.
BY_NAME = {"an answer that never returns", "a wrong sign"}


TAKEN = {  # out of the checks, in a lesson that uses parts of them
    "the reference": "Value = capstone.reference.Value",
    "the reference in a class": "class Value(capstone.reference.Value): pass",
    "its entry": "Value = capstone.EXERCISES[0].right",
}


def mark_of(cell):
    return cell.metadata.get("nbgrader", {}).get("grade_id", "")


def shortened(lesson="01", last="01-2-check"):
    """A lesson as published, up to the check of an exercise, without the pictures.

    Of lesson 01 the first exercise comes behind the second, which is attacked.
    """
    cells = canonical.read(places.learner_of(places.solution(lesson))).cells
    cells = cells[: [mark_of(cell) for cell in cells].index(last) + 1]
    cells = [cell for cell in cells if "plot_chain(" not in cell.source]
    cells.sort(key=lambda cell: mark_of(cell).startswith("01-1"))
    return canonical.nbformat.v4.new_notebook(cells=cells, metadata={})


def with_answers(answers, *part):
    notebook = shortened(*part)
    for cell in notebook.cells:
        cell.source = answers.get(mark_of(cell), cell.source)
    return notebook


def put(notebook, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")


def odd_notebooks(folder):
    """Hand in what is no attack, and no ordinary notebook either."""
    (folder / "broken").mkdir(parents=True)
    (folder / "broken" / "01_chain.ipynb").write_text('{"cells": [', encoding="utf-8")
    (folder / "empty").mkdir()
    (folder / "empty" / "01_chain.ipynb").write_text("")
    (folder / "deep").mkdir()
    (folder / "deep" / "01_chain.ipynb").write_text("[" * 200_000)
    put({"cells": [], "metadata": {}}, folder / "without cells" / "01_chain.ipynb")
    put(
        with_answers(ANSWERS) | {"metadata": {"kernelspec": {"language": "R"}}},
        folder / "wrong kernel" / "01_chain.ipynb",
    )
    put(with_answers(ANSWERS), folder / "flat.ipynb")
    put(with_answers(ANSWERS), folder / "01" / "by lesson.ipynb")
    put(with_answers({}), folder / "unattempted" / "01_chain.ipynb")
    deleted = with_answers(ANSWERS)
    deleted.cells = [c for c in deleted.cells if c.metadata.get("nbgrader", {}).get("solution")]
    put(deleted, folder / "only answers" / "01_chain.ipynb")
    turned = with_answers(ANSWERS)
    turned.cells.reverse()
    put(turned, folder / "reordered" / "01_chain.ipynb")
    twice = with_answers(ANSWERS)
    wrong = with_answers({**ANSWERS, "01-1": "gradient_of_b1 = 7"})
    at = [mark_of(cell) for cell in twice.cells].index("01-1")
    twice.cells.insert(at, wrong.cells[at])
    put(twice, folder / "twice" / "01_chain.ipynb")
    own = with_answers(ANSWERS)
    own.cells[at].metadata = {}  # copied into a cell without a mark
    for source in ("while True: pass", "import a_package_that_is_missing"):
        own.cells.insert(at, {"cell_type": "code", "source": source, "metadata": {}})
    put(own, folder / "own cells" / "01_chain.ipynb")
    (folder / "notes.txt").write_text("read me")
    mallory = "<script>alert(1)"
    put(
        with_answers({**ANSWERS, "01-1": "raise ValueError('<img src=x>')"}),
        folder / mallory / "01_c.ipynb",
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
    put(shortened(), published / "01_chain_rule_by_hand.ipynb")
    put(shortened("17", "17-1-check"), published / "17_build_your_own.ipynb")
    odd_notebooks(folder)
    for name, source in TAKEN.items():
        put(with_answers({"17-1": source}, "17", "17-1-check"), folder / name / "17_build.ipynb")
    victim = base / "victim"
    victim.write_text("precious")
    victim.chmod(0o600)
    for name, (source, _) in ATTACKS.items():
        if name not in asked | BY_NAME:
            continue
        for word, value in words(base).items():
            source = source.replace(word, value)
        put(with_answers({**ANSWERS, "01-2": source}), folder / name / "01_chain.ipynb")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    found = submissions.found_in(folder, published=published)
    limits = running.Limits(seconds=1, memory=1e9, patience=6)  # other tests run at the same time
    graded = running.graded(found.submissions, [folder], os.cpu_count() or 2, limits)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert victim.read_text() == "precious"
    assert victim.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in base.iterdir() if path.is_file()] == ["victim"]
    return base, found, {grade.submission.student: grade for grade in graded}


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
    assert expected in said(found[name], "01.2")
    assert points(found[name]) == [0, 1], said(found[name])


def test_a_loop_without_an_end_is_a_mistake_and_no_attack(grades):
    assert grades[2]["an answer that never returns"].notes == ()


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_taken_out_of_the_checks_is_no_answer(grades, name):
    assert points(grades[2][name]) == [0], said(grades[2][name])


@pytest.mark.parametrize("name", hostile.CHANGES)
def test_who_changes_the_grading_gets_an_alarm_and_no_point_from_there(grades, name):
    grade = grades[2][name]
    assert ATTACKS[name][1] in said(grade, "01.2")
    assert points(grade) == [0, 0], said(grade)
    assert len(grade.alarms) == 1  # not one for each exercise
    assert re.search(r" 0/2! +0/2$", tables.as_text([grade]), re.M)


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
        ("broken", "not JSON"),
        ("empty", "empty"),
        ("deep", "not JSON"),
        ("without cells", "without cells"),
        ("wrong kernel", "language 'r'"),
    ],
)
def test_what_is_no_notebook_is_named(grades, name, why):
    grade = grades[2][name]
    assert not grade.ended
    assert why in grade.remarks[0]


@pytest.mark.parametrize(
    "name", ["flat", "by lesson", "only answers", "reordered", "twice", "own cells"]
)
def test_what_is_unusual_is_graded(grades, name):
    assert points(grades[2][name]) == [1, 1], said(grades[2][name])


def test_what_is_unusual_is_told(grades):
    _, found, graded = grades
    assert found.others == ["notes.txt: not a notebook."]
    assert graded["twice"].remarks == ("01.1 is answered in 2 cells: the last one counts.",)
    missing, endless = graded["own cells"].remarks
    assert missing.startswith("a cell of their own failed: ModuleNotFoundError")
    assert endless.startswith("a cell of their own failed: It ran longer")
    assert graded["own cells"].alarms == ()
    assert [each.status for each in graded["unattempted"].results] == ["unsolved"] * 2


def test_pages_can_be_read_and_do_nothing(grades, tmp_path):
    graded = list(grades[2].values())
    written = pages.write(graded, tmp_path)
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
    wrong = pages.page("a wrong sign", [grades[2]["a wrong sign"]])
    assert "look for a lost or extra minus" in wrong
    assert "Asked for:" in wrong
    assert "up = 4 * s - 4 * s**3\n" in wrong  # the answer itself


def test_tables(grades, tmp_path):
    graded = list(grades[2].values())
    text = tables.as_text(graded)
    assert re.search(r"^flat +2/2 +- +2/2$", text, re.M)
    assert re.search(r"^empty +failed +- +0/2$", text, re.M)
    tables.write(graded, tmp_path / "grades.csv")
    rows = (tmp_path / "grades.csv").read_text(encoding="utf-8-sig").splitlines()
    assert rows[0] == "student,lesson,points,of,!,01.2,01.1,17.1,remarks"
    assert "flat,01,2,2,,1,1,," in rows
    assert "unattempted,01,0,2,,,,," in rows
    changed = "replaces check,01,0,2,!,0,0,,! 01.2: The notebook changed"
    assert any(row.startswith(changed) for row in rows)
    assert len(rows) == len(graded) + 1
