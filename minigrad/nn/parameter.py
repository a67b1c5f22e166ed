"""Mark a tensor as something to train: modules find their `Parameter`s by themselves."""

from __future__ import annotations

from typing import Any

from minigrad.autograd.messages import can_require_grad, only_floats, wrong_type
from minigrad.core.tensor import Tensor, counter_of, wrap_as_normal
from minigrad.creation.construction import empty
from minigrad.creation.printing import PARAMETER_HEADING
from minigrad.utils import _late


class Parameter(Tensor):
    """A leaf tensor that a module registers as soon as it is assigned as an attribute.

    It shares its numbers with the tensor it is made of, and requires a gradient unless told not
    to. Results of operations on parameters are plain tensors.

    Args:
        data: The tensor with the values; an empty one if None.
        requires_grad: Whether gradients are accumulated for it.

    Raises:
        AttributeError: If `data` is no tensor.
        RuntimeError: If gradients are required of numbers that are not floating point.
        NotImplementedError: If gradients are required of complex numbers.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.Parameter(torch.tensor([1.0, 2.0]))
        Parameter containing:
        tensor([1., 2.], requires_grad=True)
    """

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Any:
        """Make a leaf on the memory of the given tensor."""
        if not isinstance(requires_grad, bool):
            raise wrong_type("_make_subclass", "require_grad", "bool", requires_grad, 3)
        made = _sharing(data, cls)
        if requires_grad and not can_require_grad(made._array.dtype):
            raise only_floats()
        made.requires_grad = requires_grad
        return made

    def __repr__(self) -> str:
        """Print as a tensor does, under a heading."""
        return PARAMETER_HEADING + super().__repr__()

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        """Copy the numbers; unlike a tensor's copy, this one comes without the gradient."""
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Give what a pickle keeps: numbers, flag and attributes; hooks and gradient stay here."""
        return _rebuild_parameter, (self.data, self.requires_grad, dict(self.__dict__))


def _rebuild_parameter(data: Tensor, requires_grad: bool, attributes: dict[str, Any]) -> Parameter:
    """Make a parameter of what was pickled."""
    parameter = Parameter(data, requires_grad)
    parameter.__dict__.update(attributes)
    return parameter


def forget_gradient(parameter: Tensor, set_to_none: bool) -> None:
    """Set a gradient to None, or fill it with zeros in place, taken out of its graph."""
    gradient = None if set_to_none is True else parameter.grad
    if gradient is None or set_to_none:
        parameter.grad = None
        return
    if gradient.grad_fn is not None:
        gradient.detach_()
    else:
        gradient.requires_grad_(False)
    gradient.zero_()


class _BufferType(type):
    """Know a buffer by its mark, because it is a plain tensor."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and "_is_buffer" in instance.__dict__


class Buffer(Tensor, metaclass=_BufferType):
    """A tensor that a module registers as a buffer as soon as it is assigned as an attribute.

    What you get is a plain `Tensor` with a mark on it: `isinstance(x, Buffer)` sees the mark.
    Results of operations and other tensors do not carry it.

    Args:
        data: The tensor with the values; an empty one if None.
        persistent: Whether the module's `state_dict` contains it.

    Example:
        >>> import minigrad as torch
        >>> module = torch.nn.Module()
        >>> module.mean = torch.nn.Buffer(torch.zeros(2))
        >>> list(module.state_dict())
        ['mean']
    """

    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        """Make a tensor on the memory of the given one, and mark it."""
        tensor = _sharing(data, Tensor)
        tensor.requires_grad = data is not None and data.requires_grad
        tensor.persistent = persistent
        tensor._is_buffer = True
        return tensor


def _sharing(data: Tensor | None, kind: type[Tensor]) -> Any:
    """Make a tensor on the memory of another, with the same count of in-place changes."""
    source = empty(0) if data is None else data
    if not isinstance(source, Tensor):
        raise AttributeError(f"'{type(data).__name__}' object has no attribute 'detach'")
    tensor = wrap_as_normal(source._array, kind)
    tensor._version_counter = counter_of(source)
    return tensor


# Parameters and buffers that have no shape yet.
_found = dict.fromkeys(("UninitializedBuffer", "UninitializedParameter", "is_lazy"), "extra.lazy")
__getattr__, __dir__ = _late(__name__, lambda: _found)
