"""Convert a module to another floating point type, with all that is below it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn, Self

from minigrad import devices, dtypes
from minigrad.autograd.modes import no_grad
from minigrad.nn.parameter import Parameter
from minigrad.tensor import Tensor


class Conversion:
    """The part of `Module` that changes the element type of its parameters and buffers."""

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    children: Callable[[], Iterator[Any]]

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Put `fn(tensor)` in the place of every parameter's, gradient's and buffer's numbers."""
        if recurse:
            for child in self.children():
                child._apply(fn)
        parameters: Iterable[Any] = self._parameters.values()
        for parameter in parameters:
            if parameter is None:
                continue
            with no_grad():
                parameter.data = _checked(fn(parameter))
                if parameter.grad is not None:
                    parameter.grad.data = fn(parameter.grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert parameters and buffers to another floating point type, in place.

        Integer parameters and buffers stay as they are.

        Args:
            *args: A dtype, a tensor whose dtype is taken, or the CPU (`"cpu"` or a
                `torch.device`) and perhaps a dtype; then `non_blocking`, which changes nothing.
            **kwargs: The same as `dtype=...`, `tensor=...`, `device="cpu"`, `non_blocking=...`.

        Returns:
            This module.

        Raises:
            RuntimeError: If another device or a copy is asked for.
            AssertionError: If the device is "cuda" or "xpu".
            TypeError: If the dtype is not floating point, or the arguments make no sense.
        """
        dtype = _wanted_dtype(args, kwargs)
        if dtype is None:
            return self
        if not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                "nn.Module.to only accepts floating point or complex dtypes, but got desired "
                f"dtype={dtype}"
            )
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def float(self) -> Self:
        """Convert floating point parameters and buffers to float32."""
        return self.to(dtypes.float32)

    def double(self) -> Self:
        """Convert floating point parameters and buffers to float64."""
        return self.to(dtypes.float64)

    def half(self) -> Self:
        """Convert floating point parameters and buffers to float16."""
        return self.to(dtypes.float16)

    def type(self, dst_type: dtypes.dtype) -> Self:
        """Convert all parameters and buffers to a dtype, integers too."""
        return self._apply(lambda tensor: tensor.to(dst_type))

    def cpu(self) -> Self:
        """Return this module: everything lives on the CPU."""
        return self

    def cuda(self, device: Any = None) -> Self:
        """Raise: there is no GPU to move to.

        Raises:
            AssertionError: If there is a parameter or a buffer to be moved.
        """
        return self._apply(lambda tensor: _no_accelerator("CUDA", device))

    def xpu(self, device: Any = None) -> Self:
        """Raise: there is no GPU to move to.

        Raises:
            AssertionError: If there is a parameter or a buffer to be moved.
        """
        return self._apply(lambda tensor: _no_accelerator("XPU", device))

    def share_memory(self) -> Self:
        """Return this module: there are no processes here that share tensors."""
        return self


def _no_accelerator(kind: str, number: Any) -> NoReturn:
    """Say that there is no GPU, as PyTorch for the CPU does."""
    if number is not None:
        devices.device(number)
    raise AssertionError(
        f"Torch not compiled with {kind} enabled. minigrad computes on the CPU only: leave .cuda() "
        'out, or write .to(device) with a device of "cpu".'
    )


def _checked(result: Any) -> Any:
    """Refuse what a function gave in place of a tensor."""
    if not isinstance(result, Tensor):
        raise TypeError(
            "_has_compatible_shallow_copy_type(): argument 'from' (position 2) must be Tensor, "
            f"not {type(result).__name__}. The function must return the new tensor."
        )
    return result


_KINDS: dict[str, tuple[type, ...]] = {
    "dtype": (dtypes.dtype, type(None)),
    "tensor": (Tensor,),
    "device": (str, int, devices.device, type(None)),
    "non_blocking": (bool,),
    "copy": (bool,),
}
_FLAGS = ("non_blocking", "copy")


def _wanted_dtype(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dtypes.dtype | None:
    """Read the arguments of `to`, which begin with a dtype, a tensor or a device."""
    names: tuple[str, ...] = ("device", "dtype", *_FLAGS)
    if args and isinstance(args[0], dtypes.dtype):
        names = ("dtype", *_FLAGS)
    elif "tensor" in kwargs or (args and isinstance(args[0], Tensor)):
        names = ("tensor", *_FLAGS)
    given = dict(zip(names, args, strict=False))
    clear = len(args) <= len(names) and not kwargs.keys() & given.keys()
    given |= kwargs
    if not (clear and given.keys() <= set(names)) or not all(
        isinstance(value, _KINDS[name]) for name, value in given.items()
    ):
        raise TypeError(_INVALID.format(got=_describe(args, kwargs)))
    device = given.get("device")
    if "copy" in given:
        raise RuntimeError(".to() does not accept copy argument")
    devices.refuse_other_places(device, "to")
    tensor = given.get("tensor")
    return given.get("dtype") if tensor is None else tensor.dtype


def _describe(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Write the types of arguments as PyTorch's messages do."""

    def name(value: Any) -> str:
        return "torch.dtype" if isinstance(value, dtypes.dtype) else type(value).__name__

    by_name = [f"{key}={name(value)}" for key, value in kwargs.items()]
    return ", ".join([*map(name, args), *by_name]) + (", " if not args else "")


_INVALID = (
    "to() received an invalid combination of arguments - got ({got}), but expected one of:\n"
    " * (torch.device device = None, torch.dtype dtype = None, bool non_blocking = False, "
    "bool copy = False, *, torch.memory_format memory_format = None)\n"
    " * (torch.dtype dtype, bool non_blocking = False, bool copy = False, *, "
    "torch.memory_format memory_format = None)\n"
    " * (Tensor tensor, bool non_blocking = False, bool copy = False, *, "
    "torch.memory_format memory_format = None)\n"
)
