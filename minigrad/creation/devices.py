"""Say where tensors live and how they lie in memory: on the CPU, strided, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NoReturn

from minigrad.autograd.messages import wrong_type
from minigrad.core.tensor import Tensor
from minigrad.creation.memory import TypedStorage, UntypedStorage, is_shared
from minigrad.creation.tensor_types import new
from minigrad.signatures import attach
from minigrad.signatures.arguments import check_tensor

__all__ = ["accelerator", "backends", "compile", "cuda", "device"]
__all__ += ["get_default_device", "set_default_device"]
__all__ += ["contiguous_format", "layout", "memory_format", "sparse_coo", "strided"]
__all__ += ["channels_last", "channels_last_3d", "preserve_format", "use_deterministic_algorithms"]
__all__ += ["are_deterministic_algorithms_enabled"]
__all__ += ["is_complex", "is_conj", "is_floating_point", "is_neg", "is_signed"]
__all__ += ["is_storage", "numel", "typename"]

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


def refuse_other_places(place: Any, caller: str = "") -> None:
    """Raise if a device is given that is not the CPU.

    Args:
        place: A device, its name, or None.
        caller: The name of the function that was given it, for the message.

    Raises:
        TypeError: If it is no device.
        RuntimeError: If there is no such device, or it is not the CPU.
        AssertionError: If it is an accelerator that PyTorch would have to be compiled for.
    """
    if place is not None and not isinstance(place, (device, str, int)):
        raise wrong_type(caller, "device", "torch.device", place)
    kind = "cpu" if place is None else device(place).type
    if kind in ("cuda", "xpu"):
        raise AssertionError(f"Torch not compiled with {kind.upper()} enabled. {_ONLY_CPU}")
    if kind != "cpu":
        raise RuntimeError(f"there are no tensors on {kind}. {_ONLY_CPU}")


def get_default_device() -> device:
    """Give the device on which tensors are made: the CPU."""
    return device("cpu")


def set_default_device(device: Any) -> None:
    """Accept the CPU as the device on which tensors are made, and nothing else."""
    refuse_other_places(device, "set_default_device")


# ------------------------------------------------------------------ orders in memory


class _Constant:
    """Something that has a name only."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> str:
        return self._name


class layout(_Constant):
    """How the entries of a tensor are kept: `minigrad.strided` is the only way."""

    __slots__ = ()


class memory_format(_Constant):
    """In which order the dimensions of a tensor lie in memory."""

    __slots__ = ()


strided, sparse_coo = layout("strided"), layout("sparse_coo")
contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")


def refuse_other_layouts(given: Any, pin_memory: Any, caller: str = "") -> None:
    """Raise if a tensor is to be kept in another way than strided, or in pinned memory."""
    if given is not None and not isinstance(given, layout):
        raise wrong_type(caller, "layout", "torch.layout", given)
    if given not in (None, strided):
        raise NotImplementedError(f"minigrad has strided tensors only, but was asked for {given}")
    if pin_memory:
        _refuse_accelerator()


def wants_contiguous(given: Any, caller: str = "") -> bool:
    """Tell whether a memory format asks for entries in order.

    Raises:
        TypeError: If it is no memory format.
        NotImplementedError: If it is one of the formats that put channels last.
    """
    if given is None or given is preserve_format:
        return False
    if not isinstance(given, memory_format):
        raise wrong_type(caller, "memory_format", "torch.memory_format", given)
    if given is not contiguous_format:
        raise NotImplementedError(
            f"minigrad has no {given}: leave memory_format out, or move the channels by permute()"
        )
    return True


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


def is_storage(obj: Any, /) -> bool:
    """Tell whether something is the memory of a tensor."""
    return isinstance(obj, UntypedStorage)


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
_PLACES = (
    "is_cpu is_cuda is_ipu is_maia is_meta is_mkldnn is_mps is_mtia is_nested is_quantized "
    "is_sparse is_sparse_csr is_vulkan is_xla is_xpu"
)

_METHODS: dict[str, Any] = {
    "cuda": _cuda,
    "dense_dim": lambda self: self.ndim,
    "device": _constant(_HERE, "Where the tensor lives: on the CPU."),
    "get_device": lambda self: -1,
    "is_complex": lambda self: self.dtype.is_complex,
    "is_conj": lambda self: False,
    "is_distributed": lambda self: False,
    "is_neg": lambda self: False,
    "is_pinned": lambda self: False,
    "is_shared": is_shared,
    "is_signed": lambda self: self.dtype.is_signed,
    "layout": _constant(strided, "How the entries are kept: strided."),
    "new": lambda self, *data: new(self.dtype, *data),
    "pin_memory": _pin_memory,
    "sparse_dim": lambda self: 0,
    "storage_offset": _storage_offset,
    "to_dense": lambda self: self,
    "storage": lambda self: TypedStorage(self),
    "untyped_storage": lambda self: UntypedStorage(self),
    **{
        name: _constant(name == "is_cpu", "Whether the tensor lives or is kept in this way.")
        for name in _PLACES.split()
    },
}

# ------------------------------------------------------------------ what scripts ask for


_asked = {"deterministic": False}


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for operations that give the same result each time: all of minigrad's do."""
    _asked["deterministic"] = mode


def are_deterministic_algorithms_enabled() -> bool:
    """Tell whether `use_deterministic_algorithms` asked for them."""
    return _asked["deterministic"]


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
