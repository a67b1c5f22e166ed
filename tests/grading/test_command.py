"""The command `minigrad grade`: what it takes, prints and writes, and what it says in trouble."""

import csv
import json
import os
import zipfile
from pathlib import PurePath

import pytest

from _start import commands, console
from _tools import places
from _tools.grading import command, reports, running, submissions
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
        return Grade(submission, remarks=(f"Not graded: {submission.problem}.",))
    results = [Result(c.exercise, "right", 1, 1) for c in submission.cells if c.kind == "check"]
    return Grade(submission, tuple(results))


@pytest.fixture
def graded(monkeypatch):
    """Stand in for the processes; keep what they were to do."""
    asked = []

    def stand_in(found, hidden, jobs, limits):
        asked.append((jobs, limits, hidden))
        return map(result_of, found)

    monkeypatch.setattr(running, "graded", stand_in)
    return asked


def lesson(number):
    return places.learner_of(places.solution(number)).read_bytes()


def test_it_writes_a_table_and_pages(folder, graded, capsys):
    (folder / "in" / "ann" / "06_x.ipynb").write_bytes(lesson("06"))
    (folder / "in" / "bob.ipynb").write_bytes(lesson("07"))
    assert commands.main(["grade", "in", "--jobs", "3", "--seconds", "5", "--memory", "2"]) == 0
    assert graded == [(3, running.Limits(5.0, 2e9), [folder / "in", folder / "grades"])]
    assert capsys.readouterr().out.splitlines()[2].split() == ["ann", "6/8", "-", "6/8"]
    assert sorted(path.name for path in (folder / "grades").iterdir()) == [
        "ann.html",
        "bob.html",
        "grades.csv",
        "index.html",
    ]


def test_what_cannot_be_read_makes_it_fail(folder, graded, capsys):
    (folder / "in" / "ann" / "06_x.ipynb").write_text("{")
    assert commands.main(["grade", "in"]) == 1
    heard = capsys.readouterr()
    assert heard.out.splitlines()[2].split() == ["ann", "failed", "0/8"]
    assert "ann/06_x.ipynb: Not graded: it isn't a notebook" in heard.err


def test_nobody_is_left_out_whose_lesson_cannot_be_told(folder, graded, capsys):
    (folder / "in" / "bob.ipynb").write_bytes(lesson("07"))
    (folder / "in" / "cem.ipynb").write_bytes(lesson("06"))
    (folder / "in" / "ida.ipynb").write_text("{")
    assert commands.main(["grade", "in", "--lesson", "07"]) == 1
    heard = capsys.readouterr()
    assert [row.split()[:2] for row in heard.out.splitlines()[2:]] == [
        ["bob", "-"],
        ["ida", "failed"],
    ]
    assert "ida.ipynb: Not graded: it isn't a notebook" in heard.err


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["elsewhere"], "is neither a folder"),
        (["in"], "there is no submission"),
        (["in", "--output", "in/grades"], "is among the submissions"),
    ],
)
def test_trouble_comes_with_advice(folder, capsys, given, says):
    assert commands.main(["grade", *given]) == 1
    heard = capsys.readouterr().err
    assert says in heard
    assert "What to do:" in heard


def test_where_nothing_can_be_shut_in_it_says_so(folder, monkeypatch):
    monkeypatch.delattr(command.os, "fork")
    with pytest.raises(console.Trouble, match="submissions in a sandbox"):
        command.main(folder, output=folder / "out")


def test_a_second_notebook_of_a_lesson_is_named(folder):
    for name in ("06_x.ipynb", "06_y.ipynb"):
        (folder / "in" / "ann" / name).write_bytes(lesson("06"))
    (folder / "in" / "ann" / ".ipynb_checkpoints").mkdir()
    (folder / "in" / "ann" / ".ipynb_checkpoints" / "06_x.ipynb").write_bytes(lesson("06"))
    found, others = submissions.found_in(folder / "in")
    assert [each.path.name for each in found] == ["06_x.ipynb"]
    assert others == ["ann/06_y.ipynb: left out, because ann also handed in ann/06_x.ipynb."]


def test_a_mark_leads_to_no_other_lesson(folder):
    notebook = lesson("06").decode().replace('"06-', '"../in/ann/06-')
    (folder / "in" / "ann" / "06_x.ipynb").write_text(notebook, encoding="utf-8")
    (found,) = submissions.found_in(folder / "in")[0]
    assert found.lesson == "06"
    assert {cell.kind for cell in found.cells} == {"published", "answer", "check"}


