"""`python3 lessons --lite` and `minigrad lite`: where the site goes, and what Pyodide lacks."""

import json
from pathlib import Path

import pytest

from _start import commands, console, environment, installed, lessons, sites
from _tools import lite


@pytest.fixture
def built(monkeypatch):
    """What is run, instead of running it."""
    ran = []

    def run(command, title, env, describe):
        ran.append([str(part) for part in command[2:]])
        return 0, [".  build:icons:copy", "Mind: there is no numpy."]

    monkeypatch.setitem(console._called, "as", "")
    monkeypatch.setattr(sites, "run_with_progress", run)
    clone = environment.Environment(Path("/clone"), Path("/venv"))
    monkeypatch.setattr(environment, "repository", lambda: clone.root)
    monkeypatch.setattr(environment, "ensure", lambda kind: ran.append(kind) or clone)
    return ran


def test_in_a_clone_the_environment_is_made_for_it(built, tmp_path, capsys):
    site = str(tmp_path)
    assert lessons.main(["--lite", site, "--pyodide", site]) == 0
    assert commands.main(["lite"]) == 0
    default = str(Path("/clone/lessons/lite").resolve())
    assert built == ["lite", ["lite", site, "--pyodide", site], "lite", ["lite", default]]
    said = capsys.readouterr().err
    assert "Mind: there is no numpy." in said
    assert f'http.server --directory "{site}"' in said


def test_with_an_installed_package_the_readers_python_builds_it(built, monkeypatch, tmp_path):
    monkeypatch.setattr(commands, "CHECKOUT", False)
    monkeypatch.setitem(installed.NEEDED, "lite", ())
    monkeypatch.chdir(tmp_path)
    assert commands.main(["lite", "site", "--pyodide", "full"]) == 0
    assert built == [["lite", str(tmp_path / "site"), "--pyodide", str(tmp_path / "full")]]


def test_pyodide_alone_makes_no_sense(capsys):
    with pytest.raises(SystemExit):
        lessons.main(["--pyodide", "full"])
    assert "--pyodide goes with --lite" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ([], "packing minigrad"),
        (["x", ".  build:a", ".  build:b"], "2 parts"),
        (["copying Pyodide"],) * 2,
    ],
)
def test_the_progress_line_says_how_far_it_is(printed, said):
    assert sites.tasks(printed) == (said if isinstance(said, str) else said[0])


def test_what_a_pyodide_lacks_is_named(tmp_path):
    packages = {
        "numpy": {"file_name": "numpy.whl", "depends": []},
        "matplotlib": {"file_name": "matplotlib.whl", "depends": ["Six_Seven"]},
        "six-seven": {"file_name": "six_seven.whl", "depends": []},
        "ipython": {"file_name": "ipython.whl", "depends": ["nowhere"]},
    }
    (tmp_path / "pyodide-lock.json").write_text(json.dumps({"packages": packages}))
    for name in ("numpy", "six_seven", "ipython"):
        (tmp_path / f"{name}.whl").write_text("")
    assert lite.lacks(tmp_path) == ["matplotlib", "micropip", "nowhere"]
    del packages["matplotlib"]
    (tmp_path / "pyodide-lock.json").write_text(json.dumps({"packages": packages}))
    kernel = json.dumps(lite.settings(["sympy.whl"], tmp_path))
    assert "matplotlib" not in kernel
    assert "./static/pyodide/pyodide.mjs" in kernel


def test_a_folder_without_pyodide_is_refused(tmp_path, capsys):
    assert lite.main(tmp_path / "site", pyodide=tmp_path) == 2
    assert "there is no pyodide.mjs in" in capsys.readouterr().err
    assert not (tmp_path / "site").exists()
