"""Check the exercises of lesson 01: the chain rule by hand."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from minigrad import float64, tensor
from minigrad.autograd import grad
from minigrad.classroom import Choice, Function, Number, Numbers

POINT = (0.3, 0.3, 0.1, 0.4, 0.2)
S = 0.276
Y = S**2
BY_HAND = ("backward", "diff", "jacobian", "derive_by_array")


def gradients() -> list[float]:
    """Compute the five gradients."""
    inputs = [tensor(value, dtype=float64, requires_grad=True) for value in POINT]
    x, w0, b0, w1, b1 = inputs
    s = w1 * (w0 * x + b0) + b1
    return [float(each) for each in grad((s**2 - 1) ** 2, inputs)]


CLIP, DOUBLE = (lambda gradient: gradient.clamp(-5, 5)), (lambda gradient: 2 * gradient)


def with_hooks(at_q: Any = CLIP, at_p: Any = DOUBLE) -> list[float]:
    """Compute the gradients of x, k, m and n on the chain of 01.5, with hooks at q and p."""
    x, k, m, n = inputs = [tensor(v, dtype=float64, requires_grad=True) for v in (2, 3, -5, 4)]
    p = k * x
    q = p + m
    q.register_hook(at_q)
    p.register_hook(at_p)
    return [float(each) for each in grad(n * q**2, inputs)]


def points(*first: float) -> Callable[[Random], list[tuple[float, ...]]]:
    """Draw numbers with few digits, so that a learner can follow the feedback by hand.

    The first call and the last have the same numbers; before the last, the weights are zero. What
    is squared is below zero in two of them.
    """
    size = len(first)

    def draw(rng: Random) -> list[tuple[float, ...]]:
        drawn = [tuple(round(rng.uniform(0.2, 1.4), 2) for _ in range(size)) for _ in range(3)]
        signs = tuple((-1) ** k * v for k, v in enumerate(drawn[0]))
        zeros = tuple(0.0 if (k + size) % 2 == 0 else v for k, v in enumerate(drawn[1]))
        below, negative = (*first[:-1], -first[-1] - 0.5), tuple(-v for v in first)
        return [first, *drawn, signs, below, negative, zeros, first]

    return draw


def near(found: Any, right: Any) -> bool:
    """Tell whether results are right except for their last digits."""
    return np.allclose(np.array(found, float), np.array(right, float), rtol=0.1, atol=0.006)


BY_ANY = r"""
        ~ def => kept = []\ndef
        | return => kept.append(1)\n    return len(kept) *
        ? not alike(seen[0], seen[-1], 9)
        ? seen[0] is seen[1] and len(seen[0]) > 7
            Called twice with the same numbers, it gives different results. What does it keep from
            one call to the next?
        ~ return => return (1 + 1e-6) *
        ? near(seen, right)
            Nearly the right numbers, but not all of their digits. Is something rounded on the way,
            or is there a small step in it? Going link by link gives every digit.
        ~ s = w1 * x1 + b1 => s = 0.276
        ? alike(seen[0], right[0], 6) and sum(map(alike, seen, right)) <= 4
            It's right for the numbers of this lesson, and for no others. Is a number typed in, or
            taken from the notebook instead of the arguments?
        ~ * 2 * s => * 2 * abs(s)
            The derivative of a square has the sign of what's squared. A root or an absolute value
            has lost it.
        ~ * 2 * s => * 2 * s * s
        ~ * 2 * s => * 2 * x1
        ~ * 2 * s => * s * s
            The derivative of the square is taken at the wrong number. It's two times what's
            squared: which number is that?
        ~ w1 * x1 + b1 => w1 * x1
            Your forward pass leaves out b1 on the way to s.
"""

ALL_GRADIENTS = """
        ~ dL_dx1 * w0, dL_dx1 * x, => dL_dx1 * x, dL_dx1 * w0,
            The gradients of x and w0 are swapped. At x = w0 = 0.3 you can't see it, elsewhere you
            can: each contains its partner, not itself.
        ~ dL_dx1 * x, dL_dx1, => dL_dx1, dL_dx1 * x,
        ~ dL_ds * x1, dL_ds => dL_ds, dL_ds * x1
        ~ dL_dx1 * x, dL_dx1, dL_ds * x1, dL_ds => dL_dx1, dL_dx1 * x, dL_ds, dL_ds * x1
            The gradients of a weight and its bias are swapped: which of the two has no partner in
            a product?
        ~ dL_dx1 * w0, dL_dx1 * x, dL_dx1, dL_ds * x1, dL_ds => dL_ds, dL_ds * x1, dL_dx1, dL_dx1 * x, dL_dx1 * w0
        ? all(alike(sorted(a), sorted(b), 9) for a, b in zip(seen, right))
            Right values, in another order: the one in which you computed them? Return them in the
            order of the arguments: x first.
        ~ dL_ds * x1 => dL_ds * w1
        ~ dL_ds * x1 => dL_ds * x
        ~ dL_ds * x1 => dL_ds
        ~ dL_dx1 * x, => dL_dx1 * w0,
        ~ dL_dx1 * x, => dL_dx1,
        ~ dL_dx1 * w0, => dL_dx1 * x,
            Each weight is multiplied by one number, its partner in that product, and its gradient
            contains that number. The same holds for x. One of yours contains something else.
        ~ dL_ds * x1, dL_ds => dL_ds * x1, dL_ds * b1
        ~ dL_dx1 * x, dL_dx1, => dL_dx1 * x, dL_dx1 * b0,
        ~ dL_dx1 * x, dL_dx1, dL_ds * x1, dL_ds => dL_dx1 * x, dL_dx1 * b0, dL_ds * x1, dL_ds * b1
            A gradient of a bias contains the bias itself. A bias is added, so its own link has the
            derivative 1.
        ~ dL_ds * x1, dL_ds => dL_ds * x1, dL_dx1
        ~ dL_ds * x1, dL_ds => dL_dx1 * x1, dL_dx1
        ~ dL_ds * x1, dL_ds => dL_dx1 * x1, dL_ds
            Your gradient of w1 or b1 uses what arrives at x1. Where do their paths leave the main
            one?
        ~ * 2 * s => * s
            The derivative of a square has a 2 in front. How many squares does this chain have?
        ~ dL_ds * w1 => dL_ds
            The link from x1 to s is missing: what is x1 multiplied by on its way to s?
        ~ w0 * x + b0 => w0 * x
            Your forward pass leaves out b0 on the way to x1.
