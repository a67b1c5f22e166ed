"""`lessons/mine`: copies are made, linked rightly, brought up to date, and never lost."""

import copy
import errno
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest

from _start import copies, notebooks, progress
from _tools import places
from tests.packaging.revisions import LESSON, SHOWN, Edits, changed, code, inserted, typed

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = sorted((ROOT / "lessons").glob(copies.LESSONS))
NAME = "06_a_lesson.ipynb"


def notebook(cells, **language):
    about = {"name": "python", **language}
    metadata = {"kernelspec": {"name": "python3"}, "language_info": about}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def save(path, cells, **language):
    """Write a notebook; as Jupyter does, what else is noted in it stays."""
    made = notebook(copy.deepcopy(cells), **language)
    if path.exists():
        made["metadata"] = notebooks.read(path)["metadata"] | made["metadata"]
    notebooks.write(path, notebooks.as_bytes(made))


@pytest.fixture
def lessons(tmp_path):
    """A folder with one published lesson, which was run."""
    folder = tmp_path / "lessons"
    cells = copy.deepcopy(LESSON)
    for count, cell in enumerate((c for c in cells if c["cell_type"] == "code"), start=1):
        cell.update(outputs=copy.deepcopy(SHOWN), execution_count=count)
    save(folder / NAME, cells)
    return folder


def mine(lessons):
    return lessons / "mine" / NAME


def older(lessons):
    return sorted((lessons / "mine" / "older").glob("*"))


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def said(lessons, **options):
    return "\n".join(copies.bring(lessons, **options).lines())


# ---- a fresh copy -------------------------------------------------------------------------------


def test_a_copy_is_a_lesson_that_nobody_ran(lessons):
    lesson = notebooks.read(lessons / NAME)
    lesson["cells"][4]["metadata"] = {
        "jupyter": {"outputs_hidden": True, "source_hidden": True},
        "tags": ["hide-input", "hide-output"],
    }
    lesson["cells"][1]["metadata"] = {"jupyter": {"outputs_hidden": True}, "tags": ["hide-output"]}
    save(lessons / NAME, lesson["cells"])
    before = files(lessons)
    assert said(lessons) == "Lessons: 06_a_lesson made in lessons/mine. Work in there."
    made = notebooks.read(mine(lessons))["cells"]
    assert [notebooks.text(cell) for cell in made] == [notebooks.text(cell) for cell in LESSON]
    assert [cell["id"] for cell in made] == [cell["id"] for cell in LESSON]
    runs = [cell for cell in made if cell["cell_type"] == "code"]
    assert all((cell["outputs"], cell["execution_count"]) == ([], None) for cell in runs)
    assert made[4]["metadata"] == {"jupyter": {"source_hidden": True}, "tags": ["hide-input"]}
    assert made[1]["metadata"] == {}
    assert before.items() <= files(lessons).items()


def test_jupyter_can_read_every_copy(tmp_path):
    for path in PUBLISHED:
        shutil.copy(path, tmp_path)
    assert f"{len(PUBLISHED)} copies made" in said(tmp_path)
    made, found = sorted((tmp_path / "mine").glob("*.ipynb")), []
    assert [path.name for path in made] == [path.name for path in PUBLISHED]
    for path in made:
        read = nbformat.read(path, as_version=4)
        nbformat.validate(read)
        assert nbformat.writes(read) + "\n" == path.read_text(encoding="utf-8")
    for place in (tmp_path, tmp_path / "mine"):
        found.append([progress.contents(*each) for each in progress.readable(place)])
    assert found[0] == found[1]


def test_nothing_changed_nothing_done(lessons):
    said(lessons)
    work = changed(notebooks.read(mine(lessons))["cells"], 5, "five = 5", outputs=SHOWN)
    save(mine(lessons), work, version="3.11.7")
    before = {path: path.stat().st_mtime_ns for path in files(lessons)}
    cells = notebooks.read(lessons / NAME)["cells"]
    save(lessons / NAME, changed(cells, 1, "x = 3", outputs=[], execution_count=7))
    assert said(lessons) == ""
    after = {path: path.stat().st_mtime_ns for path in files(lessons)}
    assert {path for path in after if after[path] != before.get(path)} == {lessons / NAME}


