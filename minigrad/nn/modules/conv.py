"""Convolve signals, images and volumes with learned kernels: `Conv1d`, `Conv2d`, `Conv3d`."""

from __future__ import annotations

import math
from typing import Any

from minigrad.creation import empty
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.modules.module import Module
from minigrad.nn.modules.on_cpu import check_device
from minigrad.nn.parameter import Parameter
from minigrad.tensor import Tensor

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
]

_PADDING_MODES = {"zeros", "reflect", "replicate", "circular"}


def _each(value: Any, ndim: int) -> Any:
    """Give a setting for each dimension: a number stands for the same in each."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * ndim


class _ConvNd(Module):
    """What all convolutions share: parameters, their start, and the printed form."""

    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: Any,
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        check_device(device)
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(
                    f"Invalid padding string '{padding}', should be one of {{'valid', 'same'}}"
                )
            if padding == "same" and any(s != 1 for s in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in _PADDING_MODES:
            listed = "{'zeros', 'reflect', 'replicate', 'circular'}"
            raise ValueError(
                f"padding_mode must be one of {listed}, but got padding_mode='{padding_mode}'"
            )
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        # what F.pad takes: for each dimension, the last first, the width before and after
        self._reversed_padding_repeated_twice = _border(padding, kernel_size, dilation)
        if transposed:
            sizes = (in_channels, out_channels // groups, *kernel_size)
        else:
            sizes = (out_channels, in_channels // groups, *kernel_size)
        self.weight = Parameter(empty(sizes, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_channels, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        # With a = sqrt(5), Kaiming's bound sqrt(6 / ((1 + a^2) n)) is 1 / sqrt(n).
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        """Give the settings that differ from the usual."""
        parts = [
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        ]
        if self.padding != (0,) * len(self.padding):
            parts.append(f"padding={self.padding}")
        if self.dilation != (1,) * len(self.dilation):
            parts.append(f"dilation={self.dilation}")
        if self.output_padding != (0,) * len(self.output_padding):
            parts.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)

    def _convolved(self, convolve: Any, input: Tensor) -> Tensor:
        settings = (self.stride, self.padding, self.dilation, self.groups)
        if self.padding_mode != "zeros":
            border = self._reversed_padding_repeated_twice
            input = F.pad(input, border, mode=self.padding_mode)  # type: ignore[attr-defined]
            settings = (self.stride, (0,) * len(self.stride), self.dilation, self.groups)
        return convolve(input, self.weight, self.bias, *settings)  # type: ignore[no-any-return]


def _border(padding: Any, kernel: tuple[int, ...], dilation: tuple[int, ...]) -> Any:
    if not isinstance(padding, str):
        return tuple(width for width in reversed(padding) for _ in range(2))
    border = [0, 0] * len(kernel)
    if padding == "same":
        for place, (d, k) in enumerate(reversed(list(zip(dilation, kernel, strict=True)))):
            total = d * (k - 1)
            border[2 * place] = total // 2
            border[2 * place + 1] = total - total // 2
    return border


class Conv1d(_ConvNd):
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

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            _each(kernel_size, 1),
            _each(stride, 1),
            padding if isinstance(padding, str) else _each(padding, 1),
            _each(dilation, 1),
            False,
            _each(0, 1),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor) -> Tensor:
        """Convolve the input."""
        return self._convolved(F.conv1d, input)


class Conv2d(_ConvNd):
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
        padding_mode: What the border is made of: `"zeros"`, `"reflect"`, `"replicate"` or
            `"circular"`.
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

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            _each(kernel_size, 2),
            _each(stride, 2),
            padding if isinstance(padding, str) else _each(padding, 2),
            _each(dilation, 2),
            False,
            _each(0, 2),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor) -> Tensor:
        """Convolve the input."""
        return self._convolved(F.conv2d, input)


class Conv3d(_ConvNd):
    """Slide kernels over a volume; arguments as for `Conv2d`.

    Shape:
        - input: (N, in_channels, D, H, W), or without N
        - output: (N, out_channels, D_out, H_out, W_out), or without N
        - weight: (out_channels, in_channels / groups, *kernel_size); bias: (out_channels,)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            _each(kernel_size, 3),
            _each(stride, 3),
            padding if isinstance(padding, str) else _each(padding, 3),
            _each(dilation, 3),
            False,
            _each(0, 3),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor) -> Tensor:
        """Convolve the input."""
        return self._convolved(F.conv3d, input)
