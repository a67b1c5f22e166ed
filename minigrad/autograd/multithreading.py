"""Set the switch for backward passes in several threads, which in minigrad run in the caller's."""

from __future__ import annotations

import threading
from typing import Self

from minigrad.autograd.modes import DecoratingMode

__all__ = ["is_multithreading_enabled", "set_multithreading_enabled"]


class _Switch(threading.local):
    """What this thread has set."""

    enabled: bool = True


_switch = _Switch()


def is_multithreading_enabled() -> bool:
    """Tell how `set_multithreading_enabled` is set.

    Example:
        >>> is_multithreading_enabled()
        True
    """
    return _switch.enabled


class set_multithreading_enabled(DecoratingMode):
    """Say whether a backward pass may use threads, at once or for a block with `with`.

    PyTorch runs what is on another device in another thread, if it may. minigrad computes on the
    CPU, in the thread that called `backward`, so the switch changes nothing but what
    `is_multithreading_enabled` tells.

    Args:
        mode: Whether it may.

    Raises:
        TypeError: If `mode` is no bool.

    Example:
        >>> with set_multithreading_enabled(False):
        ...     is_multithreading_enabled()
        False
        >>> is_multithreading_enabled()
        True
    """

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(
                "set_multithreading_enabled(): argument 'enabled' (position 1) must be bool, not "
                f"{type(mode).__name__}"
            )
        self.prev = _switch.enabled
        self.mode = mode
        _switch.enabled = mode

    def clone(self) -> Self:
        """Give a fresh context that wants the same."""
        return type(self)(self.mode)

    def __enter__(self) -> None:
        """Do nothing: the switch was set upon creation."""

    def __exit__(self, *exception: object) -> None:
        """Set the switch back."""
        _switch.enabled = self.prev
