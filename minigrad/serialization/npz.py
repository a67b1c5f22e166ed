"""Write and read `.npz` files, NumPy's own: a zip archive of arrays."""

from __future__ import annotations

import io
import zipfile
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from minigrad.serialization.structure import STRUCTURE, Arrays

# A file may unpack to this much, or to this many times its size: more is taken for a trap.
_MOST_BYTES = 1 << 30
_MOST_TIMES = 20


def write(file: BinaryIO, arrays: Arrays, text: str) -> None:
    """Write arrays, and the structure as an entry of its own.

    It comes first: damage to a zip archive's list of contents can hide what follows, and the
    structure knows which arrays there must be.
    """
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        archive.writestr(_entry(STRUCTURE), text)
        for name, array in arrays.items():
            with archive.open(_entry(name + ".npy"), "w", force_zip64=True) as entry:
                npy.write_array(entry, array, allow_pickle=False)


def _entry(name: str) -> zipfile.ZipInfo:
    """Describe an entry; without the time, so that the same content makes the same file."""
    return zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))


def read(content: bytes) -> tuple[Arrays, str | None]:
    """Read arrays by name, and the structure if there is one.

    Raises:
        ValueError: If there is something in the file that must not be there.
        zipfile.BadZipFile: If the archive is damaged.
    """
    arrays: Arrays = {}
    text = None
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = archive.infolist()
        names = [entry.filename for entry in entries]
        if any(name == "data.pkl" or name.endswith("/data.pkl") for name in names):
            raise PyTorchFile
        if len(set(names)) < len(names):
            raise ValueError("an entry is there twice")
        _refuse_traps(entries, len(content))
        for entry in entries:
            name = entry.filename
            if name.startswith("/") or "\\" in name or ".." in name.split("/"):
                raise ValueError(f"the name {name!r} leads out of the file")
            with archive.open(entry) as opened:
                data = opened.read(entry.file_size + 1)
            if len(data) != entry.file_size:
                raise ValueError(f"the entry {name!r} is not as long as it says")
            if name == STRUCTURE:
                text = data.decode("utf-8")
            elif name.endswith(".npy"):
                arrays[name.removesuffix(".npy")] = _array(data, name)
            else:
                raise ValueError(f"the entry {name!r} is no array")
    return arrays, text


class PyTorchFile(Exception):
    """Tells that a file is one of torch.save's."""


def _refuse_traps(entries: list[zipfile.ZipInfo], size: int) -> None:
    """Refuse a small file that says it unpacks to a huge one."""
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > max(_MOST_BYTES, _MOST_TIMES * size):
        raise ValueError(f"its {size} bytes would unpack to {unpacked}, which looks like a trap")


def _array(data: bytes, name: str) -> np.ndarray[Any, Any]:
    """Read one array; nothing is made in memory before its size is known to be right."""
    stream = io.BytesIO(data)
    version = npy.read_magic(stream)
    if version == (1, 0):
        shape, in_columns, dtype = npy.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, in_columns, dtype = npy.read_array_header_2_0(stream)
    else:
        raise ValueError(f"the array {name!r} is in an unknown version of the format")
    if dtype.kind not in "biufc":
        raise ValueError(
            f"the array {name!r} holds {dtype}, not numbers; it would have to be unpickled"
        )
    count = 1
    for length in shape:
        if length < 0:
            raise ValueError(f"the array {name!r} has the shape {shape}")
        count *= length
    start = stream.tell()
    if count * dtype.itemsize != len(data) - start:
        raise ValueError(f"the array {name!r} is not as long as its shape {shape} says")
    array = np.frombuffer(data, dtype, count, start).reshape(
        shape, order="F" if in_columns else "C"
    )
    return array.astype(dtype.newbyteorder("="), order="K", copy=True)
