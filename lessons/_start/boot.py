"""Run `python3 lessons` in the environment that the locks describe."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence

from . import console, environment

COMMANDS = ("check", "progress", "review", "release", "book", "lite")
# Quick commands need only these, and run wherever they are, as in a conda environment.
QUICK = {"--copies", "--progress", "--reset", "--collect", "--review", "--cards"}
NEEDS = ("click", "mistune", "numpy", "packaging")

HELP = """usage: python3 lessons [OPTIONS]

Make the environment, make or update the copies of the lessons that you work in, check the worked
example, open JupyterLab at lesson 00.

  --no-browser, --port N             start JupyterLab and only print its address; use this port
  --check                            do everything except start JupyterLab
  --copies                           only make or update the copies
  --progress [--reset | --collect]   show what you have solved; forget it; collect wrong answers
                                     that got no reason of their own, without names
  --review [--cards [FILE]]          answer five review questions; write all as cards for Anki
  --book [FOLDER]                    build a site of the lessons and the reference, to read
  --lite [FOLDER] [--pyodide FOLDER] build a site of the lessons that computes in a browser
  --release [NN ...]                 for authors: run solutions, make the learners' notebooks
"""


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
    if list(typed) in (["--help"], ["-h"]):
        print(HELP, end="")
        return 0
    return console.guarded(lambda: _run(translated(typed), typed))


def _run(words: list[str], typed: Sequence[str]) -> int:
    variables = dict(os.environ)
    if QUICK & {*typed} and all(map(importlib.util.find_spec, NEEDS)):
        python = sys.executable
        variables["PYTHONPATH"] = str(environment.REPOSITORY)
    else:
        home = environment.ensure(words[0] if words[0] in environment.LOCKS else "lessons")
        python, variables = str(home.python), home.variables(variables)
    return console.call([python, "-m", "minigrad", *words], env=variables)
