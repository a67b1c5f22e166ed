"""Write and read `.safetensors` files, with the library of that name."""

from __future__ import annotations

import json
import warnings
import zlib
from types import ModuleType
from typing import Any

import numpy as np

from minigrad.serialization.structure import Arrays

# What the format calls the types that NumPy has.
_DTYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U8": "uint8",
    "U16": "uint16",
    "U32": "uint32",
    "U64": "uint64",
    "BOOL": "bool",
    "C64": "complex64",
}
_STRUCTURE, _CHECKSUM = "minigrad", "minigrad_crc32"


def library() -> ModuleType:
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
    return safetensors  # type: ignore[no-any-return]


def contents(arrays: Arrays, text: str) -> bytes:
    """Give the content of a file."""
    plain = {
        name: array if array.flags.c_contiguous else array.copy() for name, array in arrays.items()
    }
    for name, array in plain.items():
        if str(array.dtype) not in _DTYPES.values():
            raise TypeError(
                f"safetensors has no {array.dtype} ({name!r}). Save it to a file that ends in .npz"
            )
    metadata = {"format": "pt", _STRUCTURE: text, _CHECKSUM: _checksum(plain, text)}
    return _in_order(library().numpy.save(plain, metadata))


def _in_order(content: bytes) -> bytes:
    """Write the header's own entries in alphabetical order: the library's order is by chance."""
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # as the format asks: numbers begin at a multiple of 8
    return len(text).to_bytes(8, "little") + text + content[end:]


def read(content: bytes, header: dict[str, Any]) -> tuple[Arrays, str | None]:
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
    for name, entry in library().deserialize(content):
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
    text = metadata.get(_STRUCTURE)
    if (text is None) != (_CHECKSUM not in metadata):
        raise ValueError("its structure or its checksum is missing")
    if text is not None and metadata[_CHECKSUM] != _checksum(arrays, text):
        raise ValueError("its checksum is wrong: some bytes were changed")
    if rounded:
        warnings.warn(
            f"{len(rounded)} tensors of bfloat16 became float32, which holds all of their values: "
            f"NumPy has no bfloat16. The first is {rounded[0]!r}.",
            UserWarning,
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
