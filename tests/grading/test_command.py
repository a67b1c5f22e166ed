"""The command `minigrad grade`: what it takes, prints and writes, and what it says in trouble."""

import argparse
import os

import pytest

from _start import commands, console
from _tools import places
from _tools.grading import command, pages, running, submissions, tables
from _tools.grading.running import Grade, Result
from _tools.grading.submissions import Submission

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in" / "ann").mkdir(parents=True)
    return tmp_path


def result_of(submission):
    if submission.problem:
        return Grade(submission, (), (f"Not graded: {submission.problem}.",), ended=False)
    results = [Result(c.exercise, "right", 1, 1) for c in submission.cells if c.kind == "check"]
    return Grade(submission, tuple(results))


@pytest.fixture
def graded(monkeypatch):
    """Stand in for the processes; keep what they were to do."""
    asked = []

    def stand_in(found, hidden, jobs, limits, each):
        asked.append((jobs, limits, hidden))
        grades = [result_of(submission) for submission in found]
        for grade in grades:
            each(grade)
        return grades

    monkeypatch.setattr(running, "graded", stand_in)
    return asked


def lesson(number):
    return places.learner_of(places.solution(number)).read_bytes()


def test_it_writes_a_table_and_pages(folder, graded, capsys):
    (folder / "in" / "ann" / "06_x.ipynb").write_bytes(lesson("06"))
    (folder / "in" / "bob.ipynb").write_bytes(lesson("01"))
    assert commands.main(["grade", "in", "--jobs", "3", "--seconds", "5", "--memory", "2"]) == 0
    assert graded == [(3, running.Limits(5.0, 2e9), [folder / "in", folder / "grades"])]
    assert capsys.readouterr().out.splitlines()[2].split() == ["ann", "-", "6/6", "6/6"]
    assert sorted(path.name for path in (folder / "grades").iterdir()) == [
        "ann.html",
        "bob.html",
        "grades.csv",
        "index.html",
    ]


def test_one_lesson_alone(folder, graded, capsys):
    (folder / "in" / "ann" / "06_x.ipynb").write_bytes(lesson("06"))
    (folder / "in" / "ann" / "01_x.ipynb").write_bytes(lesson("01"))
    assert commands.main(["grade", "in", "--lesson", "06", "--output", "out"]) == 0
    assert "01" not in capsys.readouterr().out.splitlines()[0]
    assert (folder / "out" / "ann.html").is_file()


def test_what_cannot_be_read_makes_it_fail(folder, graded, capsys):
    (folder / "in" / "ann" / "06_x.ipynb").write_text("{")
    assert commands.main(["grade", "in"]) == 1
    heard = capsys.readouterr()
    assert heard.out.splitlines()[2].split() == ["ann", "failed", "0/8"]
    assert "ann/06_x.ipynb: Not graded: it is no notebook" in heard.err


def test_nobody_is_left_out_whose_lesson_cannot_be_told(folder, graded, capsys):
    (folder / "in" / "bob.ipynb").write_bytes(lesson("01"))
    (folder / "in" / "cem.ipynb").write_bytes(lesson("06"))
    (folder / "in" / "ida.ipynb").write_text("{")
    assert commands.main(["grade", "in", "--lesson", "01"]) == 1
    heard = capsys.readouterr()
    assert [row.split()[:2] for row in heard.out.splitlines()[2:]] == [
        ["bob", "-"],
        ["ida", "failed"],
    ]
    assert "ida.ipynb: Not graded: it is no notebook" in heard.err


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["elsewhere"], "is no folder"),
        (["in"], "there is no submission"),
        (["in", "--output", "in/grades"], "lies among the submissions"),
    ],
)
def test_trouble_comes_with_advice(folder, capsys, given, says):
    assert commands.main(["grade", *given]) == 1
    heard = capsys.readouterr().err
    assert says in heard
    assert "What to do:" in heard


@pytest.mark.parametrize("wrong", ["0", "-1", "nan", "many"])
def test_numbers_have_to_be_positive(wrong):
    with pytest.raises(SystemExit) as ended:
        commands.main(["grade", "in", "--jobs", wrong])
    assert ended.value.code == 2


def test_where_nothing_can_be_shut_in_it_says_so(folder, monkeypatch):
    monkeypatch.setattr(command, "_POSIX", ("no such function",))
    with pytest.raises(console.Trouble, match="no way to run submissions apart"):
        command.main(argparse.Namespace(folder=folder, output=folder / "out"))


def test_a_second_notebook_of_a_lesson_is_named(folder):
    for name in ("06_x.ipynb", "06_y.ipynb"):
        (folder / "in" / "ann" / name).write_bytes(lesson("06"))
    (folder / "in" / "ann" / ".ipynb_checkpoints").mkdir()
    (folder / "in" / "ann" / ".ipynb_checkpoints" / "06_x.ipynb").write_bytes(lesson("06"))
    found = submissions.found_in(folder / "in")
    assert [each.path.name for each in found.submissions] == ["06_x.ipynb"]
    assert found.others == ["ann/06_y.ipynb: left out, as ann has handed in ann/06_x.ipynb too."]


def test_a_mark_leads_to_no_other_lesson(folder):
    notebook = lesson("06").decode().replace('"06-', '"../in/ann/06-')
    (folder / "in" / "ann" / "06_x.ipynb").write_text(notebook, encoding="utf-8")
    (found,) = submissions.found_in(folder / "in").submissions
    assert found.lesson == "06"
    assert {cell.kind for cell in found.cells} == {"published", "answer", "check"}


def test_a_student_may_have_any_name(tmp_path):
    names = ["=HYPERLINK(1)", "Ann/../x", "ann x", "ann_x", "index", "\x1b[31m"]
    grades = [Grade(Submission(name, tmp_path, "06")) for name in names]
    written = pages.write(grades, tmp_path)
    assert len({path.name for path in written}) == len(names)
    assert all(path.parent == tmp_path for path in written)
    tables.write(grades, tmp_path / "grades.csv")
    text = (tmp_path / "grades.csv").read_text(encoding="utf-8")
    assert "\n'=HYPERLINK(1)," in text
    assert "\x1b" not in text + tables.as_text(grades)
