"""Hold what a parametrized tensor is computed from, and compute it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minigrad.autograd.modes import no_grad
from minigrad.nn.modules.container import ModuleList
from minigrad.nn.parameter import Parameter
from minigrad.tensor import Tensor


def register(module: Any, name: str, tensor: Any) -> None:
    """Register a tensor as what it is: a parameter or a buffer."""
    is_parameter = isinstance(tensor, Parameter)
    (module.register_parameter if is_parameter else module.register_buffer)(name, tensor)


def put(tensor: Any, value: Any) -> None:
    """Give a tensor other numbers, of another shape if need be; it stays the same object."""
    if value is not tensor:
        tensor.set_(value)


def check_result(value: Any, shape: Any, dtype: Any, message: str) -> None:
    """Raise if what a parametrization gave is no tensor, or of another dtype or shape."""
    if not isinstance(value, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(value).__name__}.")
    for what, before, after in (("dtype", dtype, value.dtype), ("shape", shape, value.shape)):
        if before != after:
            raise ValueError(message.format(what, what, before, what, after))


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, applied one after the other.

    Attributes:
        original: What is stored; if it is several tensors, they are `original0`, `original1`, ...
        unsafe: Whether shape and dtype may change.

    Args:
        modules: The parametrizations.
        original: The tensor as it was.
        unsafe: Whether shape and dtype may change; then nothing is checked.

    Raises:
        ValueError: If there are no parametrizations, or they change shape or dtype.
    """

    original: Tensor
    unsafe: bool

    def __init__(self, modules: Sequence[Any], original: Tensor, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        stored: Any = original
        with no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    try:
                        stored = module.right_inverse(stored)
                    except NotImplementedError:
                        continue
        if not isinstance(stored, (Tensor, Sequence)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(stored).__name__}"
            )
        self.is_tensor = isinstance(stored, Tensor)
        self.ntensors = 1 if self.is_tensor else len(stored)
        if isinstance(stored, Tensor):
            if stored.dtype != dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {dtype}\nright_inverse(original).dtype: {stored.dtype}"
                )
            with no_grad():
                put(original, stored)
            register(self, "original", original)
        else:
            for place, each in enumerate(stored):
                self._store(place, each, original)
        if not unsafe:
            check_result(
                self(),
                shape,
                dtype,
                "Registering a parametrization may not change the {} of the tensor, unless "
                "`unsafe` flag is enabled.\nunparametrized {}: {}\nparametrized {}: {}",
            )

    def _store(self, place: int, tensor: Any, original: Tensor) -> None:
        """Store one of several tensors."""
        if not isinstance(tensor, Tensor):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got element {place} of the sequence with type {type(tensor).__name__}."
            )
        if isinstance(original, Parameter):
            tensor = Parameter(tensor, original.requires_grad)
        tensor.requires_grad_(original.requires_grad)
        register(self, f"original{place}", tensor)

    def names_of_originals(self) -> list[str]:
        """Give the names of what is stored."""
        if self.is_tensor:
            return ["original"]
        return [f"original{place}" for place in range(self.ntensors)]

    def right_inverse(self, value: Any) -> None:
        """Store what gives a value.

        Raises:
            RuntimeError: If a parametrization has no `right_inverse`.
            ValueError: If what it gives cannot be stored.
        """
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                value = module.right_inverse(value)
            if self.is_tensor:
                if not isinstance(value, Tensor):
                    raise ValueError(
                        f"`right_inverse` should return a tensor. Got {type(value).__name__}"
                    )
                if value.dtype != self.original.dtype:
                    raise ValueError(
                        f"The tensor returned by `right_inverse` has dtype {value.dtype} while "
                        f"`original` has dtype {self.original.dtype}"
                    )
                put(self.original, value)
            else:
                self._put_all(value)

    def _put_all(self, values: Any) -> None:
        """Store several tensors."""
        if not isinstance(values, Sequence):
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors. Got {type(values).__name__}."
            )
        if len(values) != self.ntensors:
            raise ValueError(
                "'right_inverse' must return a sequence of tensors of length "
                f"{self.ntensors}. Got a sequence of length {len(values)}."
            )
        for place, value in enumerate(values):
            stored = getattr(self, f"original{place}")
            if not isinstance(value, Tensor):
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors or reference-type opaques. "
                    f"Got element {place} of type {type(value).__name__}."
                )
            if stored.dtype != value.dtype:
                raise ValueError(
                    f"Tensor {place} returned by `right_inverse` has dtype {value.dtype} while "
                    f"`original{place}` has dtype {stored.dtype}"
                )
            put(stored, value)

    def forward(self) -> Any:
        """Compute the tensor."""
        first, *others = self
        value = first(*(getattr(self, name) for name in self.names_of_originals()))
        for module in others:
            value = module(value)
        return value
