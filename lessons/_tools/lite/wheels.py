"""Pack what is installed into wheels again, for the browser: minigrad, and pure Python packages."""

from __future__ import annotations

import base64
import hashlib
import json
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import minigrad
from _tools import places

# What the kernel or the lessons ask for, and Pyodide's own distribution does not have, or need not.
PURE = ("comm", "mpmath", "sympy", "tqdm")
OWN = "minigrad-lessons"
_NOT_PACKED = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "entry_points.txt")


def pack(folder: Path) -> list[str]:
    """Write the wheels.

    Args:
        folder: where to; it is made.

    Returns:
        Their names.
    """
    folder.mkdir(parents=True)
    own = {
        f"minigrad_lessons/solutions/{path.name}": _code_alone(path) for path in places.solutions()
    }
    own |= _tree(Path(minigrad.__file__).parent, "minigrad")
    for part in ("checks", "data"):
        own |= _tree(places.LESSONS / part, f"minigrad_lessons/{part}")
    return [_wheel(OWN, own, folder), *(_wheel(name, _installed(name), folder) for name in PURE)]


def _tree(root: Path, into: str) -> dict[str, bytes]:
    """Read a folder, each file by the name that it gets."""
    return {
        f"{into}/{path.relative_to(root).as_posix()}": path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def _code_alone(path: Path) -> bytes:
    """Give the code of a solved notebook, which answers are compared with, and nothing else."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [
        {"cell_type": "code", "source": cell["source"]}
        for cell in cells
        if cell["cell_type"] == "code"
    ]
    return json.dumps({"cells": code}).encode()


def _installed(name: str) -> dict[str, bytes]:
    """Read a package as it is installed here."""
    return {
        path.as_posix(): path.read_binary()
        for path in distribution(name).files or ()
        if path.suffix != ".pyc" and not path.parts[0].endswith(("..", ".dist-info"))
    }


def _wheel(name: str, files: dict[str, bytes], folder: Path) -> str:
    """Write a wheel of these files, with what is known of the distribution."""
    found = distribution(name)
    stem = f"{name.replace('-', '_')}-{found.version}"
    for path in found.files or ():
        _, is_about, inside = path.as_posix().partition(".dist-info/")
        if is_about and inside not in _NOT_PACKED:
            files[f"{stem}.dist-info/{inside}"] = path.read_binary()
    record = f"{stem}.dist-info/RECORD"
    rows = [f"{record},,\n"]
    for inside, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        rows.append(f"{inside},sha256={digest},{len(data)}\n")
    files[record] = "".join(rows).encode()
    named = f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(folder / named, "w", zipfile.ZIP_DEFLATED) as archive:
        for inside, data in files.items():
            archive.writestr(inside, data)
    return named
