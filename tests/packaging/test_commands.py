"""The two commands: their words, their options, and in which order they do what they do."""

import ast
import errno
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from _start import (
    boot,
    commands,
    console,
    copies,
    environment,
    progress,
    python_version,
    server,
    suite,
    trust,
    worked_example,
)
from _start.console import Trouble
from minigrad.classroom import desk as noting

ROOT = Path(__file__).resolve().parents[2]
OLD_GRAMMAR = [
    "lessons/__main__.py",
    "tests/__main__.py",
    "lessons/_start/__init__.py",
    "lessons/_start/python_version.py",
]


# ---- an old Python ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OLD_GRAMMAR)
def test_an_old_python_can_read_what_it_meets_first(name):
    tree = ast.parse((ROOT / name).read_text(encoding="utf-8"), feature_version=(3, 4))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr | ast.AnnAssign)]


@pytest.mark.parametrize("version", [(2, 7, 18), (3, 8, 1), (3, 10, 9), (3, 15, 0)])
def test_a_python_that_will_not_do_is_turned_away(version, monkeypatch):
    monkeypatch.setattr(sys, "version_info", version)
    told = ".".join(map(str, version))
    with pytest.raises(SystemExit, match=f"3.11 to 3.14; this is Python {told}") as stop:
        python_version.require("lessons")
    assert str(stop.value).endswith("3.14 lessons")


@pytest.mark.parametrize("version", [(3, 11, 0), (3, 12, 1), (3, 13, 0), (3, 14, 2)])
def test_a_python_that_will_do_passes(version, monkeypatch, capsys):
    monkeypatch.setattr(sys, "version_info", version)
    python_version.require("lessons")
    assert capsys.readouterr().err == ""


# ---- telling ------------------------------------------------------------------------------------


def test_trouble_is_told_without_a_traceback(capsys):
    def work():
        raise Trouble("the disk is full.", "Make room.", ["last words"])

    assert console.guarded(work) == 1
    said = capsys.readouterr().err
    assert said == "\nThis didn't work: the disk is full.\n    last words\nWhat to do: Make room.\n"


def test_a_command_is_run_and_what_it_prints_is_shown(capsys):
    program = "import sys; print('one', flush=True); print('two', file=sys.stderr); sys.exit(3)"
    command = [sys.executable, "-c", program]
    assert console.run(command, os.environ) == (3, ["one", "two"])
    assert capsys.readouterr().err == "  one\n  two\n"


# ---- python3 lessons ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("", "lessons"),
        ("--no-browser --port 9000", "lessons --no-browser --port 9000"),
        ("--copies", "lessons --copies"),
        ("--check", "check"),
        ("--reset --progress", "progress --reset"),
        ("--release 06 07", "release 06 07"),
        ("--cards deck.txt", "review --cards deck.txt"),
        ("--review", "review"),
        ("--book site", "book site"),
        ("--lite --pyodide full", "lite --pyodide full"),
    ],
)
def test_options_of_the_lessons_are_commands_of_minigrad(typed, words):
    assert boot.translated(typed.split()) == words.split()
    name, *rest = words.split()
    assert name in commands.cli.commands
    commands.cli.commands[name].make_context(name, rest, resilient_parsing=True)


def test_help_names_each_option_and_needs_nothing(capsys):
    assert boot.main(["--help"]) == 0
    said = capsys.readouterr().out
    options = {*boot.QUICK, *(f"--{each}" for each in boot.COMMANDS), "--port", "--pyodide"}
    assert {each for each in options if each not in said} == set()


@pytest.mark.parametrize(
    ("typed", "kind"), [(["--check"], "lessons"), (["--book"], "book"), (["--copies"], None)]
)
def test_it_runs_in_its_environment_unless_it_is_quick(typed, kind, monkeypatch, tmp_path):
    made, called = [], []
    home = environment.Environment(tmp_path, tmp_path / ".venv")
    monkeypatch.setattr(environment, "ensure", lambda kind: made.append(kind) or home)
    monkeypatch.setattr(console, "call", lambda command, env: called.append(command) or 0)
    assert boot.main(typed) == 0
    python = str(home.python) if kind else sys.executable
    assert made == ([kind] if kind else [])
    assert called == [[python, "-m", "minigrad", *boot.translated(typed)]]


@pytest.fixture
def done(monkeypatch, tmp_path):
    """What was done, in order: nothing but copies is real, and they are elsewhere."""
    happened = []
    (tmp_path / "lessons").mkdir()
    monkeypatch.setattr(commands, "CHECKOUT", True)
    monkeypatch.setattr(commands, "REPOSITORY", tmp_path)
    monkeypatch.setattr(commands, "settings", lambda own, outside: {})
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setattr(worked_example, "main", lambda: happened.append("example"))
    monkeypatch.setattr(trust, "notary", lambda: None)
    monkeypatch.setattr(trust, "sign", lambda *_: happened.append("sign"))
    monkeypatch.setattr(server, "find", lambda root: None)
    monkeypatch.setattr(console, "call", lambda *_, **options: happened.append("serve") or 0)
    monkeypatch.setattr(
        copies, "bring", lambda folder, rewrite: happened.append(f"copies {rewrite}") or NOTHING
    )

    return happened


