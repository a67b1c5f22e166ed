"""Build layers whose parameters come later: their sizes with the first input, or their values.

A lazy layer has settings for what comes out, not for what goes in. Its parameters have no shape
until it is called; then it takes the shapes from the input and becomes a layer of the usual class.
"""

from __future__ import annotations

from typing import Any

from minigrad.core.tensor import Tensor
from minigrad.creation.construction import tensor
from minigrad.creation.dtypes import int64
from minigrad.nn.modules import conv, normalization
from minigrad.nn.modules.layer import Layer
from minigrad.nn.modules.linear import Linear
from minigrad.nn.modules.module import Module
from minigrad.nn.parameter import UninitializedBuffer, UninitializedParameter, is_lazy

__all__ = [
    "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d",
    "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d",
    "LazyInstanceNorm1d", "LazyInstanceNorm2d", "LazyInstanceNorm3d", "LazyLinear",
]  # fmt: skip


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
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

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


class LazyConv1d(_LazyConvNd, conv.Conv1d, settings=_CONV):
    """A `Conv1d` that gets `in_channels` from its first input."""


class LazyConv2d(_LazyConvNd, conv.Conv2d, settings=_CONV):
    """A `Conv2d` that gets `in_channels` from its first input."""


class LazyConv3d(_LazyConvNd, conv.Conv3d, settings=_CONV):
    """A `Conv3d` that gets `in_channels` from its first input."""


class LazyConvTranspose1d(_LazyConvNd, conv.ConvTranspose1d, settings=_TRANSPOSED):
    """A `ConvTranspose1d` that gets `in_channels` from its first input."""


class LazyConvTranspose2d(_LazyConvNd, conv.ConvTranspose2d, settings=_TRANSPOSED):
    """A `ConvTranspose2d` that gets `in_channels` from its first input."""


class LazyConvTranspose3d(_LazyConvNd, conv.ConvTranspose3d, settings=_TRANSPOSED):
    """A `ConvTranspose3d` that gets `in_channels` from its first input."""


class LazyBatchNorm1d(_LazyNorm, normalization.BatchNorm1d, settings=_NORM):
    """A `BatchNorm1d` that gets `num_features` from its first input."""


class LazyBatchNorm2d(_LazyNorm, normalization.BatchNorm2d, settings=_NORM):
    """A `BatchNorm2d` that gets `num_features` from its first input."""


class LazyBatchNorm3d(_LazyNorm, normalization.BatchNorm3d, settings=_NORM):
    """A `BatchNorm3d` that gets `num_features` from its first input."""


class LazyInstanceNorm1d(_LazyNorm, normalization.InstanceNorm1d, settings=_NORM):
    """A `InstanceNorm1d` that gets `num_features` from its first input."""


class LazyInstanceNorm2d(_LazyNorm, normalization.InstanceNorm2d, settings=_NORM):
    """A `InstanceNorm2d` that gets `num_features` from its first input."""


class LazyInstanceNorm3d(_LazyNorm, normalization.InstanceNorm3d, settings=_NORM):
    """A `InstanceNorm3d` that gets `num_features` from its first input."""
