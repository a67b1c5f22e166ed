"""Run `python3 tests`: the environment, then pytest over package, tests and notebooks.

`python3 tests --benchmarks` times workloads instead: see `tests/benchmarks/__main__.py`.
`python3 tests --search` looks for mistakes with random programs, or plants some: see
`tests/oracle/search/__main__.py`.
"""

from __future__ import annotations

import os
import shutil

from . import console, environment
from .console import say

# Strict: every stored output of every notebook is compared with a fresh run in this environment.
NOTEBOOKS = ("--nbval", "--nbval-current-env", "--nbval-cell-timeout=120")
# The whole suite runs in several processes, one file in one of them (the cells of a notebook belong
# together); tests/conftest.py puts the files first that take longest. What the reader says of that
# comes later, and counts; with --pdb, "auto" is none.
PARALLEL = ("-n", "auto", "--maxprocesses=4", "--dist=loadfile", "--no-loadscope-reorder")


def run(arguments: list[str]) -> int:
    """Make the environment, and run the suite or the part of it that the arguments name.

    Args:
        arguments: What was typed: further ones for pytest.

    Returns:
        The exit code.
    """
    home = environment.ensure("tests")
    variables = home.variables(os.environ)
    if arguments[:1] == ["--benchmarks"]:
        words = ["tests/benchmarks", *arguments[1:]]
        variables["PYTHONPATH"] = peers(home, variables)
    elif arguments[:1] == ["--search"]:
        words = ["-m", "tests.oracle.search", *arguments[1:]]
    else:
        # a part of the suite that was named runs in one process
        part = any((home.root / each.partition("::")[0]).exists() for each in arguments)
        words = ["-m", "pytest", *NOTEBOOKS, *(() if part else PARALLEL), *arguments]
        say("Running " + " ".join(words[1:]))
    return console.call([home.python, *words], env=variables, cwd=home.root)


def peers(home: environment.Environment, variables: dict[str, str]) -> str:
    """Have other packages, for the benchmarks to compare with, in a place of their own."""
    place = home.venv / "var" / "peers"
    if not place.exists():
        uv, what = shutil.which("uv"), home.root / "tests" / "benchmarks" / "requirements.txt"
        pip = [uv, "pip"] if uv else [home.python, "-m", "pip"]
        options = ["-q", "--no-deps", "--target", place, "-r", what]
        if console.call([*pip, "install", *options], env=variables):
            say("The other packages can't be installed now: they are left out.")
    return str(place)
