"""Write and read PyTorch's own files, `.pt` and `.pth`: a zip archive of a pickle and of storages.

The pickle is read by an interpreter of our own, which knows tensors, numbers, strings and
containers by name. It imports nothing and calls nothing that a file names.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import zipfile
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, BinaryIO

import numpy as np

from minigrad.autograd.messages import warn
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.creation.devices import device
from minigrad.creation.layout import Size
from minigrad.creation.memory import owner_of
from minigrad.nn.parameter import Parameter
from minigrad.saving.formats import check, entry_of, refuse_trap

# What the steps of a pickle make copies of, and about how many bytes that takes for each entry.
_COPIED: dict[Any, int] = {str: 1, bytes: 1, list: 64, dict: 64}
_KEYS = (str, int, float, bool, bytes, type(None))  # a key of others could take for ever to hash


class _Global:
    """Something that a pickle names.

    Args:
        name: The module and the name in it, with a space in between.
        make: What makes it of arguments, where there is something to make.
    """

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
    check(obj)
    content = io.BytesIO()
    pickler = _Pickler(content, 2)
    pickler.dump(obj)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        archive.writestr(entry_of(f"{root}/data.pkl"), content.getvalue())
        archive.writestr(entry_of(f"{root}/byteorder"), b"little")
        for key, array in enumerate(pickler.storages):
            data = array.astype(array.dtype.newbyteorder("<"), copy=False)
            archive.writestr(entry_of(f"{root}/data/{key}"), data.tobytes())
        archive.writestr(entry_of(f"{root}/version"), b"3\n")


_InPython: Any = pickle._Pickler  # the one whose steps can be changed


class _Pickler(_InPython):
    """Writes PyTorch's names for what is ours."""

    dispatch = _InPython.dispatch | {defaultdict: _InPython.save_dict}

    def __init__(self, file: BinaryIO, protocol: int) -> None:
        super().__init__(file, protocol)
        self.storages: list[Any] = []
        self._keys: dict[int, tuple[int, Any]] = {}  # of arrays, which are kept from going away
        self._named: dict[str, _Global] = {}

    def reducer_override(self, obj: Any) -> Any:
        """Say how something is made when it is read."""
        if isinstance(obj, _Global):
            return obj.name
        if isinstance(obj, Parameter):
            plain: Any = (obj.detach(), obj.requires_grad, OrderedDict())
            return self._global("torch._utils _rebuild_parameter"), plain
        if isinstance(obj, Tensor):
            return self._tensor(obj.detach(), obj.requires_grad)
        if isinstance(obj, np.generic):
            return self._global(f"numpy {type(obj).__name__}"), (obj.item(),)
        if isinstance(obj, np.ndarray):
            kind = obj.dtype.newbyteorder("<")
            return self._global("numpy ndarray"), (obj.shape, kind.str, obj.astype(kind).tobytes())
        if type(obj) is Size:
            return self._global("torch Size"), (tuple(obj),)
        if isinstance(obj, dtypes.dtype):
            return str(obj).replace(".", " ")
        if isinstance(obj, device):
            return self._global("torch device"), (str(obj),)
        return NotImplemented

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

    def _global(self, name: str) -> _Global:
        return self._named.setdefault(name, _Global(name))

    def _tensor(self, tensor: Tensor, needs_grad: bool) -> Any:
        array = tensor._array
        owner, start, strides = _storage_of(array)
        if id(owner) not in self._keys:
            self._keys[id(owner)] = len(self.storages), owner
            self.storages.append(owner.reshape(-1, order="A"))
        kind = self._global(f"torch {dtypes.of_array(array).tensor_type}Storage")
        stored = _Stored(("storage", kind, str(self._keys[id(owner)][0]), "cpu", owner.size))
        strides = strides if array.size else tensor.stride()
        rebuilt: Any = stored, start, array.shape, strides, needs_grad, OrderedDict()
        return self._global("torch._utils _rebuild_tensor_v2"), rebuilt


class _Stored(tuple[Any, ...]):
    """A storage, as a pickle names it."""


def _storage_of(array: Any) -> tuple[Any, int, tuple[int, ...]]:
    """Find the whole array that this one is a view of: it, where this begins, and its strides."""
    owner = owner_of(array)
    size = array.itemsize
    ways = array.strides
    whole = owner.flags.c_contiguous or owner.flags.f_contiguous
    fits = whole and owner.dtype == array.dtype and all(w >= 0 and w % size == 0 for w in ways)
    if not (fits and array.size):
        owner = array = np.array(array, order="C", ndmin=array.ndim)
        ways = array.strides
    start = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    return owner, start // size, tuple(way // size for way in ways)


# ---------------------------------------------------------------------- reading


def is_one(files: Iterable[str]) -> bool:
    """Tell by the names in a zip archive whether it is one of PyTorch's."""
    return any(f"/{name}".endswith("/data.pkl") for name in files)


