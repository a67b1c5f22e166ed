"""Check exercise 11.2: the central difference quotient of each entry."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import minigrad as torch
from minigrad import Tensor
from minigrad.classroom.behaviors import Function
from minigrad.classroom.exercises import Mistake
from minigrad.classroom.values import as_number, leaves

from .runs import all_zero


def cubes(x: Any) -> Any:
    """Sum the cubes of all entries, each with a weight of its own."""
    weights = torch.arange(1, x.numel() + 1, dtype=x.dtype).reshape(x.shape)
    return (weights * x**3).sum()


def product(x: Any) -> Any:
    """Multiply all entries, and square the result."""
    return x.prod() ** 2


def fields(rng: Random) -> list[tuple[Any, ...]]:
    """Draw losses, points and steps: steps so large that one-sided and central differ."""
    drawn = []
    for loss, shape in ((cubes, (3,)), (product, (2, 3)), (cubes, (2, 1, 2)), (cubes, (1,))):
        values = [rng.uniform(0.5, 1.5) for _ in range(math.prod(shape))]
        point = torch.tensor(values, dtype=torch.float64).reshape(shape)
        drawn.append((loss, point, 0.125))
    return drawn


def central_difference(f: Any, x: Any, h: float) -> Any:
    """Take the central difference quotient of each entry."""
    return _QUOTIENTS["right"](f, x, h)


def wrong_central(kind: str) -> Callable[..., Any]:
    """Give a difference quotient that is wrong in one way."""
    return _QUOTIENTS[kind]


def _quotients(
    places: Callable[[Any, Any, float], tuple[Any, Any]], span: Callable[[float], float]
) -> Callable[..., Any]:
    def central_difference(f: Callable[[Any], Any], x: Any, h: float) -> Any:
        slopes = []
        for unit in torch.eye(x.numel(), dtype=x.dtype):
            up, down = places(x, unit.reshape(x.shape), h)
            slopes.append((f(up) - f(down)) / span(h))
        return torch.stack(slopes).reshape(x.shape)

    return central_difference


def _up_to(unit: Any) -> Any:
    """Mark the entry of a unit, and all before it."""
    flat = unit.reshape(-1)
    return (1 - flat.cumsum(0) + flat).reshape(unit.shape)


def _row(unit: Any) -> Any:
    """Mark all entries in the row of a unit."""
    marked = unit.reshape(len(unit), -1).sum(1, keepdim=True)
    return marked.expand(len(unit), unit.numel() // len(unit)).reshape(unit.shape)


def _both(x: Any, unit: Any, h: float) -> tuple[Any, Any]:
    return x + h * unit, x - h * unit


def _by_engine(f: Any, x: Any, h: float) -> Any:
    leaf = x.clone().requires_grad_()
    return torch.autograd.grad(f(leaf), leaf)[0]


_QUOTIENTS: dict[str, Callable[..., Any]] = {
    "right": _quotients(_both, lambda h: 2 * h),
    "forward": _quotients(lambda x, unit, h: (x + h * unit, x), lambda h: h),
    "backward": _quotients(lambda x, unit, h: (x, x - h * unit), lambda h: h),
    "half": _quotients(lambda x, unit, h: (x + h * unit, x), lambda h: 2 * h),
    "distance": _quotients(_both, lambda h: h),
    "sign": _quotients(_both, lambda h: -2 * h),
    "precedence": _quotients(_both, lambda h: 2 / h),
    "squared": _quotients(_both, lambda h: h * h),
    "undivided": _quotients(_both, lambda h: 1),
    "half steps": _quotients(lambda x, unit, h: _both(x, unit, h / 2), lambda h: h),
    "half steps, 2h": _quotients(lambda x, unit, h: _both(x, unit, h / 2), lambda h: 2 * h),
    "two steps": _quotients(lambda x, unit, h: _both(x, unit, 2 * h), lambda h: 4 * h),
    "together": _quotients(lambda x, unit, h: (x + h, x - h), lambda h: 2 * h),
    "rows": _quotients(lambda x, unit, h: _both(x, _row(unit), h), lambda h: 2 * h),
    "pile": _quotients(lambda x, unit, h: _both(x, _up_to(unit), h), lambda h: 2 * h),
    "stays": _quotients(
        lambda x, unit, h: _both(x - h * (_up_to(unit) - unit), unit, h), lambda h: 2 * h
    ),
    "engine": _by_engine,
}


def goes_on(found: Sequence[Any]) -> bool:
    """Tell whether the second result begins with the numbers of the first."""
    first, second = ([as_number(entry) for _, entry in leaves(each.result)] for each in found[:2])
    return bool(first) and None not in first and second[: len(first)] == first


def first_only(found: Sequence[Any]) -> bool:
    """Tell whether all results have zeros behind their first entry, which is none."""
    rows = [[as_number(entry) for _, entry in leaves(each.result)] for each in found]
    return all(row and row[0] and not any(row[1:]) for row in rows) and len(rows[0]) > 1


CENTRAL = Function(
    id="11.2",
    asks="central_difference(f, x, h), which returns a tensor shaped like x with the central "
    "difference quotient of each entry",
    inputs=fields,
    reference=central_difference,
    returns=Tensor,
    without=("backward", "grad", "jacobian"),
    right="Two calls for each entry, and no rule of differentiation anywhere.",
    hints=(
        "For one entry: which tensor has h at that place and zeros elsewhere?",
        "Go through the rows of torch.eye(x.numel()), bring each into the shape of x, and take "
        "(f(x + step) - f(x - step)) / (2 * h). Stack what you get, and reshape it.",
    ),
    mistakes=[
        *(
            Mistake(
                "That is the one-sided quotient: f(x) itself has no part in a central one.",
                like=wrong_central(kind),
            )
            for kind in ("forward", "backward")
        ),
        Mistake(
            "The second place is x itself, and you divide as if it lay on the other side. "
            "Step back by h from x, too.",
            like=wrong_central("half"),
        ),
        Mistake(
            "From x - h to x + h it is twice as far as h: what do you divide by?",
            like=wrong_central("distance"),
        ),
        Mistake("The sign is turned: f(x + h) comes first.", like=wrong_central("sign")),
        Mistake(
            "Python works from left to right: / 2 * h divides by 2 and multiplies by h. Put "
            "the denominator in brackets.",
            like=wrong_central("precedence"),
        ),
        Mistake(
            "You divide by the square of the step. A slope is a difference by a distance.",
            like=wrong_central("squared"),
        ),
        Mistake(
            "That is the difference. A quotient is asked for: divide by the distance.",
            like=wrong_central("undivided"),
        ),
        *(
            Mistake(
                "h is the step to each side. You went another distance.",
                like=wrong_central(kind),
            )
            for kind in ("half steps", "half steps, 2h", "two steps")
        ),
        Mistake(
            "That comes close to the slopes themselves. Asked for is the quotient with the "
            "step h that is given, however large it is.",
            like=wrong_central("engine"),
        ),
        Mistake(
            "You moved all entries at once, and the change is that of all together. One entry "
            "at a time.",
            like=wrong_central("together"),
        ),
        Mistake(
            "x[i] of a matrix is a row, and you moved all of it. One entry at a time, whatever "
            "the shape.",
            like=wrong_central("rows"),
        ),
        *(
            Mistake(
                "Entries that have had their turn are still moved when the next one comes. All "
                "others have to stay: begin with a fresh copy for each entry.",
                like=wrong_central(kind),
            )
            for kind in ("pile", "stays")
        ),
        Mistake(
            "x is another now, and later entries were measured from there. Move a copy, or "
            "put back exactly what was there.",
            when=lambda found: any(each.changed for each in found),
        ),
        Mistake(
            "All quotients are zero. Are the two places two tensors, or two names of one?",
            when=all_zero,
        ),
        Mistake(
            "Only the first entry has a quotient. Does the return stand inside of the loop?",
            when=first_only,
        ),
        Mistake(
            "The second result begins with the numbers of the first: what is kept from call to "
            "call? A list as a default value is made only once.",
            when=goes_on,
        ),
        Mistake(
            "One number came back. The loss has a slope for each entry of x.",
            when=lambda found: getattr(found[0].result, "shape", None) == (),
        ),
        Mistake(
            "The numbers are right, in one long row. Give them the shape of x.",
            like=lambda f, x, h: central_difference(f, x, h).reshape(-1),
        ),
        Mistake(
            "x comes in any shape here: a row, a matrix, or more. Go through all of its "
            "entries whatever the shape is.",
            trouble=("index out of range", "values to unpack", "too many indices"),
        ),
    ],
)
