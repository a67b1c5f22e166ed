"""Fade a stretch of a signal in and out before its frequencies are looked at: hann_window."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.construction import check_place, default_or, finish
from minigrad.tensor import Tensor

__all__ = ["bartlett_window", "blackman_window", "hamming_window", "hann_window"]


def _window(
    name: str,
    length: int,
    periodic: bool,
    curve: Callable[[Any, int], Any],
    dtype: Any,
    layout: Any,
    device: Any,
    pin_memory: bool,
    requires_grad: bool,
) -> Tensor:
    """Give a curve over the positions of a window.

    Args:
        name: The function that was called.
        length: How many positions.
        periodic: Whether the window is to be repeated: then the last position is left out.
        curve: Gets the positions and the last of them, and gives the values.
        dtype: The type of the entries, if not the default.
        layout: Strided, if anything.
        device: The CPU, if anything.
        pin_memory: False.
        requires_grad: Whether operations on the window are recorded.
    """
    check_place(name, device, layout, pin_memory)
    wanted = default_or(dtype, name)
    if wanted.kind != "f":
        raise RuntimeError(f"{name} expects floating point dtypes, got: {wanted}")
    if length < 0:
        raise RuntimeError(
            f"{name} requires non-negative window_length, got window_length={length}"
        )
    if length < 2:
        return finish(np.ones(length, wanted), requires_grad, name)
    last = length if periodic else length - 1
    values = curve(np.arange(last + 1, dtype=wanted), last)[:length]
    return finish(values.astype(wanted, copy=False), requires_grad, name)


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    r"""Give a Hamming window: :math:`\alpha - \beta \cos(2\pi n / N)`.

    Args:
        window_length: How many entries.
        periodic: Whether the window is to be repeated, so that N is the length, not one less.
        alpha: The mean.
        beta: How far the window goes up and down.
        dtype: The type of the entries, if not the default.
        layout: Strided, if anything.
        device: The CPU, if anything.
        pin_memory: False.
        requires_grad: Whether operations on the window are recorded.

    Raises:
        RuntimeError: If the length is negative, or the type is not floating point.

    Example:
        >>> import minigrad as torch
        >>> torch.hamming_window(4)
        tensor([0.0800, 0.5400, 1.0000, 0.5400])
    """
    return _window(
        "hamming_window",
        window_length,
        periodic,
        lambda n, last: alpha - beta * np.cos(n * (2 * math.pi / last)),
        *(dtype, layout, device, pin_memory, requires_grad),
    )


def hann_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    r"""Give a Hann window: :math:`\tfrac12 - \tfrac12 \cos(2\pi n / N)`; see `hamming_window`.

    Example:
        >>> import minigrad as torch
        >>> torch.hann_window(4)
        tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return _window(
        "hann_window",
        window_length,
        periodic,
        lambda n, last: 0.5 - 0.5 * np.cos(n * (2 * math.pi / last)),
        *(dtype, layout, device, pin_memory, requires_grad),
    )


def blackman_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    r"""Give a Blackman window: :math:`0.42 - 0.5 \cos(2\pi n / N) + 0.08 \cos(4\pi n / N)`.

    Example:
        >>> import minigrad as torch
        >>> torch.blackman_window(3, periodic=False)[1]
        tensor(1.)
    """

    def curve(n: Any, last: int) -> Any:
        angles = n * (math.pi / last)
        return np.cos(angles * 4) * 0.08 - np.cos(angles * 2) * 0.5 + 0.42

    return _window(
        "blackman_window",
        window_length,
        periodic,
        curve,
        *(dtype, layout, device, pin_memory, requires_grad),
    )


def bartlett_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Give a Bartlett window: a triangle that rises from 0 to 1 and falls again.

    Example:
        >>> import minigrad as torch
        >>> torch.bartlett_window(4)
        tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """

    def curve(n: Any, last: int) -> Any:
        rising = n * (2 / last)
        return np.minimum(rising, 2 - rising)

    return _window(
        "bartlett_window",
        window_length,
        periodic,
        curve,
        *(dtype, layout, device, pin_memory, requires_grad),
    )


methods: dict[str, Any] = {}
