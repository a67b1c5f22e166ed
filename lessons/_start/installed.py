"""Lay the lessons of an installed package out in a folder of the reader's, and run them there."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from .console import Trouble, say
from .environment import Environment

FOLDER = "minigrad-lessons"  # where the lessons go, unless the reader names a place
SHIPPED = Path(__file__).resolve().parents[1]  # the lessons as they came with the package
WANTED = (
    *("[0-9][0-9]_*.ipynb", "INSTRUCTORS.md", "LICENSE"),
    *("solutions/**/*", "reference/**/*", "instructors/**/*"),
)
OWN = ".minigrad"  # in that folder: settings of Jupyter, and a note of what was laid out
LAID_OUT = "laid_out.json"
NEEDED = {
    "lessons": ("jupyterlab", "ipykernel", "matplotlib", "sympy"),
    "book": ("sphinx", "sphinx_copybutton", "myst_nb", "sphinx_book_theme", "matplotlib", "sympy"),
    "lite": ("jupyterlite_core", "jupyterlite_pyodide_kernel", "sympy"),
}
ADVICE = {task: f'pip install "minigrad-lessons[{task}]"' for task in NEEDED}


@dataclass(frozen=True)
class Installed(Environment):
    """A folder with the lessons, and the Python that runs them: the one that runs this."""

    @property
    def python(self) -> Path:
        """The interpreter."""
        return Path(sys.executable)

    def variables(self, outside: Mapping[str, str]) -> dict[str, str]:
        """Environment variables: the reader's own, but for the settings of Jupyter."""
        theirs = ("VIRTUAL_ENV", "PATH", "PYTHONPATH")
        inside = super().variables(outside).items()
        own = {name: value for name, value in inside if name not in theirs}
        return own | {name: outside[name] for name in theirs if name in outside}


def in_a_clone() -> bool:
    """Whether the lessons are in a clone of the repository, where they are written."""
    return (SHIPPED.parent / "pyproject.toml").is_file()


def require(task: str) -> None:
    """See that the packages for a task are here.

    Args:
        task: A key of `NEEDED`.

    Raises:
        Trouble: Where packages are missing.
    """
    missing = [name for name in NEEDED[task] if importlib.util.find_spec(name) is None]
    if missing:
        raise Trouble(
            f"packages are needed that are not installed: {', '.join(missing)}.",
            f"Install them with:  {ADVICE[task]}",
        )


def folder(named: str | None, here: Path) -> Path:
    """Find the reader's folder.

    Args:
        named: What the reader typed, if anything.
        here: Where that was typed.

    Returns:
        The folder named; or the one that this is inside of; or a new one in here.
    """
    if named is not None:
        return (here / Path(named).expanduser()).resolve()
    return next(filter(is_laid_out, (here, *here.parents)), here / FOLDER)


def is_laid_out(root: Path) -> bool:
    """Whether a folder is one that the lessons were laid out in."""
    return (root / OWN / LAID_OUT).is_file()


def lay_out(root: Path, shipped: Path = SHIPPED) -> int:
    """Bring the lessons in a folder to what came with the package.

    What the reader has changed there is kept beside the new one, with `.yours` in its name.

    Args:
        root: The folder.
        shipped: The lessons as they came.

    Returns:
        How many files were written.

    Raises:
        Trouble: Where the folder is in use for something else.
    """
    note = root / OWN / LAID_OUT
    if root.is_dir() and any(root.iterdir()) and not is_laid_out(root):
        raise Trouble(
            f"{root} is not empty, and no folder of lessons.",
            "Name a new folder:  minigrad lessons FOLDER",
        )
    note.parent.mkdir(parents=True, exist_ok=True)
    known: dict[str, str] = json.loads(note.read_text("utf-8")) if note.is_file() else {}
    now, written = {}, 0
    for path in _wanted(shipped):
        name = path.relative_to(shipped).as_posix()
        place = root / "lessons" / name
        now[name] = _digest(path)
        there = _digest(place) if place.is_file() else None
        if there == now[name]:
            continue
        if there not in (None, known.get(name)):
            kept = f"{place.stem}.yours{datetime.now():%Y%m%d%H%M%S%f}{place.suffix}"
            place.replace(place.with_name(kept))
            say(f"lessons/{name} was changed here; yours is kept as lessons/{kept}")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
        written += 1
    note.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
    return written


def _wanted(shipped: Path) -> list[Path]:
    found = [path for pattern in WANTED for path in shipped.glob(pattern)]
    return sorted(path for path in found if path.is_file() and path.suffix != ".pyc")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