def read(entries: Mapping[str, bytes], moved: bool) -> Any:
    """Read what `torch.save` wrote.

    Args:
        entries: Of the archive.
        moved: Whether tensors of other devices may come to the CPU.

    Raises:
        ValueError: If there is something else in it than tensors, numbers, strings and containers.
    """
    root = next(name for name in entries if is_one([name])).removesuffix("data.pkl")
    files = {name.removeprefix(root): content for name, content in entries.items()}
    reader = _Reader(files, moved)
    found = reader.run(files["data.pkl"])
    if reader.rounded:
        warn(
            f"{reader.rounded} storages of bfloat16 became float32, which holds all of their "
            "values: NumPy has no bfloat16."
        )
    return found


class _Reader:
    """An interpreter of pickles that can make a few kinds of things, and nothing else."""

    def __init__(self, files: Mapping[str, bytes], moved: bool) -> None:
        self._files, self._moved = files, moved
        self._order: Any = ">" if files.get("byteorder") == b"big" else "<"
        self._storages: dict[tuple[str, str], Any] = {}
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[Any, Any] = {}
        self.rounded = self._copied = 0

    def run(self, data: bytes) -> Any:
        """Follow a pickle, and give what it makes."""
        stack, memo, self._data = self._stack, self._memo, data
        for opcode, argument, _ in pickletools.genops(data):
            name = opcode.name
            if name in _VALUES:
                stack.append(argument)
            elif name in _MADE:
                stack.append(_MADE[name]())
            elif name in _TAKEN:
                many, into = _TAKEN[name]
                self._take(self._last(many), into)
            elif name in ("BINPUT", "LONG_BINPUT", "MEMOIZE"):
                memo[len(memo) if argument is None else argument] = stack[-1]
            elif name in ("BINGET", "LONG_BINGET"):
                stack.append(memo[argument])
            elif name == "MARK":
                self._marks.append(len(stack))
            elif name == "STOP":
                return stack.pop()
            elif name in _STEPS:
                getattr(self, f"_{name.lower()}")(argument)
            elif name not in ("PROTO", "FRAME"):
                raise ValueError(f"its pickle does something unknown ({name})")

    def _last(self, many: int | None) -> list[Any]:
        """Take so many values from the stack, or all that follow a mark."""
        start = self._marks.pop() if many is None else len(self._stack) - many
        if not 0 <= start <= len(self._stack):
            raise ValueError("its pickle takes more than it has")
        found = self._stack[start:]
        del self._stack[start:]
        return found

    def _take(self, values: list[Any], into: type) -> None:
        """Put values into the container that is last on the stack; a tuple is made of them."""
        if into is tuple:
            self._stack.append(tuple(values))
            return
        last = self._stack[-1]
        if into not in type(last).__mro__ or (into is dict and len(values) % 2):
            raise ValueError(f"its pickle fills what is no {into.__name__}")
        if into is list:
            last.extend(values)
        elif into is set:
            last.update(map(_key, values))
        else:
            last.update(zip(map(_key, values[::2]), values[1::2], strict=True))

    def _global(self, argument: str) -> None:
        argument = argument.replace("__builtin__ ", "builtins ")  # as Python 2 called them
        module, _, name = argument.partition(" ")
        kept = getattr(dtypes, name, None) if module == "torch" else None
        if isinstance(kept, dtypes.dtype):
            self._stack.append(kept)
        elif argument in _KNOWN:
            self._stack.append(_Global(argument, _KNOWN[argument]))
        else:
            raise ValueError(
                f"it names {argument.replace(' ', '.')}, and to make one could run any program: "
                "tensors, numbers, strings and containers alone are read"
            )

    def _stack_global(self, _: Any) -> None:
        self._global(" ".join(map(str, self._last(2))))

    def _reduce(self, _: Any) -> None:
        made, args = self._last(2)
        if not isinstance(made, _Global) or type(args) is not tuple:
            raise ValueError("its pickle calls what cannot be called")
        copied = (each for each in args if type(each) in _COPIED)
        self._copied += sum(len(each) * _COPIED[type(each)] for each in copied)
        refuse_trap(self._data, self._copied)
        self._stack.append(made(*args))

    _newobj = _reduce

    def _build(self, _: Any) -> None:
        state = self._last(1)[0]
        now = self._stack[-1]
        wrong = type(state) is not dict or set(state) - {"_metadata"}
        if wrong or not isinstance(now, OrderedDict):
            raise ValueError("its pickle sets attributes, which only dictionaries may have")
        vars(now).update(state)

    def _binpersid(self, _: Any) -> None:
        what, kind, key, location, many = self._last(1)[0]
        if what != "storage" or not isinstance(kind, _Global) or not isinstance(key, str):
            raise ValueError("its pickle asks for what is no storage")
        if str(location).partition(":")[0] not in ("cpu", "meta") and not self._moved:
            raise ValueError(
                f"a tensor in it was on {location!r}, and there is only the CPU here. To load it "
                "there, give map_location='cpu'"
            )
        found = self._storages.get((kind.name, key))
        if found is None:
            found = self._storages[kind.name, key] = self._read(kind.name, key, many)
        self._stack.append(found)

    def _read(self, kind: str, key: str, many: Any) -> Any:
        data = self._files.get(f"data/{key}")
        name = kind.removeprefix("torch ").removesuffix("Storage")
        if data is None:
            raise ValueError(f"the storage {key!r} is not there")
        half = name == "BFloat16"
        kept = np.dtype("u2") if half else dtypes.named(f"torch.{name}Tensor").numpy
        order = kept.newbyteorder(self._order)
        if many * order.itemsize != len(data):
            raise ValueError(f"the storage {key!r} is not as long as it says")
        array = np.frombuffer(data, order)
        if half:
            self.rounded += 1
            return (array.astype(np.uint32) << 16).view(np.float32)
        return array.astype(order.newbyteorder("="))


