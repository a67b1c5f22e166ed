"""PyTorch's path to `minigrad.saving`."""

from contextlib import nullcontext
from typing import Any

from minigrad.saving import load as load
from minigrad.saving import save as save


class safe_globals(nullcontext[None]):
    """Allow nothing more than else: what is loaded is data, never code."""

    def __init__(self, safe_globals: Any) -> None:
        super().__init__()
