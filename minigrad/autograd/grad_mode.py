"""Switch the recording of operations: `no_grad`, `enable_grad`, `inference_mode` and the others."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Generator
from typing import Any, ClassVar, Self, TypeVar

from minigrad.autograd import messages
from minigrad.autograd.blocks import Block
from minigrad.core.node import Attention, Watcher, grad_mode, is_grad_enabled
from minigrad.core.plugs import attach
from minigrad.core.tensor import INFERENCE, InferenceCounter, Tensor

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]

F = TypeVar("F", bound=Callable[..., Any])


# For each set of those who may watch new nodes what `grad_mode.attention` is then: it is looked up
# by a number with a bit for each of them, as a block may call nothing when it ends.
attentions: list[Any] = [None]


def watcher_bit(watcher: Watcher) -> int:
    """Let `watcher(node, outputs)` be called with new nodes while this bit is set."""
    bit = len(attentions)
    others = [attention.watchers if attention else () for attention in attentions]
    attentions.extend(Attention((*each, watcher), bit | n) for n, each in enumerate(others))
    return bit


def watch_nodes(bit: int, watch: bool = True, block: Block | None = None) -> None:
    """Let the watcher of this bit see each node that this thread records, or not any more.

    For a block it is the first that it sets.
    """
    if block is not None:
        block._hold()
    attention = grad_mode.attention
    others = 0 if attention is None else attention.bits & ~bit
    grad_mode.attention = attentions[others | bit if watch else others]
    if grad_mode.enabled:
        grad_mode.enabled = grad_mode.attention or True


class DecoratingMode(Block):
    """A mode as a context manager and as a decorator of functions and generators."""

    def clone(self) -> Self:
        """Give a fresh context of the same kind: a decorated function may call itself."""
        return type(self)()

    def _fresh(self) -> DecoratingMode:
        """Give the context of one call."""
        return self.clone()

    def __enter__(self) -> None:
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
            with self._fresh():
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
                    with self._fresh():
                        value = resume()
                except StopIteration as finished:
                    return finished.value
                try:
                    received = yield value
                except GeneratorExit:
                    with self._fresh():
                        body.close()
                    raise
                except BaseException as error:
                    resume = functools.partial(body.throw, error)
                else:
                    resume = functools.partial(body.send, received)

        return generator_context


class _Recording(DecoratingMode):
    """A mode that switches recording on or off."""

    _begun: ClassVar[bool] = False  # when it is made, rather than when it is entered
    wanted: bool

    def __enter__(self) -> None:
        enabled = grad_mode.enabled
        if not self._begun:
            self.prev = grad_mode.asked if enabled is None else bool(enabled)
        self._hold()
        if enabled is None:
            grad_mode.asked = self.wanted
        else:
            grad_mode.enabled = self.wanted and (grad_mode.attention or True)

    def _until_left(self) -> Generator[None]:
        try:
            yield
        finally:
            if grad_mode.enabled is None:
                grad_mode.asked = self.prev
            else:
                grad_mode.enabled = self.prev and (grad_mode.attention or True)


class _GradSwitch(_Recording):
    """A switch that may stand bare, `@no_grad`, as a decorator."""

    def __new__(cls, orig_func: Callable[..., Any] | None = None) -> Any:
        """Make the mode, or decorate a function at once."""
        return super().__new__(cls) if orig_func is None else cls()(orig_func)


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

    _begun = True

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise messages.wrong_type("set_grad_enabled", "enabled", "bool", mode, 1)
        self.prev = is_grad_enabled()
        self.mode = self.wanted = mode
        grad_mode.set(mode)

    def clone(self) -> Self:
        """Give a fresh context that wants the same."""
        return type(self)(self.mode)

    def _fresh(self) -> DecoratingMode:  # one that begins when it is entered
        return enable_grad() if self.mode else no_grad()

    def __call__(self, orig_func: F) -> F:
        """Decorate a function, and undo the change that creating this object made."""
        grad_mode.set(self.prev)
        return super().__call__(orig_func)

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"


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

    def __new__(cls, mode: bool | Callable[..., Any] = True) -> Any:
        """Make the mode, or decorate a function at once."""
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode
        self._before: Any = None  # what to return to: modes, and what came before those

    def clone(self) -> Self:
        """Give a fresh context that wants the same."""
        return type(self)(self.mode)

    def __enter__(self) -> None:
        before = is_inference_mode_enabled(), is_grad_enabled(), self._before
        self._hold()
        self._before = before
        if self.mode:
            grad_mode.enabled, grad_mode.asked = None, False
        else:
            grad_mode.enabled = grad_mode.attention or True

    def _until_left(self) -> Generator[None]:
        try:
            yield
        finally:
            if self._before is None:
                raise AttributeError("this inference_mode() was not entered: it cannot be left")
            inference, recording, self._before = self._before
            if inference:
                grad_mode.enabled, grad_mode.asked = None, recording
            else:
                grad_mode.enabled = recording and (grad_mode.attention or True)


class _Threads(threading.local):
    enabled: bool = True  # changes nothing


_threads = _Threads()


class set_multithreading_enabled(DecoratingMode):
    """Take PyTorch's switch for backward in several threads: here a pass runs in the one it is in.

    Args:
        mode: What `is_multithreading_enabled` answers, at once and until the end of the block if
            used with `with`.

    Example:
        >>> import minigrad as torch
        >>> with torch.autograd.set_multithreading_enabled(False):
        ...     torch.autograd.is_multithreading_enabled()
        False
    """

    def __init__(self, mode: bool) -> None:
        self.prev, self.mode = is_multithreading_enabled(), mode
        _threads.enabled = mode

    def clone(self) -> Self:
        """Give a fresh context that wants the same."""
        return type(self)(self.mode)

    def __enter__(self) -> None:
        self._hold()

    def _until_left(self) -> Generator[None]:
        try:
            yield
        finally:
            _threads.enabled = self.prev


def is_multithreading_enabled() -> bool:
    """Tell what `set_multithreading_enabled` has set; True at first."""
    return _threads.enabled


def is_inference_mode_enabled() -> bool:
    """Tell whether this thread is in inference mode at this moment.

    Example:
        >>> is_inference_mode_enabled()
        False
        >>> with inference_mode():
        ...     is_inference_mode_enabled()
        True
    """
    return grad_mode.enabled is None


def is_inference(input: Tensor) -> bool:
    """Tell whether a tensor was made in inference mode.

    Raises:
        TypeError: If it is no tensor.

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


@attach(InferenceCounter)
class NothingCounts(InferenceCounter):
    """What an inference tensor answers when it is to be changed, saved, or viewed."""

    __slots__ = ()

    def count(self) -> None:
        """Refuse a change outside of inference mode."""
        if grad_mode.enabled is not None:
            raise messages.inference_tensor_changed()

    @property
    def value(self) -> int:
        """Refuse: there is no version, so nobody could notice a change."""
        raise messages.saved_inference_tensor()

    @value.setter
    def value(self, value: int) -> None: ...

    # Views need not be found again, as no graph can become wrong.
    views: Any = property(lambda self: None, lambda self, views: None)