def test_a_student_may_have_any_name(tmp_path):
    names = ["=HYPERLINK(1)", "Ann/../x", "ann x", "ann_x", "index", "\x1b[31m"]
    grades = [Grade(Submission(name, tmp_path, "06")) for name in names]
    written = reports.write_pages(grades, tmp_path)
    assert len({path.name for path in written}) == len(names)
    assert all(path.parent == tmp_path for path in written)
    reports.write_table(grades, tmp_path / "grades.csv")
    text = (tmp_path / "grades.csv").read_text(encoding="utf-8-sig")
    assert "\n'=HYPERLINK(1)," in text
    assert "\x1b" not in text + reports.as_text(grades)


@pytest.mark.parametrize(
    ("path", "student", "number"),
    [
        ("ann/06_x.ipynb", "ann", "06"),
        ("Ann Bee_12_assignsubmission_file_/06_x.ipynb", "Ann Bee", "06"),
        ("Ann Bee_12_assignsubmission_file/mine (2).ipynb", "Ann Bee", ""),
        ("Ann Bee_12_assignsubmission_file_06_full_backward_hooks.ipynb", "Ann Bee", "06"),
        ("Hooks-06-99/Ann O_Bee_12_assignsubmission_file_/06_x.ipynb", "Ann O_Bee", "06"),
        ("beeann_12_345_06_full_backward_hooks-1.ipynb", "beeann", "06"),
        ("beeann_LATE_12_345_06_x.ipynb", "beeann", "06"),
        ("06/ann (1).ipynb", "ann", "06"),
        ("ann_1_2/06_x.ipynb", "ann_1_2", "06"),
    ],
)
def test_names_of_platforms_are_cleaned(path, student, number):
    path = PurePath(path)
    assert submissions.students([path]) == {path: student}
    assert submissions._number([], path) == number


def test_two_people_of_one_name_keep_their_numbers():
    paths = [PurePath(f"Ann Bee_{k}_assignsubmission_file_/06_x.ipynb") for k in (12, 13)]
    assert list(submissions.students(paths).values()) == ["Ann Bee 12", "Ann Bee 13"]


def test_of_several_downloads_the_latest_counts(folder):
    for name in ("06_x.ipynb", "06_x (2).ipynb", "06_x (1).ipynb"):
        (folder / "in" / "ann" / name).write_bytes(lesson("06"))
    (found,) = submissions.found_in(folder / "in")[0]
    assert (found.student, found.path.name) == ("ann", "06_x (2).ipynb")


def pack(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)


def test_a_zip_of_moodle_is_graded_and_nothing_is_left_behind(folder, graded, capsys, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(folder / "in"))
    monkeypatch.setattr(command.tempfile, "tempdir", None)
    pack(
        folder / "all.zip",
        {
            "Ann Bee_12_assignsubmission_file_/06_x.ipynb": lesson("06"),
            "Ann Bee_12_assignsubmission_file_/notes.pdf": "x",
            "Cem_13_assignsubmission_file_/06_x.ipynb": lesson("06"),
            "__MACOSX/._06_x.ipynb": "x",
            "../out.ipynb": lesson("06"),
        },
    )
    before = {path for path in folder.rglob("*") if path.is_file()}
    assert commands.main(["grade", "all.zip", "--output", "out"]) == 0
    heard = capsys.readouterr()
    assert [row.split("  ")[0] for row in heard.out.splitlines()[2:4]] == ["Ann Bee", "Cem"]
    assert "notes.pdf: not a notebook" in heard.err
    new = {path for path in folder.rglob("*") if path.is_file()} - before
    assert {path.parent for path in new} == {folder / "out"}
    assert not any((folder / "in").glob("minigrad-*"))
    assert (folder / "all.zip") in graded[0][2]


@pytest.mark.parametrize(
    ("members", "places"),
    [
        (["in/ann/06_x.ipynb", "in/bob/06_x.ipynb"], ["ann/06_x.ipynb", "bob/06_x.ipynb"]),
        (["in/ann.ipynb", "in/bob.ipynb"], ["ann.ipynb", "bob.ipynb"]),
        (["ann/06_x.ipynb", "ann/07_x.ipynb"], ["ann/06_x.ipynb", "ann/07_x.ipynb"]),
        (["ann/06_x.ipynb"], ["ann/06_x.ipynb"]),
    ],
)
def test_a_folder_around_all_students_is_left_out(tmp_path, members, places):
    pack(tmp_path / "all.zip", dict.fromkeys(members, "{}"))
    root = submissions.unpack(tmp_path / "all.zip", tmp_path / "to")
    found = [path.relative_to(root).as_posix() for path in root.glob("**/*.*")]
    assert sorted(found) == places


def test_a_zip_that_is_none_or_too_large_is_refused(tmp_path, monkeypatch):
    broken = tmp_path / "broken.zip"
    broken.write_bytes(b"PK no zip")
    with pytest.raises(console.Trouble, match=r"broken.zip is neither a folder nor a zip file"):
        submissions.unpack(broken, tmp_path / "to")
    pack(tmp_path / "bomb.zip", {f"{name}.ipynb": b"0" * 10_000 for name in "abc"})
    monkeypatch.setattr(submissions, "MOST_UNPACKED", 25_000)
    with pytest.raises(console.Trouble, match=r"bomb.zip is neither a folder nor .* larger than"):
        submissions.unpack(tmp_path / "bomb.zip", tmp_path / "to")


