"""Let a mode hold for a `with` block and end with it, wherever in the block Ctrl-C comes.

Python looks whether somebody pressed Ctrl-C when a function begins, after it has called one written
in C, and when a loop begins anew. So an `__exit__` written in Python may be interrupted before its
first line, and the mode would stay on. Here the end of a `with` block is written in C: it is that
of a file, which calls `close()`, and that is the `close` of a generator, which runs what stands in
its `finally`. As long as nothing is called there, nothing comes in between.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Generator
from contextlib import ContextDecorator
from copy import copy
from typing import Any, Self


class _End(io.IOBase):
    """What a `with` statement calls at its end."""

    closed: Any = True  # there is nothing to close when it goes away
    block: Any

    def close(self) -> None:
        """Leave a block that was entered before this was asked for."""
        _leave(self.block)


class _Exit:
    """The `__exit__` of blocks. A `with` statement asks for it before it calls `__enter__`."""

    def __get__(self, block: Any, kind: type | None = None) -> Callable[..., None]:
        if block is None:
            return _leave
        end = block._end = _End()
        end.block = block  # unless a block is entered in between
        return end.__exit__


def _leave(block: Any, *exception: object) -> None:
    """Leave a block that was entered without a `with` statement."""
    block._end = None
    ending = block._until_left()
    next(ending)
    ending.close()


class Block:
    """A mode for a `with` block: `__enter__` calls `_hold()`, then sets it and calls nothing."""

    _end: Any = None
    __exit__ = _Exit()

    def _hold(self) -> None:
        """Let the mode end with the block."""
        end = self._end
        if end is not None:  # of a `with` statement
            self._end = None
            ending = self._until_left()
            for _ in ending:  # begins it as `next` does, but is no call
                break
            end.close = ending.close

    def _until_left(self) -> Generator[None]:
        """Yield, and end the mode in a `finally` that calls nothing."""
        raise NotImplementedError


class DecoratingBlock(Block, ContextDecorator):
    """A block that may also surround each call of a function."""

    def _recreate_cm(self) -> Self:  # as `contextlib` calls it
        return copy(self)