NOTHING = copies.Outcome()


def test_check_does_everything_but_the_server(done):
    assert commands.main(["check"]) == 0
    assert done == ["copies True", "example", "sign"]


def test_jupyterlab_starts_when_the_example_is_right_and_notebooks_are_signed_meanwhile(done):
    assert commands.main(["lessons", "--no-browser"]) == 0
    assert done[:2] == ["copies True", "example"] and {*done[2:]} == {"serve", "sign"}


def test_a_second_start_finds_the_first(done, monkeypatch, capsys):
    monkeypatch.setattr(server, "find", lambda root: {"port": 8890, "token": "secret", "pid": 1})
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", "runtime")
    assert commands.main(["lessons", "--port", "9000"]) == 0
    assert done == ["copies False"]
    said = capsys.readouterr().err
    assert said.startswith("JupyterLab is already running.")
    assert "    http://127.0.0.1:8890/lab/tree/lessons?token=secret\n" in said
    done.clear()
    assert commands.main(["check"]) == 0
    assert done == ["copies False", "example", "sign"]


def test_where_no_copies_can_be_kept_jupyterlab_starts_all_the_same(done, monkeypatch, capsys):
    def bring(folder, rewrite):
        raise OSError(errno.EROFS, "Read-only file system", "mine")

    monkeypatch.setattr(copies, "bring", bring)
    assert commands.main(["lessons"]) == 0
    assert "serve" in done
    assert "can't be kept here: [Errno 30] Read-only file system: 'mine'" in capsys.readouterr().err
    assert commands.main(["lessons", "--copies"]) == 1


@pytest.mark.parametrize(
    "given", [["nothing"], ["lessons", "--port", "0"], ["check", "a"], ["grade"], ["--none"]]
)
def test_what_makes_no_sense_is_said_so(given, capsys):
    assert commands.main(given) == 2
    said = capsys.readouterr().err
    typed = f"{commands.PYTHON} lessons" if given[0] in ("lessons", "check") else "minigrad"
    assert f"Usage: {typed} " in said and f"Try '{typed} " in said and "Error: " in said


def test_answers_without_a_reason_are_collected(tmp_path, capsys):
    (tmp_path / "mine").mkdir()
    path = shutil.copy(ROOT / "lessons" / "06_full_backward_hooks.ipynb", tmp_path / "mine")
    text = Path(path).read_text(encoding="utf-8")
    assert progress.collect(tmp_path) == 0
    assert "0 answers got no reason" in capsys.readouterr().err
    for answer in ("(1, 2, 3, 4, 5)", "(90, 130, 40, 22, 1)"):
        said = noting.judge("06.1", eval(answer)).message
        assert progress.unexplained("06.1", said) == (answer == "(1, 2, 3, 4, 5)")
    assert text == Path(path).read_text(encoding="utf-8")


# ---- what Python is called ----------------------------------------------------------------------


WRITTEN = [
    "README.md",
    "lessons/AUTHORING.md",
    "lessons/INSTRUCTORS.md",
    "lessons/__main__.py",
    "tests/__main__.py",
    "minigrad/classroom/desk.py",
    *(f"lessons/_start/{path.name}" for path in (ROOT / "lessons" / "_start").glob("*.py")),
]


@pytest.mark.parametrize("name", WRITTEN)
def test_nothing_tells_to_type_python_where_only_python3_may_be(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert re.findall(r"\bpython (?:lessons|tests|-m)\b.*", text) == []


# ---- no notes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["", "none", "None", "NONE", " none "])
def test_none_means_that_no_notes_are_kept(value, tmp_path, monkeypatch, capsys):
    variables = {progress.VARIABLE: value}
    assert noting.place(variables, tmp_path) is None
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(progress.VARIABLE, value)
    monkeypatch.setattr(noting, "shell", object)
    noting._noted("predicted", "06.a")
    assert list(tmp_path.iterdir()) == []
    path = shutil.copy(ROOT / "lessons" / "00_start_here.ipynb", tmp_path)
    assert progress.show(tmp_path) == 0
    assert "switches notes off" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [Path(path)]


# ---- python3 tests ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "parallel"),
    [([], True), (["-k", "there", "-x"], True), (["tests/core", "-q"], False), (["--pdb"], True)],
)
def test_pytest_gets_the_arguments_as_they_are(given, parallel, monkeypatch, tmp_path):
    called = []
    home = environment.Environment(ROOT, tmp_path / ".venv")
    monkeypatch.setattr(environment, "ensure", lambda kind: home)
    monkeypatch.setattr(console, "call", lambda command, env, cwd: called.append(command) or 0)
    assert suite.run(given) == 0
    options = suite.PARALLEL if parallel else ()
    assert called == [[home.python, "-m", "pytest", *suite.NOTEBOOKS, *options, *given]]
