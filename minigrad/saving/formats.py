"""Say what a file can hold, and write tensors by name as NumPy's `.npz` or as `.safetensors`."""

from __future__ import annotations

import io
import json
import math
import zipfile
import zlib
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from types import ModuleType
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from minigrad.autograd.messages import warn
from minigrad.core.tensor import Tensor
from minigrad.creation.devices import device
from minigrad.creation.dtypes import dtype
from minigrad.creation.layout import Size

Arrays = dict[str, np.ndarray[Any, Any]]

# A file may unpack to this much, or to this many times its size: more is taken for a trap.
_MOST_BYTES = 1 << 26
_MOST_TIMES = 100

_PLAIN = (type(None), bool, int, float, complex, str, bytes, dtype, device)


def check(value: Any, path: tuple[Any, ...] = ()) -> None:
    """Look at all that is in a structure.

    Args:
        value: The structure.
        path: Where it is in the whole one, for the errors.

    Raises:
        TypeError: If there is something in it that cannot be saved.
    """
    if type(value) in (list, tuple, set, Size):
        for place, entry in enumerate(value):
            check(entry, (*path, place))
    elif type(value) in (dict, OrderedDict, Counter, defaultdict):
        for key, entry in value.items():
            check(key, (*path, "key"))
            check(entry, (*path, key))
        check(getattr(value, "_metadata", None), (*path, "metadata"))
    elif isinstance(value, (Tensor, np.ndarray, np.generic)):
        kind = getattr(value, "_array", value).dtype
        if kind.kind not in "biufc":
            raise TypeError(
                f"cannot save an array of {kind} ({_place(path)}): only numbers can be saved"
            )
    elif type(value) not in _PLAIN:
        raise TypeError(_cannot_save(value, path))


def _place(path: tuple[Any, ...]) -> str:
    return "at " + "".join(f"[{key!r}]" for key in path) if path else "the whole of it"


def _cannot_save(value: Any, path: tuple[Any, ...]) -> str:
    text = f"cannot save a {type(value).__name__} ({_place(path)}). "
    if hasattr(value, "state_dict"):
        return text + "Save what its state_dict() gives, and load that with load_state_dict()."
    return (
        text + "A file holds tensors, numbers, strings, None, and dictionaries, lists, tuples and "
        "sets of them: other objects would have to be unpickled, which can run any program."
    )


def arrays_of(obj: Any) -> Arrays:
    """Give the arrays of tensors by name.

    Raises:
        TypeError: If it is anything else.
    """
    check(obj)
    named = isinstance(obj, dict) and all(
        isinstance(name, str) and isinstance(value, Tensor) for name, value in obj.items()
    )
    if not named:
        raise TypeError(
            "a file that ends in .npz or .safetensors holds tensors by name, such as a "
            "state_dict() gives. Save anything else to a file that ends in .pt."
        )
    return {name: value.detach()._array for name, value in obj.items()}


def write_npz(file: BinaryIO, arrays: Arrays) -> None:
    """Write arrays as `numpy.savez` would."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, array in arrays.items():
            with archive.open(entry_of(name + ".npy"), "w", force_zip64=True) as entry:
                npy.write_array(entry, array, allow_pickle=False)


def entry_of(name: str) -> zipfile.ZipInfo:
    """Describe an entry; without the time, so that the same content makes the same file."""
    return zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))


def unpack(content: bytes) -> dict[str, bytes]:
    """Open a zip archive, and give the content of each entry.

    Raises:
        ValueError: If an entry is missing, is there twice, has a name that leads out of the file,
            or is not as long as it says, or if there is much more in it than one would think.
        zipfile.BadZipFile: If the archive is damaged.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = archive.infolist()
        end = content.rfind(b"PK\x05\x06") + 10  # damage to the list of contents can hide entries
        if int.from_bytes(content[end : end + 2], "little") not in (len(entries), 0xFFFF):
            raise ValueError(f"there are {len(entries)} entries, and it says another number")
        files: dict[str, bytes] = {}
        refuse_trap(content, sum(entry.file_size for entry in entries))
        for entry in entries:
            name = entry.filename
            if name in files:
                raise ValueError("an entry is there twice")
            if name.startswith("/") or "\\" in name or ".." in name.split("/"):
                raise ValueError(f"the name {name!r} leads out of the file")
            with archive.open(entry) as stream:  # `read(entry)` would unpack 2 GB at a time
                files[name] = stream.read(entry.file_size + 1)
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


