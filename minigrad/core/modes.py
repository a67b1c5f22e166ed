"""What operations look at before they record themselves: the modes of this thread.

`minigrad.autograd.grad_mode` has the switches: `no_grad`, `enable_grad`, `set_grad_enabled`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class _GradMode(threading.local):
    """What operations look at before they record; each thread has its own.

    Attributes:
        enabled: True to record and False not to; None in inference mode. Truthy but not True is
            an `Attention`: record, and show it each new node.
        attention: None, or who wants to see each new node (saved-tensor hooks, anomaly mode).
        asked: In inference mode, whether recording was asked for nevertheless.
        task: The backward pass that runs in this thread, if one does.
        levels_left: How many more passes may nest in this thread before a new one takes over.
        saved_hooks: The pairs of saved-tensor hooks in force, the innermost last.
        hooks_forbidden: Why no such hooks may be entered; None if they may.
        recorder: None, or what writes down what the passes of this thread do.
    """

    def __init__(self) -> None:  # called in each thread that asks
        self.enabled: Any = True
        self.attention: Any = None
        self.asked = False
        self.task: Any = None
        self.levels_left = 16
        self.saved_hooks: tuple[Any, ...] = ()
        self.hooks_forbidden: str | None = None
        self.recorder: Any = None

    def set(self, recording: bool) -> None:
        """Record from now on, or do not."""
        if self.enabled is None:
            self.asked = recording
        else:
            self.enabled = recording and (self.attention or True)

    def set_inference(self, inference: bool, recording: bool) -> None:
        """Be in inference mode from now on, or not; and record, or do not."""
        self.enabled = None if inference else False
        self.set(recording)


grad_mode = _GradMode()

# Called with each new node and the tensors that are its outputs.
Watcher = Callable[..., None]


class Attention:
    """Shows each new node to those who watch; in the place of True in `grad_mode.enabled`."""

    __slots__ = ("watchers",)

    def __init__(self, watchers: tuple[Watcher, ...]) -> None:
        self.watchers = watchers

    def attend(self, node: Any, *outputs: Any) -> None:
        """Show a node that was just recorded."""
        for watcher in self.watchers:
            watcher(node, outputs)


def watch_nodes(watcher: Watcher) -> None:
    """Let `watcher(node, outputs)` be called with each node that this thread records."""
    attention = grad_mode.attention
    _set_watchers((*(attention.watchers if attention else ()), watcher))


def stop_watching(watcher: Watcher) -> None:
    """Do not call the watcher any more."""
    attention = grad_mode.attention
    _set_watchers(tuple(w for w in (attention.watchers if attention else ()) if w is not watcher))


def _set_watchers(watchers: tuple[Watcher, ...]) -> None:
    grad_mode.attention = Attention(watchers) if watchers else None
    if grad_mode.enabled:
        grad_mode.enabled = grad_mode.attention or True


def attend(node: Any, *outputs: Any) -> None:
    """Show a new node to those who watch; for nodes that are recorded by hand."""
    if grad_mode.attention is not None and grad_mode.enabled:
        grad_mode.attention.attend(node, *outputs)


def is_grad_enabled() -> bool:
    """Tell whether operations are recorded in this thread at this moment.

    Example:
        >>> is_grad_enabled()
        True
    """
    enabled = grad_mode.enabled
    return grad_mode.asked if enabled is None else bool(enabled)
