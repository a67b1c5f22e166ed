"""Unpack the notebooks of a zip file, as Moodle and Canvas make them, and nothing else of it."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from _start import console
from _tools.grading.submissions import LESSON, MOST_BYTES, students

MOST_FILES = 10_000
MOST_UNPACKED = 4_000_000_000  # bytes, of all notebooks


def unpack(archive: Path, folder: Path) -> list[str]:
    """Write the notebooks of a zip file into a folder.

    A folder that holds all the others is left out, if there is a student's name without it.

    Args:
        archive: The file.
        folder: Where to; nothing is written elsewhere.

    Returns:
        Sentences about what else is in the file.

    Raises:
        console.Trouble: Where it cannot be unpacked, or holds more than anybody hands in.
    """
    try:
        with zipfile.ZipFile(archive) as file:
            return _unpacked(file, folder)
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError) as error:
        raise console.Trouble(
            f"{archive.name} can't be unpacked: {error}.",
            "Download it again, or unpack it yourself and name the folder.",
        ) from None


def _unpacked(file: zipfile.ZipFile, folder: Path) -> list[str]:
    members: dict[PurePosixPath, zipfile.ZipInfo] = {}
    others = []
    for member in file.infolist():
        name = PurePosixPath(member.filename.replace("\\", "/"))
        if member.is_dir():
            continue
        if name.is_absolute() or ".." in name.parts:
            others.append(f"{name}: left out, because it leads out of the folder.")
        elif any(part.startswith((".", "__")) for part in name.parts):
            continue
        elif name.suffix != ".ipynb":
            others.append(f"{name}: not a notebook.")
        else:
            members[name] = member
    if len(members) > MOST_FILES:
        raise ValueError(f"it holds more than {MOST_FILES:,} notebooks")
    places = _without_a_folder_of_all(list(members))
    left = MOST_UNPACKED
    for name, member in members.items():
        with file.open(member) as source:
            data = source.read(MOST_BYTES + 1)  # one that is too large is named later
        left -= len(data)
        if left < 0:
            raise ValueError(f"its notebooks are larger than {MOST_UNPACKED // 10**9} GB together")
        place = folder / places[name]
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return others


def _without_a_folder_of_all(names: Sequence[PurePosixPath]) -> dict[PurePosixPath, PurePosixPath]:
    tops = {name.parts[0] for name in names}
    if len(tops) == 1:
        inside = {name: PurePosixPath(*name.parts[1:]) for name in names if len(name.parts) > 1}
        found = set(students(list(inside.values())).values())
        if len(inside) == len(names) and len(found) > 1 and not any(map(LESSON.fullmatch, found)):
            return inside
    return dict(zip(names, names, strict=True))
