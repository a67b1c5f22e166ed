"""Switch the recording of operations off and on: `no_grad`, `enable_grad`, `set_grad_enabled`."""

from __future__ import annotations

import functools
import inspect
import threading
import warnings
from collections.abc import Callable
from typing import Any, Self, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


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

    enabled: Any
    attention: Any
    asked: bool
    task: Any
    levels_left: int
    saved_hooks: tuple[Any, ...]
    hooks_forbidden: str | None
    recorder: Any

    def __init__(self) -> None:  # called in each thread that asks
        self.enabled = True
        self.attention = None
        self.asked = False
        self.task = None
        self.levels_left = 16
        self.saved_hooks = ()
        self.hooks_forbidden = None
        self.recorder = None

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
        >>> with no_grad():
        ...     is_grad_enabled()
        False
    """
    enabled = grad_mode.enabled
    return grad_mode.asked if enabled is None else bool(enabled)


class DecoratingMode:
    """A mode as a context manager and as a decorator of functions and generators."""

    def clone(self) -> Self:
        """Give a fresh context of the same kind: a decorated function may call itself."""
        return type(self)()

    def __enter__(self) -> None:
        raise NotImplementedError

    def __exit__(self, *exception: object) -> None:
        raise NotImplementedError

    def __call__(self, orig_func: F) -> F:
        """Decorate a function, a generator function or (with a warning) a class.

        Of a coroutine or an asynchronous generator only the making happens in the mode, as in
        PyTorch, not what it does when it is awaited. Use `with` inside of it.

        Args:
            orig_func: What is to be called in the mode. A class becomes a function that makes
                objects of it.
        """
        function: Callable[..., Any] = orig_func
        if inspect.isclass(orig_func):
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. "
                "You should only decorate functions or methods. To preserve the current "
                "behavior of class decoration, you can directly decorate the `__init__` method "
                "and nothing else.",
                FutureWarning,
                stacklevel=2,
            )
            function = lambda *args, **kwargs: orig_func(*args, **kwargs)  # noqa: E731 - its name
        if inspect.isgeneratorfunction(function):
            return self._decorate_generator(function)  # type: ignore[return-value]

        @functools.wraps(function)
        def decorate_context(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return decorate_context  # type: ignore[return-value]

    def _decorate_generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Hold the mode while the generator's body runs, not between its values."""

        @functools.wraps(function)
        def generator_context(*args: Any, **kwargs: Any) -> Any:
            body = function(*args, **kwargs)
            resume: Callable[[], Any] = functools.partial(body.send, None)
            while True:
                try:
                    with self.clone():
                        value = resume()
                except StopIteration as finished:
                    return finished.value
                try:
                    received = yield value
                except GeneratorExit:
                    with self.clone():
                        body.close()
                    raise
                except BaseException as error:
                    resume = functools.partial(body.throw, error)
                else:
                    resume = functools.partial(body.send, received)

        return generator_context


class _GradSwitch(DecoratingMode):
    """A mode that switches recording on or off; it may stand bare, `@no_grad`, as a decorator."""

    wanted: bool

    def __new__(cls, orig_func: Callable[..., Any] | None = None) -> Any:
        """Make the mode, or decorate a function at once."""
        return super().__new__(cls) if orig_func is None else cls()(orig_func)

    def __enter__(self) -> None:
        self.prev = is_grad_enabled()
        grad_mode.set(self.wanted)

    def __exit__(self, *exception: object) -> None:
        grad_mode.set(self.prev)


class no_grad(_GradSwitch):
    """Do not record what runs inside: results have `requires_grad=False`.

    A context manager and a decorator (`@no_grad()` or bare `@no_grad`).

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([1.0], requires_grad=True)
        >>> with torch.no_grad():
        ...     (x * 2).requires_grad
        False
        >>> @torch.no_grad()
        ... def double(x):
        ...     return x * 2
        >>> double(x).requires_grad
        False
    """

    wanted = False

    def __init__(self) -> None:
        self.prev = False


class enable_grad(_GradSwitch):
    """Record what runs inside, also within a `no_grad` block.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([1.0], requires_grad=True)
        >>> with torch.no_grad(), torch.enable_grad():
        ...     (x * 2).requires_grad
        True
    """

    wanted = True


class set_grad_enabled(DecoratingMode):
    """Switch recording on or off, at once, and until the end of the block if used with `with`.

    Args:
        mode: True to record operations, False not to.

    Raises:
        TypeError: If `mode` is no bool.

    Example:
        >>> switch = set_grad_enabled(False)
        >>> is_grad_enabled()
        False
        >>> _ = set_grad_enabled(True)
    """

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(
                "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not "
                f"{type(mode).__name__}"
            )
        self.prev = is_grad_enabled()
        self.mode = mode
        grad_mode.set(mode)

    def clone(self) -> Self:
        """Give a fresh context that wants the same."""
        return type(self)(self.mode)

    def __enter__(self) -> None:
        """Hold the mode that was set upon creation; `__exit__` restores the one before."""
        grad_mode.set(self.mode)

    def __exit__(self, *exception: object) -> None:
        grad_mode.set(self.prev)

    def __call__(self, orig_func: F) -> F:
        """Decorate a function, and undo the change that creating this object made."""
        grad_mode.set(self.prev)
        return super().__call__(orig_func)

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"
