"""Bend, pool, pad, rearrange, enlarge, drop and compare: layers with (nearly) nothing to learn."""

from __future__ import annotations

from typing import Any, ClassVar

from minigrad.core.tensor import Tensor
from minigrad.creation.factories import full
from minigrad.nn import functional as F
from minigrad.nn.modules.layer import Layer, _ntuple, _single
from minigrad.nn.parameter import Parameter

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "SELU", "AdaptiveAvgPool1d", "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AvgPool1d", "AvgPool2d",
    "AvgPool3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "CosineSimilarity", "Dropout",
    "Dropout1d", "Dropout2d", "Dropout3d", "Flatten", "Fold", "Hardshrink", "Hardsigmoid",
    "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid", "LogSoftmax", "MaxPool1d", "MaxPool2d",
    "MaxPool3d", "Mish", "PReLU", "PairwiseDistance", "PixelShuffle", "ReLU", "ReLU6",
    "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
    "ReplicationPad3d", "SiLU", "Sigmoid", "Softmax", "Softmin", "Softplus", "Softshrink",
    "Softsign", "Tanh", "Tanhshrink", "Threshold", "Unflatten", "Unfold", "Upsample", "ZeroPad1d",
    "ZeroPad2d", "ZeroPad3d",
]  # fmt: skip

# Activation functions -------------------------------------------------------------------------


class ReLU(Layer, calls=F.relu, settings="inplace=False"):
    r"""$\max(x, 0)$, elementwise.

    Args:
        inplace: Overwrite the input.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.ReLU()(torch.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """


class Tanh(Layer, calls=F.tanh):
    r"""$\tanh x$, elementwise.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.Tanh()(torch.tensor([0.0]))
        tensor([0.])
    """


class Sigmoid(Layer, calls=F.sigmoid):
    r"""$1 / (1 + e^{-x})$, elementwise.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.Sigmoid()(torch.tensor([0.0]))
        tensor([0.5000])
    """


class Softplus(Layer, calls=F.softplus, settings="beta=1.0, threshold=20.0"):
    r"""$\frac{1}{\beta} \log(1 + e^{\beta x})$, elementwise: a smooth ReLU.

    Args:
        beta: How sharply it bends.
        threshold: Above $\beta x$ = threshold it is computed as $x$.
    """


class LeakyReLU(Layer, calls=F.leaky_relu, settings="negative_slope=0.01, inplace=False"):
    r"""$x$ for $x > 0$, and `negative_slope` times $x$ otherwise, elementwise.

    Args:
        negative_slope: The slope on the left.
        inplace: Overwrite the input.
    """


class ELU(Layer, calls=F.elu, settings="alpha=1.0, inplace=False"):
    r"""$x$ for $x > 0$, and $\alpha (e^x - 1)$ otherwise, elementwise.

    Args:
        alpha: Minus the value far on the left.
        inplace: Overwrite the input.
    """


class CELU(Layer, calls=F.celu, settings="alpha=1.0, inplace=False"):
    r"""$x$ for $x > 0$, and $\alpha (e^{x / \alpha} - 1)$ otherwise, elementwise.

    Source: Barron, *Continuously differentiable exponential linear units*, 2017.

    Args:
        alpha: Minus the value far on the left.
        inplace: Overwrite the input.
    """


class SELU(Layer, calls=F.selu, settings="inplace=False"):
    r"""$s x$ for $x > 0$, and $s \alpha (e^x - 1)$ otherwise: keeps mean 0 and variance 1.

    Source: Klambauer et al., *Self-normalizing neural networks*, 2017.

    Args:
        inplace: Overwrite the input.
    """


class SiLU(Layer, calls=F.silu, settings="inplace=False"):
    r"""$x / (1 + e^{-x})$, elementwise, also known as swish.

    Args:
        inplace: Overwrite the input.
    """


class Hardsigmoid(Layer, calls=F.hardsigmoid, settings="inplace=False", shows=""):
    r"""$\min(\max(x + 3, 0), 6) / 6$, elementwise.

    Args:
        inplace: Overwrite the input.
    """