_MADE: dict[str, Callable[[], Any]] = {
    **{"EMPTY_LIST": list, "EMPTY_DICT": dict, "EMPTY_SET": set, "EMPTY_TUPLE": tuple},
    **{"NONE": lambda: None, "NEWTRUE": lambda: True, "NEWFALSE": lambda: False},
}
_TAKEN: dict[str, tuple[int | None, type]] = {
    **{"TUPLE": (None, tuple), "TUPLE1": (1, tuple), "TUPLE2": (2, tuple), "TUPLE3": (3, tuple)},
    **{"APPEND": (1, list), "APPENDS": (None, list), "ADDITEMS": (None, set)},
    **{"SETITEM": (2, dict), "SETITEMS": (None, dict)},
}
_STEPS = {"GLOBAL", "STACK_GLOBAL", "REDUCE", "NEWOBJ", "BUILD", "BINPERSID"}
_VALUES = {  # numbers, strings and bytes, which pickletools has read
    opcode.name
    for opcode in pickletools.opcodes
    if opcode.arg and not opcode.stack_before
    if opcode.stack_after and opcode.stack_after != [pickletools.anyobject]
}


def _key(key: Any) -> Any:
    plain = type(key) is tuple and all(isinstance(each, _KEYS) for each in key)
    if not (plain or isinstance(key, (*_KEYS, Size, dtypes.dtype))):
        raise ValueError(f"a key is a {type(key).__name__}, not a number or a string")
    return key


def _tensor(
    storage: Any, offset: int, size: Any, stride: Any, grad: bool = False, *_: Any
) -> Tensor:
    """Make a tensor of a part of a storage."""
    if not isinstance(storage, np.ndarray) or len(size) != len(stride):
        raise ValueError("a tensor in it has no storage, or a stride too many")
    numbers = [offset, *size, *stride]
    if any(type(each) is not int or not 0 <= each < 2**62 for each in numbers):
        raise ValueError(f"a tensor in it has the size {size} and the stride {stride}")
    last = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    empty = 0 in size
    if not empty and last >= storage.size:
        raise ValueError("a tensor in it is larger than its storage")
    steps = [s * storage.itemsize for s in stride]
    if empty:
        array = np.zeros(size, storage.dtype)
    else:
        array = np.ndarray(size, storage.dtype, storage, offset * storage.itemsize, steps)
    tensor = wrap(array)
    return tensor.requires_grad_() if grad else tensor


def _parameter(data: Any, grad: bool = True, *_: Any) -> Parameter:
    if not isinstance(data, Tensor):
        raise ValueError("a parameter in it is no tensor")
    return Parameter(data, requires_grad=bool(grad))


def _array(shape: Any, kind: Any, data: Any) -> Any:
    """Make an array of NumPy's as we write it; PyTorch writes its own in another way."""
    if not isinstance(kind, str) or np.dtype(kind).kind not in "biufc":
        raise ValueError(f"an array in it holds {kind!r}, not numbers")
    return np.ndarray(tuple(map(int, shape)), kind, data).astype(np.dtype(kind).newbyteorder("="))


def _encoded(text: Any, code: Any) -> bytes:
    if not isinstance(text, str) or code != "latin1":
        raise ValueError("bytes in it are written in an unknown way")
    return text.encode("latin1")


def _ordered(*items: Any) -> Any:
    return OrderedDict((_key(key), value) for key, value in (items[0] if items else ()))


def _counted(counts: Any = None) -> Any:
    if type(counts) not in (dict, type(None)):  # the keys of a dictionary were looked at
        raise ValueError("its pickle counts what is no dictionary")
    return Counter(counts)


_KNOWN: dict[str, Callable[..., Any] | None] = {
    "torch._utils _rebuild_tensor_v2": _tensor,
    "torch._utils _rebuild_parameter": _parameter,
    "torch Size": lambda sizes: Size(map(int, sizes)),
    "torch device": lambda *named: device(*named),
    "collections OrderedDict": _ordered,
    "collections Counter": _counted,
    "builtins set": lambda values=(): set(map(_key, values)),
    "numpy ndarray": _array,
    "builtins bytes": lambda: b"",
    "builtins complex": lambda real, imag: complex(float(real), float(imag)),
    "_codecs encode": _encoded,
}
_KINDS = "Bool Byte Char Short Int Long Half BFloat16 Float Double ComplexFloat ComplexDouble"
_KNOWN |= {f"torch {kind}Storage": None for kind in _KINDS.split()}
_KNOWN |= {
    f"numpy {np.dtype(kind).type.__name__}": np.dtype(kind).type for kind in "?bBhHiIlLefdFD"
}
