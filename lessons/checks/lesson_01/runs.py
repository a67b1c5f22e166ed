"""Tell what goes wrong in lesson 01: with walks along a chain, and with reasons for a step."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from minigrad import float64, tensor
from minigrad.autograd import grad
from minigrad.classroom.exercises import Mistake

from .chains import (
    Chain,
    entries,
    has_more,
    keeps_something,
    moved,
    nearly,
    one_sign,
    only_at_first,
    permuted,
)

POINT = (0.3, 0.3, 0.1, 0.4, 0.2)
POINT_AT_X1 = (0.19, 0.4, 0.2)
LONGER_POINT = (*POINT, 1.5, -0.2)


def engine(*values: float) -> tuple[float, ...]:
    """Let the engine compute the gradients of the chain, or of the chain with one more layer.

    Args:
        *values: x, then a weight and a bias for each layer; every layer but the first squares.
    """
    inputs = [tensor(value, dtype=float64, requires_grad=True) for value in values]
    x, w0, b0, *rest = inputs
    result = w0 * x + b0
    for weight, bias in zip(rest[::2], rest[1::2], strict=True):
        result = (weight * result + bias) ** 2
    return tuple(float(each) for each in grad((result - 1) ** 2, inputs))


def hooked(values: tuple[float, ...], at_s: float, at_x1: float) -> tuple[float, ...]:
    """Multiply the gradients that arrive at s and at x1, and give what reaches the inputs."""
    inputs = [tensor(value, dtype=float64, requires_grad=True) for value in values]
    x, w0, b0, w1, b1 = inputs
    x1 = w0 * x + b0
    s = w1 * x1 + b1
    x1.register_hook(lambda gradient: at_x1 * gradient)
    s.register_hook(lambda gradient: at_s * gradient)
    return tuple(float(each) for each in grad((s**2 - 1) ** 2, inputs))


def growth() -> tuple[float, ...]:
    """Compare the gradients with both hooks with those without any."""
    pairs = zip(hooked(POINT, at_s=3, at_x1=2), engine(*POINT), strict=True)
    return tuple(changed / plain for changed, plain in pairs)


def gradient_of_x1(x1: float, w1: float, b1: float) -> float:
    """Compute dL/dx1: what arrives at x1 is what a bias there would get."""
    return engine(x1, 1.0, 0.0, w1, b1)[2]


def points(first: tuple[float, ...]) -> Callable[[Random], list[tuple[float, ...]]]:
    """Draw numbers with few digits, so that a learner can follow the feedback by hand.

    The first call and the last have the same numbers; before the last, the weights are zero.
    """
    size = len(first)

    def draw(rng: Random) -> list[tuple[float, ...]]:
        drawn = [tuple(round(rng.uniform(0.2, 1.4), 2) for _ in range(size)) for _ in range(3)]
        signs = tuple((-1) ** k * v for k, v in enumerate(drawn[0]))
        zeros = tuple(0.0 if (k + size) % 2 == 0 else v for k, v in enumerate(drawn[1]))
        below = (*first[:-1], -first[-1] - 0.5)  # what is squared is below zero
        return [first, *drawn, signs, below, zeros, first]

    return draw


def short(*needed: float) -> Callable[[Any], bool]:
    """Recognize the product of some factors, whatever their sign."""
    return lambda number: math.isclose(abs(number), math.prod(needed), rel_tol=2e-4)


def one_sided(number: float) -> bool:
    """Recognize a difference quotient to one side, or one with a step that is too large."""

    def loss(b1: float) -> float:
        return ((0.4 * 0.19 + b1) ** 2 - 1) ** 2

    steps = [sign * 10.0**-power for power in range(4) for sign in (1, -1)]
    sides = [(loss(0.2 + h) - loss(0.2)) / h for h in steps]
    middle = [(loss(0.2 + h) - loss(0.2 - h)) / (2 * h) for h in (1.0, 0.5, 0.1)]
    return any(math.isclose(number, each, rel_tol=1e-4) for each in sides + middle)


# --- what goes wrong with walks


def links(made: Callable[[Chain], Any], chain: Chain) -> list[Mistake]:
    """Declare what goes wrong with the links from x1 to y, and with the forward pass.

    Args:
        made: makes an answer of a chain with a mistake.
        chain: the right one.
    """
    wrong: list[tuple[str, Chain]] = [
        (
            "The link from s to y is missing. What is the derivative of a square?",
            chain.but(s=lambda v: 1.0),
        ),
        (
            "The derivative of the square is taken of the wrong number: two times what is "
            "squared, and not two times the square.",
            chain.but(s=lambda v: 2 * v.y),
        ),
        ("The factor is the derivative of the square, not its value.", chain.but(s=lambda v: v.y)),
        (
            "The derivative of a square is there, but taken at x1. Which number is squared?",
            chain.but(s=lambda v: 2 * v.x1),
        ),
        (
            "The derivative of a square has the sign of s. A root of y, or an absolute value, has "
            "lost it.",
            chain.but(s=lambda v: 2 * abs(v.s)),
        ),
        (
            "You divide by the derivative of the square. Along a path, derivatives are multiplied.",
            chain.but(s=lambda v: 1 / (2 * v.s)),
        ),
        (
            "The link from x1 to s is missing: what multiplies x1 on its way to s?",
            chain.but(x1=lambda v: 1.0),
        ),
        (
            "The factor w1 is in there twice. How many links have it?",
            chain.but(x1=lambda v: v.w1**2),
        ),
        (
            "That is the side road: on the way from s to x1, w1 is the factor, and x1 is on the "
            "way to w1.",
            chain.but(x1=lambda v: v.x1),
        ),
        (
            "The link from x1 to s has b1 in it. What is added does not change how much s moves "
            "when x1 does.",
            chain.but(x1=lambda v: v.w1 * v.b1),
        ),
        (
            "The link from x1 to s has b1 in it. What is added does not change how much s moves "
            "when x1 does.",
            chain.but(x1=lambda v: v.w1 + v.b1),
        ),
        ("The forward pass has lost b1 on the way to s.", chain.after(s=lambda v: v.w1 * v.x1)),
        ("In your forward pass y is not the square of s.", chain.after(y=lambda v: v.s**3)),
    ]
    return [Mistake(says, like=made(each)) for says, each in wrong]


def by_hand(right: Callable[..., Any]) -> list[Mistake]:
    """Declare what goes wrong with functions that compute by hand.

    Args:
        right: the right one.
    """
    return [
        Mistake(
            "Called twice with the same numbers, it gives two results. What does it keep from one "
            "call to the next?",
            when=keeps_something,
        ),
        Mistake(
            "Nearly the right numbers, and not all of their digits. Is something rounded on the "
            "way, or is there a small step in it? A walk along the links gives every digit.",
            when=nearly(right),
        ),
    ]


def sign(right: Callable[..., Any], last: str) -> Mistake:
    """Declare that the sign is wrong in some places, and right in others.

    Args:
        right: the right one.
        last: the value that the loss looks at.
    """
    return Mistake(
        f"The sign turns where {last} is above 1, or where a number is negative, and yours does "
        "not: is there an absolute value in it, or a minus that you put in yourself?",
        when=one_sign(right),
    )


def first_five_are(others: Callable[..., tuple[float, ...]]) -> Callable[[Any], bool]:
    """Recognize gradients of the longer chain whose first five are these."""
    return lambda found: all(
        math.isclose(have, want, rel_tol=1e-6, abs_tol=1e-9)
        for trial in found
        for have, want in zip(trial.result[:5], others(*trial.args), strict=True)
    )


ONLY_THERE = (
    "It is right at the numbers of this lesson, and at no others. Is a number typed in, or taken "
    "from the notebook and not from the arguments?"
)
CONTAINERS = [
    Mistake(
        "It returns a set, which has no order, and keeps equal numbers only once. Return a tuple.",
        when=lambda found: isinstance(found[0].result, set),
    ),
    Mistake(
        "It returns a text. Return the numbers themselves, in a tuple.",
        when=lambda found: isinstance(found[0].result, str),
    ),
    Mistake(
        "It returns a dict. Return the numbers in a tuple, in the order of the arguments.",
        when=lambda found: isinstance(found[0].result, dict),
    ),
]


def of_all(chain: Chain, last: str, own: Sequence[Mistake]) -> list[Mistake]:
    """Declare what goes wrong with a function that returns all gradients of a chain.

    Args:
        chain: the right one.
        last: the value that the loss looks at.
        own: what only goes wrong with this chain.
    """
    return [
        *CONTAINERS,
        Mistake(
            "The gradients come with more values before or behind them. Asked for are "
            f"{len(chain.roads)}.",
            when=has_more(chain),
        ),
        *by_hand(chain),
        *own,
        Mistake(
            "Right values, in another order: the one in which you computed them? Return them in "
            "the order of the arguments: x first.",
            when=permuted(chain),
        ),
        Mistake(
            "That is the numbers after a step against their gradients. Asked for are the "
            "gradients.",
            like=moved(chain),
        ),
        Mistake(
            f"That walk starts at {last}. The loss has a derivative, too.",
            like=chain.but(**{last: lambda v: 1.0}),
        ),
        Mistake(
            f"The walk begins with L itself. What arrives at {last} is the derivative of L.",
            like=chain.but(**{last: lambda v: (getattr(v, last) - 1) ** 2}),
        ),
        *links(lambda each: each, chain),
        Mistake(
            "The forward pass has lost b0 on the way to x1.",
            like=chain.after(x1=lambda v: v.w0 * v.x),
        ),
        sign(chain, last),
        Mistake(ONLY_THERE, when=only_at_first(chain)),
        *entries(chain),
    ]
