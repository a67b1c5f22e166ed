"""Switch the recording of operations: `no_grad`, `enable_grad`, `inference_mode` and the others."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Self, TypeVar

from minigrad.autograd import messages
from minigrad.core import extensions
from minigrad.core.modes import Observer, is_grad_enabled, modes, observed
from minigrad.core.tensor import Tensor, VersionCounter

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]

F = TypeVar("F", bound=Callable[..., Any])


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
    def value(self) -> int:  # type: ignore[override]
        """Refuse: there is no version, so nobody could notice a change."""
        raise extensions.messages.saved_inference_tensor()


INFERENCE: VersionCounter = object.__new__(InferenceCounter)


# Who is shown new nodes: what tells whether somebody wants to be, and the observer.
OBSERVERS: list[tuple[Callable[[], Any], Observer]] = []


def choose_observers() -> None:
    """Let new nodes be shown from here on, in this thread, to those who want that now."""
    modes.observers = tuple([observer for wants, observer in OBSERVERS if wants()])
    observed[:] = observed or modes.observers[:1]


class DecoratingMode:
    """A mode as a context manager and as a decorator of functions and generators."""

    def __new__(cls, *given: Any, **named: Any) -> Self:
        """Make the mode, or decorate a function at once: `@no_grad`."""
        if given and callable(given[0]):
            return cls()(given[0])
        return super().__new__(cls)

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
            messages.warn(
                "Decorating classes is deprecated and will be disabled in future versions. "
                "You should only decorate functions or methods. To preserve the current "
                "behavior of class decoration, you can directly decorate the `__init__` method "
                "and nothing else.",
                FutureWarning,
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


class _Recording(DecoratingMode):
    """A mode that switches recording on or off."""

    value: bool

    def __enter__(self) -> None:
        self.prev = modes.asked
        modes.set_recording(self.value)

    def __exit__(self, *exception: object) -> None:
        modes.set_recording(self.prev)


class no_grad(_Recording):
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

    value = prev = False


class enable_grad(_Recording):
    """Record what runs inside, also within a `no_grad` block.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([1.0], requires_grad=True)
        >>> with torch.no_grad(), torch.enable_grad():
        ...     (x * 2).requires_grad
        True
    """

    value = True


class set_grad_enabled(_Recording):
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
            raise messages.wrong_type("set_grad_enabled", "enabled", "bool", mode, 1)
        self.prev = is_grad_enabled()
        self.mode = self.value = mode
        modes.set_recording(mode)

    def __enter__(self) -> None:
        """Switch, if a block before this one has switched back; what was before is known."""
        modes.set_recording(self.value)

    def clone(self) -> Self:
        """Give a fresh context that wants the same."""
        return type(self)(self.mode)

    def __call__(self, orig_func: F) -> F:
        """Decorate a function, and undo the change that creating this object made."""
        modes.set_recording(self.prev)
        return super().__call__(orig_func)


class inference_mode(DecoratingMode):
    """Record nothing inside, and let the tensors that are made inside never be part of a graph.

    It is `no_grad` made strict. A result is an inference tensor: it counts no versions and knows
    of no views. So nobody could notice if it was changed, and later, outside, it can't be saved
    for backward or changed in place. A `clone()` of it, made outside, is a normal tensor.

    A view of a normal tensor is a normal tensor here, too; but outside neither it nor its base
    may be changed in place in a way that would have to be recorded.

    A context manager and a decorator (`@inference_mode()` or bare `@inference_mode`).

    Args:
        mode: False to leave inference mode for a while, and record.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([1.0], requires_grad=True)
        >>> with torch.inference_mode():
        ...     y = x * 2
        >>> y.requires_grad, y.is_inference()
        (False, True)
        >>> (x + y).requires_grad
        True
        >>> x * y
        Traceback (most recent call last):
        RuntimeError: Inference tensors cannot be saved for backward. Please do not use Tensors \
created in inference mode in computation tracked by autograd. To work around this, you can make a \
clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` instead of \
`torch.inference_mode()`.
        >>> (x * y.clone()).requires_grad
        True
    """

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode
        self._before: Any = None  # what to return to: modes, and what came before those

    def clone(self) -> Self:
        """Give a fresh context that wants the same."""
        return type(self)(self.mode)

    def __enter__(self) -> None:
        self._before = modes.inference, modes.asked, self._before
        modes.inference = INFERENCE if self.mode else None
        modes.asked = modes.recording = not self.mode

    def __exit__(self, *exception: object) -> None:
        modes.inference, asked, self._before = self._before
        modes.set_recording(asked)


def is_inference_mode_enabled() -> bool:
    """Tell whether this thread is in inference mode at this moment.

    Example:
        >>> is_inference_mode_enabled()
        False
        >>> with inference_mode():
        ...     is_inference_mode_enabled()
        True
    """
    return modes.inference is not None


def is_inference(input: Tensor) -> bool:
    """Tell whether a tensor was made in inference mode.

    Raises:
        TypeError: If it isn't a tensor.

    Example:
        >>> import minigrad as torch
        >>> with torch.inference_mode():
        ...     y = torch.ones(2)
        >>> is_inference(y), is_inference(y.clone())
        (True, False)
    """
    if not hasattr(input, "_version_counter"):
        raise messages.wrong_type("is_inference", "input", "Tensor", input, 1)
    return input._version_counter is INFERENCE