class Hardswish(Layer, calls=F.hardswish, settings="inplace=False", shows=""):
    r"""$x \min(\max(x + 3, 0), 6) / 6$, elementwise.

    Source: Howard et al., *Searching for MobileNetV3*, 2019.

    Args:
        inplace: Overwrite the input.
    """


class GELU(Layer, calls=F.gelu, settings="approximate='none'"):
    r"""$x \Phi(x)$, elementwise, with the distribution function of the normal distribution.

    Source: Hendrycks and Gimpel, *Gaussian error linear units*, 2016.

    Args:
        approximate: `"none"`, or `"tanh"` to compute $\Phi$ by a hyperbolic tangent.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.GELU()(torch.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.1587,  0.0000,  0.8413])
    """


class Softmax(Layer, calls=F.softmax, settings="dim=None"):
    r"""$e^{x_i} / \sum_j e^{x_j}$ along one dimension.

    Args:
        dim: The dimension along which the results sum to 1. Leaving it out is deprecated.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.Softmax(dim=0)(torch.zeros(4))
        tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """


class LogSoftmax(Layer, calls=F.log_softmax, settings="dim=None"):
    r"""$x_i - \log \sum_j e^{x_j}$ along one dimension.

    Args:
        dim: The dimension along which the probabilities sum to 1. Leaving it out is deprecated.
    """


class Softmin(Layer, calls=F.softmin, settings="dim=None"):
    """The softmax of minus the input along one dimension.

    Args:
        dim: The dimension along which the results sum to 1. Leaving it out is deprecated.
    """


class LogSigmoid(Layer, calls=F.logsigmoid):
    r"""$\ln(1 / (1 + e^{-x}))$, elementwise."""


class Softsign(Layer, calls=F.softsign):
    r"""$x / (1 + |x|)$, elementwise."""


class Tanhshrink(Layer, calls=F.tanhshrink):
    r"""$x - \tanh x$, elementwise."""


class Mish(Layer, calls=F.mish, settings="inplace=False"):
    r"""$x \tanh(\ln(1 + e^x))$, elementwise.

    Args:
        inplace: Overwrite the input.
    """


class GLU(Layer, calls=F.glu, settings="dim=-1"):
    r"""$a / (1 + e^{-b})$ of the two halves a and b along a dimension.

    Args:
        dim: The dimension.
    """


class Hardshrink(Layer, calls=F.hardshrink, settings="lambd=0.5", shows="lambd"):
    r"""$x$ where $|x|$ is greater than $\lambda$, else 0.

    Args:
        lambd: $\lambda$.
    """


class Softshrink(Layer, calls=F.softshrink, settings="lambd=0.5", shows="lambd"):
    r"""$x - \lambda$ above $\lambda$, $x + \lambda$ below $-\lambda$, else 0.

    Args:
        lambd: $\lambda$.
    """


class Threshold(Layer, calls=F.threshold, settings="threshold, value, inplace=False"):
    """Keeps what is greater than a threshold, and puts a value instead of the rest.

    Args:
        threshold: The threshold.
        value: What takes the place.
        inplace: Overwrite the input.
    """


class Hardtanh(Layer, calls=F.hardtanh, settings="min_val=-1.0, max_val=1.0, inplace=False"):
    """Limits to an interval, elementwise.

    Args:
        min_val: The lower end.
        max_val: The upper end.
        inplace: Overwrite the input.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.Hardtanh()(torch.tensor([-3.0, 0.5]))
        tensor([-1.0000,  0.5000])
    """

    def _keep(self, settings: dict[str, Any]) -> None:
        super()._keep(settings)
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val={self.max_val} must be above min_val={self.min_val}")


class ReLU6(Hardtanh, settings="inplace=False"):
    r"""$\min(\max(x, 0), 6)$, elementwise.

    Args:
        inplace: Overwrite the input.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.ReLU6()(torch.tensor([-3.0, 8.0]))
        tensor([0., 6.])
    """

    def _keep(self, settings: dict[str, Any]) -> None:
        super()._keep({"min_val": 0.0, "max_val": 6.0, **settings})


