"""Run `python3 lessons` in the environment that the locks describe."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence

from . import console, environment

COMMANDS = ("check", "progress", "review", "release", "book", "lite")
TYPED = "MINIGRAD_TYPED"  # tells the command `minigrad` that `python3 lessons` was typed
# What is quick needs no more than these: it runs where they are, as in a conda environment.
QUICK = {"--copies", "--progress", "--reset", "--collect", "--review", "--cards"}
NEEDS = ("click", "mistune", "nbformat", "numpy", "packaging")


def translated(typed: Sequence[str]) -> list[str]:
    """Write what follows `python3 lessons` as it follows `minigrad`: `--check` as `check`.

    Args:
        typed: Such as `["--progress", "--reset"]`.
    """
    named = next((each for each in typed if each[:2] == "--" and each[2:] in COMMANDS), None)
    if named is None:
        return ["review" if "--cards" in typed else "lessons", *typed]
    return [named[2:], *(each for each in typed if each is not named)]


def main(typed: Sequence[str]) -> int:
    """Do what follows `python3 lessons`; return the exit code."""
    return console.guarded(lambda: _run(translated(typed), typed))


def _run(words: list[str], typed: Sequence[str]) -> int:
    variables = {**os.environ, TYPED: "1"}
    if QUICK & {*typed} and all(map(importlib.util.find_spec, NEEDS)):
        python = sys.executable
        variables["PYTHONPATH"] = str(environment.repository())
    else:
        home = environment.ensure(words[0] if words[0] in environment.LOCKS else "lessons")
        python, variables = str(home.python), home.variables(variables)
    return console.call([python, "-m", "minigrad", *words], env=variables)
