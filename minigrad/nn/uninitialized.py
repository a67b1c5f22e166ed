"""Hold the place of a parameter or buffer whose shape a lazy layer learns from its first input."""

from __future__ import annotations

from typing import Any, NoReturn

from minigrad import dtypes
from minigrad.autograd.variable import Variable
from minigrad.creation import empty
from minigrad.devices import refuse_other_places
from minigrad.nn.parameter import Parameter
from minigrad.tensor import Tensor

_numbers: Any = Variable.__dict__["_array"]  # where the array is kept that is hidden meanwhile

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
        """The tensor itself."""
        return self

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
        return _rebuild, self._made_by()

    def _made_by(self) -> tuple[type, dict[str, Any]]:
        return type(self), {"requires_grad": self.requires_grad, "dtype": self.dtype}

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    __str__ = __repr__

    def __format__(self, specification: str) -> str:
        return object.__format__(self, specification)


def _rebuild(kind: type, keywords: dict[str, Any]) -> Any:
    return kind(**keywords)


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
        made: Any = Parameter(empty(0, device=device, dtype=dtype), requires_grad)
        made.__class__ = cls
        return made

    def __init__(self, *settings: Any, **by_name: Any) -> None:
        """Leave everything to `__new__`."""


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
        made: Any = empty(0, device=device, dtype=dtype, requires_grad=requires_grad)
        made.persistent, made._is_buffer = persistent, True
        made.__class__ = cls
        return made

    def __init__(self, *settings: Any, **by_name: Any) -> None:
        """Leave everything to `__new__`."""


def is_lazy(param: Any) -> bool:
    """Tell whether a parameter or buffer has no shape yet."""
    return isinstance(param, _Uninitialized)
