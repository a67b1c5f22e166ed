"""When the environment is made again, how it is filled, and what is said when that fails."""

import os
from pathlib import Path

import pytest

from _start import environment
from _start.console import Trouble

ROOT = Path(__file__).resolve().parents[2]

# ---- the environment ----------------------------------------------------------------------------


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A repository in which building an environment only writes down that it happened."""
    root = tmp_path / "a project"
    for name in (*environment.LOCKS.values(), "pyproject.toml"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("# " + name, encoding="utf-8")
    built: list[tuple[str, bool]] = []

    def install(home, env, lock, fresh):
        built.append((lock.parent.name, fresh))
        home.python.parent.mkdir(parents=True, exist_ok=True)
        home.python.touch()

    monkeypatch.setattr(environment, "install", install)
    return root, built


def test_the_first_run_builds_and_the_second_does_not(tree):
    root, built = tree
    home = environment.ensure("lessons", root, {})
    assert home.venv == root / ".venv"
    environment.ensure("lessons", root, {})
    assert built == [("lessons", True)]


def test_tests_add_to_the_environment_of_the_lessons_and_serve_them_too(tree):
    root, built = tree
    for kind in ("lessons", "tests", "lessons", "tests"):
        environment.ensure(kind, root, {})
    assert built == [("lessons", True), ("tests", False)]


@pytest.mark.parametrize("name", ["lessons/requirements.txt", "pyproject.toml"])
def test_a_changed_lock_or_project_brings_the_environment_up_to_date(tree, name):
    root, built = tree
    environment.ensure("lessons", root, {})
    (root / name).write_text("changed", encoding="utf-8")
    environment.ensure("lessons", root, {})
    environment.ensure("lessons", root, {})
    assert built == [("lessons", True), ("lessons", False)]


def test_an_interrupted_run_leaves_nothing_that_counts_as_done(tree, monkeypatch):
    root, built = tree
    whole = environment.install

    def interrupted(home, env, lock, fresh):
        whole(home, env, lock, fresh)
        (home.venv / "half").mkdir()
        raise KeyboardInterrupt

    monkeypatch.setattr(environment, "install", interrupted)
    with pytest.raises(KeyboardInterrupt):
        environment.ensure("lessons", root, {})
    monkeypatch.setattr(environment, "install", whole)
    home = environment.ensure("lessons", root, {})
    assert built == [("lessons", True), ("lessons", True)]
    assert not (home.venv / "half").exists()


def test_a_moved_project_is_noticed(tree):
    root, built = tree
    environment.ensure("lessons", root, {})
    moved = root.rename(root.with_name("moved"))
    environment.ensure("lessons", moved, {})
    assert built == [("lessons", True), ("lessons", True)]


@pytest.mark.parametrize("version", [None, "3.10"])
def test_a_broken_or_other_python_is_noticed(tree, monkeypatch, version):
    root, built = tree
    home = environment.ensure("lessons", root, {})
    if version:
        monkeypatch.setattr(environment, "HERE", version)
    else:
        home.python.unlink()
    environment.ensure("lessons", root, {})
    assert built == [("lessons", True), ("lessons", True)]


def test_the_environment_of_someone_else_is_used_but_never_deleted(tree):
    root, built = tree
    home = environment.Environment(root, root / ".venv")
    home.python.parent.mkdir(parents=True)
    home.python.touch()
    environment.ensure("lessons", root, {})
    assert built == [("lessons", False)]
    precious = home.venv / "precious"
    precious.touch()
    home.python.unlink()
    with pytest.raises(Trouble, match="did not make"):
        environment.ensure("lessons", root, {})
    assert precious.exists()


def test_a_directory_that_is_no_environment_is_left_alone(tree, tmp_path):
    root, built = tree
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter").touch()
    with pytest.raises(Trouble) as trouble:
        environment.ensure("lessons", root, {"MINIGRAD_VENV": str(tmp_path / "home")})
    assert "MINIGRAD_VENV" in trouble.value.advice
    assert built == [] and (tmp_path / "home" / "letter").exists()


def test_a_place_that_cannot_be_written_is_a_trouble_with_advice(tree, tmp_path):
    root, _ = tree
    (tmp_path / "file").touch()
    with pytest.raises(Trouble) as trouble:
        environment.ensure("lessons", root, {"MINIGRAD_VENV": str(tmp_path / "file" / "venv")})
    assert "MINIGRAD_VENV" in trouble.value.advice


def test_programs_inside_see_this_environment_alone(tmp_path):
    outside = {"PYTHONPATH": "x", "JUPYTER_PATH": "x", "PIP_USER": "1", "HOME": "h", "PATH": "p"}
    outside["OMP_NUM_THREADS"] = "2"  # what the reader says
    home = environment.Environment(tmp_path, tmp_path / ".venv")
    inside = home.variables(outside)
    assert not set(environment.FOREIGN) & set(inside)
    assert inside["HOME"] == "h"
    assert (inside["OMP_NUM_THREADS"], inside["OPENBLAS_NUM_THREADS"]) == ("2", "1")
    assert inside["PATH"].split(os.pathsep) == [str(home.python.parent), "p"]
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        assert Path(inside[name]).is_relative_to(home.venv)


# ---- installing ---------------------------------------------------------------------------------


@pytest.fixture
def ran(monkeypatch):
    """The commands that were run, each with "uv" or "pip" for the program; they answer as told."""
    commands, answers = [], []

    def run(command, env):
        commands.append([str(part) for part in command])
        return answers.pop(0) if answers else (0, [])

    monkeypatch.setattr(environment, "run", run)
    monkeypatch.setattr(environment.shutil, "which", lambda name: None)
    return commands, answers


def install(tmp_path, fresh=True):
    home = environment.Environment(tmp_path, tmp_path / "venv")
    environment.install(home, dict(os.environ), tmp_path / "lock.txt", fresh)


def test_uv_is_used_where_it_is(tmp_path, ran, monkeypatch):
    monkeypatch.setattr(environment.shutil, "which", lambda name: "/programs/uv")
    install(tmp_path)
    make, packages, project = ran[0]
    assert make[:2] == ["/programs/uv", "venv"]
    assert packages[:3] == project[:3] == ["/programs/uv", "pip", "install"]
    assert "--require-hashes" in packages
    assert {"--no-deps", "--no-build-isolation", "-e"} <= set(project)


def test_pip_is_used_where_uv_is_not(tmp_path, ran):
    install(tmp_path)
    make, packages, project = ran[0]
    assert make[1:3] == ["-m", "venv"]
    assert "--require-hashes" in packages and "--only-binary" in packages
    assert {"--no-deps", "--no-build-isolation", "-e"} <= set(project)
    ran[0].clear()
    install(tmp_path, fresh=False)
    assert len(ran[0]) == 2


def test_pip_follows_where_uv_fails(tmp_path, ran, monkeypatch, capsys):
    monkeypatch.setattr(environment.shutil, "which", lambda name: "uv")
    ran[1][:] = [(0, []), (2, ["error: dns error"])]
    install(tmp_path)
    assert [command[0] == "uv" for command in ran[0]] == [True, True, False, False, False]
    assert "trying pip" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "happened", "advice"),
    [
        (
            "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM",
            "changes its packages",
            "another network",
        ),
        ("[SSL: CERTIFICATE_VERIFY_FAILED] unable to get local issuer", "reached", "PIP_CERT"),
        ("error: Failed to fetch: `x`  Caused by: dns error", "can't be reached", "PROXY"),
        ("OSError: [Errno 28] No space left on device", "can't be written", "MINIGRAD_VENV"),
        ("The virtual environment was not created ... ensurepip is not available", "pip", "apt"),
        ("ERROR: No matching distribution found for numpy==2.4.6", "no ready-made", "CPython"),
        ("something new", "it failed", "Run the same command again"),
    ],
)
def test_troubles_of_installers_are_explained(line, happened, advice):
    trouble = environment.explain(["WARNING: Retrying", line, ""], "Installing packages")
    assert happened in trouble.happened
    assert advice in trouble.advice
    assert trouble.said == [line]
