"""Check exercise 15.2: a quantizer with a range, and a gradient that goes straight through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minigrad as torch
from minigrad import Tensor
from minigrad.classroom.behaviors import Hook
from minigrad.classroom.exercises import Mistake, Objection
from minigrad.classroom.values import alike

from ..observations import Answer, partly

POINTS = [-1.713, -1.1, -0.951, -0.4, 0.204, 0.6, 0.93, 1.05, 1.45, 3.0]
VALUES = f"what quantize returns for {POINTS}"
GRADIENT = "the gradient that comes back for these numbers, when 1, 2, ... 10 arrive,"
TABLE = "what quantize returns for [[0.3, -2.0], [0.7, 0.05]]"
TABLE_GRADIENT = "the gradient of the sum of its squares"
CONSTANT = "what quantize returns for numbers that need no gradient"
UNCONNECTED = "none: no way leads back to x"


def _to_quarters(x: Tensor) -> Tensor:
    return (4 * x).round() / 4


def quantized(
    x: Tensor,
    value: Callable[[Tensor], Tensor] = lambda x: _to_quarters(x.clamp(-1, 1)),
    slope: Callable[[Tensor], Any] = lambda x: (x.abs() <= 1).to(x.dtype),
) -> Tensor:
    """Give some value forward, and some slope backward.

    Args:
        x: the numbers.
        value: what they become.
        slope: what the gradient is multiplied with.
    """
    fixed, steep = value(x.detach()), slope(x.detach())
    moving = x * steep
    return moving + (fixed - moving).detach()


def quantize_run(answer: Answer) -> dict[str, Any]:
    """Quantize numbers inside and outside of the range, and send gradients back."""

    def run(numbers: Any, weigh: Callable[[Tensor], Tensor]) -> tuple[Any, Any]:
        x = torch.tensor(numbers, requires_grad=True)
        given = x * 1.0
        found = answer(given)
        if not isinstance(found, Tensor):
            if found is None:
                raise Objection("quantize returned None: is a return missing?")
            kind = type(found).__name__
            raise Objection(f"quantize has to return a tensor, and this is a thing of type {kind}.")
        if found.shape != x.shape:
            raise Objection("quantize has to return as many numbers as it was given, in the shape.")
        if not alike(given.detach(), numbers):
            raise Objection(
                "quantize has changed x itself, which others may still read. Compute new tensors."
            )
        if found is not given and given._backward_hooks:
            raise Objection(
                "A hook of yours sits on x itself, and cuts the gradient of everybody who uses x. "
                "Hang it on a copy of your own, or do without a hook."
            )
        if not found.requires_grad:
            return found.detach(), UNCONNECTED
        (gradient,) = torch.autograd.grad(weigh(found), x, allow_unused=True)
        return found.detach(), UNCONNECTED if gradient is None else gradient

    values, gradient = run(POINTS, lambda q: (q * torch.arange(1.0, 11.0)).sum())
    table, of_table = run([[0.3, -2.0], [0.7, 0.05]], lambda q: (q**2).sum())
    return {
        VALUES: values,
        GRADIENT: gradient,
        TABLE: table,
        TABLE_GRADIENT: of_table,
        CONSTANT: answer(torch.tensor([0.3, 2.0, -0.6])),
    }


def _is_like(*names: str, **slip: Any) -> Callable[..., bool]:
    return partly(quantize_run, lambda x: quantized(x, **slip), *names)


def _wrong_value(value: Callable[[Tensor], Tensor]) -> Callable[..., bool]:
    return _is_like(VALUES, value=value)


def _wrong_slope(slope: Callable[[Tensor], Any]) -> Callable[..., bool]:
    return _is_like(VALUES, GRADIENT, slope=slope)


def _by(way: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    return lambda x: way(4 * x.clamp(-1, 1)) / 4


def _between(low: float, high: float) -> Callable[[Tensor], Tensor]:
    return lambda x: _to_quarters(x.clamp(low, high))


def _steps(many: float) -> Callable[[Tensor], Tensor]:
    return lambda x: (many * x.clamp(-1, 1)).round() / many


_WIDTHS = 0.25, 2, 3, 5, 8, 10, 16, 100
_ROUNDINGS = torch.floor, torch.ceil, torch.trunc

QUANTIZE = Hook(
    id="15.2",
    asks="quantize(x), the nearest multiples of 0.25 between -1 and 1, through which the gradient "
    "goes straight where x is in the range, and not at all where it is not",
    scenario=quantize_run,
    reference=quantized,
    right="Two pretenses in one: a staircase that looks like a slope, and a range that is honest.",
    hints=(
        "Which operation has just this gradient, 1 inside of the range and 0 outside, without any "
        "trick? Do that one first, and apply the trick to what it gives.",
        "With c = x.clamp(-1, 1) the rounded value is (4 * c).round() / 4. The result is c plus "
        "what is missing to the rounded value, detached.",
    ),
    mistakes=[
        Mistake(
            "x and its copies in a graph are not to be written to. Compute new tensors.",
            trouble=("in-place operation", "a leaf Variable", "modified by an inplace"),
        ),
        Mistake(
            "The value is x itself. What is to be hidden from the engine is the difference between "
            "rounded value and x: detach that, and nothing else.",
            when=lambda found: (
                _wrong_value(lambda x: x)(found) or _wrong_value(lambda x: x.clamp(-1, 1))(found)
            ),
        ),
        Mistake(
            "That rounds to whole numbers. How does one round to quarters?",
            when=lambda found: (
                _wrong_value(lambda x: x.clamp(-1, 1).round())(found)
                or _wrong_value(lambda x: x.round())(found)
                or _wrong_value(lambda x: x.round().clamp(-1, 1))(found)
            ),
        ),
        Mistake(
            "These are the numbers of the steps, whole numbers. One step is 0.25 wide.",
            when=lambda found: (
                _wrong_value(lambda x: (4 * x.clamp(-1, 1)).round())(found)
                or _wrong_value(lambda x: (4 * x).round())(found)
                or _wrong_value(lambda x: (4 * x).round().clamp(-1, 1))(found)
            ),
        ),
        Mistake(
            "Right inside of the range. What lies outside goes to the nearer end of it.",
            when=_wrong_value(_to_quarters),
        ),
        Mistake(
            "Only one end of the range is there in the values. There are two.",
            when=lambda found: (
                _wrong_value(lambda x: _to_quarters(x.clamp(max=1)))(found)
                or _wrong_value(lambda x: _to_quarters(x.clamp(min=-1)))(found)
            ),
        ),
        Mistake(
            "The range goes from -1 to 1, both of them included.",
            when=lambda found: any(
                _wrong_value(_between(low, high))(found)
                for low, high in (
                    (0, 1),
                    (-1, 0.75),
                    (-0.75, 0.75),
                    (-2, 2),
                    (-0.5, 0.5),
                    (-0.25, 0.25),
                )
            ),
        ),
        Mistake(
            "What lies outside became 0. It goes to the nearer end of the range.",
            when=_wrong_value(lambda x: _to_quarters(x) * (x.abs() <= 1)),
        ),
        Mistake(
            "That is the next multiple below, or toward zero, or above. Asked for is the nearest.",
            when=lambda found: any(_wrong_value(_by(way))(found) for way in _ROUNDINGS),
        ),
        Mistake(
            "The steps are of another width: four of them fit between 0 and 1.",
            when=lambda found: any(_wrong_value(_steps(n))(found) for n in _WIDTHS),
        ),
        Mistake(
            "The values are right, and no gradient comes back: all of it is detached. Something "
            "has to be left that the engine can walk along.",
            when=lambda found: found[1].result == UNCONNECTED and _is_like(VALUES)(found),
        ),
        Mistake(
            "The values are right, the gradient is the true one: zero everywhere. The rounding has "
            "to be hidden from the engine.",
            when=_wrong_slope(lambda x: torch.zeros_like(x)),
        ),
        Mistake(
            "The gradient goes straight through outside of the range, too. There the value stands "
            "still, so nothing may come back.",
            when=_wrong_slope(lambda x: torch.ones_like(x)),
        ),
        Mistake(
            "Inside and outside are exchanged: the gradient comes back where x is out of range.",
            when=_wrong_slope(lambda x: (x.abs() > 1).to(x.dtype)),
        ),
        Mistake(
            "You ask whether the rounded value is in the range. 1.05 is rounded to 1 and lies "
            "outside, 0.95 is rounded to 1 and lies inside: ask x itself.",
            when=lambda found: (
                _wrong_slope(lambda x: (_to_quarters(x).abs() <= 1).to(x.dtype))(found)
                or _wrong_slope(lambda x: (_to_quarters(x).abs() < 1).to(x.dtype))(found)
            ),
        ),
        Mistake(
            "You ask whether the clamped value is in the range, and by then all of them are.",
            when=_wrong_slope(lambda x: (x.clamp(-1, 1).abs() <= 1).to(x.dtype)),
        ),
        Mistake(
            "Only one end of the range stops the gradient. There are two.",
            when=lambda found: (
                _wrong_slope(lambda x: x.le(1).to(x.dtype))(found)
                or _wrong_slope(lambda x: x.ge(-1).to(x.dtype))(found)
            ),
        ),
        Mistake(
            "The gradient is off by the width of a step: multiplying by 4 and dividing by 4 "
            "belong on the same side of the trick.",
            when=lambda found: (
                _wrong_slope(lambda x: 4 * (x.abs() <= 1))(found)
                or _wrong_slope(lambda x: 0.25 * (x.abs() <= 1))(found)
                or _wrong_slope(lambda x: torch.full_like(x, 4.0))(found)
                or _wrong_slope(lambda x: torch.full_like(x, 0.25))(found)
            ),
        ),
        Mistake(
            "The gradient comes back with the other sign: the moving part is subtracted.",
            when=lambda found: (
                _wrong_slope(lambda x: -(x.abs() <= 1).to(x.dtype))(found)
                or _wrong_slope(lambda x: -torch.ones_like(x))(found)
            ),
        ),
        Mistake(
            "The moving part comes in twice.",
            when=_wrong_slope(lambda x: 2 * (x.abs() <= 1)),
        ),
        Mistake(
            "What you add and what you take away again are not the same, so they do not cancel: "
            "the value should be the rounded one alone.",
            when=lambda found: (
                _wrong_value(lambda x: x.clamp(-1, 1) + _to_quarters(x.clamp(-1, 1)) - x)(found)
                or _wrong_value(lambda x: x + _to_quarters(x.clamp(-1, 1)) - x.clamp(-1, 1))(found)
                or _wrong_value(lambda x: x.clamp(-1, 1) + _to_quarters(x) - x)(found)
            ),
        ),
        Mistake(
            "What comes back is the mask, or a one, whatever arrives. Multiply what arrives by it.",
            when=lambda found: (
                _is_like(VALUES)(found)
                and [float(g) for g in found[1].result]
                in ([0.0, 0.0, *[1.0] * 5, 0.0, 0.0, 0.0], [1.0] * len(POINTS))
            ),
        ),
        Mistake(
            "The values are right. Inside of the range the gradient is to come back just as it "
            "arrived, whatever x is there, and outside as 0.",
            when=_is_like(VALUES),
        ),
    ],
)
"""The exercise."""
