"""Build layers whose parameters come later: their sizes with the first input, or their values.

A lazy layer has settings for what comes out, not for what goes in. Its parameters have no shape
until it is called; then it takes the shapes from the input and becomes a layer of the usual class.
"""

from __future__ import annotations

from typing import Any, NoReturn

from minigrad.core.tensor import Tensor
from minigrad.creation import dtypes
from minigrad.creation.construction import empty
from minigrad.nn.modules import conv, normalization
from minigrad.nn.modules.layer import constructor
from minigrad.nn.modules.linear import Linear
from minigrad.nn.modules.module import Module
from minigrad.nn.parameter import Parameter

_numbers: Any = Tensor.__dict__["_array"]  # where the array is kept that is hidden meanwhile

_UNUSABLE = "This parameter has no shape and no numbers yet. Call the lazy module first"


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
        raise RuntimeError(_UNUSABLE)

    @property
    def dtype(self) -> dtypes.dtype:
        """The element type that the entries will have."""
        return dtypes.of_array(_numbers.__get__(self))

    @property
    def data(self) -> Any:
        """A tensor without entries: to fill it changes nothing."""
        return empty(0, dtype=self.dtype)

    def detach(self) -> Any:
        """Return the tensor itself."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            kind: Any = type(self)
            memo[id(self)] = kind(requires_grad=self.requires_grad, dtype=self.dtype)
        return memo[id(self)]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    __str__ = __repr__


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
        made: Any = empty(0, device=device, dtype=dtype, requires_grad=requires_grad)
        made.persistent, made._is_buffer = persistent, True
        made.__class__ = cls
        return made


def is_lazy(param: Any) -> bool:
    """Tell whether a parameter or buffer has no shape yet."""
    return isinstance(param, _Uninitialized)


class LazyModuleMixin(Module):
    """What lazy layers share: at the first call they get their shapes and become ordinary layers.

    A lazy layer of your own defines `initialize_parameters(self, *args)`, which materializes its
    parameters for an input, and names in `cls_to_become` the class to be afterwards, if there is
    one.
    """

    cls_to_become: type[Module] | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._await_input()

    def _await_input(self) -> None:
        """Put hooks in place that see the first input, or a state dict that comes before it."""
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(
            self._infer_parameters, with_kwargs=True
        )

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Materialize the parameters for an input; to be written by each lazy layer."""
        raise NotImplementedError(f"{type(self).__name__} defines no initialize_parameters")

    def has_uninitialized_params(self) -> bool:
        """Tell whether a parameter or buffer has no shape yet."""
        return any(is_lazy(t) for t in (*self._parameters.values(), *self._buffers.values()))

    def _infer_parameters(self, module: Any, args: Any, kwargs: Any = None) -> None:
        """Before the first forward: get the shapes, and become an ordinary layer."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {module._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _lazy_load_hook(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        """Before a state dict is loaded: take the shapes from there."""
        for name, waiting in (*self._parameters.items(), *self._buffers.items()):
            value = state_dict.get(prefix + name)
            if is_lazy(waiting) and isinstance(value, Tensor) and not is_lazy(value):
                waiting.materialize(value.shape)  # type: ignore[union-attr]


class _LazyLayer(LazyModuleMixin):
    """What the lazy layers share: an ordinary layer that fits the first input shows the shapes."""

    cls_to_become: Any
    _input_setting: str  # which setting of the ordinary layer tells of the input
    _dim: int  # the dimension of the input that says it

    def _begin(self, settings: dict[str, Any]) -> None:
        """Become an ordinary layer for inputs of size 0, and put away its parameters."""
        self.cls_to_become.__init__(self, **{self._input_setting: 0}, **settings)
        self._later = settings
        self._await_input()
        for name, value in self._parameters.items():
            if value is not None:
                self._parameters[name] = UninitializedParameter(dtype=value.dtype)
        for name, buffer in self._buffers.items():
            if buffer is not None and buffer.ndim:
                self._buffers[name] = UninitializedBuffer(dtype=buffer.dtype)

    def reset_parameters(self) -> None:
        """Set the parameters to their first values, as soon as their shapes are known."""
        if not self.has_uninitialized_params() and getattr(self, self._input_setting) != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Get shapes and first values from an ordinary layer that fits an input."""
        if input.dim() < -self._dim:
            raise RuntimeError(f"{type(self).__name__}: an input of {input.shape} is too small")
        size = input.shape[self._dim]
        if self.has_uninitialized_params():
            fitting = self.cls_to_become(**{self._input_setting: size}, **self._later)
            setattr(self, self._input_setting, size)
            for name, made in (*fitting.named_parameters(), *fitting.named_buffers()):
                waiting: Any = getattr(self, name)
                if is_lazy(waiting):
                    waiting.materialize(made.shape)
                    waiting._array[...] = made._array
        elif isinstance(self, Linear):  # a state dict has come before the input
            self.in_features = size


_LINEAR = "out_features, bias=True, device=None, dtype=None"
_CONV = conv.CONV.removeprefix("in_channels, ")
_TRANSPOSED = conv.TRANSPOSED.removeprefix("in_channels, ")
_NORM = normalization.BATCH_NORM.removeprefix("num_features, ")
# By name: the ordinary layer, its setting, the dimension of the input, the other settings.
_LAYERS: dict[str, tuple[Any, str, int, str]] = {"Linear": (Linear, "in_features", -1, _LINEAR)}
for _n in (1, 2, 3):
    for _kind, _settings in (("Conv", _CONV), ("ConvTranspose", _TRANSPOSED)):
        _name = f"{_kind}{_n}d"
        _LAYERS[_name] = (getattr(conv, _name), "in_channels", -_n - 1, _settings)
    for _name in (f"BatchNorm{_n}d", f"InstanceNorm{_n}d"):
        _LAYERS[_name] = (getattr(normalization, _name), "num_features", 1, _NORM)

for _name, (_usual, _input, _dim, _settings) in _LAYERS.items():
    _doc = f"A `{_name}` that gets `{_input}` from its first input."
    _body = {"__doc__": _doc, "__module__": __name__, "cls_to_become": _usual}
    _body |= {"_input_setting": _input, "_dim": _dim}
    _made = globals()[f"Lazy{_name}"] = type(f"Lazy{_name}", (_LazyLayer, _usual), _body)
    constructor(_made, "self", _settings, "self._begin({settings})")

NAMES = {"UninitializedBuffer", "UninitializedParameter", *(f"Lazy{_name}" for _name in _LAYERS)}
