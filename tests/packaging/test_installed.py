"""The package as it is installed from a wheel, and the command `minigrad`."""

import compileall
import io
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import minigrad.__main__
from _start import commands, console, doctor, installed
from _start.console import Trouble

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LESSONS = sorted(path.name for path in (ROOT / "lessons").glob("[0-9][0-9]_*.ipynb"))


# ---- the wheel ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """The wheel, built from this tree as it stands, and unpacked where Python can find it."""
    built, place = tmp_path_factory.mktemp("built"), tmp_path_factory.mktemp("unpacked")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(built)]
    variables = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=variables)
    assert done.returncode == 0, done.stderr
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
    compileall.compile_dir(place / "minigrad", quiet=1)  # once for all that run it
    return place


def ran(place, folder, *arguments):
    """Run the command as it was installed in `place`, in a folder of somebody's."""
    variables = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("MINIGRAD_", "PYTEST_VERSION"))
    } | {"PYTHONPATH": str(place), "HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "minigrad", *arguments]
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)


def test_the_wheel_holds_what_is_wanted_and_no_more(unpacked):
    assert {path.name for path in unpacked.iterdir()} == {
        "minigrad",
        "minigrad_lessons",
        "minigrad_lessons-0.1.0.dist-info",
    }
    for name in (
        "py.typed",
        "_functions.pyi",
        "signatures/index.txt",
        "viz/player.js",
        "viz/player.css",
        "viz/player.html",
        "viz/page.html",
        "viz/bench_page/index.html",
    ):
        assert (unpacked / "minigrad" / name).is_file()
    assert not list((unpacked / "minigrad").rglob("*.ipynb"))
    shipped = unpacked / "minigrad_lessons"
    assert sorted(path.name for path in shipped.glob("*.ipynb")) == LESSONS
    assert not (shipped / "mine").exists() and not list(shipped.glob(".progress*"))
    own = unpacked / "minigrad_lessons-0.1.0.dist-info"
    assert len([path for path in own.rglob("LICENSE") if path.stat().st_size > 900]) == 2
    told = (own / "METADATA").read_text(encoding="utf-8")
    assert "License-Expression: MIT AND CC-BY-4.0\n" in told
    assert [f"Provides-Extra: {extra}\n" in told for extra in ("lessons", "symbolic")] == [True] * 2
    assert "minigrad = minigrad.__main__:main" in (own / "entry_points.txt").read_text("utf-8")


def test_an_installed_package_lays_its_lessons_out(unpacked, tmp_path):
    done = ran(unpacked, tmp_path, "check")
    assert done.returncode == 0, done.stderr
    assert "All agree" in done.stdout
    assert "Start the lessons with:  minigrad lessons\n" in done.stderr
    there = tmp_path / installed.FOLDER / "lessons"
    assert sorted(path.name for path in there.glob("*.ipynb")) == LESSONS
    assert sorted(path.name for path in (there / "mine").glob("*.ipynb")) == LESSONS
    # in there, checks, data and notes are found; again, nothing is written
    program = (
        "from minigrad.classroom import judge\n"
        "from minigrad.classroom.data import digits\n"
        "from minigrad.classroom.desk import place\n"
        "print(judge('01.1', None).status, len(digits()[0]), place())"
    )
    variables = os.environ | {"PYTHONPATH": str(unpacked)}
    for name in ("MINIGRAD_PROGRESS", "PYTEST_VERSION"):  # either would say where notes are kept
        variables.pop(name, None)
    shown = subprocess.run(
        [sys.executable, "-P", "-c", program],
        cwd=there / "mine",
        env=variables,
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.split() == ["wrong", "1797", str(there / ".progress.json")]
    again = ran(unpacked, tmp_path, "progress", str(tmp_path / installed.FOLDER))
    assert again.returncode == 0 and "00 · Start here" in again.stdout
    assert str(there / ".progress.json") in again.stderr


def test_the_doctor_finds_what_is_here(unpacked, tmp_path):
    done = ran(unpacked, tmp_path, "doctor")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[-1] == "The lessons can run."
    assert [line.split()[:2] for line in lines if "minigrad_lessons" in line] == [["ok", "lessons"]]


# ---- the folder ---------------------------------------------------------------------------------


@pytest.fixture
def shipped(tmp_path):
    """Lessons as they come with a package, small."""
    place = tmp_path / "shipped"
    for name in ("00_a.ipynb", "solutions/00_a.ipynb", "reference/a.md", "checks/c.py", "LICENSE"):
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name} 1", encoding="utf-8")
    return place


def test_what_a_learner_needs_is_laid_out(shipped, tmp_path):
    root = tmp_path / "mine"
    assert installed.lay_out(root, shipped) == 4
    assert (root / "lessons" / "solutions" / "00_a.ipynb").read_text() == "solutions/00_a.ipynb 1"
    assert not (root / "lessons" / "checks").exists()  # out of a careless edit's reach
    assert installed.lay_out(root, shipped) == 0


