"""Make a failing program short: drop and simplify statements as long as it still fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")


def shrink(
    statements: Sequence[T],
    fails: Callable[[list[T]], bool],
    simpler: Callable[[T], Iterable[T]] = lambda statement: (),
    tries: int = 2000,
) -> list[T]:
    """Give a short list of statements that still fails.

    Large parts are dropped first, then smaller ones, then single statements; then each statement
    is replaced by simpler ones. This repeats until nothing helps any more.

    Args:
        statements: A list that fails.
        fails: Tells whether a list still fails. It must not depend on earlier calls.
        simpler: Gives replacements for one statement, the simplest first.
        tries: How many lists are tried at most.

    Returns:
        A list that fails, and of which no single statement can be left out (unless the tries
        ran out).
    """
    short = list(statements)
    left = tries

    def still(candidate: list[T]) -> bool:
        nonlocal left
        left -= 1
        return left >= 0 and fails(candidate)

    while left > 0:
        before = list(short)
        size = len(short) // 2
        while size:
            end = len(short)
            while end > 0:  # from the back: later statements are needed by fewer others
                candidate = short[: max(end - size, 0)] + short[end:]
                if still(candidate):
                    short = candidate
                end -= size
            size //= 2
        for place in range(len(short)):
            for replacement in simpler(short[place]):
                candidate = [*short[:place], replacement, *short[place + 1 :]]
                if still(candidate):
                    short = candidate
                    break
        if short == before:
            break
    return short