class PReLU(
    Layer,
    calls=F.prelu,
    settings="num_parameters=1, init=0.25, device=None, dtype=None",
    shows="num_parameters=",
):
    """A leaky ReLU whose slope is learned: one, or one for each channel (dimension 1).

    Source: He et al., *Delving deep into rectifiers*, 2015.

    Args:
        num_parameters: How many slopes.
        init: What they begin with.
        device: Only the CPU is there.
        dtype: The element type of the slopes; the default dtype if None.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.PReLU()(torch.tensor([-1.0, 2.0])).detach()
        tensor([-0.2500,  2.0000])
    """

    weight: Tensor

    def _keep(self, settings: dict[str, Any]) -> None:
        made = {name: settings[name] for name in ("dtype", "device")}
        super()._keep(settings)
        self.weight = Parameter(full((self.num_parameters,), float(self.init), **made))

    def reset_parameters(self) -> None:
        """Begin again with the first slope."""
        self.weight.data.fill_(self.init)


# Windows, parts and borders --------------------------------------------------------------------


class _Windows(Layer):
    """What layers share whose windows stand side by side unless told otherwise."""

    def _keep(self, settings: dict[str, Any]) -> None:
        if settings["stride"] is None:
            settings["stride"] = settings["kernel_size"]
        super()._keep(settings)


class _MaxPoolNd(
    _Windows,
    settings="kernel_size, stride=None, padding=0, dilation=1, return_indices=False, "
    "ceil_mode=False",
    shows="kernel_size=, stride=, padding=, dilation=, ceil_mode=",
):
    """What all layers share that take the largest entry of each window."""


class MaxPool1d(_MaxPoolNd, calls=F.max_pool1d):
    """Take the largest entry of each window of a signal; arguments as for `MaxPool2d`."""


class MaxPool2d(_MaxPoolNd, calls=F.max_pool2d):
    r"""Take the largest entry of each window of an image.

    Args:
        kernel_size: The window's height and width, or one number for both.
        stride: How far the window moves at each step; the size of the window if None.
        padding: How wide the border around the image is; it never wins.
        dilation: How far apart the entries of the window are.
        return_indices: Whether to give the positions of the largest entries, too.
        ceil_mode: Whether a last window may reach over the end.

    Shape:
        - input: (N, C, H, W), or without N
        - output: (N, C, H_out, W_out), where
          $H_{out} = \lfloor (H + 2p - d (k - 1) - 1) / s \rfloor + 1$

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.MaxPool2d(2)
        >>> layer
        MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)
        >>> layer(torch.ones(1, 3, 8, 8)).shape
        torch.Size([1, 3, 4, 4])
    """


class MaxPool3d(_MaxPoolNd, calls=F.max_pool3d):
    """Take the largest entry of each window of a volume; arguments as for `MaxPool2d`."""


class _AvgPoolNd(
    _Windows,
    settings="kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, "
    "divisor_override=None",
    shows="kernel_size=, stride=, padding=",
):
    """What layers share that average windows of two dimensions or more."""


class AvgPool1d(
    _AvgPoolNd,
    calls=F.avg_pool1d,
    settings="kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True",
):
    """Average each window of a signal; arguments as for `AvgPool2d`."""

    def _keep(self, settings: dict[str, Any]) -> None:
        super()._keep(settings)
        for name in ("kernel_size", "stride", "padding"):
            setattr(self, name, _single(getattr(self, name)))


class AvgPool2d(_AvgPoolNd, calls=F.avg_pool2d):
    r"""Average each window of an image.

    Args:
        kernel_size: The window's height and width, or one number for both.
        stride: How far the window moves at each step; the size of the window if None.
        padding: How many zeros go around the image.
        ceil_mode: Whether a last window may reach over the end.
        count_include_pad: Whether these zeros count as entries.
        divisor_override: What the sums are divided by, instead of the number of entries.

    Shape:
        - input: (N, C, H, W), or without N
        - output: (N, C, H_out, W_out), where $H_{out} = \lfloor (H + 2p - k) / s \rfloor + 1$

    Example:
        >>> import minigrad as torch
        >>> torch.nn.AvgPool2d(2)(torch.ones(1, 3, 8, 8)).shape
        torch.Size([1, 3, 4, 4])
    """


