"""Lay the lessons of an installed package out in a folder of the reader's."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import shutil
from datetime import datetime
from pathlib import Path

from .console import Trouble, say

FOLDER = "minigrad-lessons"  # where the lessons go, unless the reader names a place
SHIPPED = Path(__file__).resolve().parents[1]  # the lessons as they came with the package
IN_A_CLONE = (SHIPPED.parent / "pyproject.toml").is_file()  # where lessons are written
WANTED = (
    *("[0-9][0-9]_*.ipynb", "INSTRUCTORS.md", "LICENSE"),
    *("solutions/*.*", "reference/*.*", "instructors/*.*"),
)
OWN = ".minigrad"  # in that folder: settings of Jupyter, and a note of what was laid out
LAID_OUT = f"{OWN}/laid_out.json"
NEEDED = {
    "lessons": ("jupyterlab", "ipykernel", "matplotlib", "sympy"),
    "book": ("sphinx", "sphinx_copybutton", "myst_nb", "sphinx_book_theme", "matplotlib", "sympy"),
    "lite": ("jupyterlite_core", "jupyterlite_pyodide_kernel", "sympy"),
}


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
            f"these packages aren't installed: {', '.join(missing)}.",
            f'Install them with:  pip install "minigrad-lessons[{task}]"',
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
    around = (place for place in (here, *here.parents) if (place / LAID_OUT).is_file())
    return next(around, here / FOLDER)


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
    note = root / LAID_OUT
    known: dict[str, str] = json.loads(note.read_text("utf-8")) if note.is_file() else {}
    if not known and root.is_dir() and any(root.iterdir()):
        raise Trouble(
            f"{root} isn't empty, and isn't a folder of lessons.",
            "Name a new folder:  minigrad lessons FOLDER",
        )
    note.parent.mkdir(parents=True, exist_ok=True)
    now, written = {}, 0
    for path in (path for pattern in WANTED for path in shipped.glob(pattern)):
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


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