# ---- up to date ---------------------------------------------------------------------------------


def revise(lessons, cells):
    """Publish another version of the lesson, with outputs of its own."""
    published = copy.deepcopy(cells)
    for cell in published:
        if cell["cell_type"] == "code":
            cell.update(outputs=copy.deepcopy(SHOWN))
    save(lessons / NAME, published)


def test_answers_are_carried_over_and_the_copy_is_kept_as_it_was(lessons):
    said(lessons)
    save(mine(lessons), changed(LESSON, 5, "five = 5"), version="3.11.7")
    text = mine(lessons).read_bytes()
    revise(lessons, changed(LESSON, 1, "x = 4"))
    outcome = copies.bring(lessons)
    (kept,) = older(lessons)
    assert outcome.lines() == [
        "Lesson 06 has changed: your copy is up to date, with all that you wrote; as it was: "
        f"lessons/mine/older/{kept.name}"
    ]
    assert re.fullmatch(r"06_a_lesson_\d{4}-\d\d-\d\d_[\d.]+\.ipynb", kept.name)
    assert kept.read_bytes() == text
    now = notebooks.read(mine(lessons))
    assert [c["source"] for c in now["cells"]][1:6:4] == ["x = 4", "five = 5"]
    assert now["metadata"]["language_info"]["version"] == "3.11.7"
    assert said(lessons) == ""
    assert outcome.rewritten == [(kept, mine(lessons))]


def test_an_untouched_copy_is_replaced_without_ado(lessons):
    said(lessons)
    revise(lessons, changed(LESSON, 1, "x = 4"))
    assert said(lessons) == "Lesson 06 has changed: your copy is up to date"
    assert older(lessons) == []
    assert notebooks.read(mine(lessons))["cells"][1]["source"] == "x = 4"


def test_what_stands_twice_is_told(lessons):
    said(lessons)
    save(mine(lessons), changed(changed(LESSON, 1, "x = 5"), 9, "My summary"))
    revise(lessons, changed(LESSON, 1, "x = 4"))
    first, second = copies.bring(lessons).lines()
    assert "as it was" in first
    assert "You and the lesson changed the same cells" in second
    text = mine(lessons).read_text(encoding="utf-8")
    assert re.search(r'"([^"]+)"', second)[1] in text


def test_while_jupyterlab_runs_copies_are_made_and_not_rewritten(lessons):
    said(lessons)
    save(mine(lessons), changed(LESSON, 5, "five = 5"))
    text = mine(lessons).read_bytes()
    revise(lessons, changed(LESSON, 1, "x = 4"))
    shutil.copy(lessons / NAME, lessons / "07_new.ipynb")
    told = said(lessons, rewrite=False)
    assert "07_new made in" in told
    assert "Lesson 06 has changed: to get that in lessons/mine, stop JupyterLab" in told
    assert mine(lessons).read_bytes() == text and older(lessons) == []
    assert "up to date, with" in said(lessons)


# ---- what may go wrong --------------------------------------------------------------------------

BROKEN = [
    b"",
    b"{",
    b"[]",
    b'{"cells": 1}',
    b'{"cells": [], "nbformat": 3}',
    b"\xff\xfe",
    b"[" * 9999,
]
BROKEN += [b'{"nbformat": 4, "cells": [%b]}' % cell for cell in (b"1", b'{"cell_type": "code"}')]


@pytest.mark.parametrize("data", BROKEN)
def test_a_copy_that_cannot_be_read_is_moved_away(lessons, data):
    said(lessons)
    fresh = mine(lessons).read_bytes()
    mine(lessons).write_bytes(data)
    assert "stop JupyterLab" in said(lessons, rewrite=False)
    assert mine(lessons).read_bytes() == data
    told = said(lessons)
    (kept,) = older(lessons)
    assert told.startswith("Lesson 06: your copy could not be read, ") and kept.name in told
    assert (kept.read_bytes(), mine(lessons).read_bytes()) == (data, fresh)


