"""Mark a tensor as something to train: modules find their `Parameter`s by themselves."""

from __future__ import annotations

from typing import Any

from minigrad.autograd.complex_numbers import can_require_grad
from minigrad.creation import empty
from minigrad.printing import PARAMETER_HEADING
from minigrad.tensor import Tensor, set_up


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

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        if not isinstance(requires_grad, bool):
            raise TypeError(
                "_make_subclass(): argument 'require_grad' (position 3) must be bool, not "
                f"{type(requires_grad).__name__}"
            )
        _share(self, data)
        if requires_grad and not can_require_grad(self._array.dtype):
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients"
            )
        self.requires_grad = requires_grad

    def __repr__(self) -> str:
        """Print as a tensor does, under a heading."""
        return PARAMETER_HEADING + super().__repr__()

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        """Copy the numbers; unlike a tensor's copy, this one comes without the gradient."""
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return memo[id(self)]  # type: ignore[no-any-return]

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Give what a pickle keeps: numbers, flag and attributes; hooks and gradient stay here."""
        return _rebuild_parameter, (self.data, self.requires_grad, dict(self.__dict__))


def _rebuild_parameter(data: Tensor, requires_grad: bool, attributes: dict[str, Any]) -> Parameter:
    """Make a parameter of what was pickled."""
    parameter = Parameter(data, requires_grad)
    parameter.__dict__.update(attributes)
    return parameter


class _BufferType(type):
    """Know a buffer by its mark, for it is a plain tensor."""

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
        tensor: Any = object.__new__(Tensor)
        _share(tensor, data)
        tensor.requires_grad = data is not None and data.requires_grad
        tensor.persistent = persistent
        tensor._is_buffer = True
        return tensor  # type: ignore[no-any-return]


def _share(tensor: Tensor, data: Tensor | None) -> None:
    """Set a tensor up on the memory of another, with the same count of in-place changes."""
    source: Any = empty(0) if data is None else data.detach()
    set_up(tensor, source._array)
    tensor._version_counter = source._version_counter
