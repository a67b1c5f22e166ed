"""The two commands: their words, their options, and in which order they do what they do."""

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from _start import (
    console,
    copies,
    environment,
    lessons,
    progress,
    python_version,
    running,
    server,
    suite,
    trust,
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
def test_a_python_that_will_not_do_is_turned_away(version, monkeypatch, capsys):
    monkeypatch.setattr(sys, "version_info", version)
    monkeypatch.setattr(python_version, "find_others", lambda: ["python3.13"])
    with pytest.raises(SystemExit) as stop:
        python_version.require("lessons")
    said = capsys.readouterr().err
    assert stop.value.code == 2
    told = ".".join(map(str, version))
    assert said.startswith(f"minigrad needs Python 3.11 to 3.14; this is Python {told}.")
    assert "Run:  python3.13 lessons" in said


@pytest.mark.parametrize("version", [(3, 11, 0), (3, 12, 1), (3, 13, 0), (3, 14, 2)])
def test_a_python_that_will_do_passes(version, monkeypatch, capsys):
    monkeypatch.setattr(sys, "version_info", version)
    python_version.require("lessons")
    assert capsys.readouterr().err == ""


def test_without_another_python_the_advice_is_to_install_one():
    said = python_version.advice("tests", (3, 8, 1), [])
    assert "python.org" in said and said.endswith("3.14 tests")


# ---- telling ------------------------------------------------------------------------------------


def test_trouble_is_told_without_a_traceback(capsys):
    def work():
        raise Trouble("the disk is full.", "Make room.", ["last words"])

    assert console.guarded(work) == 1
    said = capsys.readouterr().err
    assert (
        said == "\nThis did not work: the disk is full.\n    last words\nWhat to do: Make room.\n"
    )


def test_ctrl_c_is_told_without_a_traceback(capsys):
    def work():
        raise KeyboardInterrupt

    assert console.guarded(work) == 130
    assert "run the same command again" in capsys.readouterr().err


def test_a_command_is_run_behind_a_progress_line(capsys):
    seen = []
    program = "import sys; print('one'); print('two', file=sys.stderr); sys.exit(3)"
    code, lines = console.run_with_progress(
        [sys.executable, "-c", program],
        "Doing",
        dict(os.environ),
        lambda lines: seen.append(lines) or "some",
    )
    assert code == 3
    assert sorted(lines) == ["one", "two"]
    assert seen
    assert capsys.readouterr().err.startswith("Doing ...\n  Doing: failed in")


def test_a_command_that_is_not_there(tmp_path, capsys):
    code, lines = console.run_with_progress([tmp_path / "none"], "Doing", {}, lambda lines: "")
    assert code == 127 and len(lines) == 1
    assert "could not start" in capsys.readouterr().err


# ---- python3 lessons ----------------------------------------------------------------------------


def test_a_release_names_its_lessons() -> None:
    assert lessons.parser().parse_args(["--release", "06", "07"]).release == ["06", "07"]
    assert lessons.parser().parse_args(["--release"]).release == []
    assert lessons.parser().parse_args([]).release is None


def test_options_of_the_lessons():
    options = lessons.parser().parse_args(["--no-browser", "--port", "9000"])
    expected = argparse.Namespace(
        check=False,
        copies=False,
        no_browser=True,
        port=9000,
        release=None,
        progress=False,
        review=False,
        cards=None,
        reset=False,
        table=None,
        book=None,
        lite=None,
        pyodide=None,
    )
    assert options == expected
    assert lessons.parser().parse_args(["--table", "06", "07"]).table == ["06", "07"]


@pytest.mark.parametrize("port", ["0", "65536", "-1", "http"])
def test_a_port_is_a_number_that_exists(port, capsys):
    with pytest.raises(SystemExit):
        lessons.parser().parse_args([f"--port={port}"])
    assert "is no port" in capsys.readouterr().err


@pytest.fixture
def done(monkeypatch, tmp_path):
    """What was done, in order: nothing but copies is real, and they are elsewhere."""
    happened = []
    home = environment.Environment(tmp_path, tmp_path / ".venv")
    (tmp_path / "lessons").mkdir()
    monkeypatch.setattr(environment, "repository", lambda: tmp_path)
    monkeypatch.setattr(environment, "ensure", lambda kind: happened.append(kind) or home)
    monkeypatch.setattr(lessons, "check_worked_example", lambda home: happened.append("example"))
    monkeypatch.setattr(trust, "sign", lambda *_: happened.append("sign") or 0)
    monkeypatch.setattr(trust, "sign_meanwhile", lambda *_: happened.append("sign meanwhile"))
    monkeypatch.setattr(running, "find", lambda home: None)
    monkeypatch.setattr(
        copies, "bring", lambda folder, rewrite: happened.append(f"copies {rewrite}") or NOTHING
    )

    def serve(home, port, browser, meanwhile, afterward):
        happened.append("serve")
        meanwhile()
        afterward()
        return 0

    monkeypatch.setattr(server, "serve", serve)
    return happened


NOTHING = copies.Outcome()


def test_check_does_everything_but_the_server(done):
    assert lessons.main(["--check"]) == 0
    assert done == ["lessons", "copies True", "example", "sign"]


def test_jupyterlab_starts_before_the_example_runs_and_before_notebooks_are_signed(done):
    assert lessons.main(["--no-browser"]) == 0
    assert done == ["lessons", "copies True", "serve", "example", "sign meanwhile"]


def test_copies_alone_need_no_environment(done):
    assert lessons.main(["--copies"]) == 0
    assert done == ["copies True"]


def test_a_second_start_finds_the_first(done, monkeypatch, capsys):
    there = running.Running(8890, "secret", None)
    monkeypatch.setattr(running, "find", lambda home: there)
    assert lessons.main(["--port", "9000"]) == 0
    assert done == ["copies False"]
    said = capsys.readouterr().err
    assert said.startswith("JupyterLab runs already.")
    assert "    http://127.0.0.1:8890/lab/tree/lessons?token=secret\n" in said
    done.clear()
    assert lessons.main(["--check"]) == 0
    assert done == ["lessons", "copies False", "example", "sign"]


def test_where_no_copies_can_be_kept_jupyterlab_starts_all_the_same(done, monkeypatch, capsys):
    def bring(folder, rewrite):
        raise Trouble("copies cannot be kept: Read-only file system.", "Make room.")

    monkeypatch.setattr(copies, "bring", bring)
    assert lessons.main([]) == 0
    assert "serve" in done
    assert "Mind: copies cannot be kept: Read-only file system.\nMake" in capsys.readouterr().err
    assert lessons.main(["--copies"]) == 1


def test_a_failing_worked_example_stops_the_check(monkeypatch, tmp_path, capsys):
    home = environment.Environment(tmp_path, tmp_path)
    failed = subprocess.CompletedProcess([], 1)
    monkeypatch.setattr(lessons.subprocess, "run", lambda *_, **__: failed)
    monkeypatch.setattr(environment, "repository", lambda: tmp_path)
    monkeypatch.setattr(environment, "ensure", lambda kind: home)
    assert lessons.main(["--check"]) == 1
    assert "the worked example failed" in capsys.readouterr().err


# ---- what Python is called ----------------------------------------------------------------------


@pytest.mark.parametrize(("system", "name"), [("nt", "python"), ("posix", "python3")])
def test_messages_name_the_python_that_a_stock_system_has(system, name, monkeypatch):
    with monkeypatch.context() as elsewhere:  # no longer than this: pytest asks for the name, too
        elsewhere.setattr(console.os, "name", system)
        said = console.python_command("lessons --check")
    assert said == f"{name} lessons --check"


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
    assert progress.place(tmp_path, variables) is None
    assert noting.place(variables, tmp_path) is None
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(progress.VARIABLE, value)
    monkeypatch.setattr(noting, "shell", object)
    noting._noted("predicted", "06.a")
    assert list(tmp_path.iterdir()) == []
    path = shutil.copy(ROOT / "lessons" / "00_start_here.ipynb", tmp_path)
    assert progress.show(tmp_path) == 0
    assert "No notes are kept" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [Path(path)]


@pytest.mark.parametrize("value", ["none.json", "./none", "~/notes"])
def test_any_other_name_is_a_file(value, tmp_path):
    variables = {progress.VARIABLE: value}
    assert progress.place(tmp_path, variables) == Path(value).expanduser()
    assert noting.place(variables, tmp_path) == Path(value).expanduser()


# ---- python3 tests ------------------------------------------------------------------------------

PARALLEL = ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]


