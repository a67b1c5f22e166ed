"""Check exercise 16.4: by hand, when the last message is over, for four ways to group gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad.classroom.exercises import Mistake, Numbers
from minigrad.classroom.values import leaves, same

_LAYERS, _BACKWARD, _START, _EACH = 6, 4, 7, 3
_DOWN = list(range(_LAYERS, 0, -1))
_UP = _DOWN[::-1]
_WAYS = {
    "a": [[layer] for layer in _DOWN],
    "b": [_DOWN],
    "c": [_DOWN[at : at + 2] for at in range(0, _LAYERS, 2)],
    "d": [_UP[at : at + 2] for at in range(0, _LAYERS, 2)],
}


def _ready(layer: int) -> int:
    return _BACKWARD * (_LAYERS + 1 - layer)


def over(
    way: str,
    *,
    there: Callable[[list[int]], int] = lambda layers: _ready(min(layers)),
    start: int = _START,
    each: int = _EACH,
    waits: bool = True,
) -> int:
    """Let the messages of one way go, in their order, and tell when the last one is over.

    Args:
        way: a letter.
        there: when the gradients of a message are there, of its layers.
        start: what a message takes by itself.
        each: what it takes more for each layer in it.
        waits: whether it waits for the message before it.
    """
    line, ends = 0, []
    for layers in _WAYS[way]:
        line = max(there(layers), line if waits else 0) + start + each * len(layers)
        ends.append(line)
    return max(ends)


_SLIPS: dict[str, Callable[[str], int]] = {
    "a message has a price of its own, 7 ms, however short it is.": lambda way: over(way, start=0),
    "each message pays the 7 ms, not the first one only.": lambda way: over(
        way, start=0, there=lambda _: _ready(min(_WAYS[way][0])) + _START
    ),
    "a message takes 3 ms more for each layer in it.": lambda way: over(way, each=0),
    "a message of several layers takes 3 ms for each of them.": lambda way: over(
        way, each=0, start=_START + _EACH
    ),
    "the 7 ms come once for a message, however many layers are in it.": lambda way: over(
        way, start=0, each=_START + _EACH
    ),
    "the line is busy until the message before is over. Does yours wait for it?": lambda way: over(
        way, waits=False
    ),
    "messages do not wait until backward is over, and backward does not wait for them.": (
        lambda way: over(way, there=lambda _: _ready(1))
    ),
    "a message starts when all of its gradients are there, not at the first of them.": (
        lambda way: over(way, there=lambda layers: _ready(max(layers)))
    ),
    "count from where backward begins, not from its end.": lambda way: over(way) - _ready(1),
    "backward and messages go on at the same time: do not add the one to the other.": (
        lambda way: over(way) + _ready(1)
    ),
    "at 0 ms no gradient is there yet.": lambda way: over(way, there=lambda _: 0),
    "that is when the last message starts. When is it over?": lambda way: (
        over(way) - _START - _EACH * len(_WAYS[way][-1])
    ),
    "so long takes one message. When is the last one over?": lambda way: (
        _START + _EACH * len(_WAYS[way][-1])
    ),
}
"""What to say to a number, by the wrong rule that leads to it."""


def _fits(answer: Any, *begins: float) -> bool:
    have = [each for _, each in leaves(answer)]
    pairs = zip(have, begins, strict=False)
    return len(have) == len(_WAYS) and all(same(a, b, 4) for a, b in pairs)


def _slip(way: str, says: str, value: int | None = None) -> Mistake:
    """Know a wrong number at its place, where those before it are right; without one, any."""
    right = [over(each) for each in _WAYS if each < way]
    begins = right if value is None else [*right, value]
    return Mistake(f"({way}): {says}", when=lambda answer: _fits(answer, *begins))


TIMING = Numbers(
    id="16.4",
    asks="when the last message is over: (a) one for each layer, (b) one for all, (c) in pairs "
    "from layer 6 on, (d) in pairs from layer 1 on",
    expected=lambda: tuple(map(over, _WAYS)),
    right="Compare with your sentence: (a) pays six times for a message's start, (b) leaves the "
    "line idle until backward is over, and (d) does so, too, for its first pair is there last. "
    "(c) pays three times, and begins while most of backward is still to come.",
    hints=(
        "Draw two lines of time, one below the other: on the upper one when each gradient is "
        "there, on the lower one the messages.",
        "For each message take the later of two times: its last gradient is there, the message "
        "before is over. Add 7, and 3 for each layer in it. The first one of (a) goes from 4 "
        "to 14.",
    ),
    mistakes=[
        Mistake(
            "(c) and (d) are the other way round: whose gradient is there first in backward?",
            when=lambda answer: _fits(answer, *map(over, "abdc")),
        ),
        Mistake(
            "The numbers fit, their order does not: (a), (b), (c), (d).",
            when=lambda answer: _fits(sorted(answer), *sorted(map(over, _WAYS))),
        ),
        _slip(
            "d",
            "the pair of layers 1 and 2 goes first, and the others wait for it. When are its "
            "gradients there?",
            over("c"),
        ),
        *(
            _slip(way, says, rule(way))
            for way in _WAYS
            for says, rule in _SLIPS.items()
            if rule(way) != over(way)
        ),
        *(
            _slip(way, "write for each message when it starts, and when it is over.")
            for way in reversed(_WAYS)
        ),
    ],
)
"""The exercise."""
