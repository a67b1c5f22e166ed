"""Make images and signals smaller: layers that pool."""

from __future__ import annotations

from typing import Any

from minigrad.nn import functional as F
from minigrad.nn.modules.module import Module
from minigrad.tensor import Tensor

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "LPPool1d",
    "LPPool2d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
]


class _MaxPoolNd(Module):
    """What all layers share that take the largest entry of each window."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def _pooled(self, function: Any, input: Tensor) -> Any:
        return function(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )

    def extra_repr(self) -> str:
        """Give the settings."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """Take the largest entry of each window of a signal; arguments as for `MaxPool2d`."""

    def forward(self, input: Tensor) -> Any:
        """Pool the input."""
        return self._pooled(F.max_pool1d, input)


class MaxPool2d(_MaxPoolNd):
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

    def forward(self, input: Tensor) -> Any:
        """Pool the input."""
        return self._pooled(F.max_pool2d, input)


class MaxPool3d(_MaxPoolNd):
    """Take the largest entry of each window of a volume; arguments as for `MaxPool2d`."""

    def forward(self, input: Tensor) -> Any:
        """Pool the input."""
        return self._pooled(F.max_pool3d, input)


class AvgPool1d(Module):
    """Average each window of a signal; arguments as for `AvgPool2d`."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = _single(kernel_size)
        self.stride = _single(stride if stride is not None else kernel_size)
        self.padding = _single(padding)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """Pool the input."""
        return F.avg_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
        )

    def extra_repr(self) -> str:
        """Give the settings."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


def _single(value: Any) -> Any:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


class _AvgPoolNd(Module):
    """What layers share that average windows of two dimensions or more."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def _pooled(self, function: Any, input: Tensor) -> Tensor:
        return function(  # type: ignore[no-any-return]
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )

    def extra_repr(self) -> str:
        """Give the settings."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(_AvgPoolNd):
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

    def forward(self, input: Tensor) -> Tensor:
        """Pool the input."""
        return self._pooled(F.avg_pool2d, input)


class AvgPool3d(_AvgPoolNd):
    """Average each window of a volume; arguments as for `AvgPool2d`."""

    def forward(self, input: Tensor) -> Tensor:
        """Pool the input."""
        return self._pooled(F.avg_pool3d, input)


class _AdaptivePoolNd(Module):
    """What layers share that pool to a given size."""

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        """Give the size."""
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptivePoolNd):
    """Average each of so many parts of a signal; see `AdaptiveAvgPool2d`."""

    def forward(self, input: Tensor) -> Tensor:
        """Pool the input."""
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptivePoolNd):
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

    def forward(self, input: Tensor) -> Tensor:
        """Pool the input."""
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptivePoolNd):
    """Average each of so many parts of a volume; see `AdaptiveAvgPool2d`."""

    def forward(self, input: Tensor) -> Tensor:
        """Pool the input."""
        return F.adaptive_avg_pool3d(input, self.output_size)


class _AdaptiveMaxPoolNd(_AdaptivePoolNd):
    """What layers share that take the largest entries of parts."""

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """Take the largest entry of each of so many parts of a signal; see `AdaptiveMaxPool2d`."""

    def forward(self, input: Tensor) -> Any:
        """Pool the input."""
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Take the largest entry of each of so many parts of an image, whatever its size.

    Args:
        output_size: Into how many parts height and width are divided, or one number for both;
            None leaves a dimension as it is.
        return_indices: Whether to give the positions of the largest entries, too.
    """

    def forward(self, input: Tensor) -> Any:
        """Pool the input."""
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class _LPPoolNd(Module):
    """What layers share that take the norm of each window."""

    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        """Give the settings."""
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    r"""Take $(\sum x^p)^{1/p}$ of each window of a signal."""

    def forward(self, input: Tensor) -> Tensor:
        """Pool the input."""
        return F.lp_pool1d(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )


class LPPool2d(_LPPoolNd):
    r"""Take $(\sum x^p)^{1/p}$ of each window of an image."""

    def forward(self, input: Tensor) -> Tensor:
        """Pool the input."""
        return F.lp_pool2d(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )
