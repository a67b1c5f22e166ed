"""Check the exercises of lesson 01: the chain rule by hand, on one small chain."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from random import Random
from typing import Any

from minigrad.autograd import grad
from minigrad.classroom.answers import Choice, Number, Numbers
from minigrad.classroom.behaviors import Function
from minigrad.classroom.exercise import Mistake
from minigrad.creation import tensor
from minigrad.dtypes import float64

POINT = (0.3, 0.3, 0.1, 0.4, 0.2)
DEEPER = (*POINT, 1.5, -0.2)


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


def without(*left_out: str) -> Callable[..., tuple[float, ...]]:
    """Make a backward pass by hand in which some factors are forgotten."""

    def backward(x: float, w0: float, b0: float, w1: float, b1: float) -> tuple[float, ...]:
        x1 = w0 * x + b0
        s = w1 * x1 + b1
        at_y = 2 * (s * s - 1) if "loss" not in left_out else 1.0
        at_s = at_y * (2 * s if "square" not in left_out else 1.0)
        at_s *= 0.5 if "two" in left_out else 1.0
        at_x1 = at_s * (w1 if "w1" not in left_out else 1.0)
        partner = x if "x1" in left_out else x1
        return at_x1 * w0, at_x1 * x, at_x1, at_s * partner, at_s

    return backward


def rearranged(*order: int) -> Callable[..., tuple[float, ...]]:
    """Make a backward pass that returns the right gradients in another order."""

    def backward(*values: float) -> tuple[float, ...]:
        gradients = engine(*values)
        return tuple(gradients[place] for place in order)

    return backward


def _deeper_without(left_out: Collection[str]) -> Callable[..., tuple[float, ...]]:
    def backward(
        x: float, w0: float, b0: float, w1: float, b1: float, w2: float, b2: float
    ) -> tuple[float, ...]:
        x1 = w0 * x + b0
        s = w1 * x1 + b1
        t = w2 * s * s + b2
        at_z = 2 * (t * t - 1) if "loss" not in left_out else 2 * (s * s - 1)
        at_t = at_z * (2 * t if "last square" not in left_out else 1.0)
        at_y = at_t * (w2 if "w2" not in left_out else 1.0)
        at_s = at_y * (2 * s if "square" not in left_out else 1.0)
        at_x1 = at_s * w1
        partner = s if "y" in left_out else s * s
        return at_x1 * w0, at_x1 * x, at_x1, at_s * x1, at_s, at_t * partner, at_t

    return backward


def _points(size: int) -> Callable[[Random], list[tuple[float, ...]]]:
    """Draw numbers with few digits, so that a learner can follow the feedback by hand."""

    def draw(rng: Random) -> list[tuple[float, ...]]:
        drawn = [tuple(round(rng.uniform(0.2, 1.4), 2) for _ in range(size)) for _ in range(3)]
        return [DEEPER[:size], *drawn, tuple((-1) ** k * v for k, v in enumerate(drawn[0]))]

    return draw


def _links(rng: Random) -> list[tuple[float, ...]]:
    return [(0.19, 0.4, 0.2), *_points(3)(rng)[1:]]


def _short(*needed: float) -> Callable[[Any], bool]:
    """Recognize the product of some factors, whatever their sign."""
    return lambda number: math.isclose(abs(number), math.prod(needed), rel_tol=2e-4)


_Y, _S = 0.076176, 0.276
_ROUNDING = ["round", "digit", "precis", "cancel", "noise", "resol"]
_BENDING = ["bend", "bent", "curv", "truncat", "straight", "tangent", "inaccura", "nonlinear"]
_BENDING += ["approximat", "too large", "too big", "too far", "h^2", "h**2", "coarse", "crude"]
_BENDING += ["inexact", "non-linear", "higher order", "not local"]

EXERCISES = [
    Number(
        id="01.1",
        asks="dL/db1 on the chain of this lesson, as a number with four digits or more",
        expected=lambda: engine(*POINT)[4],
        right="The road to b1 leaves at s, and a bias passes on exactly what arrives there.",
        hints=(
            "b1 goes into s and nowhere else. Which local derivatives lie between L and s?",
            "Multiply dL/dy, dy/ds and ds/db1. The last one is how much s moves when b1 does.",
        ),
        mistakes=[
            Mistake(
                "That is what arrives at x1. The road to b1 leaves the main road before the "
                "multiplication by w1.",
                value=lambda: engine(*POINT)[2],
            ),
            Mistake(
                "That is what arrives at y. One link lies between y and s: the square.",
                value=lambda: 2 * (_Y - 1),
            ),
            Mistake(
                "That is a weight's gradient: a weight has a partner in its product, a bias "
                "has none.",
                value=lambda: engine(*POINT)[3],
            ),
            Mistake(
                "Here b1 stands where 1 should: the derivative of w1 * x1 + b1 with respect "
                "to b1 does not depend on b1.",
                when=_short(2 * (1 - _Y), 2 * _S, 0.2),
            ),
            Mistake(
                "Those are the local derivatives from s on, without the loss: start at L.",
                when=_short(2 * _S),
            ),
        ],
    ),
    Function(
        id="01.2",
        asks="backward_by_hand(x, w0, b0, w1, b1), which returns the gradients of L with "
        "respect to x, w0, b0, w1, b1, in this order",
        inputs=_points(5),
        reference=engine,
        without=("backward", "diff"),
        right="One walk, five gradients, and the engine agrees at every point that was tried.",
        hints=(
            "First the forward pass: x1, s. Then what arrives at s, then what arrives at x1.",
            "With dL_ds and dL_dx1 in hand, each of the five is one of the two times one factor.",
        ),
        mistakes=[
            Mistake(
                "The gradients of x and of w0 are exchanged. At x = w0 = 0.3 nobody sees it, "
                "elsewhere everybody does: each contains its partner, not itself.",
                like=rearranged(1, 0, 2, 3, 4),
            ),
            Mistake(
                "The gradients of a weight and of its bias are exchanged: which of them is "
                "passed on without a partner?",
                like=rearranged(0, 2, 1, 4, 3),
            ),
            Mistake(
                "Right values, in another order: the one in which you computed them? Return "
                "them in the order of the arguments.",
                like=rearranged(4, 3, 2, 1, 0),
            ),
            Mistake(
                "Right values, in another order: x comes first, then the parameters.",
                like=rearranged(1, 2, 3, 4, 0),
            ),
            Mistake(
                "The link from s to y is missing. What is the derivative of a square?",
                like=without("square"),
            ),
            Mistake(
                "The derivative of a square has a 2 in front. There are two squares in this chain.",
                like=without("two"),
            ),
            Mistake(
                "The link from x1 to s is missing: what multiplies x1 on its way to s?",
                like=without("w1"),
            ),
            Mistake(
                "That walk starts at y. The loss has a derivative, too.",
                like=without("loss"),
            ),
            Mistake(
                "The partner of w1 in its product is not x: look at what the second layer gets.",
                like=without("x1"),
            ),
        ],
    ),
    Function(
        id="01.3",
        asks="gradient_of_x1(x1, w1, b1), mended, which returns dL/dx1",
        inputs=_links,
        reference=gradient_of_x1,
        without=("backward",),
        right="Each link of the forward pass now has its factor in the backward pass.",
        hints=(
            "Count: how many links lie between x1 and L, and how many factors does the code have?",
            "For each line of the forward pass there has to be one multiplication below it.",
        ),
        mistakes=[
            Mistake(
                "This is still the colleague's version: one link of the forward pass has no "
                "factor in the backward pass. Which one has the value 0.552 here?",
                like=lambda x1, w1, b1: 2 * ((w1 * x1 + b1) ** 2 - 1) * w1,
            ),
            Mistake(
                "Nearly: the missing link is found, but the derivative of a square is not the "
                "number that is squared.",
                like=lambda x1, w1, b1: gradient_of_x1(x1, w1, b1) / 2,
            ),
            Mistake(
                "The missing factor is the derivative of the square, not its value.",
                like=lambda x1, w1, b1: 2 * ((w1 * x1 + b1) ** 2 - 1) * w1 * (w1 * x1 + b1) ** 2,
            ),
            Mistake(
                "A fixed number mends one point only. The factor depends on s: write it with s.",
                like=lambda x1, w1, b1: 2 * ((w1 * x1 + b1) ** 2 - 1) * w1 * 0.552,
            ),
            Mistake(
                "The derivative of a square is there, but taken at x1. Which number is squared?",
                like=lambda x1, w1, b1: 2 * ((w1 * x1 + b1) ** 2 - 1) * w1 * 2 * x1,
            ),
            Mistake(
                "The square has its factor now, and w1 has lost its own.",
                like=lambda x1, w1, b1: engine(x1, 1.0, 0.0, w1, b1)[4],
            ),
            Mistake(
                "A path is a product: the links' derivatives are multiplied, not added.",
                like=lambda x1, w1, b1: (2 * ((w1 * x1 + b1) ** 2 - 1) + 2 * (w1 * x1 + b1)) * w1,
            ),
        ],
    ),
    Choice(
        id="01.4",
        asks="the step for a central difference quotient in float32, and why",
        option="c",
        right="With fewer digits the best step is larger: rounding weighs more, bending the same.",
        why_not={
            "a": "Try it: in float32, is 0.3 + 1e-8 any different from 0.3? It keeps 7 digits.",
            "b": "It was good with 16 digits. With 7, how many of them remain after the "
            "subtraction, when the slope is about 0.1 and the two values differ by 2h times that?",
            "d": "Far away from rounding, yes. But what does the curve do between x - 1 and x + 1?",
        },
        mentions={
            "what becomes of the digits when h is small": _ROUNDING,
            "what goes wrong when h is large": _BENDING,
        },
        hints=(
            "Both errors exist here, too. Which of the two depends on the number of digits?",
            "Fewer digits lift the left arm of the V and leave the right arm where it is. "
            "Where does the lowest point go?",
        ),
    ),
    Numbers(
        id="01.5",
        asks="the factors by which the gradients of x, w0, b0, w1, b1 grow, five numbers",
        expected=growth,
        right="Factors along one path multiply, and each path has only those that lie on it.",
        hints=(
            "For each of the five: does its road from the loss pass s? Does it pass x1?",
            "On each road multiply the factors of the hooks that it passes.",
        ),
        mistakes=[
            Mistake(
                "Two factors on one path are multiplied, not added.",
                value=lambda: [sum(pair) for pair in ((3, 2), (3, 2), (3, 2), (3, 0), (3, 0))],
            ),
            Mistake(
                "The gradient that arrives at x1 has already passed s: both hooks act on it.",
                value=(2, 2, 2, 3, 3),
            ),
            Mistake(
                "The roads to w1 and b1 leave before x1: does the second hook see them?",
                value=(6, 6, 6, 6, 6),
            ),
            Mistake(
                "A hook reaches what lies upstream, toward the inputs. You let the one at x1 "
                "reach what lies toward the loss.",
                value=(2, 2, 2, 6, 6),
            ),
            Mistake(
                "A bias passes on what arrives, and what arrives was changed before.",
                value=(6, 6, 1, 3, 1),
            ),
            Mistake(
                "The first hook was followed, the second was not.",
                value=(3, 3, 3, 3, 3),
            ),
            Mistake(
                "Asked for are the factors, not the gradients: divide by those without hooks.",
                value=lambda: hooked(POINT, at_s=3, at_x1=2),
            ),
        ],
    ),
    Function(
        id="01.6",
        asks="backward_one_deeper(x, w0, b0, w1, b1, w2, b2), which returns seven gradients of "
        "the longer chain, in the order of its arguments",
        inputs=_points(7),
        reference=engine,
        without=("backward", "diff"),
        right="Only what arrives at y is new; upstream of y all is as it was. So it would be "
        "with ten layers more.",
        hints=(
            "Walk from the loss: what arrives at t? And then at y, through t = w2 * y + b2?",
            "What arrives at y is what arrives at t, times w2. It takes the place of 2(y - 1).",
        ),
        mistakes=[
            Mistake(
                "The link from y to t is missing: what multiplies y on its way to t?",
                like=_deeper_without({"w2"}),
            ),
            Mistake(
                "The loss looks at z now, not at y.",
                like=_deeper_without({"loss"}),
            ),
            Mistake(
                "The partner of w2 in its product is y, not s.",
                like=_deeper_without({"y"}),
            ),
            Mistake(
                "The first square has lost its factor: there are three squares in this chain.",
                like=_deeper_without({"square"}),
            ),
            Mistake(
                "The square that makes z has lost its factor: there are three squares in this "
                "chain.",
                like=_deeper_without({"last square"}),
            ),
            Mistake(
                "The gradients of w2 and b2 are exchanged: which of them has a partner?",
                like=rearranged(0, 1, 2, 3, 4, 6, 5),
            ),
            Mistake(
                "Right values, in another order: return them in the order of the arguments.",
                like=rearranged(5, 6, 0, 1, 2, 3, 4),
            ),
            Mistake(
                "Five gradients of the old chain are not enough: w2 and b2 get one each.",
                like=lambda *values: engine(*values[:5]),
            ),
        ],
    ),
]
