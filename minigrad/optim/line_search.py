"""Find how far to go along a direction: far enough, but not too far."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Place(NamedTuple):
    """What is known of one size of step: the loss there, its gradient and its slope."""

    size: Any
    loss: Any
    gradient: Any
    slope: Any


def strong_wolfe(
    measure: Callable[[Any, Any], tuple[float, Any]],
    size: Any,
    direction: Any,
    loss: float,
    gradient: Any,
    slope: Any,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance: float = 1e-9,
    most: int = 25,
) -> tuple[float, Any, Any, int]:
    r"""Search for a size $t$ of step that meets the strong Wolfe conditions.

    With $\varphi(t) = f(x + t d)$ they ask for enough descent,
    $\varphi(t) \le \varphi(0) + c_1 t \varphi'(0)$, and a slope that became small,
    $|\varphi'(t)| \le c_2 |\varphi'(0)|$. First the size grows until a good one is known to lie
    within an interval; then the interval shrinks, by cubic interpolation.

    Source: Nocedal and Wright, *Numerical optimization*, 2nd edition, algorithms 3.5 and 3.6.

    Args:
        measure: Gives loss and gradient for a size and the direction.
        size: The size to begin with.
        direction: Where to go.
        loss: The loss here.
        gradient: The gradient here.
        slope: The slope here along the direction.
        c1: How much descent is enough.
        c2: How small the slope must become.
        tolerance: The width at which the interval is left alone.
        most: How many sizes may be tried.

    Returns:
        Loss, gradient and size found, and how often the loss was computed.
    """
    start = Place(0, loss, gradient.copy(), slope)
    evaluations = 0

    def look(at: Any) -> Place:
        nonlocal evaluations
        evaluations += 1
        found, there = measure(at, direction)
        return Place(at, found, there, there @ direction)

    def too_high(place: Place) -> bool:
        return bool(place.loss > loss + c1 * place.size * slope)

    def flat_enough(place: Place) -> bool:
        return bool(abs(place.slope) <= -c2 * slope)

    previous, here = start, look(size)
    tries, done = 0, False
    bracket = [start, here]
    while tries < most:
        bracket = [previous, here]
        if too_high(here) or (tries > 1 and here.loss >= previous.loss):
            break
        if flat_enough(here):
            bracket, done = [here], True
            break
        if here.slope >= 0:
            break
        limits = (here.size + 0.01 * (here.size - previous.size), here.size * 10)
        previous, here = here, look(lowest_of_cubic(previous, here, limits))
        tries += 1
    if tries == most:
        bracket = [start, here]
    width = np.abs(direction).max()
    stuck = False
    low, high = (0, 1) if bracket[0].loss <= bracket[-1].loss else (1, 0)
    while not done and tries < most:
        a, b = (place.size for place in bracket)
        if abs(b - a) * width < tolerance:
            break
        smallest, largest = min(a, b), max(a, b)
        at = lowest_of_cubic(bracket[0], bracket[1])
        margin = 0.1 * (largest - smallest)
        # close to an end twice in a row, or beyond it: step away from that end
        if min(largest - at, at - smallest) < margin:
            if stuck or at >= largest or at <= smallest:
                near_top = abs(at - largest) < abs(at - smallest)
                at = largest - margin if near_top else smallest + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        here = look(at)
        tries += 1
        if too_high(here) or here.loss >= bracket[low].loss:
            bracket[high] = here
            low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
        else:
            if flat_enough(here):
                done = True
            elif here.slope * (bracket[high].size - bracket[low].size) >= 0:
                bracket[high] = bracket[low]
            bracket[low] = here
    best = bracket[low]
    return best.loss, best.gradient, best.size, evaluations


def lowest_of_cubic(a: Place, b: Place, limits: tuple[Any, Any] | None = None) -> Any:
    """Give where the cubic through two places is lowest, within limits, or their middle.

    Source: Nocedal and Wright, *Numerical optimization*, 2nd edition, equation 3.59.
    """
    left, right = (a, b) if a.size <= b.size else (b, a)
    least, most = limits or (left.size, right.size)
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.size - b.size)
    square = d1**2 - a.slope * b.slope
    if not square >= 0:
        return (least + most) / 2.0
    d2 = np.sqrt(square)
    share = (right.slope + d2 - d1) / (right.slope - left.slope + 2 * d2)
    return min(max(right.size - (right.size - left.size) * share, least), most)
