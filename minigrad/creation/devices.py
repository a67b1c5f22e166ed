"""Say where tensors live, how they lie in memory, and by which names old programs make them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np

from minigrad.autograd.messages import type_name
from minigrad.core.operation import registry
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.creation.construction import array_of
from minigrad.creation.layout import Size, UntypedStorage
from minigrad.signatures import attach
from minigrad.signatures.arguments import check_tensor, wholes

__all__ = ["accelerator", "backends", "compile", "cuda", "device"]
__all__ += ["get_default_device", "set_default_device"]
__all__ += ["contiguous_format", "layout", "memory_format", "sparse_coo", "strided"]
__all__ += ["channels_last", "preserve_format", "use_deterministic_algorithms"]
__all__ += ["is_complex", "is_conj", "is_floating_point", "is_neg", "is_signed"]
__all__ += ["bfloat16", "finfo", "iinfo", "numel", "typename"]
__all__ += ["BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor"]
__all__ += ["HalfTensor", "IntTensor", "LongTensor", "ShortTensor"]

_KINDS = {"cpu", "cuda", "hip", "hpu", "meta", "mps", "mtia", "vulkan", "xla", "xpu"}
_ONLY_CPU = "minigrad computes on the CPU only: leave the device out, or say 'cpu'."

# ------------------------------------------------------------------ places


@dataclass(frozen=True, init=False, repr=False)
class device:
    """A place where tensors may live. Every place has a name here; only the CPU has tensors.

    Args:
        type: The kind of the place, such as "cpu", or with a number "cuda:1"; or another device.
        index: The number of the place among those of its kind.

    Attributes:
        type: The kind, such as "cpu".
        index: The number, or None.

    Raises:
        RuntimeError: If there is no such kind.

    Example:
        >>> import minigrad as torch
        >>> place = torch.device("cpu")
        >>> place
        device(type='cpu')
        >>> place.type, place.index, str(torch.device("cuda", 1))
        ('cpu', None, 'cuda:1')
        >>> torch.ones(2).device == place
        True
    """

    type: str
    index: int | None

    def __init__(self, type: Any, index: int | None = None) -> None:
        if isinstance(type, int):
            _refuse_accelerator()
        if not isinstance(type, (str, device)):
            raise TypeError(f"a device is given by its name, such as 'cpu', not by {type!r}")
        kind, colon, number = str(type).partition(":")
        if kind not in _KINDS or (colon and not number.isdecimal()):
            raise RuntimeError(f"there is no device {str(type)!r}. {_ONLY_CPU}")
        vars(self).update(type=kind, index=int(number) if colon else index)

    def __repr__(self) -> str:
        number = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{number})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __enter__(self) -> device:
        refuse_other_places(self)
        return self

    def __exit__(self, *exception: object) -> None:
        """Change nothing: tensors are made on the CPU after the block, too."""


def refuse_other_places(place: Any) -> None:
    """Raise if a device is given that is not the CPU.

    Args:
        place: A device, its name, or None.
        caller: The name of the function that was given it, for the message.

    Raises:
        TypeError: If it isn't a device.
        RuntimeError: If there is no such device, or it is not the CPU.
        AssertionError: If it is an accelerator that PyTorch would have to be compiled for.
    """
    kind = "cpu" if place is None else device(place).type
    if kind in ("cuda", "xpu"):
        raise AssertionError(f"Torch not compiled with {kind.upper()} enabled. {_ONLY_CPU}")
    if kind != "cpu":
        raise RuntimeError(f"there are no tensors on {kind}. {_ONLY_CPU}")


def get_default_device() -> device:
    """Give the device on which tensors are made: the CPU."""
    return device("cpu")


def set_default_device(device: Any) -> None:
    """Accept the CPU as the device on which tensors are made, and nothing else.

    Example:
        >>> import minigrad as torch
        >>> torch.set_default_device("cpu")
        >>> torch.get_default_device()
        device(type='cpu')
    """
    refuse_other_places(device)


# ------------------------------------------------------------------ orders in memory


class layout:
    """How the entries of a tensor are kept: `minigrad.strided` is the only way.

    Example:
        >>> import minigrad as torch
        >>> torch.zeros(2).layout
        torch.strided
        >>> isinstance(torch.strided, torch.layout)
        True
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> str:
        return self._name


