"""Set the switches of PyTorch's backends that scripts set for reproducible runs; they do nothing.

On the CPU minigrad gives the same numbers for the same seed anyway.
"""

from __future__ import annotations


class _Backend:
    """A library that PyTorch may compute with, and that is not here."""

    def __init__(self, **switches: bool) -> None:
        self.__dict__.update(switches)

    def is_available(self) -> bool:
        """Tell that it is not here."""
        return False

    def is_built(self) -> bool:
        """Tell that it is not here."""
        return False


cudnn = _Backend(enabled=False, deterministic=True, benchmark=False, allow_tf32=False)
mps = _Backend()
mkldnn = _Backend(enabled=False)
mkl = _Backend()
openmp = _Backend()
cuda = _Backend()
