"""The version counter of tensors made in inference mode."""

from __future__ import annotations

from typing import Any

from minigrad.core import extensions
from minigrad.core.modes import modes
from minigrad.core.tensor import VersionCounter


class InferenceCounter(VersionCounter):
    """The counter of all tensors made in inference mode: it counts nothing, so nothing is saved."""

    __slots__ = ()

    # Views need not be found again, as no graph can become wrong.
    views: Any = property(lambda self: None, lambda self, views: None)

    def count(self) -> None:
        """Refuse a change outside of inference mode."""
        if modes.inference is None:
            raise extensions.messages.inference_tensor_changed()

    @property
    def value(self) -> int:
        """Refuse: there is no version, so nobody could notice a change."""
        raise extensions.messages.saved_inference_tensor()

    @value.setter
    def value(self, value: int) -> None: ...


INFERENCE: VersionCounter = object.__new__(InferenceCounter)
