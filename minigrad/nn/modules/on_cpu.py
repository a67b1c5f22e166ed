"""Refuse devices other than the CPU."""

from __future__ import annotations

from typing import Any


def check_device(device: Any) -> None:
    """Raise if a layer is to be made elsewhere than on the CPU.

    Raises:
        RuntimeError: If another device is asked for.
    """
    if str(device) not in ("None", "cpu"):
        raise RuntimeError(f"Invalid device string: '{device}'. minigrad computes on 'cpu' only.")
