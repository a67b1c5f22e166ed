"""Put hooks that watch on a model together, and take them off together: the base of collectors."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Any, Self

from minigrad import nn


class Collector:
    """Hooks that watch, put on together and taken off together; also as a `with` block."""

    def __init__(self) -> None:
        self._handles: list[Any] = []

    def attach(self) -> Self:
        """Put the hooks on.

        Raises:
            RuntimeError: If they are on already.
        """
        if self._handles:
            raise RuntimeError(
                f"this {type(self).__name__} is attached already; call remove() first"
            )
        self._handles = list(self._register())
        return self

    def remove(self) -> None:
        """Take the hooks off; what was collected stays."""
        for handle in self._handles:
            handle.remove()
        self._handles = []

    @property
    def attached(self) -> bool:
        """Whether the hooks are on."""
        return bool(self._handles)

    def _register(self) -> Iterable[Any]:
        raise NotImplementedError

    def __enter__(self) -> Self:
        """Attach."""
        return self.attach()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Remove."""
        self.remove()


def layer_label(name: str, module: nn.Module) -> str:
    """Name a module in a picture: `2 ReLU`, or `fc1`, whose name says more than a number."""
    kind = type(module).__name__
    last = name.rpartition(".")[2]
    return f"{name} {kind}".strip() if not last or last.isdigit() else name