ASKED = "Asked for: five numbers."


@pytest.fixture
def of_a_class(tmp_path):
    """Grades of two lessons: right, wrong in two ways, untouched, not readable."""
    said = [(ASKED, f"You gave {n}.", f"It returned the number {n}.", "    y = 2") for n in (1, 2)]
    came = {
        "ann": [("06.1", "right", 1, 1)],
        "bob": [("06.1", "wrong", 0, 1, said[0])],
        "cem": [("06.1", "wrong", 0, 1, said[1])],
        "dee": [
            ("06.1", "hurt", 0, 1, ("Its cell failed. NameError: <x>",)),
            ("06.2", "right", 2, 2),
        ],
        "eva": [("06.1", "unsolved", 0, 1)],
    }
    grades = [
        Grade(Submission(name, tmp_path, "06"), tuple(Result(*each) for each in results))
        for name, results in came.items()
    ]
    unread = Grade(Submission("fay", tmp_path, "06", "empty"), (), ("Not graded: empty.",))
    first = Grade(Submission("ann", tmp_path, "05"), (Result("05.1", "right", 1, 1),))
    return [*grades, unread, first]


def test_each_exercise_has_a_column(of_a_class, tmp_path):
    reports.write_table(of_a_class, tmp_path / "grades.csv")
    # Excel takes a file without this mark for another encoding than UTF-8.
    assert (tmp_path / "grades.csv").read_bytes().startswith(b"\xef\xbb\xbfstudent,")
    with (tmp_path / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = [
            [row[key] for key in ("student", "lesson", "points", "05.1", "06.1", "06.2")]
            for row in csv.DictReader(file)
        ]
    assert rows == [
        ["ann", "05", "1", "1", "", ""],
        ["ann", "06", "1", "", "1", ""],
        ["bob", "06", "0", "", "0", ""],
        ["cem", "06", "0", "", "0", ""],
        ["dee", "06", "2", "", "0", "2"],
        ["eva", "06", "0", "", "", ""],
        ["fay", "06", "", "", "", ""],
    ]


def test_what_the_class_missed_is_counted(of_a_class, tmp_path):
    first, *others = reports.statistics(of_a_class)
    # The same mistake with another number is the same, and what was given does not count.
    mistakes = [("It returned the number 1.", 2), ("Its cell failed. NameError: <x>", 1)]
    assert first == ("06.1", 1, 3, 1, mistakes)
    assert {(each.exercise, each.solved) for each in others} == {("05.1", 1), ("06.2", 1)}
    rows = [line.split(maxsplit=4) for line in reports.missed_as_text(of_a_class).splitlines()]
    assert ["06.1", "1", "3", "1", "2x It returned the number 1."] in rows
    reports.write_pages(of_a_class, tmp_path)
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert text.index(">06.1<") < text.index(">06.2<")
    assert "<td>1</td><td>3</td>\n<td>1</td><td><ul><li>2x It returned the number 1.</li>" in text
    assert "<li>1x Its cell failed. NameError: &lt;x&gt;</li>" in text


def test_an_answer_stands_on_the_page_as_text(tmp_path):
    cells = [
        submissions.Cell("import os  # <b>", "own"),
        submissions.Cell("def f():\n\treturn '</pre><script>'", "answer", "06.1"),
    ]
    handed = Submission("ann", tmp_path, "06", cells=tuple(cells))
    page = reports.page("ann", [Grade(handed, (Result("06.1", "wrong", 0, 1, ("No.",)),))])
    assert "def f():\n    return &#39;&lt;/pre&gt;&lt;script&gt;&#39;</pre>" in page
    assert "<pre>import os  # &lt;b&gt;</pre>" in page
    untouched = reports.page("ann", [Grade(handed, (Result("06.1", "unsolved", 0, 1),))])
    assert "def f()" not in untouched


def test_wrong_answers_without_a_reason_are_collected_without_names(tmp_path):
    cell = submissions.Cell("five = 1", "answer", "06.1")
    handed = Submission("ann", tmp_path, "06", cells=(cell,))
    known = "Those are the gradients without the hook. What arrives at the first use of f now?"
    said = [("It does not fit.",), (known,)]
    grades = [Grade(handed, (Result("06.1", "wrong", 0, 1, lines),)) for lines in said]
    grades.append(Grade(handed, (Result("06.1", "right", 1, 1, said[0]),)))
    (line,) = command.unexplained(grades)
    told = "06.1: not yet.\nIt does not fit."
    assert json.loads(line) == {"exercise": "06.1", "answer": "five = 1", "said": told}