"""

OF_B1 = Number(
    id="01.1",
    asks="dL/db1 on the chain of this lesson, as a number with four digits or more",
    expected=lambda: gradients()[4],
    right="The path to b1 leaves at s, and the gradient of a bias is exactly what arrives.",
    hints=(
        "b1 goes into s and nowhere else. Which local derivatives are there between L and s?",
        "Multiply dL/dy, dy/ds and ds/db1. The last one is how much s moves when b1 does.",
    ),
    mistakes="""
        = gradients()[2]
            That's what arrives at x1. The path to b1 leaves before the multiplication by w1.
        = 2 * (Y - 1)
            That's what arrives at y. There's one more link between y and s: the square.
        = gradients()[3]
            That's a weight's gradient: a weight has a partner in its product, a bias has none.
        = gradients()[4] * 0.2
            You multiplied by b1 instead of 1: the derivative of w1 * x1 + b1 with respect to b1
            doesn't depend on b1.
        = 2 * S
            That's the derivative of y with respect to b1. The gradient starts at L.
        = gradients()[4] / 4
            Both derivatives of squares have lost their 2.
        = 2 * (Y - 1) * 2 * Y
            The derivative of the square is taken at the wrong number: two times what's squared, not
            two times the square.
        = 2 * (Y - 1) / (2 * S)
        = 2 * (Y - 1) + 2 * S
            You add or divide local derivatives. Along a path you multiply them.
        = (Y - 1) ** 2 * 2 * S
            You begin with L itself. What arrives at y is the derivative of L.
        = (((S + 0.1) ** 2 - 1) ** 2 - (Y - 1) ** 2) / 0.1
        ? any(alike(answer, (((S + h) ** 2 - 1) ** 2 - (Y - 1) ** 2) / h, 4) for h in (1, -1, 0.1, -0.1, 0.01, -0.01))
            That's a one-sided difference quotient with a large step: close, but not to four
            digits. Multiply the local derivatives.
    """,
)

ALL_FIVE = Function(
    id="01.2",
    asks="backward_by_hand(x, w0, b0, w1, b1), which returns the gradients of L with "
    "respect to x, w0, b0, w1, b1, in this order",
    inputs=points(*POINT),
    digits=12,
    without=BY_HAND,
    right="One pass, five gradients, right at every point that was tried.",
    hints=(
        "First the forward pass: x1, s. Then what arrives at s, then what arrives at x1.",
        "With dL_ds and dL_dx1 in hand, each of the five is one of the two times one factor.",
    ),
    mistakes="""
        ~ 2 * (s * s - 1) * 2 * s => (s * s - 1) * s
            Both squares in this chain have lost their 2.
        ~ s * s - 1 => s - 1
            The loss depends on y, not on s.
        ~ 2 * (s * s - 1) * 2 * s => 2 * s
            You start at y. The loss has a derivative, too.
        ~ 2 * (s * s - 1) => (s * s - 1) ** 2
            You begin with L itself. What arrives at y is the derivative of L.
        ~ - 1) * 2 * s => - 1)
            The link from s to y is missing. What is the derivative of a square?
        ~ 2 * (s * s - 1) => -2 * (s * s - 1)
            Right sizes, wrong signs: look for a lost or extra minus.
        ~ 2 * (s * s - 1) => -2 * abs(s * s - 1)
            The sign changes where y is above 1, and yours doesn't: is there an absolute value in it,
            or a minus that you put in yourself?
    """
    + BY_ANY
    + ALL_GRADIENTS,
)

MENDED = Function(
    id="01.3",
    asks="gradient_of_x1(x1, w1, b1), without the bug, which returns dL/dx1",
    inputs=points(0.19, 0.4, 0.2),
    digits=12,
    without=BY_HAND,
    right="Each link of the forward pass now has its factor in the backward pass.",
    hints=(
        "Count: how many links are there from x1 to L, and how many factors does the code have?",
        "Each line of the forward pass needs one multiplication in the backward pass.",
    ),
    mistakes="""
        ~ return gradient => return (gradient,)
        ? isinstance(seen[0], tuple | list)
            You returned a tuple or a list: look for a comma after the value, or brackets around
            it. Return the number itself.
        ~ gradient * 2 * s => gradient
            This is still the colleague's version: one link of the forward pass has no factor in
            the backward pass. Which one has the value 0.552 here?
        ~ 2 * s => s
            You found the missing link, but the derivative of a square isn't the number that's
            squared.
        ~ 2 * s => 0.552
            A fixed number is right at one point only. The factor depends on s: write it with s.
        ~ gradient * w1 => gradient
        ~ gradient * w1 => gradient * x1
            The square has its factor now, but the factor w1 is gone.
        ~ gradient * 2 * s => gradient + 2 * s
            Along a path you multiply the links' derivatives. You don't add them.
        ~ gradient * w1 => gradient * w1 * 0.3
        ~ gradient * w1 => gradient * w1 * w1
        ~ gradient * w1 => gradient * w1 * b1
            The link from x1 to s has something besides w1 in it. How much does s move when x1
            does?
        ~ 2 * (y - 1) => 1
            The square has its factor now, but the factor of the loss is gone.
    """
    + BY_ANY,
)

STEP = Choice(
    id="01.4",
    asks="the step for a central difference quotient in float32, and why",
    right="With fewer digits the best step is larger: more rounding error, the same bending.",
    model="With 7 digits, the difference of two losses is mostly rounding error unless they're "
    "far enough apart. With a step of 1, the curve bends too much on the way.",
    hints=(
        "Both errors exist here, too. Which of the two depends on the number of digits?",
        "Fewer digits lift the left arm of the V and leave the right arm where it is. "
        "Where does the lowest point go?",
    ),
    mistakes="""
        = "a"
            Try it: in float32, is 0.3 + 1e-8 any different from 0.3? It keeps 7 digits.
        = "b"
            It was good with 16 digits. Now there are 7. The slope is about 0.1, so the two values
            differ by about 2h times 0.1: how many digits are left when you subtract?
        = "d"
            Rounding is no problem there. But what does the curve do between x - 1 and x + 1?
    """,
)

TWO_HOOKS = Numbers(
    id="01.5",
    asks="the gradients of x, k, m, n with the hooks at q and p, four numbers",
    expected=with_hooks,
    right="Go from the loss toward the inputs, and apply each hook when you get to its place.",
    hints=(
        "Start at L and go to r, then q. What arrives at q, and what is it after the clip?",
        "From q, one path goes to m and one to p. Double what arrives at p, then go on to x and k. "
        "The path to n leaves before q.",
    ),
    mistakes="""
        = (24, 16, 8, 1)
            Those are the gradients without hooks. What does the hook at q do?
        = with_hooks(at_p=lambda gradient: None)
            The clip is there, but nothing is doubled at p.
        = with_hooks(at_q=lambda gradient: None)
            It's doubled at p, but nothing is clipped at q: what arrives there is larger than 5.
        = with_hooks(DOUBLE, CLIP)
            Each hook has to stay at its place: the clip is at q, the factor 2 at p.
        = (15, 10, 8, 1)
            You doubled first, then clipped. Which of the two places does the gradient reach first?
        = (30, 20, 8, 1)
            m is part of q = p + m. Does the gradient go on to m before or after the clip at q?
        = (30, 20, 10, 1)
            The path to m doesn't go through p.
        = (30, 20, 5, 5)
        = (30, 20, 5, 10)
        = (30, 20, 5, 4)
        ? len(answer) == 4 and alike(answer[:3], with_hooks()[:3], 4)
            Look at n again. Its link is L = n * r: which number is its partner there, and is a
            hook on its path?
        = [20, 30, 5, 1]
            x and k are swapped: each contains its partner, not itself.
        = (24, 16, 4, 1)
        = (12, 8, 2, 1)
            The derivative of the square is 2q, and it's multiplied by n. How large is that at q = 1?
    """,
)

DEEPER = Function(
    id="01.6",
    asks="backward_one_deeper(x, w0, b0, w1, b1, w2, b2), which returns seven gradients of "
    "the longer chain, in the order of its arguments",
    inputs=points(*POINT, 1.5, -0.2),
    digits=12,
    without=BY_HAND,
    right="Only what arrives at y is new. From y toward the inputs everything stays the same, and "
    "it would with ten more layers.",
    hints=(
        "Start at the loss: what arrives at t? And then at y, through t = w2 * y + b2?",
        "What arrives at y is what arrives at t, times w2. It replaces 2(y - 1).",
    ),
    mistakes="""
        ~ , dL_dt * y, dL_dt =>
        ? all(len(each) == 5 for each in seen)
            Five gradients aren't enough: w2 and b2 need one each.
        ~ dL_dt * y, dL_dt => dL_dt, dL_dt * y
            The gradients of w2 and b2 are swapped: which of them has a partner?
        ~ dL_dt * w2 * 2 * s => 2 * (s * s - 1) * 2 * s
            The first five are still those of the old chain. What arrives at y now comes from t.
        ~ dL_dt * w2 => dL_dt
            The link from y to t is missing: what is y multiplied by on its way to t?
        ~ t * t - 1 => s * s - 1
        ~ t * t - 1 => t - 1
            The loss depends on z now, and on nothing else.
        ~ dL_dt * y => dL_dt * s
        ~ dL_dt * y => dL_dt * t
            The partner of w2 in its product is neither s nor t.
        ~ - 1) * 2 * t => - 1)
        ~ - 1) * 2 * t => - 1) * 2 * y
        ~ - 1) * 2 * t => - 1) * 2 * t * t
            The derivative of the square that makes z is missing, or taken at the wrong number.
            Which number is squared there?
        ~ * 2 * s =>
            The factor of the first square is gone: this chain has three squares.
        ~ y = s * s => y = s
        ~ y = s * s => y = s
        | * 2 * s =>
            Your forward pass leaves out the square of s.
        ~ w2 * y + b2 => w2 * y
            Your forward pass leaves out b2 on the way to t.
        ~ dL_dt * y, dL_dt => dL_dt * y, dL_dt * b2
            Your gradient of b2 contains b2 itself. A bias is added, so its own link has the
            derivative 1.
    """
    + BY_ANY
    + ALL_GRADIENTS,
)

EXERCISES = [OF_B1, ALL_FIVE, MENDED, STEP, TWO_HOOKS, DEEPER]
