"""Tell what is installed, what is missing, and what to do about it: `minigrad doctor`."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import re
import shutil
import sys
import webbrowser
from dataclasses import dataclass
from pathlib import Path

from .installed import SHIPPED

DISTRIBUTION = "minigrad-lessons"
AGAIN = 'pip install --force-reinstall "WHEEL[lessons]", with the wheel that it came from'
ENOUGH_ROOM = 600 * 2**20  # bytes: an environment of its own, and outputs of the lessons
GOOD, MISSING, OPTIONAL, WRONG = "ok", "missing", "optional", "WRONG"


@dataclass(frozen=True)
class Thing:
    """Something that the lessons can use.

    Args:
        name: Of the distribution.
        module: What is imported of it.
        purpose: What it is for.
        extra: The extra of `minigrad-lessons` that brings it; nothing where it comes with the core,
            "other" where no extra does.
        needed: Whether the lessons do not run without it.
    """

    name: str
    module: str
    purpose: str
    extra: str = "lessons"
    needed: bool = False


THINGS = (
    Thing("numpy", "numpy", "all numbers", "", needed=True),
    Thing("sympy", "sympy", "formulas and proofs (lessons 00, 01, 07, 10 ...)", needed=True),
    Thing("matplotlib", "matplotlib", "plots", needed=True),
    Thing("jupyterlab", "jupyterlab", "the lessons in a browser", needed=True),
    Thing("ipykernel", "ipykernel", "running cells", needed=True),
    Thing("tqdm", "tqdm", "progress bars"),
    Thing("mpi4py", "mpi4py", "lesson 16; without it, recorded results are shown"),
    Thing("nbval", "nbval", "comparing notebooks with what they printed", "test"),
    Thing("nbgrader", "nbgrader", "grading a class with nbgrader", "other"),
    Thing("torch", "torch", "comparing with PyTorch itself", "other"),
)


def main() -> int:
    """Print a table; return 0 if the lessons can run, 1 if something has to be done."""
    rows, advice = [], []
    for state, what, said, todo in [_python(), _package(), *map(_looked_at, THINGS), *_around()]:
        rows.append((state, what, said))
        if todo and todo not in advice:
            advice.append(todo)
    wide = max(len(what) for _, what, _ in rows)
    for state, what, said in rows:
        print(f"{state:<8} {what:<{wide}}  {said}".rstrip())
    for line in advice:
        print(f"\nWhat to do: {line}")
    bad = any(state == WRONG for state, _, _ in rows)
    print("\nThe lessons cannot run like this." if bad else "\nThe lessons can run.")
    return int(bad)


Row = tuple[str, str, str, str]


def _python() -> Row:
    version = platform.python_version()
    good = (3, 11) <= sys.version_info[:2] <= (3, 14)
    advice = "" if good else "use a Python from 3.11 to 3.14: https://www.python.org/downloads"
    return GOOD if good else WRONG, "Python", f"{version}, {sys.executable}", advice


def _package() -> Row:
    try:
        package = importlib.import_module("minigrad")
    except Exception as error:
        return WRONG, "minigrad", _named(error), AGAIN
    where = Path(str(package.__file__)).parent
    return GOOD, "minigrad", f"{package.__version__}, {where}", ""


def _looked_at(thing: Thing) -> Row:
    """Look for one thing: is it here, does it import, is its version one that we know?"""
    try:
        version = importlib.metadata.version(thing.name)
    except importlib.metadata.PackageNotFoundError:
        state, here = (WRONG, "") if thing.needed else (OPTIONAL, "not installed; ")
        said = f"{here}for {thing.purpose}"
        return state, thing.name, said, _advice(thing) if thing.needed else ""
    try:
        importlib.import_module(thing.module)
    except Exception as error:  # a broken package may raise anything, and this is to say so
        state = WRONG if thing.needed else MISSING
        again = f"pip install --force-reinstall {thing.name}"
        return state, thing.name, f"{version}, but it cannot be imported: {_named(error)}", again
    wanted = _range(thing.name)
    if not _fits(version, wanted):
        return WRONG, thing.name, f"{version}, and {wanted} is needed", _advice(thing)
    return GOOD, thing.name, version, ""


def _advice(thing: Thing) -> str:
    if thing.extra == "other":
        return f"pip install {thing.name}"
    if not thing.extra:
        return "pip install numpy"
    if (SHIPPED.parent / "pyproject.toml").is_file():
        return f'in the clone, pip install -e ".[{thing.extra}]"'
    return f'pip install "{DISTRIBUTION}[{thing.extra}]"'


def _named(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


def _range(name: str) -> str:
    """Give the range of versions that `minigrad-lessons` asks for, such as "<3,>=2"."""
    try:
        asked = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        return ""
    found = (re.fullmatch(rf"{name}\s*\(?([<>=!~0-9., ]*)\)?\s*(?:;.*)?", line) for line in asked)
    return next((match[1].strip() for match in found if match and match[1].strip()), "")


def _fits(version: str, wanted: str) -> bool:
    """Compare by the first numbers, which is all that our ranges use."""
    have = _numbers(version)
    for part in filter(None, (each.strip() for each in wanted.split(","))):
        sign, bound = re.fullmatch(r"([<>=!~]+)\s*(.*)", part).groups()  # type: ignore[union-attr]
        limit = _numbers(bound)
        if (sign == ">=" and have < limit) or (sign == "<" and have >= limit):
            return False
    return True


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, found[0].split("."))) if found else ()


def _around() -> list[Row]:
    """Look at the rest: the lessons themselves, the disk, the browser."""
    here = Path.cwd()
    count = len(list(SHIPPED.glob("[0-9][0-9]_*.ipynb")))
    free = shutil.disk_usage(here).free
    roomy = free >= ENOUGH_ROOM
    writable = os.access(here, os.W_OK)
    try:
        browser = webbrowser.get() is not None
    except webbrowser.Error:
        browser = False
    return [
        (GOOD if count else WRONG, "lessons", f"{count}, {SHIPPED}", "" if count else AGAIN),
        (
            GOOD if roomy else MISSING,
            "disk",
            f"{free / 2**30:.1f} GiB free here",
            "" if roomy else "make room: the environment and outputs want about 600 MB",
        ),
        (
            GOOD if writable else MISSING,
            "folder",
            f"{here} {'can' if writable else 'cannot'} be written to",
            "" if writable else "change to a folder of yours, or name one: minigrad lessons FOLDER",
        ),
        (
            GOOD if browser else MISSING,
            "browser",
            "found" if browser else "none found: open the address that is printed, elsewhere",
            "",
        ),
    ]
