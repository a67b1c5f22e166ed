"""Switch the recording of operations off and on: `no_grad`, `enable_grad`, `set_grad_enabled`."""

from __future__ import annotations

import functools
import inspect
import threading
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


class _GradMode(threading.local):
    """Whether operations are recorded; each thread has its own answer."""

    enabled: bool = True


grad_mode = _GradMode()


def is_grad_enabled() -> bool:
    """Tell whether operations are recorded in this thread at this moment.

    Example:
        >>> is_grad_enabled()
        True
        >>> with no_grad():
        ...     is_grad_enabled()
        False
    """
    return grad_mode.enabled


class _Mode:
    """A grad mode as a context manager and as a decorator of functions and generators."""

    wanted: bool
    previous: bool

    def clone(self) -> _Mode:
        """Give a fresh context of the same kind: a decorated function may call itself."""
        return type(self)()

    def __enter__(self) -> None:
        self.previous = grad_mode.enabled
        grad_mode.enabled = self.wanted

    def __exit__(self, *exception: object) -> None:
        grad_mode.enabled = self.previous

    def __call__(self, function: F) -> F:
        """Decorate a function, a generator function or (with a warning) a class."""
        if inspect.isclass(function):
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. "
                "You should only decorate functions or methods. To preserve the current "
                "behavior of class decoration, you can directly decorate the `__init__` method "
                "and nothing else.",
                FutureWarning,
                stacklevel=2,
            )
            setattr(function, "__init__", self(function.__init__))  # noqa: B010
            return function
        if inspect.isgeneratorfunction(function):
            return self._decorate_generator(function)

        @functools.wraps(function)
        def under_the_mode(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return under_the_mode  # type: ignore[return-value]

    def _decorate_generator(self, function: F) -> F:
        """Hold the mode while the generator's body runs, not between its values."""

        @functools.wraps(function)
        def generator(*args: Any, **kwargs: Any) -> Any:
            body = function(*args, **kwargs)
            send: Callable[[], Any] = functools.partial(body.send, None)
            while True:
                try:
                    with self.clone():
                        value = send()
                except StopIteration as finished:
                    return finished.value
                try:
                    received = yield value
                except GeneratorExit:
                    with self.clone():
                        body.close()
                    raise
                except BaseException as error:
                    send = functools.partial(body.throw, error)
                else:
                    send = functools.partial(body.send, received)

        return generator  # type: ignore[return-value]


def _or_decorator(mode: type[_Mode], function: F | None) -> Any:
    """Let `@no_grad` stand bare as well as `@no_grad()`."""
    instance = object.__new__(mode)
    return instance if function is None else instance(function)


class no_grad(_Mode):
    """Do not record what runs inside: results have `requires_grad=False`.

    A context manager and a decorator (`@no_grad()` or bare `@no_grad`).

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([1.0], requires_grad=True)
        >>> with torch.no_grad():
        ...     (x * 2).requires_grad
        False
    """

    wanted = False

    def __new__(cls, function: F | None = None) -> Any:  # noqa: D102
        return _or_decorator(cls, function)


class enable_grad(_Mode):
    """Record what runs inside, also within a `no_grad` block.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([1.0], requires_grad=True)
        >>> with torch.no_grad(), torch.enable_grad():
        ...     (x * 2).requires_grad
        True
    """

    wanted = True

    def __new__(cls, function: F | None = None) -> Any:  # noqa: D102
        return _or_decorator(cls, function)


class set_grad_enabled(_Mode):
    """Switch recording on or off, at once, and until the end of the block if used with `with`.

    Args:
        mode: True to record operations, False not to.

    Example:
        >>> switch = set_grad_enabled(False)
        >>> is_grad_enabled()
        False
        >>> _ = set_grad_enabled(True)
    """

    def __init__(self, mode: bool) -> None:
        self.previous = grad_mode.enabled
        self.wanted = mode
        grad_mode.enabled = mode

    def clone(self) -> _Mode:
        """Give a fresh context that wants the same."""
        return set_grad_enabled(self.wanted)

    def __enter__(self) -> None:
        """Hold the mode that was set upon creation; `__exit__` restores the one before."""
        grad_mode.enabled = self.wanted

    def __call__(self, function: F) -> F:
        """Decorate a function, and undo the change that creating this object made."""
        grad_mode.enabled = self.previous
        return super().__call__(function)
