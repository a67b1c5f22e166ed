"""What a learner solved is noted, told once, shown, and forgotten on request."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import sympy

from _start import progress as shown
from minigrad.classroom import check, exercises_of, predict
from minigrad.classroom import desk as progress

ROOT = Path(progress.__file__).parents[2]
LESSONS = ROOT / "lessons"
X, W, B = sympy.symbols("x w b")
TANH = sympy.tanh(W * X + B)
RIGHT = {
    "00.1": (-1, -1, 1),
    "00.2": 0.96364,
    "00.3": -0.0163,
    "00.4": lambda module, gi, go: (gi[0] / 2,),
    "00.5": ("b", "f's own gradients don't come from grad_input"),
    "00.6": 2 * (X + TANH - 2) * (1 + W * (1 - TANH**2)),
}


@pytest.fixture
def notes(tmp_path, monkeypatch):
    path = tmp_path / "deep" / "notes.json"
    monkeypatch.setenv(progress.VARIABLE, str(path))
    monkeypatch.setattr(progress, "shell", object)
    return path


def test_a_program_that_is_no_notebook_notes_nothing(notes, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setenv(progress.VARIABLE, str(notes))
    check("00.2", 0.96364)
    assert not notes.exists()


def test_what_is_solved_and_predicted_is_noted(notes, capsys):
    check("00.2", 5)
    assert "noted on this machine" in " ".join(capsys.readouterr().out.split())
    check("00.2", 0.96364)
    check("00.1")
    predict("00.a", 0.5)
    check("00.2", 7)  # solved is solved
    said = capsys.readouterr().out
    assert "noted on this machine" not in said
    found = json.loads(notes.read_text(encoding="utf-8"))
    empty = {"missed": [], "finished": []}
    assert found == {"solved": ["00.2"], "tried": ["00.2"], "predicted": ["00.a"], **empty}
    assert [path.name for path in notes.parent.iterdir()] == [notes.name]


def test_a_finished_lesson_says_so_once(notes, capsys):
    assert sorted(RIGHT) == [exercise.id for exercise in exercises_of("00")]
    said = []
    for exercise, answer in [*RIGHT.items(), *RIGHT.items()]:
        assert check(exercise, answer)
        said.append("You have finished it." in " ".join(capsys.readouterr().out.split()))
    assert said == [False] * 5 + [True] + [False] * 6
    assert shown.read(notes)["solved"] == set(RIGHT)


@pytest.mark.parametrize("exercise", ["demo.1"])
def test_the_demo_is_nobodys_progress(notes, exercise):
    check(exercise, 24)
    predict("demo.a", 24)
    assert not notes.exists()


def test_solutions_and_graded_runs_are_nobodys_progress(notes, monkeypatch, tmp_path):
    solutions = tmp_path / "solutions"
    solutions.mkdir()
    monkeypatch.chdir(solutions)
    check("00.2", 0.96364)
    predict("00.a", 1)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    check("00.2", 0.96364)
    assert not notes.exists()


@pytest.mark.parametrize("text", ["", "no JSON", "[]", '{"solved": 3, "tried": [1, null]}'])
def test_notes_that_cannot_be_read_do_no_harm(notes, text, capsys):
    notes.parent.mkdir()
    notes.write_text(text, encoding="utf-8")
    assert check("00.2", 0.96364)
    assert progress.read(notes)["solved"] == ["00.2"]
    assert "noted on this machine" not in capsys.readouterr().out


def test_where_nothing_can_be_written_nothing_is_said(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv(progress.VARIABLE, str(tmp_path / "file" / "notes.json"))
    monkeypatch.setattr(progress, "shell", object)
    assert check("00.2", 0.96364)
    assert not check("00.2", 1)
    predict("00.a", 1)
    said = " ".join(capsys.readouterr().out.split())
    assert "noted on this machine" not in said
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_with_an_empty_variable_nothing_is_noted(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv(progress.VARIABLE, "")
    monkeypatch.chdir(tmp_path)
    assert check("00.2", 0.96364)
    assert list(tmp_path.iterdir()) == []


def test_places(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    at_home = tmp_path / ".minigrad" / "progress.json"
    assert progress.place({}, tmp_path / "not there") == at_home
    assert progress.place({"PYTEST_VERSION": "9"}, LESSONS) is None
    lessons = tmp_path / "lessons"
    lessons.mkdir()
    (lessons / "__main__.py").touch()
    assert progress.place({}, lessons) == lessons / ".progress.json"
    monkeypatch.setattr(os, "access", lambda *args: False)
    assert progress.place({}, lessons) == at_home


def test_git_ignores_the_notes():
    text = (ROOT / ".gitignore").read_text(encoding="utf-8")
    assert "lessons/.progress.json*" in text.splitlines()


def command(*arguments, **variables):
    outside = {key: value for key, value in os.environ.items() if key != "PYTEST_VERSION"}
    return subprocess.run(
        [sys.executable, "lessons", *arguments],
        cwd=ROOT,
        env=outside | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def test_the_command_shows_and_forgets(notes, tmp_path):
    home = {"HOME": str(tmp_path / "home"), progress.VARIABLE: str(notes)}
    before = command("--progress", **home)
    assert before.returncode == 0
    assert f"are noted in {notes}, and nowhere else" in before.stderr
    assert "finished" in before.stdout.splitlines()[-1]
    for exercise, answer in RIGHT.items():
        check(exercise, answer)
    check("01.1", 3)
    predict("00.a", 1)
    after = command("--progress", **home)
    lines = after.stdout.splitlines()
    assert lines[0].split() == ["lesson", "exercises", "predictions"]
    assert lines[1].split()[-7:] == ["6", "of", "6", "1", "of", "2", "finished"]
    assert "0 of 6" in lines[2]
    assert lines[2].endswith("1 tried")
    assert "1 of" in lines[-1]
    assert str(notes) in after.stderr
    gone = command("--progress", "--reset", **home)
    assert gone.returncode == 0
    assert not notes.exists()
    assert "still there" in command("--progress", "--reset", **home).stderr
    assert command("--reset", **home).returncode == 2
    assert not (tmp_path / "home").exists()


def test_a_notebook_that_cannot_be_read_is_left_out(tmp_path):
    for name, text in (
        ("01_a.ipynb", "{"),
        ("02_b.ipynb", "[]"),
        ("03_c.ipynb", '{"cells": [], "metadata": {}, "nbformat": 4}'),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = [shown.contents(*each) for each in shown.readable(tmp_path)]
    assert found == [shown.Contents("03_c", (), ())]
    assert "0 of 0" in shown.table(found, shown.read(tmp_path / "no"))[1]


def test_the_table_counts_what_the_lessons_have():
    for path, cells in shown.readable(LESSONS):
        number, lesson = path.name[:2], shown.contents(path, cells)
        assert list(lesson.exercises) == [each.id for each in exercises_of(number)]
        assert all(name.startswith(f"{number}.") for name in lesson.predictions)
