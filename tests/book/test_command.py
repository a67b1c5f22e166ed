"""`python3 lessons --book` and `minigrad book`: where the book goes, and what is said meanwhile."""

from pathlib import Path

import pytest

from _start import commands, console, environment, installed, lessons, sites
from _start.console import Trouble
from _tools import book as builder


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ([], "gathering the pages"),
        (["Running Sphinx", "reading sources... [  8%] lessons/01"], "reading pages, 8 %"),
        (["reading sources... [100%] x", "writing output... [ 42%] y", "."], "writing pages, 42 %"),
    ],
)
def test_the_progress_line_says_how_far_sphinx_is(printed, said):
    assert sites.pages(printed) == said


@pytest.mark.parametrize(
    ("typed", "folder"), [(["--book"], ""), (["--book", "site"], "site"), ([], None)]
)
def test_a_folder_may_be_named(typed, folder):
    assert lessons.parser().parse_args(typed).book == folder


@pytest.fixture
def built(monkeypatch):
    """What is run, instead of running it."""
    ran = []

    def run(command, title, env, describe):
        ran.append([str(part) for part in command[2:]])
        return (
            (1, ["x.md:3: WARNING: bad link", "build failed"]) if "bad" in ran[-1][1] else (0, [])
        )

    monkeypatch.setitem(console._called, "as", "")  # as it was before, afterward
    monkeypatch.setattr(sites, "run_with_progress", run)
    monkeypatch.setattr(environment, "repository", lambda: Path("/clone"))
    monkeypatch.setattr(
        environment,
        "ensure",
        lambda kind: ran.append(kind) or environment.Environment(Path("/clone"), Path("/venv")),
    )
    return ran


def test_in_a_clone_the_environment_is_made_for_it(built, tmp_path, capsys):
    assert lessons.main(["--book", str(tmp_path)]) == 0
    assert commands.main(["book"]) == 0
    clone = Path("/clone/lessons/book").resolve()
    assert built == ["book", ["book", str(tmp_path)], "book", ["book", str(clone)]]
    assert f"Open {tmp_path / 'index.html'} in a browser." in capsys.readouterr().err


def test_what_sphinx_objected_to_is_told(built, tmp_path, capsys):
    assert lessons.main(["--book", str(tmp_path / "bad")]) == 1
    said = capsys.readouterr().err
    assert "x.md:3: WARNING: bad link" in said
    assert "build failed" not in said


def test_with_an_installed_package_the_readers_python_builds_it(built, monkeypatch, tmp_path):
    monkeypatch.setattr(commands, "CHECKOUT", False)
    monkeypatch.setattr(installed, "NEEDED", {"book": ()})
    monkeypatch.chdir(tmp_path)
    assert commands.main(["book"]) == 0
    assert built == [["book", str(tmp_path / "minigrad-book")]]


def test_missing_packages_are_named_with_how_to_install_them(monkeypatch, tmp_path):
    monkeypatch.setitem(installed.NEEDED, "book", ("no_such_package",))
    with pytest.raises(Trouble, match="not installed: no_such_package") as trouble:
        installed.home(tmp_path, "book")
    assert 'pip install "minigrad-lessons[book]"' in trouble.value.advice


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
    home = environment.Environment(Path(__file__).resolve().parents[2], Path("/venv"))
    stamp = {"installed": {holds: environment.fingerprint(home.root, holds)}}
    assert {
        kind for kind in environment.LOCKS if environment.is_current(home, stamp, kind)
    } == enough


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path, capsys):
    (tmp_path / "thesis.md").write_text("years of work")
    assert builder.main(tmp_path) == 2
    assert (tmp_path / "thesis.md").read_text() == "years of work"
    assert "no book" in capsys.readouterr().err


@pytest.mark.parametrize(("code", "there"), [(0, {"index.html"}), (1, {"objects.inv"})])
def test_an_old_book_gives_way_to_a_new_one_that_is_complete(code, there, tmp_path, monkeypatch):
    def sphinx(command):
        (Path(command[-1]) / "index.html").parent.mkdir()
        (Path(command[-1]) / "index.html").write_text("")
        return code

    folder = tmp_path / "book"
    folder.mkdir()
    (folder / "objects.inv").write_text("")
    monkeypatch.setattr(builder, "sources", lambda folder, only: None)
    monkeypatch.setattr(builder.subprocess, "call", sphinx)
    assert builder.main(folder) == code
    assert {path.name for path in folder.iterdir()} == there
    assert {path.name for path in tmp_path.iterdir()} == {"book"}
