"""Lay the lessons of an installed package out in a folder of the reader's, and run them there."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .console import Trouble, say
from .environment import Environment

FOLDER = "minigrad-lessons"  # where the lessons go, unless the reader names a place
SHIPPED = Path(__file__).resolve().parents[1]  # the lessons as they came with the package
FOLDERS = ("solutions", "reference", "instructors")
WANTED = ("[0-9][0-9]_*.ipynb", *FOLDERS, "INSTRUCTORS.md", "LICENSE")
OWN = ".minigrad"  # in that folder: settings of JupyterLab, and a note of what was laid out
LAID_OUT = "laid_out.json"
NEEDED = {
    "lessons": ("jupyterlab", "ipykernel", "matplotlib", "sympy"),
    "book": ("sphinx", "sphinx_copybutton", "myst_nb", "sphinx_book_theme", "matplotlib", "sympy"),
    "lite": ("jupyterlite_core", "jupyterlite_pyodide_kernel", "sympy"),
}
NO_NEWS = "jupyter/config/lab/user-settings/@jupyterlab/apputils-extension"
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
        own = super().variables(outside)
        for name in ("VIRTUAL_ENV", "PATH", "PYTHONPATH"):
            own.pop(name, None)
            if name in outside:
                own[name] = outside[name]
        return own


def home(root: Path, task: str = "lessons") -> Installed:
    """Name a folder with lessons, and see that the packages are here that run them.

    Args:
        root: The folder.
        task: What the packages are needed for: a key of `NEEDED`.

    Raises:
        Trouble: Where packages are missing.
    """
    require(task)
    return Installed(root, root / OWN)


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
        Trouble: Where the folder is in use for something else, or cannot be written to.
    """
    note = root / OWN / LAID_OUT
    try:
        if root.is_dir() and any(root.iterdir()) and not is_laid_out(root):
            raise Trouble(
                f"{root} is not empty, and no folder of lessons.",
                "Name a new folder:  minigrad lessons FOLDER",
            )
        note.parent.mkdir(parents=True, exist_ok=True)
        known, now, written = _read(note), {}, 0
        for path in _wanted(shipped):
            name = path.relative_to(shipped).as_posix()
            data, place = path.read_bytes(), root / "lessons" / name
            now[name] = hashlib.sha256(data).hexdigest()
            there = hashlib.sha256(place.read_bytes()).hexdigest() if place.is_file() else None
            if there == now[name]:
                continue
            if there is not None and there != known.get(name):
                kept = _free(place)
                place.replace(kept)
                say(f"lessons/{name} was changed here; yours is kept as lessons/{kept.name}")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
            written += 1
        note.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
        _settle(root / OWN / "var")
    except OSError as error:
        raise Trouble(
            f"{error.filename or root}: {error.strerror or error}.",
            "Name a folder that can be written to:  minigrad lessons FOLDER",
        ) from None
    return written


def _wanted(shipped: Path) -> list[Path]:
    found = [path for pattern in WANTED for path in sorted(shipped.glob(pattern))]
    inside = [sorted(path.rglob("*")) if path.is_dir() else [path] for path in found]
    return [path for paths in inside for path in paths if path.is_file() and path.suffix != ".pyc"]


def _free(place: Path) -> Path:
    """Name the first place beside this one where nothing is."""
    kept = place.with_name(f"{place.stem}.yours{place.suffix}")
    number = 1
    while kept.exists():
        number += 1
        kept = place.with_name(f"{place.stem}.yours{number}{place.suffix}")
    return kept


def _read(note: Path) -> dict[str, str]:
    try:
        found = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _settle(var: Path) -> None:
    """Have JupyterLab ask nothing of the network; what the reader set there before stays."""
    place = var / NO_NEWS / "notification.jupyterlab-settings"
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(
            json.dumps({"fetchNews": "false", "checkForUpdates": False}) + "\n", "utf-8"
        )
