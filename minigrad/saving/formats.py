"""Write and read tensors by name as NumPy's `.npz` or as `.safetensors`."""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from minigrad.autograd.messages import warn
from minigrad.core.tensor import Tensor

Arrays = dict[str, np.ndarray[Any, Any]]

# A file may unpack to this much, or to this many times its size: more is taken for a trap.
_MOST_BYTES = 1 << 26
_MOST_TIMES = 100


def arrays_of(obj: Any) -> Arrays:
    """Give the arrays of tensors by name.

    Raises:
        TypeError: If it is anything else.
    """
    named = isinstance(obj, dict) and all(
        isinstance(name, str) and isinstance(value, Tensor) and value._array.dtype.kind != "O"
        for name, value in obj.items()
    )
    if not named:
        raise TypeError(
            "a file that ends in .npz or .safetensors holds tensors by name, such as a "
            "state_dict() gives. Save anything else to a file that ends in .pt."
        )
    return {name: value.detach()._array for name, value in obj.items()}


# ------------------------------------------------------------------ zip archives, and NumPy's


def entry_of(name: str) -> zipfile.ZipInfo:
    """Describe an entry; without the time, so that the same content makes the same file."""
    return zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))


def unpack(content: bytes) -> dict[str, bytes]:
    """Open a zip archive, and give the content of each entry.

    Raises:
        ValueError: If there is much more in it than one would think, or less than it says.
        zipfile.BadZipFile: If the archive is damaged.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = archive.infolist()
        end = content.rfind(b"PK\x05\x06") + 10  # damage to the list of contents can hide entries
        if int.from_bytes(content[end : end + 2], "little") not in (len(entries), 0xFFFF):
            raise ValueError(f"there are {len(entries)} entries, and it says another number")
        unpacked = sum(entry.file_size for entry in entries)
        if unpacked > max(_MOST_BYTES, _MOST_TIMES * len(content)):
            raise ValueError(f"its {len(content):,} bytes would unpack to {unpacked:,}: a trap?")
        return {entry.filename: archive.read(entry) for entry in entries}


def write_npz(file: BinaryIO, arrays: Arrays) -> None:
    """Write arrays as `numpy.savez` would."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, array in arrays.items():
            with archive.open(entry_of(name + ".npy"), "w", force_zip64=True) as entry:
                npy.write_array(entry, array, allow_pickle=False)


def read_npz(files: dict[str, bytes]) -> Arrays:
    """Read arrays by name.

    Raises:
        ValueError: If an entry is no array of numbers.
    """
    arrays: Arrays = {}
    for name, data in files.items():
        array = npy.read_array(io.BytesIO(data), allow_pickle=False)
        arrays[name.removesuffix(".npy")] = array.astype(array.dtype.newbyteorder("="), order="K")
    return arrays


# ------------------------------------------------------------------ safetensors

# A file is the length of its header, in 8 bytes; the header, which says in JSON of each tensor its
# type, its shape and where it lies; and the numbers.

# What the format calls the types that tensors have here.
_DTYPES = {"BOOL": "bool", "C64": "complex64", "U8": "uint8"}
_DTYPES |= {f"F{bits}": f"float{bits}" for bits in (16, 32, 64)}
_DTYPES |= {f"I{bits}": f"int{bits}" for bits in (8, 16, 32, 64)}


def write_safetensors(file: BinaryIO, arrays: Arrays) -> None:
    """Write arrays as `safetensors.torch.save_file` would.

    Raises:
        TypeError: If there are numbers that the format does not have.
    """
    codes = {name: code for code, name in _DTYPES.items()}
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    data = b""
    for name in sorted(arrays, key=lambda name: (-arrays[name].itemsize, name)):
        array = arrays[name]
        if array.dtype.name not in codes:
            raise TypeError(f"safetensors has no {array.dtype}: save {name!r} in an .npz file")
        start = len(data)
        data += array.astype(array.dtype.newbyteorder("<")).tobytes()
        place = {"shape": [*array.shape], "data_offsets": [start, len(data)]}
        header[name] = {"dtype": codes[array.dtype.name], **place}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # as the format asks: numbers begin at a multiple of 8
    file.write(len(text).to_bytes(8, "little") + text + data)


def read_safetensors(content: bytes) -> Arrays:
    """Read arrays by name.

    Raises:
        ValueError: If the header does not fit the data, or names a type that tensors cannot have.
    """
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    header.pop("__metadata__", None)
    arrays: Arrays = {}
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = entry["data_offsets"]
        kind = np.dtype("u2" if entry["dtype"] == "BF16" else _DTYPES[entry["dtype"]])
        if end - begin != math.prod(entry["shape"]) * kind.itemsize or end > len(content) - start:
            raise ValueError(f"the tensor {name!r} is not as long as its shape says")
        numbers = np.frombuffer(content[start + begin : start + end], kind.newbyteorder("<"))
        floats = widened(numbers) if entry["dtype"] == "BF16" else numbers.astype(kind)
        arrays[name] = floats.reshape(entry["shape"])
    return arrays


def widened(halves: Any) -> Any:
    """Give the float32 of numbers of bfloat16, which NumPy has not: they are its upper halves."""
    warn("bfloat16 became float32, which holds all of its values: NumPy has no bfloat16.")
    return (halves.astype(np.uint32) << 16).view(np.float32)


WRITTEN: dict[str, Callable[[BinaryIO, Arrays], None]] = {  # by the ending of the path
    ".npz": write_npz,
    ".safetensors": write_safetensors,
}
