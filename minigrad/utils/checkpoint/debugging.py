"""Write down which operations ran in a checkpointed part, to find where two runs of it differ."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from minigrad.autograd.modes import stop_watching, watch_nodes

# with PyTorch's own hyphen that no line may break at
TIP = """
Tip: To see a more detailed error message, either pass `debug=True` to
`torch.utils.checkpoint.checkpoint(...)` or wrap the code block
with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to
enable checkpoint\u2011debug mode globally.
"""

_PACKAGE = str(Path(__file__).parents[2])


class Record:
    """The operations that were recorded in the first run of a part, and in the latest one."""

    def __init__(self) -> None:
        self._first: list[tuple[str, list[str]]] = []
        self._again: list[tuple[str, list[str]]] = []

    def running(self) -> Any:
        """Write down what the first run does within a block."""
        return _watched(self._first)

    def recomputing(self) -> Any:
        """Write down what a recomputation does within a block."""
        self._again = []
        return _watched(self._again)

    def report(self) -> str:
        """Give the text of the error: where each operation was called, and both lists."""
        return "\n".join(
            [
                " An error happened while unpacking tensors; dumping logs of latest computation",
                "because you passed `debug=True` to `torch.utils.checkpoint.checkpoint()`.",
                "Scroll all the way down for guidance on how to navigate these logs.",
                "",
                *_places("1. Where the original forward called its operations", self._first),
                *_places("2. Where the recomputation called its operations", self._again),
                "---- 3. Operations side by side: original forward | recomputation",
                "",
                *_side_by_side(self._first, self._again),
                "",
                "The recomputation saved other tensors than the original forward. Find the first",
                "line marked with <-- in part 3, and the places where the two operations were",
                "called in parts 1 and 2. A part must do the same each time it runs: it must not",
                "depend on a counter, on a global variable, or on random numbers other than this",
                "package's.",
            ]
        )


@contextmanager
def _watched(events: list[tuple[str, list[str]]]) -> Iterator[None]:
    def watch(node: Any, outputs: tuple[Any, ...]) -> None:
        results = ", ".join(
            f"{str(output.dtype).removeprefix('torch.')}{list(output.shape)}"
            for output in outputs
            if hasattr(output, "_array")
        )
        stack = [
            f"{frame.filename}:{frame.lineno}:{frame.name}"
            for frame in reversed(traceback.extract_stack())
            if not frame.filename.startswith((_PACKAGE, "<minigrad"))
        ]
        events.append((f"{node.name()} -> {results}", stack))

    watch_nodes(watch)
    try:
        yield
    finally:
        stop_watching(watch)


def _places(title: str, events: list[tuple[str, list[str]]]) -> Iterator[str]:
    yield f"---- {title}"
    yield ""
    for number, (operation, stack) in enumerate(events, 1):
        yield f"{operation}   ({number} of {len(events)})"
        yield from (f"    {place}" for place in stack)
        yield ""


def _side_by_side(
    first: list[tuple[str, list[str]]], again: list[tuple[str, list[str]]]
) -> Iterator[str]:
    width = max((len(operation) for operation, _ in first), default=0)
    for number in range(max(len(first), len(again))):
        left, right = (
            events[number][0] if number < len(events) else "" for events in (first, again)
        )
        yield f"{left:{width}} | {right}{'' if left == right else '   <--'}"
