"""Refuse devices other than the CPU."""

from __future__ import annotations

from typing import Any

from minigrad.devices import refuse_other_places


def check_device(device: Any) -> None:
    """Raise if a layer is to be made elsewhere than on the CPU.

    Raises:
        RuntimeError: If another device is asked for.
        AssertionError: If the device is "cuda" or "xpu".
    """
    refuse_other_places(device, "empty")
