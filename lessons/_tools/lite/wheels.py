"""Pack what is installed into wheels again, for the browser: minigrad, and pure Python packages."""

from __future__ import annotations

import base64
import hashlib
import json
import zipfile
from collections.abc import Mapping
from importlib.metadata import distribution
from pathlib import Path

import minigrad
from _tools import places

# What the kernel or the lessons ask for, and Pyodide's own distribution does not have, or need not.
PURE = ("comm", "mpmath", "sympy", "tqdm")
OWN = "minigrad-lessons"
_NOT_PACKED = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "entry_points.txt")
_WHEN = (1980, 1, 1, 0, 0, 0)  # the same content is the same file


def pack(folder: Path) -> list[str]:
    """Write the wheels.

    Args:
        folder: where to; it is made.

    Returns:
        Their names.
    """
    folder.mkdir(parents=True)
    return [_own(folder), *(_installed(name, folder) for name in PURE)]


def _own(folder: Path) -> str:
    """Pack minigrad with the checks and the data of the lessons, and what is checked by."""
    files: dict[str, Path | bytes] = {
        f"minigrad_lessons/solutions/{path.name}": _code_alone(path)
        for path in sorted((places.LESSONS / "solutions").glob("*.ipynb"))
    }
    package = Path(minigrad.__file__).parent
    for root, into in (
        (package, "minigrad"),
        (places.LESSONS / "checks", "minigrad_lessons/checks"),
        (places.LESSONS / "data", "minigrad_lessons/data"),
    ):
        for path in root.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                files[f"{into}/{path.relative_to(root).as_posix()}"] = path
    return _wheel(OWN, minigrad.__version__, files, folder)


def _code_alone(path: Path) -> bytes:
    """Give the code of a solved notebook, which answers are compared with, and nothing else."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [
        {"cell_type": "code", "source": cell["source"]}
        for cell in cells
        if cell["cell_type"] == "code"
    ]
    return json.dumps({"cells": code}).encode()


def _installed(name: str, folder: Path) -> str:
    """Pack a package as it is installed here."""
    found = distribution(name)
    files: dict[str, Path | bytes] = {}
    for path in found.files or ():
        head = path.parts[0]
        if head != ".." and not head.endswith(".dist-info") and "__pycache__" not in path.parts:
            files[path.as_posix()] = Path(str(path.locate()))
    return _wheel(name, found.version, files, folder)


def _wheel(name: str, version: str, files: Mapping[str, Path | bytes], folder: Path) -> str:
    """Write a wheel of these files, with what is known of the distribution."""
    stem = f"{name.replace('-', '_')}-{version}"
    content = {
        inside: each if isinstance(each, bytes) else each.read_bytes()
        for inside, each in files.items()
    }
    for path in distribution(name).files or ():
        head, found, inside = path.as_posix().partition(".dist-info/")
        if found and inside not in _NOT_PACKED:
            content[f"{stem}.dist-info/{inside}"] = Path(str(path.locate())).read_bytes()
    head = f"Wheel-Version: 1.0\nGenerator: {OWN}\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    content[f"{stem}.dist-info/WHEEL"] = head.encode()
    rows = [f"{inside},{_digest(data)},{len(data)}" for inside, data in sorted(content.items())]
    record = f"{stem}.dist-info/RECORD"
    content[record] = "\n".join([*rows, f"{record},,", ""]).encode()
    named = f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(folder / named, "w", zipfile.ZIP_DEFLATED) as archive:
        for inside, data in sorted(content.items()):
            entry = zipfile.ZipInfo(inside, _WHEN)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return named


def _digest(data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    return "sha256=" + digest.decode().rstrip("=")