def test_what_was_changed_in_the_folder_is_kept(shipped, tmp_path, capsys):
    root = tmp_path / "mine"
    installed.lay_out(root, shipped)
    (root / "lessons" / "00_a.ipynb").write_text("my work", encoding="utf-8")
    (shipped / "00_a.ipynb").write_text("new", encoding="utf-8")
    (shipped / "LICENSE").write_text("new", encoding="utf-8")
    assert installed.lay_out(root, shipped) == 2
    assert (root / "lessons" / "00_a.ipynb").read_text() == "new"
    (kept,) = (root / "lessons").glob("00_a.yours*.ipynb")
    assert kept.read_text() == "my work"
    assert capsys.readouterr().err == (
        f"lessons/00_a.ipynb was changed here; yours is kept as lessons/{kept.name}\n"
    )


def test_a_folder_with_other_things_is_left_alone(shipped, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter").touch()
    with pytest.raises(Trouble, match="a folder of lessons") as trouble:
        installed.lay_out(tmp_path / "thesis", shipped)
    assert trouble.value.advice == "Name a new folder:  minigrad lessons FOLDER"
    assert [path.name for path in (tmp_path / "thesis").iterdir()] == ["chapter"]


def test_where_nothing_can_be_written_there_is_advice(shipped, tmp_path, capsys):
    (tmp_path / "file").touch()
    assert console.guarded(lambda: installed.lay_out(tmp_path / "file" / "lessons", shipped)) == 1
    assert console.WRITABLE in capsys.readouterr().err


def test_the_folder_is_the_one_named_or_the_one_around_or_a_new_one(shipped, tmp_path):
    assert installed.folder("x", tmp_path) == tmp_path / "x"
    assert installed.folder(None, tmp_path) == tmp_path / installed.FOLDER
    installed.lay_out(tmp_path / "root", shipped)
    inside = tmp_path / "root" / "lessons"
    assert installed.folder(None, inside) == tmp_path / "root"


def test_missing_packages_are_named(monkeypatch):
    monkeypatch.setattr(installed.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Trouble, match="jupyterlab, ipykernel") as trouble:
        installed.require("lessons")
    assert 'pip install "minigrad-lessons[lessons]"' in trouble.value.advice


# ---- the command line ---------------------------------------------------------------------------


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """An installed package, with an empty folder to be in."""
    monkeypatch.setattr(commands, "CHECKOUT", False)
    monkeypatch.chdir(tmp_path)


def test_where_grading_misses_a_package_one_line_can_be_typed(monkeypatch):
    monkeypatch.setitem(sys.modules, "_tools.grading", None)
    monkeypatch.setattr(sys, "argv", ["minigrad", "grade", "handed_in"])
    with pytest.raises(SystemExit, match=r'pip install "minigrad-lessons\[lessons\]"'):
        minigrad.__main__.main()


def test_no_progress_is_told_of_a_folder_without_lessons(elsewhere, capsys):
    assert commands.main(["progress"]) == 1
    assert "name it:  minigrad progress FOLDER" in capsys.readouterr().err


def test_letters_that_a_console_does_not_have_stop_nothing(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    assert console.guarded(lambda: print("00 · Start here", flush=True) or 0) == 0
    assert written.getvalue().startswith(b"00 ? Start here")


# ---- the doctor ---------------------------------------------------------------------------------


def test_the_doctor_says_what_to_do(monkeypatch, capsys):
    real = doctor.importlib.metadata.version
    versions = {"numpy": "1.26.4", "jupyterlab": None, "torch": None}

    def version(name):
        if versions.get(name, "") is None:
            raise doctor.importlib.metadata.PackageNotFoundError(name)
        return versions.get(name) or real(name)

    def load(name):
        if name == "tqdm":
            raise ImportError("broken\nlong story")
        return __import__(name)

    monkeypatch.setattr(doctor.importlib.metadata, "version", version)
    monkeypatch.setattr(doctor.importlib, "import_module", load)
    assert doctor.main() == 1
    said = capsys.readouterr().out
    assert re.search(r"^WRONG +numpy +1\.26\.4, and .* is needed$", said, re.M)
    assert re.search(
        r"^WRONG +jupyterlab +not installed; for the lessons in a browser$", said, re.M
    )
    assert re.search(r"^optional +torch +not installed; for comparing .*$", said, re.M)
    assert re.search(r"^missing +tqdm +[\d.]+, but it can't be .* ImportError: broken$", said, re.M)
    assert 'What to do: pip install -e ".[lessons]", in the clone\n' in said
    assert said.endswith("The lessons can't run like this.\n")
