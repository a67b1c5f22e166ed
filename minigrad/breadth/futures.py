"""Promise a value that another thread, or a later line, will give, as `torch.futures` does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent import futures
from threading import Lock
from typing import Any, Generic, NoReturn, TypeVar

T = TypeVar("T")
S = TypeVar("S")

__all__ = ["Future", "collect_all", "wait_all"]


class Future(Generic[T]):
    """A value that is not there yet, and what is to be done with it when it is.

    Args:
        devices: Nothing, or an empty list: values live on the CPU.

    Example:
        >>> import minigrad as torch
        >>> promise = torch.futures.Future()
        >>> double = promise.then(lambda done: done.value() * 2)
        >>> double.done()
        False
        >>> promise.set_result(21)
        >>> double.wait()
        42
    """

    def __init__(self, *, devices: Sequence[Any] | None = None) -> None:
        for place in devices or ():
            raise ValueError(f"Expected devices to have indices, got {place}: all is on the CPU.")
        self._promise: futures.Future[T] = futures.Future()

    def done(self) -> bool:
        """Say whether there is a value or an exception."""
        return self._promise.done()

    def wait(self) -> T:
        """Give the value when it is there, or raise the exception that came in its place."""
        return self._promise.result()

    def value(self) -> T:
        """Give the value that is there, or raise the exception that came in its place.

        Raises:
            RuntimeError: If neither has come; `wait` would wait for it.
        """
        if not self.done():
            raise RuntimeError("This Future is not completed: ask wait() for its value.")
        return self._promise.result()

    def then(self, callback: Callable[[Future[T]], S]) -> Future[S]:
        """Call a function with this future when it is completed.

        Returns:
            A future of what the function returns, or of the exception that it raises.
        """
        after: Future[S] = Future()

        def follow(done: Future[T]) -> None:
            try:
                after.set_result(callback(done))
            except Exception as error:
                kind = type(error).__name__
                said = f"Got the following error when running the callback: {kind}: {error}"
                after.set_exception(RuntimeError(said))

        self.add_done_callback(follow if callable(callback) else callback)
        return after

    def add_done_callback(self, callback: Callable[[Future[T]], None]) -> None:
        """Call a function with this future when it is completed; an error in it is logged.

        Raises:
            TypeError: If this is not a function.
        """
        if not callable(callback):
            raise TypeError(f"expected a function of the future, not {type(callback).__name__}")
        self._promise.add_done_callback(lambda promise: callback(self))

    def set_result(self, result: T) -> None:
        """Complete the future with a value, and call what waits for it in this thread.

        Raises:
            RuntimeError: If it is completed already.
        """
        self._complete(self._promise.set_result, result)

    def set_exception(self, result: Any) -> None:
        """Complete the future with an exception, which is raised where the value is asked for.

        Raises:
            AssertionError: If this is not an exception.
            RuntimeError: If the future is completed already.
        """
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._complete(self._promise.set_exception, result)

    def _complete(self, mark: Callable[[Any], None], result: Any) -> None:
        try:
            mark(result)
        except futures.InvalidStateError:
            raise RuntimeError(
                "Attempting to mark a completed Future as complete again. Note that a Future can "
                "only be marked completed once."
            ) from None

    def __reduce__(self) -> NoReturn:
        raise RuntimeError("Can not pickle torch.futures.Future")


def collect_all(futures: Sequence[Future[Any]]) -> Future[list[Future[Any]]]:
    """Make one future of several: its value is a list of them, when all are completed.

    If any of them got an exception, that of the first of these is raised instead.

    Raises:
        TypeError: If this is not a sequence of futures.
    """
    if not isinstance(futures, Sequence) or not all(isinstance(one, Future) for one in futures):
        raise TypeError(f"collect_all(): expected a sequence of futures, not {futures!r}")
    together: Future[list[Future[Any]]] = Future()
    left, lock = len(futures), Lock()

    def complete() -> None:
        for future in futures:
            broken = future._promise.exception()
            if broken is not None:
                return together.set_exception(broken)
        return together.set_result([*futures])

    def count(done: Future[Any]) -> None:
        nonlocal left
        with lock:
            left -= 1
            last = left == 0
        if last:
            complete()

    for future in futures:
        future.add_done_callback(count)
    if not futures:
        complete()
    return together


def wait_all(futures: Sequence[Future[T]]) -> list[T]:
    """Wait for several futures, and give their values; the first exception is raised."""
    return [future.value() for future in collect_all(futures).wait()]