class AvgPool3d(_AvgPoolNd, calls=F.avg_pool3d):
    """Average each window of a volume; arguments as for `AvgPool2d`."""


class _AdaptiveAvgPoolNd(Layer, settings="output_size"):
    """What layers share that pool to a given size."""


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd, calls=F.adaptive_avg_pool1d):
    """Average each of so many parts of a signal; see `AdaptiveAvgPool2d`."""


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd, calls=F.adaptive_avg_pool2d):
    """Average each of so many parts of an image, whatever its size.

    Args:
        output_size: Into how many parts height and width are divided, or one number for both;
            None leaves a dimension as it is.

    Shape:
        - input: (N, C, H, W), or without N
        - output: (N, C, *output_size)

    Example:
        >>> import minigrad as torch
        >>> torch.nn.AdaptiveAvgPool2d(1)(torch.ones(1, 3, 8, 5)).shape
        torch.Size([1, 3, 1, 1])
    """


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd, calls=F.adaptive_avg_pool3d):
    """Average each of so many parts of a volume; see `AdaptiveAvgPool2d`."""


class _AdaptiveMaxPoolNd(Layer, settings="output_size, return_indices=False", shows="output_size="):
    """What layers share that take the largest entries of parts."""


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd, calls=F.adaptive_max_pool1d):
    """Take the largest entry of each of so many parts of a signal; see `AdaptiveMaxPool2d`."""


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd, calls=F.adaptive_max_pool2d):
    """Take the largest entry of each of so many parts of an image, whatever its size.

    Args:
        output_size: Into how many parts height and width are divided, or one number for both;
            None leaves a dimension as it is.
        return_indices: Whether to give the positions of the largest entries, too.
    """


class _Pad(Layer, settings="padding", shows="padding"):
    """Pad in a number of dimensions; a kind of layer fills in these attributes."""

    _dims: ClassVar[int]
    _mode: ClassVar[str] = "constant"
    value: Any = None

    def _keep(self, settings: dict[str, Any]) -> None:
        super()._keep(settings | {"padding": _ntuple(2 * self._dims)(settings["padding"])})

    def forward(self, input: Tensor) -> Tensor:
        """Pad the input."""
        return F.pad(input, self.padding, self._mode, self.value)


class _ConstantPad(_Pad, settings="padding, value", shows="padding=, value="):
    """Pad with a number: 0 if a class has no setting for it."""

    value = 0.0


class ConstantPad1d(_ConstantPad, dims=1):
    """Surround the last dimension with a number.

    Args:
        padding: How much on the left and right; or one number for both.
        value: The number.

    Shape:
        - input: (N, C, W), (C, W), or any other
        - output: (N, C, left + W + right)

    Example:
        >>> import minigrad as torch
        >>> torch.nn.ConstantPad1d((1, 2), 7.0)(torch.ones(1, 2))
        tensor([[7., 1., 1., 7., 7.]])
    """


class ConstantPad2d(_ConstantPad, dims=2):
    """Surround the last two dimensions with a number.

    Args:
        padding: How much on the left, right, top and bottom; or one number for all.
        value: The number.
    """


class ConstantPad3d(_ConstantPad, dims=3):
    """Surround the last three dimensions with a number.

    Args:
        padding: How much on the left, right, top, bottom, front and back; or one number for all.
        value: The number.
    """


class ZeroPad1d(ConstantPad1d, settings="padding", shows="padding"):
    """Surround the last dimension with zeros; `padding` as for `ConstantPad1d`."""


class ZeroPad2d(ConstantPad2d, settings="padding", shows="padding"):
    """Surround the last two dimensions with zeros; `padding` as for `ConstantPad2d`.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.ZeroPad2d(1)(torch.ones(1, 1, 1))
        tensor([[[0., 0., 0.],
                 [0., 1., 0.],
                 [0., 0., 0.]]])
    """


class ZeroPad3d(ConstantPad3d, settings="padding", shows="padding"):
    """Surround the last three dimensions with zeros; `padding` as for `ConstantPad3d`."""