class memory_format(layout):
    """In which order the dimensions of a tensor lie in memory.

    Example:
        >>> import minigrad as torch
        >>> torch.ones(2, 3).T.is_contiguous(memory_format=torch.contiguous_format)
        False
    """


strided, sparse_coo = layout("strided"), layout("sparse_coo")
contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")


def refuse_other_layouts(given: Any, pin_memory: Any) -> None:
    """Raise if a tensor is to be kept in another way than strided, or in pinned memory."""
    if given not in (None, strided):
        raise NotImplementedError(f"minigrad has strided tensors only, but was asked for {given}")
    if pin_memory:
        _refuse_accelerator()


def wants_contiguous(given: Any) -> bool:
    """Tell whether a memory format asks for entries in order.

    Raises:
        NotImplementedError: If it is one of the formats that put channels last.
    """
    if given not in (None, preserve_format, contiguous_format):
        raise NotImplementedError(f"minigrad has no {given}: move the channels by permute()")
    return given is contiguous_format


# ------------------------------------------------------------------ tensors by the type's name


class TensorType(type):
    """The kind of the classes `FloatTensor` and so on: what they make are plain tensors."""

    dtype: dtypes.dtype

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype

    def __call__(cls, *data: Any) -> Tensor:
        """Make a tensor of this type from sequences of numbers, from sizes, or from a tensor."""
        return new(cls.dtype, *data)

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


def new(dtype: dtypes.dtype | None, *data: Any, kind: type[Tensor] = Tensor) -> Any:
    """Make a tensor of a type as PyTorch's old constructors do; see `array_for`."""
    array = array_for(*data, dtype=dtype)
    shared = kind is Tensor and data and array is getattr(data[0], "_array", None)
    return registry["alias"](data[0]) if shared else wrap(array, kind)


def array_for(*data: Any, dtype: dtypes.dtype | None = None) -> Any:
    """Make the array of a tensor that an old constructor makes.

    Args:
        *data: Nested sequences of numbers, or an array, or a tensor of this type, whose memory is
            shared; or the sizes of a tensor whose entries are not set; or nothing.
        dtype: The type of the entries, if not the default.

    Raises:
        TypeError: If the data are no sequence, or a tensor of another type.
    """
    asked = dtypes.default.dtype if dtype is None else dtype
    if len(data) == 1 and isinstance(data[0], Tensor):
        if dtype is not None and data[0].dtype is not dtype:
            raise TypeError(f"expected a tensor of {dtype}: convert it with to({dtype})")
        return data[0]._array
    if len(data) == 1 and not isinstance(data[0], (int, Size, np.integer)):
        (values,) = data
        if isinstance(values, str) or not hasattr(values, "__len__"):
            raise TypeError(f"new(): data must be a sequence (got {type_name(values)})")
        if isinstance(values, np.ndarray):
            return np.array(values, None if values.dtype.kind == "O" else asked.numpy, subok=True)
        return array_of(values, asked.numpy)
    sizes = data[0] if len(data) == 1 and isinstance(data[0], Size) else data or (0,)
    return np.zeros(wholes("new", sizes, "size"), asked.numpy)


def _type(dtype: dtypes.dtype) -> TensorType:
    name = f"{dtype.tensor_type}Tensor"
    made = TensorType(name, (), {"__module__": "torch", "dtype": dtype})
    made.__doc__ = f"Make tensors of {dtype}; `isinstance` tells whether a tensor is one."
    return made


FloatTensor, DoubleTensor = _type(dtypes.float32), _type(dtypes.float64)
HalfTensor, BoolTensor = _type(dtypes.float16), _type(dtypes.bool)
LongTensor, IntTensor = _type(dtypes.int64), _type(dtypes.int32)
ShortTensor, CharTensor, ByteTensor = map(_type, (dtypes.int16, dtypes.int8, dtypes.uint8))

# ------------------------------------------------------------------ types that are not here


