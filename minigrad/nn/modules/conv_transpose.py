"""Spread entries over windows with learned kernels: the transposed convolutions."""

from __future__ import annotations

from typing import Any

from minigrad.nn import functional as F
from minigrad.nn.modules.conv import _ConvNd, _each
from minigrad.tensor import Size, Tensor

__all__ = ["ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]


class _ConvTransposeNd(_ConvNd):
    """What all transposed convolutions share: the choice of the output's size."""

    def __init__(self, *settings: Any) -> None:
        padding_mode = settings[10]
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(*settings)

    def _spread(self, spread: Any, input: Tensor, output_size: Any) -> Tensor:
        if output_size is None:
            more = self.output_padding
        else:
            more = self._output_padding(input, [int(size) for size in output_size])
        settings = (self.stride, self.padding, more, self.groups, self.dilation)
        return spread(input, self.weight, self.bias, *settings)  # type: ignore[no-any-return]

    def _output_padding(self, input: Tensor, wanted: list[int]) -> tuple[int, ...]:
        """Give the `output_padding` that leads to a size."""
        ndim = len(self.kernel_size)
        outer = input.ndim - ndim
        if len(wanted) == input.ndim:
            wanted = wanted[outer:]
        if len(wanted) != ndim:
            raise ValueError(
                f"ConvTranspose{ndim}D: for {input.ndim}D input, output_size must have {ndim} or "
                f"{input.ndim} elements (got {len(wanted)})"
            )
        least = [
            (n - 1) * s - 2 * p + d * (k - 1) + 1
            for n, s, p, d, k in zip(
                input.shape[outer:],
                self.stride,
                self.padding,
                self.dilation,
                self.kernel_size,
                strict=True,
            )
        ]
        most = [n + s - 1 for n, s in zip(least, self.stride, strict=True)]
        if any(not a <= n <= b for a, n, b in zip(least, wanted, most, strict=True)):
            raise ValueError(
                f"requested an output size of {tuple(wanted)}, but valid sizes range from {least} "
                f"to {most} (for an input of {Size(input.shape[outer:])})"
            )
        return tuple(n - a for n, a in zip(wanted, least, strict=True))


class ConvTranspose1d(_ConvTransposeNd):
    """Spread each entry of a signal over a window; arguments as for `ConvTranspose2d`.

    Shape:
        - input: (N, in_channels, L), or without N
        - output: (N, out_channels, L_out), or without N
        - weight: (in_channels, out_channels / groups, *kernel_size); bias: (out_channels,)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            _each(kernel_size, 1),
            _each(stride, 1),
            _each(padding, 1),
            _each(dilation, 1),
            True,
            _each(output_padding, 1),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        """Spread the input; `output_size` chooses among the sizes that are possible."""
        return self._spread(F.conv_transpose1d, input, output_size)


class ConvTranspose2d(_ConvTransposeNd):
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

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            _each(kernel_size, 2),
            _each(stride, 2),
            _each(padding, 2),
            _each(dilation, 2),
            True,
            _each(output_padding, 2),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        """Spread the input; `output_size` chooses among the sizes that are possible."""
        return self._spread(F.conv_transpose2d, input, output_size)


class ConvTranspose3d(_ConvTransposeNd):
    """Spread each entry of a volume over a window; arguments as for `ConvTranspose2d`.

    Shape:
        - input: (N, in_channels, D, H, W), or without N
        - output: (N, out_channels, D_out, H_out, W_out), or without N
        - weight: (in_channels, out_channels / groups, *kernel_size); bias: (out_channels,)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            _each(kernel_size, 3),
            _each(stride, 3),
            _each(padding, 3),
            _each(dilation, 3),
            True,
            _each(output_padding, 3),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        """Spread the input; `output_size` chooses among the sizes that are possible."""
        return self._spread(F.conv_transpose3d, input, output_size)