def test_a_lesson_that_cannot_be_read_leaves_its_copy(lessons):
    said(lessons)
    before = files(lessons / "mine")
    (lessons / NAME).write_text("<<<<<<< HEAD\n{}", encoding="utf-8")
    assert f"git restore lessons/{NAME}" in said(lessons)
    assert files(lessons / "mine") == before


@pytest.mark.parametrize("loss", ["base gone", "base broken", "another base", "note gone"])
def test_without_knowing_the_old_lesson_nothing_is_lost(lessons, loss):
    said(lessons)
    base = lessons / "mine" / ".published" / NAME
    save(mine(lessons), changed(changed(LESSON, 5, "five = 5"), 1, "x = 5"))
    if loss == "base gone":
        base.unlink()
    elif loss == "base broken":
        base.write_bytes(b"{")
    elif loss == "another base":
        save(base, LESSON[::-1])
        found = notebooks.read(base)
        found["metadata"]["minigrad"]["published"] = "another"
        notebooks.write(base, notebooks.as_bytes(found))
    else:
        cells = notebooks.read(mine(lessons))["cells"]
        mine(lessons).unlink()
        save(mine(lessons), cells)
    revise(lessons, changed(LESSON, 9, "## What you know"))
    said(lessons)
    sources = [cell["source"] for cell in notebooks.read(mine(lessons))["cells"]]
    assert {"five = 5", "## What you know"} <= set(sources)
    assert any(source.endswith("x = 5") for source in sources)
    assert said(lessons) == ""


def test_being_stopped_between_two_files_does_no_harm(lessons, monkeypatch):
    said(lessons)
    save(mine(lessons), changed(LESSON, 5, "five = 5"))
    revise(lessons, inserted(LESSON, 0, {**code("y = 1"), "id": "cell-900"}))
    write, base = notebooks.write, lessons / "mine" / ".published" / NAME

    def stopped(path, data):
        if path == base:
            raise KeyboardInterrupt
        write(path, data)

    monkeypatch.setattr(notebooks, "write", stopped)
    with pytest.raises(KeyboardInterrupt):
        copies.bring(lessons)
    monkeypatch.undo()
    done = mine(lessons).read_bytes()
    assert b"five = 5" in done and b"y = 1" in done
    assert said(lessons) == ""
    assert mine(lessons).read_bytes() == done
    revise(lessons, changed(LESSON, 1, "x = 4"))
    assert "with all that you wrote" in said(lessons)


