"""Run `python3 tests`: the environment, then pytest over package, tests and notebooks.

`python3 tests --benchmarks` times workloads instead: see `tests/benchmarks/__main__.py`.
`python3 tests --search` looks for mistakes with random programs, or plants some: see
`tests/oracle/search/__main__.py`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from . import console, environment
from .console import say

# Strict: every stored output of every notebook is compared with a fresh run in this environment.
NOTEBOOKS = ("--nbval", "--nbval-current-env", "--nbval-cell-timeout=120")
MOST_WORKERS = 4
# tests/conftest.py puts the files first that take longest, pytest-xdist those with most tests
IN_ORDER = ("--dist", "loadfile", "--no-loadscope-reorder")
# With one of these the reader chose the processes, wants to debug in one, or asks what there is.
ONE_PROCESS = {
    "-n",
    "--numprocesses",
    "--dist",
    "--pdb",
    "--trace",
    "-s",
    "--capture",
    "--co",
    "--collect-only",
} | {
    "-h",
    "--help",
    "-V",
    "--version",
    "--markers",
    "--fixtures",
}
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
        command = [str(home.python), "-m", "tests.oracle.search", *arguments[1:]]
        return subprocess.call(command, env=home.variables(os.environ), cwd=home.root)
    options = pytest_arguments(arguments, Path.cwd(), worker_count())
    command = [str(home.python), "-m", "pytest", *options]
    say("Running pytest " + " ".join(options))
    return console.call(command, env=home.variables(os.environ), cwd=home.root)


def benchmarks(home: environment.Environment, wanted: Sequence[str]) -> int:
    """Time all workloads, or those named, beside other packages, which get a place of their own."""
    peers, env = home.venv / "var" / "peers", home.variables(os.environ)
    if not peers.exists():
        uv, what = shutil.which("uv"), home.root / "tests" / "benchmarks" / "requirements.txt"
        install = (
            [uv, "pip", "install", "-q"] if uv else [home.python, "-m", "pip", "install", "-q"]
        )
        if console.call([*install, "--no-deps", "--target", peers, "-r", what], env=env):
            say("The other packages cannot be installed now: they are left out.")
    command = [str(home.python), str(home.root / "tests" / "benchmarks"), *wanted]
    return subprocess.call(command, env=env | {"PYTHONPATH": str(peers)}, cwd=home.root)


def pytest_arguments(arguments: Sequence[str], here: Path, workers: int) -> list[str]:
    """Put our options before those of the reader.

    Args:
        arguments: What the reader typed; paths among them are seen from `here`.
        here: The directory that the command was typed in (pytest runs in the repository).
        workers: In how many processes the whole suite may run.

    Returns:
        The arguments for pytest. The whole suite runs in several processes, one file in one of
        them (the cells of a notebook belong together); a part of it that was named runs in one.
    """
    given: list[str] = []
    single = workers < 2
    for position, argument in enumerate(arguments):
        is_value = position > 0 and arguments[position - 1] in TAKE_A_VALUE
        path, colons, test = argument.partition("::")
        if not is_value and not argument.startswith("-") and path and (here / path).exists():
            single = True
            argument = str((here / path).resolve()) + colons + test
        elif argument.partition("=")[0] in ONE_PROCESS or re.fullmatch(r"-n\d+", argument):
            single = True
        given.append(argument)
    parallel = [] if single else ["-n", str(workers), *IN_ORDER]
    return [*NOTEBOOKS, *parallel, *given]


def worker_count() -> int:
    """Processes to use: those that this one may run on, four at most."""
    usable = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return min(usable, MOST_WORKERS)