class ReflectionPad1d(_Pad, dims=1, mode="reflect"):
    """Continue the last dimension as in a mirror, without repeating the entry at the edge.

    Args:
        padding: How much on the left and right, less than the size; or one number for both.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.ReflectionPad1d(2)(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[3., 2., 1., 2., 3., 2., 1.]])
    """


class ReflectionPad2d(_Pad, dims=2, mode="reflect"):
    """Continue the last two dimensions as in a mirror; see `ReflectionPad1d`."""


class ReflectionPad3d(_Pad, dims=3, mode="reflect"):
    """Continue the last three dimensions as in a mirror; see `ReflectionPad1d`."""


class ReplicationPad1d(_Pad, dims=1, mode="replicate"):
    """Repeat the entries at the edges of the last dimension.

    Args:
        padding: How much on the left and right; or one number for both.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.ReplicationPad1d((1, 2))(torch.tensor([[1.0, 2.0]]))
        tensor([[1., 1., 2., 2., 2.]])
    """


class ReplicationPad2d(_Pad, dims=2, mode="replicate"):
    """Repeat the entries at the edges of the last two dimensions; see `ReplicationPad1d`."""


class ReplicationPad3d(_Pad, dims=3, mode="replicate"):
    """Repeat the entries at the edges of the last three dimensions; see `ReplicationPad1d`."""


# Shapes ---------------------------------------------------------------------------------------


class Flatten(Layer, settings="start_dim=1, end_dim=-1"):
    """Make one dimension of several neighbors; by default of all but the first.

    Args:
        start_dim: The first dimension to flatten.
        end_dim: The last one.

    Shape:
        - input: (N, a, b, ...)
        - output: (N, a * b * ...) with the defaults

    Example:
        >>> import minigrad as torch
        >>> torch.nn.Flatten()(torch.ones(2, 3, 4)).shape
        torch.Size([2, 12])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Flatten the input."""
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(Layer, settings="dim, unflattened_size"):
    """Make several dimensions of one.

    Args:
        dim: The dimension.
        unflattened_size: The sizes that it is split into; one of them may be -1.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.Unflatten(1, (2, 3))(torch.ones(4, 6)).shape
        torch.Size([4, 2, 3])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Split the dimension."""
        return input.unflatten(self.dim, self.unflattened_size)


class Unfold(Layer, calls=F.unfold, settings="kernel_size, dilation=1, padding=0, stride=1"):
    """Put the windows of images side by side as columns; see `functional.unfold`.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.Unfold(kernel_size=(2, 3))(torch.ones(2, 5, 3, 4)).shape
        torch.Size([2, 30, 4])
    """


class Fold(
    Layer, calls=F.fold, settings="output_size, kernel_size, dilation=1, padding=0, stride=1"
):
    """Add columns up at the places of their windows in images; see `functional.fold`.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.Fold((4, 5), kernel_size=(2, 2))(torch.ones(1, 12, 12)).shape
        torch.Size([1, 3, 4, 5])
    """


class PixelShuffle(Layer, calls=F.pixel_shuffle, settings="upscale_factor"):
    """Make blocks of pixels of channels: (..., C r^2, H, W) becomes (..., C, H r, W r).

    Example:
        >>> import minigrad as torch
        >>> torch.nn.PixelShuffle(2)(torch.ones(1, 8, 3, 3)).shape
        torch.Size([1, 2, 6, 6])
    """


class Upsample(
    Layer,
    calls=F.interpolate,
    settings="size=None, scale_factor=None, mode='nearest', align_corners=None, "
    "recompute_scale_factor=None",
):
    """Resize signals, images or volumes; see `functional.interpolate`.

    Args:
        size: The new size of each dimension, or one number for all.
        scale_factor: By how much to resize instead, for each dimension or all.
        mode: `"nearest"`, `"linear"`, `"bilinear"` or `"trilinear"`.
        align_corners: Whether the first and the last entries keep their places.
        recompute_scale_factor: Whether to compute the scale again from the sizes.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.Upsample(scale_factor=2)
        Upsample(scale_factor=2.0, mode='nearest')
        >>> torch.nn.Upsample(scale_factor=2)(torch.ones(1, 3, 4, 4)).shape
        torch.Size([1, 3, 8, 8])
    """

    def _keep(self, settings: dict[str, Any]) -> None:
        self.name = type(self).__name__
        factor = settings["scale_factor"]
        if isinstance(factor, tuple):
            settings["scale_factor"] = tuple(map(float, factor))
        else:
            settings["scale_factor"] = float(factor) if factor else None
        super()._keep(settings)

    def extra_repr(self) -> str:
        """Give scale or size, and the mode."""
        given = "size" if self.scale_factor is None else "scale_factor"
        return f"{given}={getattr(self, given)!r}, mode={self.mode!r}"


