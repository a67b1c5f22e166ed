"""What operations look at before they record themselves; each thread has its own.

`minigrad.autograd.grad_mode` has the switches: `no_grad`, `enable_grad`, `set_grad_enabled`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

# Called with each new node and the tuple of the tensors that are its outputs.
Observer = Callable[[Any, tuple[Any, ...]], None]


class Modes(threading.local):
    """The modes of a thread.

    Attributes:
        recording: Whether operations record themselves.
        inference: None, or the version counter of results that never become part of a graph.
        asked: What `is_grad_enabled()` answers; differs from `recording` in inference mode only.
        observers: Who wants to see each new node (saved-tensor hooks, anomaly mode).
        in_rule: Whether a backward rule is being recorded.
        task: The backward pass that runs in this thread, if one does.
        levels_left: How many more passes may nest in this thread before a new one takes over.
        saved_hooks: The pairs of saved-tensor hooks in force, the innermost last.
        hooks_forbidden: Why no such hooks may be entered; None if they may.
        recorder: None, or what writes down what the passes of this thread do.
        at_once: None, or, while a batch is computed at once, what refuses to be done so.
    """

    recording: bool = True
    inference: Any = None
    asked: bool = True
    observers: tuple[Observer, ...] = ()
    in_rule: bool = False
    task: Any = None
    levels_left: int = 16
    saved_hooks: tuple[Any, ...] = ()
    hooks_forbidden: str | None = None
    recorder: Any = None
    at_once: Callable[[], None] | None = None

    def set_recording(self, recording: bool) -> None:
        """Record from now on, or do not; in inference mode nothing is recorded anyway."""
        self.asked = recording
        self.recording = recording and self.inference is None


modes = Modes()
observed: list[Observer] = []  # stays empty until a thread first has an observer


def notify(node: Any, *outputs: Any) -> None:
    """Show a node that was just recorded to those who observe."""
    for observer in modes.observers:
        observer(node, outputs)


def is_grad_enabled() -> bool:
    """Tell whether operations are recorded in this thread at this moment.

    Example:
        >>> is_grad_enabled()
        True
    """
    return modes.asked
