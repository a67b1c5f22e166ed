"""Mark a tensor as something to train: modules find their `Parameter`s by themselves."""

from __future__ import annotations

from functools import partial
from typing import Any, NoReturn

from minigrad.autograd.messages import can_require_grad, only_floats, wrong_type
from minigrad.core.tensor import Tensor, counter_of, wrap_as_normal
from minigrad.creation import dtypes
from minigrad.creation.construction import empty
from minigrad.creation.devices import refuse_other_places
from minigrad.creation.printing import PARAMETER_HEADING


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


_numbers: Any = Tensor.__dict__["_array"]  # where the array is kept that is hidden meanwhile

_UNUSABLE = (
    "Attempted to use an uninitialized parameter. This error happens when you are using a "
    "`LazyModule` or explicitly manipulating `torch.nn.parameter.UninitializedParameter` objects. "
    "When using LazyModules Call `forward` with a dummy batch to initialize the parameters before "
    "calling torch functions"
)
_NO_SHAPE = (
    "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
    "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. "
    "Call `forward` to initialize the parameters before accessing their attributes."
)


class _Uninitialized(Tensor):
    """A tensor that has a dtype, but neither a shape nor numbers yet.

    Whatever looks at its array raises. `materialize` makes the same object an ordinary one, so
    that optimizers that hold it hold the right one.
    """

    _becomes: type[Tensor] = Tensor

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become an ordinary tensor of this shape, whose entries are not set.

        Args:
            shape: The shape.
            device: Only the CPU is there.
            dtype: The element type; the one it was made with if None.
        """
        refuse_other_places(device, "materialize")
        array: Any = empty(shape, dtype=self.dtype if dtype is None else dtype)._array
        become: Any = self
        become.__class__ = self._becomes
        become._array = array

    @property
    def _array(self) -> NoReturn:
        raise ValueError(_UNUSABLE)

    @property
    def shape(self) -> NoReturn:
        """Raise: there is no shape yet."""
        raise RuntimeError(_NO_SHAPE)

    @property
    def dtype(self) -> dtypes.dtype:
        """The element type that the entries will have."""
        return dtypes.of_array(_numbers.__get__(self))

    @property
    def device(self) -> Any:
        """The CPU."""
        return empty(0).device

    @property
    def data(self) -> Any:
        """A tensor without entries: to fill it changes nothing."""
        return empty(0, dtype=self.dtype)

    @data.setter
    def data(self, value: Any) -> None:
        if isinstance(value, _Uninitialized):
            _numbers.__set__(self, _numbers.__get__(value))
        else:
            self.materialize(value.shape, dtype=value.dtype)
            self.data = value

    def is_floating_point(self) -> bool:
        """Tell whether the entries will be floating point numbers."""
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        """Tell whether the entries will be complex numbers."""
        return self.dtype.is_complex

    def detach(self) -> Any:
        """Return the tensor itself."""
        return self

    def to(self, *arguments: Any, **settings: Any) -> Tensor:
        """Give one of another dtype."""
        _, keywords = self._made_by()
        keywords["dtype"] = empty(0, dtype=self.dtype).to(*arguments, **settings).dtype
        return type(self)(**keywords)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            kind, keywords = self._made_by()
            memo[id(self)] = kind(**keywords)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        kind, keywords = self._made_by()
        return partial(kind, **keywords), ()

    def _made_by(self) -> tuple[type, dict[str, Any]]:
        return type(self), {"requires_grad": self.requires_grad, "dtype": self.dtype}

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    __str__ = __repr__

    def __format__(self, specification: str) -> str:
        return object.__format__(self, specification)


class UninitializedParameter(_Uninitialized, Parameter):
    """A parameter that has no shape yet.

    Args:
        requires_grad: Whether gradients will be accumulated for it.
        device: Only the CPU is there.
        dtype: The element type; the default dtype if None.

    Example:
        >>> import minigrad as torch
        >>> weight = torch.nn.UninitializedParameter()
        >>> weight
        <UninitializedParameter>
        >>> weight.materialize((2, 3))
        >>> weight.shape, type(weight).__name__
        (torch.Size([2, 3]), 'Parameter')
    """

    _becomes = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        """Make an empty parameter, and hide its array."""
        made = Parameter(empty(0, device=device, dtype=dtype), requires_grad)
        made.__class__ = cls
        return made


class UninitializedBuffer(_Uninitialized):
    """A buffer that has no shape yet; arguments as for `UninitializedParameter`."""

    def __new__(
        cls,
        requires_grad: bool = False,
        device: Any = None,
        dtype: Any = None,
        persistent: bool = True,
    ) -> Any:
        """Make an empty tensor, and hide its array."""
        if requires_grad is None:
            raise wrong_type("_make_subclass", "require_grad", "bool", requires_grad, 3)
        made: Any = empty(0, device=device, dtype=dtype, requires_grad=requires_grad)
        made.persistent, made._is_buffer = persistent, True
        made.__class__ = cls
        return made


def is_lazy(param: Any) -> bool:
    """Tell whether a parameter or buffer has no shape yet."""
    return isinstance(param, _Uninitialized)