class _Missing(dtypes.dtype):
    """A type of PyTorch's that tensors here cannot have; it equals the type of none of them."""

    __slots__ = ()

    def __init__(self, name: str, tensor_type: str, itemsize: int) -> None:
        self.name, self.tensor_type, self.itemsize = name, tensor_type, itemsize
        self.is_floating_point, self.is_complex, self.is_signed = True, False, True

    @property
    def numpy(self) -> np.dtype[Any]:  # type: ignore[override]
        """Raise, because there is no such type."""
        raise NotImplementedError(f"minigrad has no {self}: use torch.float16 or torch.float32.")


bfloat16 = _Missing("bfloat16", "BFloat16", 2)

# ------------------------------------------------------------------ what types can hold


class finfo:
    """What the floating-point numbers of a type are like.

    Args:
        type: The dtype; of a complex one, its parts are described. By default the default dtype.

    Attributes:
        bits: Bits a number.
        eps: The distance from 1 to the next number.
        max: The largest number.
        min: The smallest (most negative) number.
        tiny: The smallest positive number of full precision, also named `smallest_normal`.
        resolution: Ten to the power of minus the number of exact decimal digits.
        dtype: The name of the type.

    Raises:
        TypeError: If it is not a floating-point type.

    Example:
        >>> import minigrad as torch
        >>> torch.finfo(torch.float32).eps
        1.1920928955078125e-07
    """

    def __init__(self, type: Any = None) -> None:
        asked = dtypes.asked("finfo", dtypes.default.dtype if type is None else type)
        if asked is None or asked.kind not in "fc":
            raise TypeError(f"{type} is no floating-point type. Use torch.iinfo.")
        found: Any = np.finfo(asked)
        self.dtype, self.bits = found.dtype.name, int(found.bits)
        self.min, self.max, self.eps = float(found.min), float(found.max), float(found.eps)
        self.resolution = float(str(found.resolution))
        self.tiny = self.smallest_normal = float(found.smallest_normal)


class iinfo:
    """What the whole numbers of a type are like.

    Args:
        type: The dtype.

    Attributes:
        bits: Bits a number.
        max: The largest number.
        min: The smallest number.
        dtype: The name of the type.

    Raises:
        TypeError: If it is not a type of whole numbers.

    Example:
        >>> import minigrad as torch
        >>> torch.iinfo(torch.uint8).max
        255
    """

    def __init__(self, type: Any) -> None:
        asked = dtypes.asked("iinfo", type)
        if asked is None or asked.kind not in "iu":
            raise TypeError(f"{type} is no type of whole numbers. Use torch.finfo.")
        found = np.iinfo(asked)
        self.dtype, self.bits = asked.name, int(found.bits)
        self.min, self.max = int(found.min), int(found.max)


# ------------------------------------------------------------------ questions


def _question(name: str, meaning: str) -> Callable[[Tensor], Any]:
    """Make the function that asks a tensor what its method of the same name tells."""

    def ask(input: Tensor) -> Any:
        check_tensor(name, input)
        return getattr(input, name)()

    ask.__name__ = ask.__qualname__ = name
    ask.__doc__ = f"Tell {meaning}."
    return ask


numel = _question("numel", "how many entries a tensor has")
is_conj = _question("is_conj", "whether a tensor is conjugated when it is read: never here")
is_neg = _question("is_neg", "whether a tensor is negated when it is read: never here")
is_complex = _question("is_complex", "whether the entries are complex numbers")
is_floating_point = _question("is_floating_point", "whether the entries are floating-point numbers")
is_signed = _question("is_signed", "whether the entries can be negative")


def typename(obj: Any, /) -> str:
    """Give the name of a tensor's type, or of a class, or of the class of something else.

    Example:
        >>> import minigrad as torch
        >>> torch.typename(torch.ones(2)), torch.typename(1)
        ('torch.FloatTensor', 'int')
    """
    if isinstance(obj, Tensor):
        return str(obj.type())
    named = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(named, "__module__", "builtins")  # generators have none
    module = "" if module == "builtins" else f"{module}."
    return module.replace("minigrad.", "torch.", 1) + str(named.__qualname__)


def _cuda(self: Tensor, device: Any = None, *given: Any, **options: Any) -> Tensor:
    """Raise, because there is no GPU."""
    _refuse()


def _pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """Raise, because there is no GPU that would read pinned memory."""
    _refuse_accelerator()