def read_npz(files: dict[str, bytes]) -> Arrays:
    """Read arrays by name.

    Raises:
        ValueError: If an entry is no array of numbers.
    """
    for name in files:
        if not name.endswith(".npy"):
            raise ValueError(f"the entry {name!r} is no array")
    return {name.removesuffix(".npy"): _array(data, name) for name, data in files.items()}


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
    order: Any = "F" if in_columns else "C"
    array = np.frombuffer(data, dtype, count, start).reshape(shape, order=order)
    return array.astype(dtype.newbyteorder("="), order="K", copy=True)


# What the format calls the types that NumPy has.
_DTYPES = {"BOOL": "bool", "C64": "complex64"}
_DTYPES |= {f"F{bits}": f"float{bits}" for bits in (16, 32, 64)}
_DTYPES |= {f"I{bits}": f"int{bits}" for bits in (8, 16, 32, 64)}
_DTYPES |= {f"U{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)}
_CHECKSUM = "minigrad_crc32"


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


def _header(content: bytes) -> Any:
    return json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])


def _checksum(arrays: Arrays) -> str:
    """Sum up names, types, shapes and numbers: the format itself would not notice a change."""
    total = 0
    for name in sorted(arrays):
        little = np.ascontiguousarray(arrays[name], arrays[name].dtype.newbyteorder("<"))
        total = zlib.crc32(f"{name} {little.dtype.str} {arrays[name].shape}".encode(), total)
        total = zlib.crc32(little.tobytes(), total)
    return f"{total:08x}"


def write_safetensors(file: BinaryIO, arrays: Arrays) -> None:
    """Write arrays as `safetensors.torch.save_file` would."""
    for name, array in arrays.items():
        if str(array.dtype) not in _DTYPES.values():
            raise TypeError(
                f"safetensors has no {array.dtype} ({name!r}). Save it to a file that ends in .npz"
            )
    plain = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    content = _library().numpy.save(plain, {"format": "pt", _CHECKSUM: _checksum(plain)})
    header = _header(content)
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))  # else by chance
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # as the format asks: numbers begin at a multiple of 8
    data = content[8 + int.from_bytes(content[:8], "little") :]
    file.write(len(text).to_bytes(8, "little") + text + data)


WRITTEN: dict[str, Callable[[BinaryIO, Arrays], None]] = {  # by the ending of the path
    ".npz": write_npz,
    ".safetensors": write_safetensors,
}


def read_safetensors(content: bytes) -> Arrays:
    """Read arrays by name.

    Raises:
        ValueError: If the checksum is wrong, or there is a type that tensors cannot have.
        Exception: What the library raises if the file is damaged.
    """
    arrays: Arrays = {}
    rounded = []
    header = _header(content)
    entries = dict(_library().deserialize(content))  # in an order by chance
    for name in sorted(entries, key=lambda name: header[name]["data_offsets"]):
        entry = entries[name]
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
    checksum = header.get("__metadata__", {}).get(_CHECKSUM)
    if checksum not in (None, _checksum(arrays)):
        raise ValueError("its checksum is wrong: some bytes were changed")
    if rounded:
        warn(
            f"{len(rounded)} tensors of bfloat16 became float32, which holds all of their values: "
            f"NumPy has no bfloat16. The first is {rounded[0]!r}."
        )
    return arrays
