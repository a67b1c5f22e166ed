"""Try the learner's unbroadcast (17.3) on shapes of every kind, and know its usual mistakes."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from minigrad.classroom.exercises import Mistake

CASES = [
    ((3,), (3,)),
    ((2, 3), (2, 3)),
    ((4, 3), (3,)),
    ((3, 3), (3,)),
    ((4, 3), (1, 3)),
    ((4, 3), (4, 1)),
    ((3, 3), (3, 1)),
    ((4, 3), ()),
    ((4, 3), (1, 1)),
    ((4, 3), (1,)),
    ((2, 4, 3), (4, 1)),
    ((2, 4, 3), (2, 1, 3)),
    ((2, 4, 3), (1, 4, 1)),
    ((2, 2, 2), (2, 1)),
    ((1, 3), (3,)),
    ((1, 3), (1, 3)),
    ((2, 1, 3), (1, 3)),
    ((2, 4, 1), (4, 1)),
    ((), ()),
]
"""A gradient's shape, and the shape that its input had."""


def inputs(rng: Random) -> list[tuple[Any, ...]]:
    """Draw a gradient for each case."""
    return [
        (np.array([rng.uniform(-2, 2) for _ in range(int(np.prod(have)))]).reshape(have), want)
        for have, want in CASES
    ]


def faulty(kind: str) -> Any:
    """Make an unbroadcast that is wrong in one way.

    Args:
        kind: "mean", "leading", "ones", "no keepdims", "all", "first", "from the left", "as it is".
    """

    def unbroadcast(gradient: Any, shape: tuple[int, ...]) -> Any:
        added = gradient.ndim - len(shape)
        leading = tuple(range(added))
        stretched = tuple(added + axis for axis, size in enumerate(shape) if size == 1)
        if kind == "mean":
            return gradient.mean(axis=leading + stretched, keepdims=True).reshape(shape)
        if kind == "leading":
            return gradient.sum(axis=leading)
        if kind == "ones":
            return gradient.sum(axis=stretched, keepdims=True)
        if kind == "no keepdims":
            return gradient.sum(axis=leading + stretched)
        if kind == "all":
            return gradient if gradient.shape == shape else np.full(shape, gradient.sum())
        if kind == "first":
            return gradient.ravel()[: int(np.prod(shape))].reshape(shape)
        if kind == "one entry":
            cut = [0] * added + [slice(0, 1) if size == 1 else slice(None) for size in shape]
            return gradient[tuple(cut)]
        return gradient

    return unbroadcast


_SUM = (
    "The gradient of an entry that was copied to several places is the sum of what comes from all "
    "of them."
)


def _only_entries(gradient: Any, result: Any) -> bool:
    return bool(np.isin(np.ravel(result), np.ravel(gradient)).all())


MISTAKES = [
    Mistake(f"You take the mean. {_SUM}", like=faulty("mean")),
    Mistake(
        "Axes that broadcasting has put in front are summed. Those that it has stretched, where "
        "the shape says 1, are not.",
        like=faulty("leading"),
    ),
    Mistake(
        "Axes that were stretched, where the shape says 1, are summed. Those that broadcasting has "
        "put in front are still there.",
        like=faulty("ones"),
    ),
    Mistake(
        "The sums are right, and axes of length 1 are gone: the result has to have the shape that "
        "was asked for. keepdims keeps an axis, and reshape brings it back.",
        like=faulty("no keepdims"),
    ),
    Mistake(
        "Everything is summed into one number. Each entry of the input collects from its own "
        "copies only.",
        like=faulty("all"),
    ),
    Mistake(f"You keep some entries and let the others go. {_SUM}", like=faulty("first")),
    Mistake(f"One copy is kept, and the others go. {_SUM}", like=faulty("one entry")),
    Mistake("It gives back what it got: nothing is summed.", like=faulty("as it is")),
    Mistake(
        "Shapes are lined up from the right, and axes are counted from the left. Where axes were "
        "put in front, axis 0 of the shape is a later one of the gradient. In a loop, an axis that "
        "was summed is gone, and those behind it have moved up: keepdims keeps it.",
        trouble=("AxisError", "out of bounds", "IndexError"),
    ),
    Mistake(
        "Shapes are lined up from the right, and axes are counted from the left. And to bring a "
        "result into a shape, it has to have as many entries: sum before you reshape.",
        trouble=("reshape",),
    ),
    Mistake(
        "A shape may be empty, (), and so may the list of axes: what comes of it then?",
        trouble=("NoneType",),
    ),
    Mistake(
        "Too much is left: not every axis that was added or stretched has been summed. There may "
        "be several in front, several of length 1, and where the shape is () all of them go.",
        when=lambda trials: any(np.size(t.result) > np.prod(t.args[1], dtype=int) for t in trials),
    ),
    Mistake(
        "The sums are right, the shape is another: axes that broadcasting has put in front are "
        "still there, with length 1. reshape(shape) drops them.",
        when=lambda trials: any(np.shape(t.result) == (1, *t.args[1]) for t in trials),
    ),
    Mistake(
        f"What comes out are entries of the gradient as they were: one copy is kept. {_SUM}",
        when=lambda trials: all(_only_entries(t.args[0], t.result) for t in trials),
    ),
    Mistake(
        f"It has the right shape and not the right sums. {_SUM} And where axes are put in front, "
        "axis k of the shape is not axis k of the gradient.",
        when=lambda trials: all(np.shape(t.result) == t.args[1] and not t.changed for t in trials),
    ),
]
