"""Write nested dictionaries, lists, numbers and tensors as JSON and arrays, and read them back."""

from __future__ import annotations

import json
from collections import Counter, OrderedDict, defaultdict
from typing import Any

import numpy as np

from minigrad.core.tensor import Tensor
from minigrad.creation import dtypes
from minigrad.creation.construction import from_numpy
from minigrad.creation.devices import device
from minigrad.creation.layout import Size
from minigrad.nn.parameter import Parameter

Arrays = dict[str, np.ndarray[Any, Any]]

# Mappings whose kind is kept; JSON's own are not used, since their keys are always strings.
_MAPPINGS: dict[Any, str] = {
    dict: "dict",
    OrderedDict: "OrderedDict",
    Counter: "Counter",
    defaultdict: "dict",
}


class Writer:
    """Takes a structure apart.

    Attributes:
        arrays: The array of each tensor, under a name that says where it was.
    """

    def __init__(self) -> None:
        self.arrays: Arrays = {}

    def text(self, value: Any) -> str:
        """Give the structure as JSON; its tensors are put into `arrays`.

        Raises:
            TypeError: If something in it cannot be saved.
        """
        return json.dumps(self._plain(value, ()), separators=(",", ":"))

    def _plain(self, value: Any, path: tuple[Any, ...]) -> Any:
        if value is None or type(value) in (bool, int, float, str):
            return value
        if isinstance(value, Tensor):
            found = {"tensor": self._store(value.detach()._array, path)}
            flags = {"parameter": isinstance(value, Parameter), "grad": value.requires_grad}
            return found | {name: True for name, flag in flags.items() if flag}
        if isinstance(value, np.ndarray):
            return {"array": self._store(value, path)}
        if isinstance(value, np.generic):
            return {"scalar": self._store(np.asarray(value), path)}
        if type(value) is list:
            return [self._plain(entry, (*path, i)) for i, entry in enumerate(value)]
        if type(value) in (tuple, set, Size):
            kind = type(value).__name__
            entries = sorted(value) if kind == "set" else value
            return {kind: [self._plain(entry, (*path, i)) for i, entry in enumerate(entries)]}
        if type(value) in _MAPPINGS:
            pairs = [
                [self._plain(key, (*path, "key")), self._plain(entry, (*path, key))]
                for key, entry in value.items()
            ]
            plain: dict[str, Any] = {_MAPPINGS[type(value)]: pairs}
            metadata = getattr(value, "_metadata", None)
            if metadata is not None:
                plain["metadata"] = self._plain(metadata, (*path, "metadata"))
            return plain
        if isinstance(value, complex):
            return {"complex": [value.real, value.imag]}
        if isinstance(value, bytes):
            return {"bytes": value.hex()}
        if isinstance(value, dtypes.dtype):
            return {"dtype": str(value).removeprefix("torch.")}
        if isinstance(value, device):
            return {"device": str(value)}
        raise TypeError(_cannot_save(value, path))

    def _store(self, array: np.ndarray[Any, Any], path: tuple[Any, ...]) -> str:
        if array.dtype.kind not in "biufc":
            raise TypeError(
                f"cannot save an array of {array.dtype} ({_place(path)}): only numbers can be saved"
            )
        wanted = name = "/".join(map(str, path)) or "tensor"
        number = 1
        while name in self.arrays or name == STRUCTURE:
            name = f"{wanted}~{number}"
            number += 1
        self.arrays[name] = array
        return name


STRUCTURE = "minigrad.json"


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


def read(text: str, arrays: Arrays) -> Any:
    """Put a structure together again.

    Args:
        text: What `Writer.text` gave.
        arrays: The arrays by name.

    Raises:
        ValueError: If the text does not say what to do, or names other arrays than there are.
    """
    missing = set(arrays)

    def array_of(name: Any) -> np.ndarray[Any, Any]:
        if not isinstance(name, str) or name not in arrays:
            raise ValueError(f"its structure names a tensor {name!r} that is not there")
        missing.discard(name)
        return arrays[name]

    def tensor_of(plain: dict[str, Any]) -> Tensor:
        tensor = from_numpy(array_of(plain["tensor"]))
        if plain.get("parameter"):
            return Parameter(tensor, requires_grad=bool(plain.get("grad")))
        return tensor.requires_grad_() if plain.get("grad") else tensor

    def mapping_of(kind: str, plain: dict[str, Any]) -> Any:
        pairs = [(build(key), build(value)) for key, value in plain[kind]]
        made: Any = {"dict": dict, "OrderedDict": OrderedDict}.get(kind, Counter)()
        for key, value in pairs:
            if key in made:
                raise ValueError(f"the key {key!r} is there twice")
            made[key] = value
        if "metadata" in plain and kind != "dict":
            made._metadata = build(plain["metadata"])
        return made

    def build(plain: Any) -> Any:
        if isinstance(plain, list):
            return [build(entry) for entry in plain]
        if not isinstance(plain, dict):
            return plain
        kind = next(iter(plain), None)
        if kind == "tensor":
            return tensor_of(plain)
        if kind in ("dict", "OrderedDict", "Counter"):
            return mapping_of(kind, plain)
        if len(plain) == 1 and kind in _OTHERS:
            return _OTHERS[kind](plain[kind], build)
        if len(plain) == 1 and kind == "array":
            return array_of(plain[kind])
        if len(plain) == 1 and kind == "scalar":
            return array_of(plain[kind])[()]
        raise ValueError(f"its structure has something unknown: {list(plain)[:3]}")

    built = build(json.loads(text, object_pairs_hook=_without_repetition))
    if missing:
        raise ValueError(f"its structure does not name the tensor {min(missing)!r}")
    return built


_OTHERS: dict[Any, Any] = {
    "tuple": lambda entries, build: tuple(map(build, entries)),
    "set": lambda entries, build: set(map(build, entries)),
    "Size": lambda entries, build: Size(map(build, entries)),
    "complex": lambda parts, build: complex(*parts),
    "bytes": lambda text, build: bytes.fromhex(text),
    "dtype": lambda name, build: _dtype(name),
    "device": lambda name, build: device(name),
}


def _dtype(name: Any) -> dtypes.dtype:
    found = getattr(dtypes, name, None) if isinstance(name, str) else None
    if not isinstance(found, dtypes.dtype):
        raise ValueError(f"there is no dtype {name!r}")
    return found


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a dictionary; JSON would let the last of two values for one key win."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key is there twice")
    return made
