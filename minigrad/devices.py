"""Say where tensors live and how they lie in memory: on the CPU, strided, and nowhere else."""

from __future__ import annotations

from typing import Any, NoReturn

from minigrad.autograd.type_name import type_name

_KINDS = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, "
    "mps, meta, hpu, mtia, privateuseone"
)
_ONLY_CPU = "minigrad computes on the CPU only: leave the device out, or say 'cpu'."


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

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __init__(self, type: Any = None, index: int | None = None, *, device: Any = None) -> None:
        given = type if device is None else device
        if isinstance(given, _device):
            kind, number = given.type, given.index
        elif isinstance(given, str):
            kind, number = _parts(given, index)
        elif isinstance(given, int) and not isinstance(given, bool):
            raise RuntimeError(
                f"Cannot access accelerator device when none is available. {_ONLY_CPU}"
            )
        else:
            raise TypeError(
                f"device() received an invalid combination of arguments - got ({type_name(given)})"
                ", but expected a name such as 'cpu', or another device"
            )
        object.__setattr__(self, "type", kind)
        object.__setattr__(self, "index", number)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"attribute '{name}' of 'torch.device' objects is not writable")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"attribute '{name}' of 'torch.device' objects is not writable")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, device):
            return NotImplemented
        return (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __repr__(self) -> str:
        number = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{number})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __reduce__(self) -> Any:
        return device, (self.type, self.index)

    def __enter__(self) -> device:
        refuse_other_places(self)
        return self

    def __exit__(self, *exception: object) -> None:
        """Change nothing: tensors are made on the CPU after the block, too."""


_device = device


def _parts(name: str, index: int | None) -> tuple[str, int | None]:
    """Take the name of a device apart."""
    if not name:
        raise RuntimeError("Device string must not be empty")
    kind, colon, number = name.partition(":")
    if colon and not (number.isdecimal() and (number == "0" or number[0] != "0")):
        raise RuntimeError(f"Invalid device string: '{name}'")
    if kind not in _KINDS.split(", "):
        wrong = kind if colon or kind.isalpha() else name
        if not kind.isalpha():
            raise RuntimeError(f"Invalid device string: '{wrong}'")
        raise RuntimeError(
            f"Expected one of {_KINDS} device type at start of device string: {kind}"
        )
    if index is not None and (isinstance(index, bool) or not isinstance(index, int)):
        raise TypeError(
            f"device(): argument 'index' (position 2) must be int, not {type_name(index)}"
        )
    if index is not None and index < 0:
        raise RuntimeError("Device index must not be negative")
    if colon and index is not None:
        raise RuntimeError(
            f"type (string) must not include an index because index was passed explicitly: {name}"
        )
    return kind, int(number) if colon else index


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
    if place is None or (isinstance(place, str) and place == "cpu"):
        return
    if isinstance(place, bool) or not isinstance(place, (device, str, int)):
        raise TypeError(
            f"{caller}(): argument 'device' must be torch.device, not {type_name(place)}"
        )
    kind = device(place).type
    if kind in ("cuda", "xpu"):
        raise AssertionError(f"Torch not compiled with {kind.upper()} enabled. {_ONLY_CPU}")
    if kind != "cpu":
        raise RuntimeError(f"PyTorch is not linked with support for {kind} devices. {_ONLY_CPU}")


class layout:
    """How the entries of a tensor are kept: `minigrad.strided` is the only way."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> str:
        return self._name


class memory_format:
    """In which order the dimensions of a tensor lie in memory."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> str:
        return self._name


strided, sparse_coo = layout("strided"), layout("sparse_coo")
contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")


def refuse_other_layouts(given: Any, pin_memory: Any, caller: str = "") -> None:
    """Raise if a tensor shall be kept in another way than strided, or in pinned memory."""
    if given is not None and not isinstance(given, layout):
        raise TypeError(
            f"{caller}(): argument 'layout' must be torch.layout, not {type_name(given)}"
        )
    if given is not None and given is not strided:
        raise NotImplementedError(f"minigrad has strided tensors only, but was asked for {given}")
    if pin_memory is not None and not isinstance(pin_memory, bool):
        raise TypeError(
            f"{caller}(): argument 'pin_memory' must be bool, not {type_name(pin_memory)}"
        )
    if pin_memory:
        raise RuntimeError(
            "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory "
            f"allocator is available on this system. {_ONLY_CPU}"
        )


def wants_contiguous(given: Any, caller: str = "") -> bool:
    """Tell whether a memory format asks for entries in order.

    Raises:
        TypeError: If it is no memory format.
        NotImplementedError: If it is one of the formats that put channels last.
    """
    if given is None or given is preserve_format:
        return False
    if not isinstance(given, memory_format):
        raise TypeError(
            f"{caller}(): argument 'memory_format' must be torch.memory_format, not "
            f"{type_name(given)}"
        )
    if given is not contiguous_format:
        raise NotImplementedError(
            f"minigrad has no {given}: leave memory_format out, or move the channels by permute()"
        )
    return True


def get_default_device() -> device:
    """Give the device on which tensors are made: the CPU."""
    return device("cpu")


def set_default_device(device: Any) -> None:
    """Accept the CPU as the device on which tensors are made, and nothing else."""
    refuse_other_places(device, "set_default_device")
