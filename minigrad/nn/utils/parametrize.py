"""Hold what a parametrized tensor is computed from, and compute it."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

from minigrad.autograd.grad_mode import no_grad
from minigrad.core.tensor import Tensor
from minigrad.nn.modules.container import ModuleDict, ModuleList
from minigrad.nn.parameter import Parameter

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization",
    "remove_parametrizations",
]  # fmt: skip


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
            values = (value,) if self.is_tensor else value
            for name, each in zip(self.names_of_originals(), values, strict=True):
                if not isinstance(each, Tensor):
                    raise ValueError(
                        f"`right_inverse` should return a tensor. Got {type(each).__name__}"
                    )
                stored = getattr(self, name)
                if each.dtype != stored.dtype:
                    raise ValueError(
                        f"The tensor returned by `right_inverse` has dtype {each.dtype} while "
                        f"`{name}` has dtype {stored.dtype}"
                    )
                put(stored, each)

    def forward(self) -> Any:
        """Compute the tensor."""
        first, *others = self
        value = first(*(getattr(self, name) for name in self.names_of_originals()))
        for module in others:
            value = module(value)
        return value


class _Cache:
    """What was computed within `cached`, by module and name."""

    depth: ClassVar[int] = 0
    tensors: ClassVar[dict[tuple[int, str], Any]] = {}


@contextmanager
def cached() -> Iterator[None]:
    """Compute each parametrized tensor only once in the block.

    Example:
        >>> from minigrad import nn
        >>> from minigrad.nn.utils import parametrizations, parametrize
        >>> layer = parametrizations.weight_norm(nn.Linear(2, 2))
        >>> with parametrize.cached():
        ...     layer.weight is layer.weight
        True
    """
    _Cache.depth += 1
    try:
        yield
    finally:
        _Cache.depth -= 1
        if not _Cache.depth:
            _Cache.tensors = {}


def register_parametrization(
    module: Any, tensor_name: str, parametrization: Any, *, unsafe: bool = False
) -> Any:
    """Compute a parameter or buffer of a module by another module from now on.

    If the parametrization has a method `right_inverse`, what it gives for the present value is
    what is stored, and assigning to the parameter goes through it.

    Args:
        module: The module.
        tensor_name: The name of its parameter or buffer.
        parametrization: A module that gives the tensor. Several are applied one after the other.
        unsafe: Whether it may change shape and dtype; then nothing is checked.

    Returns:
        The module.

    Raises:
        ValueError: If there is no such tensor, or shape or dtype change.

    Example:
        >>> import minigrad as torch
        >>> class Symmetric(torch.nn.Module):
        ...     def forward(self, x):
        ...         return x.triu() + x.triu(1).T
        >>> layer = torch.nn.Linear(3, 3)
        >>> _ = torch.nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
        >>> torch.equal(layer.weight, layer.weight.T)
        True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_next(module, tensor_name, parametrization)
        registered = module.parametrizations[tensor_name]
        registered.append(parametrization)
        registered.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        registered = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _give_class_of_its_own(module)
            module.parametrizations = ModuleDict()
        _add_property(module, tensor_name)
        module.parametrizations[tensor_name] = registered
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    return module


def _check_next(module: Any, name: str, parametrization: Any) -> None:
    """Raise if another parametrization on top would change shape or dtype."""
    before = getattr(module, name)
    after = parametrization(before)
    check_result(
        after,
        before.shape,
        before.dtype,
        "Registering a parametrization may not change the {} of the tensor, unless the `unsafe` "
        f"flag is enabled.\nmodule.{name}.{{}}: {{}}\nparametrization(module.{name}).{{}}: {{}}",
    )
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(after)
    except NotImplementedError:
        return
    if not isinstance(back, Tensor):
        raise ValueError(
            f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}"
        )
    check_result(
        back,
        before.shape,
        before.dtype,
        "The tensor returned by parametrization.right_inverse must have the same {} as "
        f"module.{name}, unless the `unsafe` flag is enabled.\n"
        f"module.{name}.{{}}: {{}}\nreturned {{}}: {{}}",
    )


def _deepcopy(module: Any, memo: dict[int, Any]) -> Any:
    """Copy a module whose class is its own; the copy is of the same class."""
    if id(module) not in memo:
        replica = memo[id(module)] = module.__new__(type(module))
        replica.__dict__ = copy.deepcopy(module.__dict__, memo)
    return memo[id(module)]


def _getstate(module: Any) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). See:\n"
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
    )


def _give_class_of_its_own(module: Any) -> None:
    """Make a subclass for this one module, on which properties can be put."""
    base = type(module)
    attributes: dict[str, Any] = {"__getstate__": _getstate}
    if not hasattr(base, "__deepcopy__"):
        attributes["__deepcopy__"] = _deepcopy
    module.__class__ = type(f"Parametrized{base.__name__}", (base,), attributes)


def _add_property(module: Any, name: str) -> None:
    """Let the name stand for what the parametrizations compute."""
    if hasattr(module, name):
        raise AssertionError(f"Module already has an attribute named '{name}'")

    def compute(self: Any) -> Any:
        parametrization = self.parametrizations[name]
        if not _Cache.depth:
            return parametrization()
        key = (id(self), name)
        if key not in _Cache.tensors:
            _Cache.tensors[key] = parametrization()
        return _Cache.tensors[key]

    def assign(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(compute, assign))


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Tell whether a module has parametrizations, or one for a tensor.

    Example:
        >>> from minigrad import nn
        >>> nn.utils.parametrize.is_parametrized(nn.Linear(2, 2))
        False
    """
    table = getattr(module, "parametrizations", None)
    if not isinstance(table, ModuleDict):
        return False
    return len(table) > 0 if tensor_name is None else tensor_name in table


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Undo all parametrizations of a tensor.

    Args:
        module: The module.
        tensor_name: The name of the tensor.
        leave_parametrized: Whether it keeps its present value; else it gets what is stored.

    Returns:
        The module.

    Raises:
        ValueError: If there is no parametrization, or several tensors are stored and the value
            shall not be kept.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    registered = module.parametrizations[tensor_name]
    if registered.is_tensor:
        original = registered.original
        if leave_parametrized:
            with no_grad():
                put(original, getattr(module, tensor_name))
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module