@pytest.mark.parametrize("step", range(3))
def test_a_full_disk_is_told_and_loses_nothing(lessons, monkeypatch, step):
    said(lessons)
    save(mine(lessons), changed(LESSON, 5, "five = 5"))
    text = mine(lessons).read_bytes()
    revise(lessons, changed(LESSON, 1, "x = 4"))
    left, fsync = [step], os.fsync

    def full(descriptor):
        if not left[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        left[0] -= 1
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device"):
        copies.bring(lessons)
    monkeypatch.undo()
    assert text in files(lessons / "mine").values()
    assert not [path for path in files(lessons) if path.name.startswith(".06")]
    said(lessons)
    assert b"x = 4" in mine(lessons).read_bytes() and b"five = 5" in mine(lessons).read_bytes()


def test_a_folder_that_cannot_be_written_to_is_told(lessons):
    (lessons / "mine").write_text("a file in its place", encoding="utf-8")
    with pytest.raises(OSError, match="mine"):
        copies.bring(lessons)
    assert (lessons / "mine").read_text(encoding="utf-8") == "a file in its place"


# ---- somebody worked in the published lesson ----------------------------------------------------


@pytest.fixture
def repository(lessons):
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Lessons"]):
        git(lessons, *command)
    return lessons


def git(lessons, *command):
    who = ["-c", "user.name=ada", "-c", "user.email=ada@example.org", "-c", "core.autocrlf=false"]
    subprocess.run(["git", *who, *command], cwd=lessons, check=True, capture_output=True)


def test_what_was_written_into_the_published_lesson_goes_into_the_copy(repository):
    save(repository / NAME, changed(LESSON, 5, "five = 5"), version="3.11.7")
    told = said(repository)
    assert "06_a_lesson made in" in told and "Your copy has what you wrote there." in told
    assert f"git restore lessons/{NAME}" in told
    git(repository, "restore", NAME)
    assert said(repository) == ""
    revise(repository, changed(LESSON, 1, "x = 4"))
    assert "with all that you wrote" in said(repository)
    assert b"five = 5" in mine(repository).read_bytes()


def test_a_published_lesson_that_was_run_does_not_touch_the_copy(repository):
    said(repository)
    before = files(repository / "mine")
    save(repository / NAME, changed(LESSON, 5, "five = 5"), version="3.11.7")
    assert "git pull may stop" in said(repository)
    assert files(repository / "mine") == before


def test_a_solution_that_was_saved_is_named(repository):
    solution = repository / "solutions" / NAME
    save(solution, LESSON)
    git(repository, "add", solution)
    git(repository, "commit", "-q", "-m", "A solution")
    assert "solutions" not in said(repository)
    save(solution, LESSON, version="3.11.7")
    told = said(repository)
    assert (
        f"git pull may stop at it. To undo the change: git restore lessons/solutions/{NAME}" in told
    )
    git(repository, "restore", f"solutions/{NAME}")
    assert said(repository) == ""


def test_the_lessons_of_this_repository_are_as_published():
    assert [p.name for p in PUBLISHED if copies._as_committed(p, notebooks.read(p))] == []


# ---- any edits ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_whatever_was_typed_is_in_the_copy_or_in_an_older_one(tmp_path, seed):
    edits = Edits(seed)
    base = edits.lesson()
    revise(tmp_path, base)
    said(tmp_path)
    marks = set()
    for _ in range(3):
        work = edits.worked_in(notebooks.read(mine(tmp_path))["cells"])
        save(mine(tmp_path), work, version="3.11.7")
        marks |= typed(work)
        base = edits.revised(base)
        revise(tmp_path, base)
        said(tmp_path)
        kept = [mine(tmp_path), *older(tmp_path)]
        cells = [cell for path in kept for cell in notebooks.read(path)["cells"]]
        assert marks <= typed(cells)
        assert typed(work) <= typed(notebooks.read(mine(tmp_path))["cells"])
        before = files(tmp_path)
        assert said(tmp_path) == ""
        assert files(tmp_path) == before


# ---- the command, and those who look for notebooks ----------------------------------------------


def test_the_command_makes_no_environment(lessons):
    shutil.copytree(ROOT / "lessons" / "_start", lessons / "_start")
    shutil.copytree(ROOT / "minigrad", lessons.parent / "minigrad")
    shutil.copy(ROOT / "lessons" / "__main__.py", lessons)
    (lessons.parent / "pyproject.toml").touch()
    command = [sys.executable, "lessons", "--copies"]
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    where = {"cwd": lessons.parent, "env": variables, "capture_output": True, "text": True}
    done = [subprocess.run(command, **where) for _ in range(2)]
    assert [each.returncode for each in done] == [0, 0], done[0].stderr
    assert "06_a_lesson made in" in done[0].stderr and done[1].stderr == ""
    assert mine(lessons).exists() and not (lessons.parent / ".venv").exists()


def test_git_pytest_ruff_and_the_lint_pass_the_copies_by():
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "lessons/mine/" in ignored
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    assert copies.FOLDER in project["pytest"]["ini_options"]["norecursedirs"]
    assert "lessons/mine" in project["ruff"]["extend-exclude"]
    listed = [*places.learners(), *places.solutions()]
    assert not [path for path in listed if copies.FOLDER in path.relative_to(ROOT).parts]