def _storage_offset(self: Tensor) -> int:
    """Give how many entries lie before the first one in the memory that the tensor shares."""
    start = UntypedStorage(self).data_ptr()
    return int((self._array.ctypes.data - start) // self._array.itemsize)


def _constant(value: Any, what: str) -> property:
    return property(lambda self: value, doc=what)


_HERE = device("cpu")
# Properties that tell of one place or way of keeping entries each: only is_cpu is true.
_PLACES = "is_cpu is_cuda is_meta is_mps is_quantized is_sparse is_xpu"

_METHODS: dict[str, Any] = {
    "cuda": _cuda,
    "device": _constant(_HERE, "Where the tensor lives: on the CPU."),
    "get_device": lambda self: -1,
    "is_complex": lambda self: self.dtype.is_complex,
    "is_signed": lambda self: self.dtype.is_signed,
    "layout": _constant(strided, "How the entries are kept: strided."),
    "new": lambda self, *data: new(self.dtype, *data),
    "pin_memory": _pin_memory,
    "storage_offset": _storage_offset,
    "to_dense": lambda self: self,
    "untyped_storage": lambda self: UntypedStorage(self),
    **{name: lambda self: False for name in ("is_conj", "is_neg", "is_pinned", "is_shared")},
    **{
        name: _constant(name == "is_cpu", "Whether the tensor lives or is kept in this way.")
        for name in _PLACES.split()
    },
}

# ------------------------------------------------------------------ what scripts ask for


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for operations that give the same result each time: all of minigrad's do.

    Example:
        >>> import minigrad as torch
        >>> torch.use_deterministic_algorithms(True)
    """


def compile(model: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Return a function or a module as it is: nothing is compiled here.

    Args:
        model: The module or function, or None for a decorator.
        **options: PyTorch's `fullgraph`, `dynamic`, `backend`, `mode`, `options` and `disable`.

    Example:
        >>> import minigrad as torch
        >>> square = torch.compile(lambda x: x * x)
        >>> square(torch.tensor(3.0))
        tensor(9.)
    """
    if model is None:
        return lambda later: compile(later, **options)
    return model


def _always(answer: Any) -> Callable[..., Any]:
    return lambda *arguments, **options: answer


def _refuse(*arguments: Any, **options: Any) -> NoReturn:
    """Raise, because there is no GPU."""
    raise AssertionError(f"Torch not compiled with CUDA enabled. {_ONLY_CPU}")


def _refuse_accelerator(*arguments: Any, **options: Any) -> NoReturn:
    """Raise, because there is no accelerator."""
    raise RuntimeError(f"Cannot access accelerator device when none is available. {_ONLY_CPU}")


def _answering(answers: dict[Callable[..., Any], str]) -> SimpleNamespace:
    """Make what has functions of these names."""
    return SimpleNamespace(**{n: does for does, names in answers.items() for n in names.split()})


# What scripts ask of GPUs: `minigrad.cuda.is_available()` is False.
cuda = _answering({
    _always(False): "is_available is_initialized is_bf16_supported",
    _always(0): "device_count memory_allocated max_memory_allocated",
    _always(None): "empty_cache manual_seed manual_seed_all",
    _refuse: "current_device get_device_name get_device_properties get_device_capability "
    "synchronize set_device reset_peak_memory_stats current_stream",
})  # fmt: skip
accelerator = _answering({
    _always(False): "is_available",
    _always(0): "device_count",
    _always(None): "current_accelerator",
    _refuse_accelerator: "current_device_index synchronize",
})  # fmt: skip

_absent = {"is_available": _always(False), "is_built": _always(False)}

# Libraries that PyTorch computes with. Scripts set their switches for runs that can be repeated; on
# the CPU minigrad gives the same numbers for the same seed anyway.
version = SimpleNamespace(cuda=None, debug=False, hip=None)
backends = SimpleNamespace(
    cudnn=SimpleNamespace(enabled=False, deterministic=False, benchmark=False, **_absent),
    mkldnn=SimpleNamespace(enabled=False, **_absent),
    **{name: SimpleNamespace(**_absent) for name in ("cuda", "mkl", "mps", "openmp")},
)

attach(__name__, _METHODS, {name: globals()[name] for name in __all__})