@pytest.mark.parametrize(
    ("given", "parallel"),
    [
        ([], True),
        (["-k", "hooks"], True),
        (["-k", "there"], True),
        (["-x", "-q"], True),
        (["-n0"], False),
        (["-n", "3"], False),
        (["--dist=no"], False),
        (["--pdb"], False),
        (["--collect-only", "-q"], False),
        (["--version"], False),
    ],
)
def test_pytest_gets_the_arguments_as_they_are(given, parallel, tmp_path):
    (tmp_path / "there").touch()
    result = suite.pytest_arguments(given, tmp_path, 2)
    assert result == [*suite.NOTEBOOKS, *(PARALLEL if parallel else []), *given]


@pytest.mark.parametrize("test", ["", "::test_a", "::Test::test_b[1]"])
def test_a_path_is_seen_from_where_it_was_typed(test, tmp_path):
    (tmp_path / "some dir").mkdir()
    result = suite.pytest_arguments(["some dir" + test, "-q"], tmp_path, 2)
    assert result == [*suite.NOTEBOOKS, str((tmp_path / "some dir").resolve()) + test, "-q"]


def test_one_processor_needs_no_workers(tmp_path):
    assert suite.pytest_arguments([], tmp_path, 1) == list(suite.NOTEBOOKS)


def test_workers_are_few():
    assert 1 <= suite.worker_count() <= suite.MOST_WORKERS


class Item:
    def __init__(self, name, marked):
        self.nodeid, self.marked = name, marked

    def get_closest_marker(self, name):
        return self.marked


def test_what_runs_pytorch_beside_is_left_to_all(request):
    conftest = request.config.pluginmanager.getplugin(
        str(Path(__file__).parents[1] / "conftest.py")
    )
    live, others = Item("test_x.py::test_a", True), Item("test_y.py::test_c", False)
    for takes_all, kept in ((False, [others]), (True, [live, others])):
        items, left = [live, others], []
        config = SimpleNamespace(
            option=SimpleNamespace(all=takes_all),
            hook=SimpleNamespace(pytest_deselected=lambda items, left=left: left.extend(items)),
        )
        conftest.pytest_collection_modifyitems(config, items)
        assert items == kept and left == ([] if takes_all else [live])
