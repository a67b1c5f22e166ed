"""Run `python3 tests`: the environment, then pytest over package, tests and notebooks.

`python3 tests --benchmarks` times workloads instead: see `tests/benchmarks/__main__.py`.
`python3 tests --search` looks for mistakes with random programs, or plants some: see
`tests/oracle/search/__main__.py`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from . import console, environment
from .console import say

# Strict: every stored output of every notebook is compared with a fresh run in this environment.
NOTEBOOKS = ("--nbval", "--nbval-current-env", "--nbval-cell-timeout=120")
# The whole suite runs in several processes, one file in one of them (the cells of a notebook belong
# together); tests/conftest.py puts the files first that take longest. What the reader says of that
# comes later, and counts; with --pdb, "auto" is none.
PARALLEL = ["-n", "auto", "--maxprocesses=4", "--dist=loadfile", "--no-loadscope-reorder"]
TAKE_A_VALUE = {"-k", "-m", "-p", "-c", "-o", "-W", "-n", "-r"}


def main(arguments: Sequence[str]) -> int:
    """Make the environment and run pytest with these further arguments; return its exit code."""
    return console.guarded(lambda: run(list(arguments)))


def run(arguments: list[str]) -> int:
    """Run the suite, or the part of it that the arguments name."""
    home = environment.ensure("tests")
    if arguments[:1] == ["--benchmarks"]:
        return benchmarks(home, arguments[1:])
    if arguments[:1] == ["--search"]:
        words = ["tests.oracle.search", *arguments[1:]]
    else:
        words = ["pytest", *pytest_arguments(arguments, Path.cwd())]
        say("Running " + " ".join(words))
    command = [str(home.python), "-m", *words]
    return console.call(command, env=home.variables(os.environ), cwd=home.root)


def benchmarks(home: environment.Environment, wanted: Sequence[str]) -> int:
    """Time all workloads, or those named, beside other packages, which get a place of their own."""
    peers, env = home.venv / "var" / "peers", home.variables(os.environ)
    if not peers.exists():
        uv, what = shutil.which("uv"), home.root / "tests" / "benchmarks" / "requirements.txt"
        pip: list[str | Path] = [uv, "pip"] if uv else [home.python, "-m", "pip"]
        options: list[str | Path] = ["-q", "--no-deps", "--target", peers, "-r", what]
        if console.call([*pip, "install", *options], env=env):
            say("The other packages cannot be installed now: they are left out.")
    command = [str(home.python), str(home.root / "tests" / "benchmarks"), *wanted]
    return subprocess.call(command, env=env | {"PYTHONPATH": str(peers)}, cwd=home.root)


def pytest_arguments(arguments: Sequence[str], here: Path) -> list[str]:
    """Put our options before those of the reader.

    Args:
        arguments: What the reader typed; paths among them are seen from `here`.
        here: The directory that the command was typed in (pytest runs in the repository).

    Returns:
        The arguments for pytest. A part of the suite that was named runs in one process.
    """
    given, parallel = list[str](), PARALLEL
    for before, argument in zip(["", *arguments], arguments, strict=False):
        path, colons, test = argument.partition("::")
        if path and before not in TAKE_A_VALUE and (here / path).exists():
            argument, parallel = f"{(here / path).resolve()}{colons}{test}", []
        given.append(argument)
    return [*NOTEBOOKS, *parallel, *given]
