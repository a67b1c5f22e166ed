"""Write and read two formats: NumPy's `.npz`, a zip archive of arrays, and `.safetensors`."""

from __future__ import annotations

import io
import json
import math
import warnings
import zipfile
import zlib
from types import ModuleType
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from minigrad.saving.structure import STRUCTURE, Arrays

# A file may unpack to this much, or to this many times its size: more is taken for a trap.
_MOST_BYTES = 1 << 26
_MOST_TIMES = 100


def write_npz(file: BinaryIO, arrays: Arrays, text: str) -> None:
    """Write arrays, and the structure as an entry of its own.

    It comes first: damage to a zip archive's list of contents can hide what follows, and the
    structure knows which arrays there must be.
    """
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        archive.writestr(entry_of(STRUCTURE), text)
        for name, array in arrays.items():
            with archive.open(entry_of(name + ".npy"), "w", force_zip64=True) as entry:
                npy.write_array(entry, array, allow_pickle=False)


def entry_of(name: str) -> zipfile.ZipInfo:
    """Describe an entry; without the time, so that the same content makes the same file."""
    return zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))


def unpack(content: bytes) -> dict[str, bytes]:
    """Open a zip archive, and give the content of each entry.

    Raises:
        ValueError: If an entry is there twice, has a name that leads out of the file, or is not as
            long as it says, or if there is much more in it than one would think.
        zipfile.BadZipFile: If the archive is damaged.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = archive.infolist()
        files: dict[str, bytes] = {}
        refuse_trap(content, sum(entry.file_size for entry in entries))
        for entry in entries:
            name = entry.filename
            if name in files:
                raise ValueError("an entry is there twice")
            if name.startswith("/") or "\\" in name or ".." in name.split("/"):
                raise ValueError(f"the name {name!r} leads out of the file")
            files[name] = archive.read(entry)  # no more than it says
            if len(files[name]) != entry.file_size:
                raise ValueError(f"the entry {name!r} is not as long as it says")
    return files


def refuse_trap(content: bytes, unpacked: int) -> None:
    """Refuse a small file that would fill the memory."""
    if unpacked > max(_MOST_BYTES, _MOST_TIMES * len(content)):
        raise ValueError(
            f"its {len(content):,} bytes would unpack to {unpacked:,}, which looks like a trap. If "
            "you trust an .npz file, write it anew: numpy.savez(new_path, **numpy.load(path))"
        )


def read_npz(files: dict[str, bytes]) -> tuple[Arrays, str | None]:
    """Read arrays by name, and the structure if there is one.

    Raises:
        ValueError: If there is something in the file that must not be there.
    """
    files = dict(files)
    text = files.pop(STRUCTURE).decode() if STRUCTURE in files else None
    for name in files:
        if not name.endswith(".npy"):
            raise ValueError(f"the entry {name!r} is no array")
    return {name.removesuffix(".npy"): _array(data, name) for name, data in files.items()}, text


def _array(data: bytes, name: str) -> np.ndarray[Any, Any]:
    """Read one array; nothing is made in memory before its size is known to be right."""
    stream = io.BytesIO(data)
    version = npy.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"the array {name!r} is in an unknown version of the format")
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, in_columns, dtype = read(stream)
    if dtype.kind not in "biufc":
        why = "; it would have to be unpickled" if dtype.hasobject else ""
        raise ValueError(f"the array {name!r} holds {dtype}, not numbers{why}")
    if any(length < 0 for length in shape):
        raise ValueError(f"the array {name!r} has the shape {shape}")
    count = math.prod(shape)
    start = stream.tell()
    if count * dtype.itemsize != len(data) - start:
        raise ValueError(f"the array {name!r} is not as long as its shape {shape} says")
    array = np.frombuffer(data, dtype, count, start).reshape(
        shape, order="F" if in_columns else "C"
    )
    return array.astype(dtype.newbyteorder("="), order="K", copy=True)


# What the format calls the types that NumPy has.
_DTYPES = {"BOOL": "bool", "C64": "complex64"}
_DTYPES |= {f"F{bits}": f"float{bits}" for bits in (16, 32, 64)}
_DTYPES |= {f"I{bits}": f"int{bits}" for bits in (8, 16, 32, 64)}
_DTYPES |= {f"U{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)}
_TEXT, _CHECKSUM = "minigrad", "minigrad_crc32"


def _library() -> ModuleType:
    """Give the library.

    Raises:
        ImportError: If it is not installed.
    """
    try:
        import safetensors.numpy
    except ImportError as error:
        raise ImportError(
            "files that end in .safetensors need the library of that name: "
            "pip install safetensors. Files that end in .npz need nothing else."
        ) from error
    return safetensors


def safetensors_content(arrays: Arrays, text: str) -> bytes:
    """Give the content of a file."""
    plain = {
        name: array if array.flags.c_contiguous else array.copy() for name, array in arrays.items()
    }
    for name, array in plain.items():
        if str(array.dtype) not in _DTYPES.values():
            raise TypeError(
                f"safetensors has no {array.dtype} ({name!r}). Save it to a file that ends in .npz"
            )
    metadata = {"format": "pt", _TEXT: text, _CHECKSUM: _checksum(plain, text)}
    return _in_order(_library().numpy.save(plain, metadata))


def _in_order(content: bytes) -> bytes:
    """Write the header's own entries in alphabetical order: the library's order is by chance."""
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # as the format asks: numbers begin at a multiple of 8
    return len(text).to_bytes(8, "little") + text + content[end:]


def read_safetensors(content: bytes, header: dict[str, Any]) -> tuple[Arrays, str | None]:
    """Read arrays by name, and the structure if there is one.

    Args:
        content: The content of the file.
        header: Its header, which is JSON.

    Raises:
        ValueError: If the checksum is wrong, or there is a type that tensors cannot have.
        Exception: What the library raises if the file is damaged.
    """
    arrays: Arrays = {}
    rounded = []
    for name, entry in _library().deserialize(content):
        kind, shape = entry["dtype"], entry["shape"]
        if kind == "BF16":
            halves = np.frombuffer(entry["data"], "<u2").astype(np.uint32)
            arrays[name] = (halves << 16).view(np.float32).reshape(shape)
            rounded.append(name)
        elif kind in _DTYPES:
            little = np.dtype(_DTYPES[kind]).newbyteorder("<")
            array = np.frombuffer(entry["data"], little).reshape(shape)
            arrays[name] = array.astype(_DTYPES[kind])
        else:
            raise ValueError(f"the tensor {name!r} has the type {kind}, which NumPy does not have")
    metadata = header.get("__metadata__", {})
    text = metadata.get(_TEXT)
    if (text is None) != (_CHECKSUM not in metadata):
        raise ValueError("its structure or its checksum is missing")
    if text is not None and metadata[_CHECKSUM] != _checksum(arrays, text):
        raise ValueError("its checksum is wrong: some bytes were changed")
    if rounded:
        warnings.warn(
            f"{len(rounded)} tensors of bfloat16 became float32, which holds all of their values: "
            f"NumPy has no bfloat16. The first is {rounded[0]!r}.",
            stacklevel=4,
        )
    return arrays, text


def _checksum(arrays: Arrays, text: str) -> str:
    """Sum up names, types, shapes and numbers: the format itself would not notice a change."""
    total = zlib.crc32(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        little = array.dtype.newbyteorder("<")
        total = zlib.crc32(f"{name} {little.str} {array.shape}".encode(), total)
        total = zlib.crc32(np.ascontiguousarray(array, little).tobytes(), total)
    return f"{total:08x}"