# Dropout --------------------------------------------------------------------------------------


class _DropoutNd(Layer, settings="p=0.5, inplace=False", shows="p=, inplace="):
    """What these layers share: a probability, and whether to overwrite the input."""

    def _keep(self, settings: dict[str, Any]) -> None:
        p = settings["p"]
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        super()._keep(settings)


class Dropout(_DropoutNd, calls=F.dropout):
    """Sets entries to zero at random, and divides the rest by 1 - p.

    Source: Srivastava et al., *Dropout: a simple way to prevent neural networks from overfitting*,
    2014.

    Args:
        p: The probability of being set to zero.
        inplace: Overwrite the input.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.Dropout(0.2).eval()(torch.ones(3))
        tensor([1., 1., 1.])
    """


class Dropout1d(_DropoutNd, calls=F.dropout1d):
    """Sets whole channels of 1 dimension to zero at random, and divides the rest by 1 - p.

    Source: Tompson et al., *Efficient object localization using convolutional networks*, 2014.

    Args:
        p: The probability of being set to zero.
        inplace: Overwrite the input.

    Shape:
        - input: (N, C, L), or (C, L)
        - output: the same
    """


class Dropout2d(_DropoutNd, calls=F.dropout2d):
    """Sets whole channels of 2 dimensions to zero at random, and divides the rest by 1 - p.

    Source: Tompson et al., *Efficient object localization using convolutional networks*, 2014.

    Args:
        p: The probability of being set to zero.
        inplace: Overwrite the input.

    Shape:
        - input: (N, C, H, W), or (N, C, L)
        - output: the same
    """


class Dropout3d(_DropoutNd, calls=F.dropout3d):
    """Sets whole channels of 3 dimensions to zero at random, and divides the rest by 1 - p.

    Source: Tompson et al., *Efficient object localization using convolutional networks*, 2014.

    Args:
        p: The probability of being set to zero.
        inplace: Overwrite the input.

    Shape:
        - input: (N, C, D, H, W), or (C, D, H, W)
        - output: the same
    """


# Comparisons and neighbours -------------------------------------------------------------------


class PairwiseDistance(Layer, settings="p=2.0, eps=1e-6, keepdim=False", shows=""):
    r"""The distance of vectors, $\|x_1 - x_2 + \epsilon\|_p$ along the last dimension.

    Args:
        p: The order of the norm.
        eps: Is added to the difference, so that the norm has a gradient where they are equal.
        keepdim: Keep the last dimension, with size 1.

    Shape:
        - x1 and x2: (N, D), or (D,)
        - output: (N,), or ()

    Example:
        >>> import minigrad as torch
        >>> torch.nn.PairwiseDistance(p=1)(torch.zeros(2), torch.tensor([3.0, 4.0]))
        tensor(7.0000)
    """

    def _keep(self, settings: dict[str, Any]) -> None:
        super()._keep({"norm": settings.pop("p"), **settings})

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Compute the distances."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Layer, calls=F.cosine_similarity, settings="dim=1, eps=1e-8", shows=""):
    r"""The cosine of the angle of vectors, $x_1 \cdot x_2 / (\|x_1\| \|x_2\|)$.

    Args:
        dim: The dimension along which the vectors lie.
        eps: The least that a norm counts as.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.CosineSimilarity(dim=0)(torch.tensor([1.0, 0.0]), torch.tensor([3.0, 4.0]))
        tensor(0.6000)
    """
