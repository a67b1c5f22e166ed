"""Write and read PyTorch's own files, `.pt` and `.pth`: a zip archive of a pickle and of storages.

The pickle is read by Python's unpickler, which finds here what a pickle names in one table: makers
of tensors, sizes and containers. It imports nothing, and calls nothing else.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

import numpy as np

from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.creation.layout import Size, owner_of
from minigrad.nn.parameter import Parameter


class _Named:
    """Something that a pickle names.

    Args:
        name: The module and the name in it, with a space in between.
        make: What makes it of arguments, where there is something to make.
    """

    __slots__ = ("make", "name")

    def __init__(self, name: str, make: Callable[..., Any] | None = None) -> None:
        self.name, self.make = name, make

    def __call__(self, *args: Any) -> Any:
        """Make it."""
        if self.make is None:
            raise ValueError(f"its pickle calls {self.name!r}, which cannot be called")
        return self.make(*args)


# ---------------------------------------------------------------------- writing


def write(file: BinaryIO, obj: Any, root: str) -> None:
    """Write a structure of tensors as `torch.save` would.

    Args:
        file: Where to.
        obj: The structure.
        root: The name of the folder inside the archive.

    Raises:
        TypeError: If there is something in it that cannot be saved.
    """
    content = io.BytesIO()
    pickler = _Pickler(content, 2)
    pickler.dump(obj)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        files = {"data.pkl": content.getvalue(), "byteorder": b"little"}
        for key, array in pickler.storages.values():
            data = array.astype(array.dtype.newbyteorder("<"), copy=False)
            files[f"data/{key}"] = data.tobytes()
        for name, data in {**files, "version": b"3\n"}.items():
            # without the time, so that the same content makes the same file
            archive.writestr(zipfile.ZipInfo(f"{root}/{name}", (1980, 1, 1, 0, 0, 0)), data)


_InPython: Any = pickle._Pickler  # the one whose steps can be changed

# What is written as Python does it: plain data, and what it names to make these again.
_PLAIN = {type(None), bool, int, float, str, list, tuple, dict, OrderedDict, Counter}


class _Pickler(_InPython):
    """Writes PyTorch's names for what is ours."""

    def __init__(self, file: BinaryIO, protocol: int) -> None:
        super().__init__(file, protocol)
        self.storages: dict[int, tuple[int, Any]] = {}  # by the ids of arrays: their numbers

    def reducer_override(self, obj: Any) -> Any:
        """Say how something is made when it is read."""
        if isinstance(obj, _Named):
            return obj.name
        if isinstance(obj, Parameter):
            plain: Any = (obj.detach(), obj.requires_grad, OrderedDict())
            return _Named("torch._utils _rebuild_parameter"), plain
        if isinstance(obj, Tensor) and obj._array.dtype.kind != "O":
            return self._tensor(obj.detach(), obj.requires_grad)
        if type(obj) is Size:
            return _Named("torch Size"), (tuple(obj),)
        if isinstance(obj, dtypes.dtype):
            return str(obj).replace(".", " ")
        if type(obj) in _PLAIN or obj is OrderedDict or obj is Counter:
            return NotImplemented
        raise TypeError(f"cannot save a {type(obj).__name__}. Save what a state_dict() gives.")

    def save_global(self, obj: Any, name: str | None = None) -> None:
        """Write a name; those of PyTorch need not be here."""
        if name is None or " " not in name:
            super().save_global(obj, name)
            return
        self.write(pickle.GLOBAL + name.replace(" ", "\n").encode() + b"\n")
        self.memoize(obj)

    def persistent_id(self, obj: Any) -> Any:
        """Name a storage."""
        return tuple(obj) if isinstance(obj, _Stored) else None

    def _tensor(self, tensor: Tensor, needs_grad: bool) -> Any:
        array = tensor._array
        owner, size = owner_of(array), array.itemsize
        fits = owner.flags.c_contiguous and owner.dtype == array.dtype
        if not (fits and array.size and min(array.strides, default=0) >= 0):
            owner = array = array.copy(order="C")
        key, _ = self.storages.setdefault(id(owner), (len(self.storages), owner))
        kind = _Named(f"torch {dtypes.of_array(array).tensor_type}Storage")
        stored = _Stored(("storage", kind, str(key), "cpu", owner.size))
        first = (array.ctypes.data - owner.ctypes.data) // size
        strides = tuple(way // size for way in array.strides) if array.size else tensor.stride()
        rebuilt: Any = stored, first, array.shape, strides, needs_grad, OrderedDict()
        return _Named("torch._utils _rebuild_tensor_v2"), rebuilt


class _Stored(tuple[Any, ...]):
    """A storage, as a pickle names it."""


# ---------------------------------------------------------------------- reading


def read(entries: Mapping[str, bytes], moved: bool) -> Any:
    """Read what `torch.save` wrote.

    Args:
        entries: Of the archive.
        moved: Whether tensors of other devices may come to the CPU.

    Raises:
        ValueError: If there is something else in it than tensors, numbers, strings and containers.
    """
    root = next(name for name in entries if name.endswith("data.pkl")).removesuffix("data.pkl")
    files = {name.removeprefix(root): content for name, content in entries.items()}
    if files.get("byteorder") == b"big":
        raise ValueError("this file was written on a big-endian machine; save it again elsewhere")
    return _Unpickler(files, moved).load()


class _Unpickler(pickle.Unpickler):
    """Reads pickles that make a few kinds of things, and nothing else."""

    def __init__(self, files: Mapping[str, bytes], moved: bool) -> None:
        super().__init__(io.BytesIO(files["data.pkl"]))
        self._files, self._moved = files, moved
        self._storages: dict[tuple[str, str], Any] = {}

    def find_class(self, module: str, name: str) -> Any:
        """Give what makes something: a new object each time, which a pickle may spoil."""
        known = getattr(dtypes, name, None) if module == "torch" else None
        if isinstance(known, dtypes.dtype):
            return known
        if f"{module} {name}" not in _KNOWN:
            raise ValueError(f"it names {module}.{name}: only tensors and plain data are read")
        return _Named(f"{module} {name}", _KNOWN[f"{module} {name}"])

    def persistent_load(self, pid: Any) -> Any:
        """Give a storage."""
        _, kind, key, location, many = pid
        if str(location).partition(":")[0] != "cpu" and not self._moved:
            raise ValueError(f"a tensor was on {location!r}: give map_location='cpu'")
        if (kind.name, key) not in self._storages:
            name = kind.name.removeprefix("torch ").removesuffix("Storage")
            dtype = dtypes.named(f"torch.{name}Tensor").numpy
            array = np.frombuffer(self._files[f"data/{key}"], dtype.newbyteorder("<")).astype(dtype)
            if array.size != many:
                raise ValueError("a storage is not as long as it says")
            self._storages[kind.name, key] = array
        return self._storages[kind.name, key]


def _tensor(storage: Any, offset: int, size: Any, stride: Any, grad: bool, *_: Any) -> Tensor:
    """Make a tensor of a part of a storage."""
    if not isinstance(storage, np.ndarray) or min(offset, *size, *stride, 0) < 0:
        raise ValueError("a tensor in it has no storage, or a negative size or stride")
    if 0 in size:
        array = np.zeros(size, storage.dtype)
    else:  # NumPy refuses what goes beyond the storage
        steps = [step * storage.itemsize for step in stride]
        array = np.ndarray(size, storage.dtype, storage, offset * storage.itemsize, steps)
    tensor = wrap(array)
    return tensor.requires_grad_() if grad else tensor


_KNOWN: dict[str, Callable[..., Any] | None] = {
    "torch._utils _rebuild_tensor_v2": _tensor,
    "torch._utils _rebuild_parameter": lambda data, grad, *_: Parameter(data, bool(grad)),
    "torch Size": lambda sizes: Size(sizes),
    "collections OrderedDict": lambda *items: OrderedDict(*items),
    "collections Counter": lambda *counts: Counter(*counts),
}
_KINDS = "Bool Byte Char Short Int Long Half Float Double ComplexFloat ComplexDouble"
_KNOWN |= {f"torch {kind}Storage": None for kind in _KINDS.split()}
