"""Build layers whose parameters come later: their sizes with the first input, or their values.

A lazy layer has settings for what comes out, not for what goes in. Its parameters have no shape
until it is called; then it takes the shapes from the input and becomes a layer of the usual class.
"""

from __future__ import annotations

from typing import Any, NoReturn

from minigrad.core.tensor import Tensor
from minigrad.creation import dtypes
from minigrad.creation.construction import empty, tensor
from minigrad.creation.dtypes import int64
from minigrad.nn.modules import conv, normalization
from minigrad.nn.modules.layer import Layer
from minigrad.nn.modules.linear import Linear
from minigrad.nn.modules.module import Module
from minigrad.nn.parameter import Parameter

_numbers: Any = Tensor.__dict__["_array"]  # where the array is kept that is hidden meanwhile

_UNUSABLE = (
    "This parameter has no shape and no numbers yet. Call the lazy module with a first input: that "
    "gives it both."
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
        for name, place in (*self._parameters.items(), *self._buffers.items()):
            value = state_dict.get(prefix + name)
            if is_lazy(place) and isinstance(value, Tensor) and not is_lazy(value):
                place.materialize(value.shape)  # type: ignore[union-attr]


class _LazyLayer(LazyModuleMixin):
    """What the lazy layers share; a class names the setting that tells of the input."""

    weight: Any
    bias: Any
    _input_setting: str

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        usual = (each for each in cls.__mro__ if not issubclass(each, LazyModuleMixin))
        cls.cls_to_become = vars(cls).get("cls_to_become", next(usual))

    def _become_lazy(self, bias: bool, device: Any, dtype: Any) -> None:
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Set the parameters to their first values, as soon as their shapes are known."""
        if not self.has_uninitialized_params() and getattr(self, self._input_setting) != 0:
            super().reset_parameters()  # type: ignore[misc]

    def _materialize(self, **shapes: tuple[int, ...]) -> None:
        """Give shapes to those tensors that have none."""
        for name, shape in shapes.items():
            place: Any = getattr(self, name)
            if is_lazy(place):
                place.materialize(shape)
        self.reset_parameters()


class LazyLinear(_LazyLayer, Linear):
    """A `Linear` that gets `in_features` from its first input.

    Args:
        out_features: The size of each output vector.
        bias: Whether to add a bias.
        device: Only the CPU is there.
        dtype: The element type of weight and bias; the default dtype if None.

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.LazyLinear(2)
        >>> layer
        LazyLinear(in_features=0, out_features=2, bias=True)
        >>> layer(torch.ones(4, 3)).shape
        torch.Size([4, 2])
        >>> layer
        Linear(in_features=3, out_features=2, bias=True)
    """

    _input_setting = "in_features"

    def __init__(
        self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(0, 0, False, device, dtype)
        self.out_features = out_features
        self._become_lazy(bias, device, dtype)

    def initialize_parameters(self, input: Tensor) -> None:
        """Get the shape of the weight from an input."""
        if self.has_uninitialized_params():
            self.in_features = input.shape[-1]
            self._materialize(
                weight=(self.out_features, self.in_features), bias=(self.out_features,)
            )
        if self.in_features == 0:
            self.in_features = self.weight.shape[-1]


class _LazyConvNd(_LazyLayer, conv._ConvNd):
    """A convolution that gets `in_channels` from its first input."""

    _input_setting = "in_channels"

    def _keep(self, settings: dict[str, Any]) -> None:
        out_channels = settings["out_channels"]
        made = [settings[name] for name in ("bias", "device", "dtype")]
        super()._keep(settings | {"in_channels": 0, "out_channels": 0, "bias": False})
        self._await_input()
        self.out_channels = out_channels
        self._become_lazy(*made)

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Get the shape of the kernels from an input."""
        if not self.has_uninitialized_params():
            return
        ndim = self._ndim
        if input.dim() not in (ndim + 1, ndim + 2):
            raise RuntimeError(
                f"Expected {ndim + 1}D (unbatched) or {ndim + 2}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {input.shape}"
            )
        self.in_channels = input.shape[-ndim - 1]
        if self.in_channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        self._materialize(weight=self._weight_shape(), bias=(self.out_channels,))


class _LazyNorm(_LazyLayer, normalization._NormBase):
    """A normalization that gets `num_features` from its first input."""

    _input_setting = "num_features"

    def _keep(self, settings: dict[str, Any]) -> None:
        wanted = {name: settings[name] for name in ("affine", "track_running_stats")}
        bias, *made = (settings[name] for name in ("bias", "device", "dtype"))
        absent = {"num_features": 0, "affine": False, "track_running_stats": False}
        super()._keep(settings | absent)
        self._await_input()
        Layer._keep(self, wanted)
        if self.affine:
            self._become_lazy(bias, *made)
        if self.track_running_stats:
            device, dtype = made
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = tensor(0, dtype=int64)

    def initialize_parameters(self, input: Tensor) -> None:
        """Get the number of features from an input."""
        if self.has_uninitialized_params():
            self.num_features = input.shape[1]
            names = ("weight", "bias", "running_mean", "running_var")
            self._materialize(**dict.fromkeys(names, (self.num_features,)))


_CONV = conv.CONV.removeprefix("in_channels, ")
_TRANSPOSED = conv.TRANSPOSED.removeprefix("in_channels, ")
_NORM = normalization.BATCH_NORM.removeprefix("num_features, ")


for _kind, _lazy, _settings in (
    ("Conv", _LazyConvNd, _CONV),
    ("ConvTranspose", _LazyConvNd, _TRANSPOSED),
    ("BatchNorm", _LazyNorm, _NORM),
    ("InstanceNorm", _LazyNorm, _NORM),
):
    for _name in (f"{_kind}{_ndim}d" for _ndim in (1, 2, 3)):
        _usual = getattr(normalization if _lazy is _LazyNorm else conv, _name)
        _doc = f"A `{_name}` that gets `{_lazy._input_setting}` from its first input."
        _body = {"__doc__": _doc, "__module__": __name__}
        globals()[f"Lazy{_name}"] = type(f"Lazy{_name}", (_lazy, _usual), _body, settings=_settings)

NAMES = {"UninitializedBuffer", "UninitializedParameter"}
NAMES |= {name for name in globals() if name.startswith("Lazy") and name != "LazyModuleMixin"}
