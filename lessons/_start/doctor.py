"""Tell what is installed, what is missing, and what to do about it: `minigrad doctor`."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from .installed import ADVICE, SHIPPED, in_a_clone
from .server import has_browser

DISTRIBUTION = "minigrad-lessons"
ENOUGH_ROOM = 600 * 2**20  # bytes: an environment of its own, and outputs of the lessons
# what each package is for
NEEDED = {
    "numpy": "all numbers",
    "sympy": "formulas and proofs",
    "matplotlib": "plots",
    "jupyterlab": "the lessons in a browser",
    "ipykernel": "running cells",
}
OPTIONAL = {
    "tqdm": "progress bars",
    "mpi4py": "lesson 16; without it, recorded results are shown",
    "nbgrader": "grading a class with nbgrader",
    "torch": "comparing with PyTorch itself",
}
Row = tuple[str, str, str, str]


def main() -> int:
    """Print a table; return 0 if the lessons can run, 1 if something has to be done."""
    rows = [*map(_package, [*NEEDED, *OPTIONAL]), *_around()]
    wide = max(len(what) for _, what, _, _ in rows)
    for state, what, said, _ in rows:
        print(f"{state:<8} {what:<{wide}}  {said}".rstrip())
    for advice in dict.fromkeys(todo for *_, todo in rows if todo):
        print(f"\nWhat to do: {advice}")
    bad = any(state == "WRONG" for state, *_ in rows)
    print("\nThe lessons cannot run like this." if bad else "\nThe lessons can run.")
    return int(bad)


def _row(good: bool, what: str, said: str, todo: str, bad: str = "missing") -> Row:
    return ("ok", what, said, "") if good else (bad, what, said, todo)


def _package(name: str) -> Row:
    """Look for a package: is it here, does it import, is its version one that we know?"""
    bad = "missing" if name in OPTIONAL else "WRONG"
    extra = 'in the clone, pip install -e ".[lessons]"' if in_a_clone() else ADVICE["lessons"]
    try:
        version, wanted = importlib.metadata.version(name), _wanted(name)
        if version not in wanted:
            return "WRONG", name, f"{version}, and {wanted} is needed", extra
        importlib.import_module(name)
    except importlib.metadata.PackageNotFoundError:
        said = f"not installed; for {(NEEDED | OPTIONAL)[name]}"
        return ("optional", name, said, "") if name in OPTIONAL else (bad, name, said, extra)
    except Exception as error:  # a broken package may raise anything, and this is to say so
        first = f"{type(error).__name__}: {error}".partition("\n")[0]
        said = f"{version}, but it cannot be imported: {first}"
        return bad, name, said, f"pip install --force-reinstall {name}"
    return "ok", name, version, ""


def _wanted(name: str) -> SpecifierSet:
    """Give the versions of a package that `minigrad-lessons` asks for."""
    with suppress(importlib.metadata.PackageNotFoundError):
        for each in map(Requirement, importlib.metadata.requires(DISTRIBUTION) or []):
            if each.name == name:
                return each.specifier
    return SpecifierSet()


def _around() -> Iterator[Row]:
    """Look at the rest: Python, the lessons themselves, the disk, the browser."""
    good, said = (3, 11) <= sys.version_info[:2] <= (3, 14), platform.python_version()
    advice = "use a Python from 3.11 to 3.14: https://www.python.org/downloads"
    yield _row(good, "Python", f"{said}, {sys.executable}", advice, "WRONG")
    count, here = len(list(SHIPPED.glob("[0-9][0-9]_*.ipynb"))), Path.cwd()
    again = 'pip install --force-reinstall "WHEEL[lessons]", with the wheel that it came from'
    yield _row(count > 0, "lessons", f"{count}, {SHIPPED}", again, "WRONG")
    free = shutil.disk_usage(here).free
    room = "make room: environment and outputs take about 600 MB"
    yield _row(free >= ENOUGH_ROOM, "disk", f"{free / 2**30:.1f} GiB free here", room)
    own, found = os.access(here, os.W_OK), has_browser()
    advice = "change to a folder of yours, or name one: minigrad lessons FOLDER"
    yield _row(own, "folder", f"{here} {'can' if own else 'cannot'} be written to", advice)
    said = "found" if found else "none found: open the address that is printed, elsewhere"
    yield _row(found, "browser", said, "")
