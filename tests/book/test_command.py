"""The commands that build the book, and the site that computes: where it goes, and what is said."""

from pathlib import Path

import pytest

from _start import commands, console, environment, installed
from _tools import book, lite


@pytest.fixture
def built(monkeypatch):
    """What is run, instead of running it."""
    ran = []
    monkeypatch.setattr(
        console, "call", lambda command: ran.append([str(part) for part in command[2:]]) or 0
    )
    monkeypatch.setattr(commands, "REPOSITORY", Path("/clone"))
    return ran


@pytest.mark.parametrize("kind", ["book", "lite"])
@pytest.mark.parametrize("clone", [True, False])
def test_a_site_is_built_where_it_was_named(built, clone, kind, monkeypatch, tmp_path):
    more = ["--pyodide", str(tmp_path)] if kind == "lite" else []
    monkeypatch.setattr(commands, "CHECKOUT", clone)
    monkeypatch.chdir(tmp_path)
    assert commands.main([kind, str(tmp_path), *more]) == 0
    assert commands.main([kind]) == 0
    default = Path(f"/clone/lessons/{kind}") if clone else tmp_path / f"minigrad-{kind}"
    assert built == [[kind, str(tmp_path), *more], [kind, str(default.resolve())]]


def test_a_package_that_a_site_needs_is_named(monkeypatch, capsys):
    monkeypatch.setitem(installed.NEEDED, "book", ("no_such_package",))
    assert commands.main(["book"]) == 1
    said = capsys.readouterr().err
    assert "aren't installed: no_such_package" in said
    assert 'pip install "minigrad-lessons[book]"' in said


@pytest.mark.parametrize(
    ("holds", "enough"),
    [
        ("lessons", {"lessons"}),
        ("book", {"lessons", "book"}),
        ("lite", {"lessons", "lite"}),
        ("tests", {*environment.LOCKS}),
    ],
)
def test_an_environment_with_more_is_enough_for_less(holds, enough):
    root = Path(__file__).resolve().parents[2]
    held = {holds: environment.fingerprint(root, holds)}
    current = {kind for kind in environment.LOCKS if environment.is_current(root, held, kind)}
    assert current == enough


@pytest.mark.parametrize("builder", [book, lite])
def test_a_folder_with_something_else_in_it_is_left_alone(builder, tmp_path, capsys):
    (tmp_path / "thesis.md").write_text("years of work")
    assert builder.main(tmp_path) == 2
    assert (tmp_path / "thesis.md").read_text() == "years of work"
    assert "isn't empty" in capsys.readouterr().err


@pytest.mark.parametrize(("code", "there"), [(0, {"index.html"}), (1, {"objects.inv"})])
def test_an_old_book_gives_way_to_a_new_one_that_is_complete(code, there, tmp_path, monkeypatch):
    def sphinx(command):
        (Path(command[-1]) / "index.html").parent.mkdir()
        (Path(command[-1]) / "index.html").write_text("")
        return code

    folder = tmp_path / "book"
    folder.mkdir()
    (folder / "objects.inv").write_text("")
    monkeypatch.setattr(book, "sources", lambda folder, only: None)
    monkeypatch.setattr(book.subprocess, "call", sphinx)
    assert book.main(folder) == code
    assert {path.name for path in folder.iterdir()} == there
    assert {path.name for path in tmp_path.iterdir()} == {"book"}


@pytest.mark.parametrize("code", [0, 1])
def test_pyodide_is_where_jupyterlite_looks_and_how_to_serve_the_site_is_said(
    code, tmp_path, monkeypatch, capsys
):
    def built(command, cwd, env):
        assert (cwd / "static" / "pyodide" / "pyodide.mjs").is_file()
        Path(command[-2].partition("=")[2]).mkdir()
        return code

    (tmp_path / "pyodide").mkdir()
    (tmp_path / "pyodide" / "pyodide.mjs").write_text("")
    monkeypatch.setattr(lite.staging, "stage", lambda folder, only: folder.mkdir())
    monkeypatch.setattr(lite.subprocess, "call", built)
    assert lite.main(tmp_path / "site", pyodide=tmp_path / "pyodide") == code
    served = f'python3 -m http.server -d "{tmp_path / "site"}"'
    assert (served in capsys.readouterr().out) == (code == 0)
