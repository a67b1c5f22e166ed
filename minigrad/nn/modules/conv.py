"""Find local patterns in signals, images and volumes, or spread them: convolutions as layers."""

from __future__ import annotations

from typing import Any, ClassVar

from minigrad.core.tensor import Tensor
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.modules.layer import Layer, _ntuple, add_parameters, changed

__all__ = [
    "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d",
]  # fmt: skip

_WINDOW = "in_channels, out_channels, kernel_size, stride=1, padding=0"
_MADE = "device=None, dtype=None"
CONV = f"{_WINDOW}, dilation=1, groups=1, bias=True, padding_mode='zeros', {_MADE}"
TRANSPOSED = (
    f"{_WINDOW}, output_padding=0, groups=1, bias=True, dilation=1, padding_mode='zeros', {_MADE}"
)
_KEPT = (
    "in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation", "transposed",
    "output_padding", "groups", "padding_mode",
)  # fmt: skip


class _ConvNd(Layer):
    """What all convolutions share; a class says in how many dimensions it works."""

    weight: Tensor
    bias: Tensor | None
    _transposed: ClassVar[bool] = False
    _ndim: ClassVar[int]

    def _keep(self, settings: dict[str, Any]) -> None:
        settings = {"transposed": self._transposed, "output_padding": 0, **settings}
        for name in ("kernel_size", "stride", "padding", "dilation", "output_padding"):
            if not isinstance(settings[name], str):
                settings[name] = _ntuple(self._ndim)(settings[name])
        self._check(settings)
        super()._keep({name: settings[name] for name in _KEPT})
        kernel, padding = self.kernel_size, self.padding
        # what F.pad takes: for each dimension, the last first, the width before and after
        if isinstance(padding, str):
            wide = padding == "same"
            both = [d * (k - 1) * wide for d, k in zip(self.dilation, kernel, strict=True)]
        else:
            both = [2 * width for width in padding]
        border = [(all // 2, all - all // 2) for all in reversed(both)]
        self._reversed_padding_repeated_twice = [width for pair in border for width in pair]
        shapes = {"weight": self._weight_shape(), "bias": None}
        if settings["bias"]:
            shapes["bias"] = (self.out_channels,)
        add_parameters(self, settings, **shapes)
        self.reset_parameters()

    def _weight_shape(self) -> tuple[int, ...]:
        sizes = self.out_channels, self.in_channels
        first, second = reversed(sizes) if self.transposed else sizes
        return (first, second // self.groups, *self.kernel_size)

    def _check(self, settings: dict[str, Any]) -> None:
        groups, padding, mode = (settings[name] for name in ("groups", "padding", "padding_mode"))
        if groups <= 0 or any(settings[each] % groups for each in ("in_channels", "out_channels")):
            raise ValueError(f"in_channels and out_channels must be divisible by groups={groups}")
        if isinstance(padding, str) and padding not in ("same", "valid"):
            raise ValueError(f"padding may be numbers, 'same' or 'valid', not {padding!r}")
        if padding == "same" and any(s != 1 for s in settings["stride"]):
            raise ValueError("padding='same' is not supported for strided convolutions")
        if mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(f"padding_mode: zeros, reflect, replicate or circular, not {mode!r}")

    def reset_parameters(self) -> None:
        """Draw weight and bias again."""
        init._start_linear(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Convolve the input."""
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = (0,) * self._ndim
        convolve = (F.conv1d, F.conv2d, F.conv3d)[self._ndim - 1]
        settings = (self.stride, padding, self.dilation, self.groups)
        return convolve(input, self.weight, self.bias, *settings)

    def extra_repr(self) -> str:
        """Give the settings that differ from the usual."""
        ndim = self._ndim
        usual = {"padding": (0,) * ndim, "dilation": (1,) * ndim, "output_padding": (0,) * ndim}
        sizes = f"kernel_size={self.kernel_size}, stride={self.stride}"
        others = changed(self, **usual, groups=1, bias=True, padding_mode="zeros")
        return f"{self.in_channels}, {self.out_channels}, {sizes}{others}"


class Conv1d(_ConvNd, settings=CONV, ndim=1):
    """Slide kernels over a signal; arguments as for `Conv2d`.

    Shape:
        - input: (N, in_channels, L), or without N
        - output: (N, out_channels, L_out), or without N
        - weight: (out_channels, in_channels / groups, *kernel_size); bias: (out_channels,)

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.Conv1d(3, 8, 5, padding="same")
        >>> layer(torch.ones(2, 3, 20)).shape
        torch.Size([2, 8, 20])
    """


class Conv2d(_ConvNd, settings=CONV, ndim=2):
    r"""Slide kernels over an image: $y_o = b + \sum_k w_k x_{so + dk - p}$ in each channel.

    Weight and bias start out uniformly distributed on $(-1/\sqrt{n}, 1/\sqrt{n})$, where $n$ is the
    number of entries that a kernel sees.

    Args:
        in_channels: The number of channels of the input.
        out_channels: The number of kernels, and of channels of the output.
        kernel_size: The window's height and width, or one number for both.
        stride: How far the window moves at each step.
        padding: How wide a border goes around the image; or `"valid"` for none, or `"same"` for one
            that keeps the size.
        dilation: How far apart the entries of the window are.
        groups: Into how many parts the channels are divided, each with kernels of its own.
        bias: Whether to add a number to each channel.
        padding_mode: What the border is made of: `"zeros"`, `"reflect"` or `"replicate"`.
        device: Only the CPU is there.
        dtype: The element type of weight and bias; the default dtype if None.

    Raises:
        ValueError: If the channels are not divisible by the groups, or the padding is unknown.

    Shape:
        - input: (N, in_channels, H, W), or without N
        - output: (N, out_channels, H_out, W_out), or without N, where
          $H_{out} = \lfloor (H + 2p - d(k - 1) - 1) / s \rfloor + 1$
        - weight: (out_channels, in_channels / groups, *kernel_size); bias: (out_channels,)

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.Conv2d(3, 8, 3, padding=1)
        >>> layer
        Conv2d(3, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))
        >>> layer(torch.ones(2, 3, 4, 4)).shape
        torch.Size([2, 8, 4, 4])
    """


class Conv3d(_ConvNd, settings=CONV, ndim=3):
    """Slide kernels over a volume; arguments as for `Conv2d`.

    Shape:
        - input: (N, in_channels, D, H, W), or without N
        - output: (N, out_channels, D_out, H_out, W_out), or without N
        - weight: (out_channels, in_channels / groups, *kernel_size); bias: (out_channels,)
    """


class _ConvTransposeNd(_ConvNd, transposed=True):
    """What all transposed convolutions share: the choice of the output's size."""

    def _keep(self, settings: dict[str, Any]) -> None:
        if settings["padding_mode"] != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super()._keep(settings)

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        """Spread the input; `output_size` chooses among the sizes that are possible."""
        more = self.output_padding
        if output_size is not None:
            more = self._output_padding(input, list(output_size))
        settings = (self.stride, self.padding, more, self.groups, self.dilation)
        transposed = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[self._ndim - 1]
        return transposed(input, self.weight, self.bias, *settings)

    def _output_padding(self, input: Tensor, sizes: list[int]) -> tuple[int, ...]:
        """Give the `output_padding` that leads to a size."""
        before = input.shape[-self._ndim :]
        settings = zip(
            before, self.stride, self.padding, self.dilation, self.kernel_size, strict=True
        )
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, d, k in settings]
        more = tuple(n - a for n, a in zip(sizes[-self._ndim :], least, strict=False))
        if len(sizes) < self._ndim or any(
            not 0 <= m < s for m, s in zip(more, self.stride, strict=True)
        ):
            raise ValueError(f"output_size={sizes} must be {least}, or up to stride - 1 more")
        return more


class ConvTranspose1d(_ConvTransposeNd, settings=TRANSPOSED, ndim=1):
    """Spread each entry of a signal over a window; arguments as for `ConvTranspose2d`.

    Shape:
        - input: (N, in_channels, L), or without N
        - output: (N, out_channels, L_out), or without N
        - weight: (in_channels, out_channels / groups, *kernel_size); bias: (out_channels,)
    """


class ConvTranspose2d(_ConvTransposeNd, settings=TRANSPOSED, ndim=2):
    r"""Spread each entry of an image over a window: the gradient of `Conv2d` in its input.

    Often called a deconvolution, though it does not undo a convolution: it gives back the shape,
    not the values. Weight and bias start out as those of `Conv2d`.

    Args:
        in_channels: The number of channels of the input.
        out_channels: The number of channels of the output.
        kernel_size: The window's height and width, or one number for both.
        stride: How far apart the windows are.
        padding: How much is cut off at each side of the output.
        output_padding: How much longer the output is at the end of each dimension: a stride larger
            than 1 leaves several sizes possible.
        groups: Into how many parts the channels are divided, each with kernels of its own.
        bias: Whether to add a number to each channel.
        dilation: How far apart the entries of the window are.
        padding_mode: Only `"zeros"`.
        device: Only the CPU is there.
        dtype: The element type of weight and bias; the default dtype if None.

    Raises:
        ValueError: If the channels are not divisible by the groups, or the padding is unknown.

    Shape:
        - input: (N, in_channels, H, W), or without N
        - output: (N, out_channels, H_out, W_out), or without N, where
          $H_{out} = (H - 1) s - 2p + d (k - 1) + 1$ + output_padding
        - weight: (in_channels, out_channels / groups, *kernel_size); bias: (out_channels,)

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.ConvTranspose2d(3, 8, 2, stride=2)
        >>> layer(torch.ones(2, 3, 2, 2)).shape
        torch.Size([2, 8, 4, 4])
    """


class ConvTranspose3d(_ConvTransposeNd, settings=TRANSPOSED, ndim=3):
    """Spread each entry of a volume over a window; arguments as for `ConvTranspose2d`.

    Shape:
        - input: (N, in_channels, D, H, W), or without N
        - output: (N, out_channels, D_out, H_out, W_out), or without N
        - weight: (in_channels, out_channels / groups, *kernel_size); bias: (out_channels,)
    """
