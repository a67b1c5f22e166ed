"""Check two exercises of lesson 12 by their numbers: terms of a product rule, a squaring hook."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.autograd import grad
from minigrad.classroom.exercises import Mistake, Numbers
from minigrad.classroom.values import as_number, leaves

INPUTS = (0.3, 0.3, 0.1, 0.4, 0.2)
_S = 0.276
_SLOPES = (8 * _S**2, 4 * (_S**2 - 1), 12 * _S**2, 4 * _S**2 - 4, 12 * _S**2 - 1, 8 * _S, 24 * _S)
"""What comes of a slip in the derivative of 4s(s^2 - 1) by s."""


def _leaf(data: Any) -> Tensor:
    return torch.tensor(data, dtype=torch.float64, requires_grad=True)


def mixed(*, through: float = 1.0, factor: float = 1.0) -> float:
    """Compute d2L/dx dw0 by hand: w0 moves the slope through s, and as a factor of it.

    Args:
        through: times the term that comes through s.
        factor: times the term of w0 as a factor.
    """
    x, w0, b0, w1, b1 = INPUTS
    s = w1 * (w0 * x + b0) + b1
    return through * (12 * s**2 - 4) * w1 * x * w1 * w0 + factor * 4 * s * (s**2 - 1) * w1


def is_entry(answer: Any, place: int, *values: float) -> bool:
    """Tell whether one number of a pair is one of several values, to a tenth of a percent."""
    have = [as_number(entry) for _, entry in leaves(answer)]
    number = have[place] if len(have) == 2 else None
    return number is not None and any(abs(number / value - 1) < 1e-3 for value in values)


def is_near(answer: Any, expected: Sequence[float], within: float) -> bool:
    """Tell whether all numbers are about the right ones."""
    have = [as_number(entry) for _, entry in leaves(answer)]
    return len(have) == len(expected) and all(
        a is not None and abs(a / b - 1) <= within for a, b in zip(have, expected, strict=True)
    )


def row_of_x() -> list[float]:
    """Compute the row of the Hessian that belongs to x, with the engine."""
    inputs = [_leaf(value) for value in INPUTS]
    x, w0, b0, w1, b1 = inputs
    loss = ((w1 * (w0 * x + b0) + b1) ** 2 - 1) ** 2
    (slope,) = grad(loss, x, create_graph=True)
    return [entry.item() for entry in grad(slope, inputs)]


def cube_with(hook: Callable[..., Any] | None) -> tuple[float, float]:
    """Differentiate x**3 at 5 twice, with a full backward hook on the module that cubes."""

    class Cube(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x**3

    cube = Cube()
    if hook is not None:
        cube.register_full_backward_hook(hook)
    x = _leaf([5.0])
    (first,) = grad(cube(x), x, create_graph=True)
    return first.item(), grad(first, x)[0].item()


def _shifted(answer: Any, place: int) -> bool:
    right = mixed(factor=place, through=1 - place)
    return is_entry(answer, place, *(right * 10.0**power for power in (-3, -2, -1, 1, 2, 3)))


TERMS = Numbers(
    id="12.1",
    asks="two terms of the second derivative of L by x and w_0: the one through s, then the "
    "one of the factor",
    expected=lambda: (mixed(factor=0), mixed(through=0)),
    right="The second is ten times the first, and an old acquaintance: dL/dx_1.",
    hints=(
        "For each term one of the two places moves, and the other one stands still.",
        "Through s: the derivative of 4s(s^2 - 1) by s is 12 s^2 - 4, s moves by w_1 * x, and "
        "w_1 * w_0 stands still. Of the factor: take w_0 away, and leave all else as it is.",
    ),
    mistakes=[
        Mistake(
            "Those are other entries of the matrix. The two terms of one entry are asked for.",
            when=lambda answer: (
                len(answer) == 2
                and all(
                    any(abs(float(each) / entry - 1) < 2e-3 for entry in (*row_of_x()[2:], mixed()))
                    for each in answer
                )
            ),
        ),
        Mistake(
            "In the first term a factor w_1 is missing: w_0 moves x_1, and w_1 times that moves s.",
            when=lambda answer: is_entry(answer, 0, mixed(through=1 / 0.4, factor=0)),
        ),
        Mistake(
            "In the first term the slope's own factor w_1 * w_0 is missing: it stands still, "
            "but it stays.",
            when=lambda answer: is_entry(answer, 0, mixed(factor=0) / 0.12),
        ),
        Mistake(
            "In the first term it is not enough to differentiate by s: how far does s move "
            "when w_0 does?",
            when=lambda answer: is_entry(answer, 0, mixed(factor=0) / 0.12**2),
        ),
        Mistake(
            "In the first term one factor of 0.3 is missing. It has both w_0 in it, which "
            "stands still, and x, which w_0 moves s by.",
            when=lambda answer: is_entry(answer, 0, mixed(factor=0) / 0.3),
        ),
        Mistake(
            "The sign of the first term is turned. Is 12 s^2 above 4 or below it?",
            when=lambda answer: is_entry(answer, 0, -mixed(factor=0)),
        ),
        Mistake(
            "In the first term 4s(s^2 - 1) is differentiated by s: a product once more, or "
            "4s^3 - 4s.",
            when=lambda answer: is_entry(
                answer, 0, *(slope * each for slope in _SLOPES for each in (0.0144, 0.12))
            ),
        ),
        Mistake(
            "In the second term a factor is missing. Which one stands beside w_0 in the slope, "
            "and stays?",
            when=lambda answer: is_entry(answer, 1, mixed(through=0) / 0.4),
        ),
        Mistake(
            "The second term has the whole slope in it. Its derivative by the factor w_0 does "
            "not contain w_0 any more.",
            when=lambda answer: is_entry(answer, 1, mixed(through=0) * 0.3),
        ),
        Mistake(
            "The sign of the second term is turned. Is s^2 above 1 or below it?",
            when=lambda answer: is_entry(answer, 1, -mixed(through=0)),
        ),
        Mistake(
            "In the second term a factor of 2 is lost or added. The slope begins with 4s.",
            when=lambda answer: is_entry(
                answer, 1, *(mixed(through=0) * each for each in (0.25, 0.5, 2))
            ),
        ),
        Mistake(
            "In the second term only the factor w_0 is taken away. 4s and s^2 - 1 both stay.",
            when=lambda answer: is_entry(
                answer, 1, 4 * _S * 0.4, 4 * (_S**2 - 1) * 0.4, (12 * _S**2 - 4) * 0.4
            ),
        ),
        Mistake(
            "The sum of both is asked for by nobody: give the two terms one by one.",
            when=lambda answer: any(abs(float(entry) - mixed()) < 1e-3 for entry in answer),
        ),
        Mistake(
            "Two halves of the sum are not the two terms: one is ten times the other.",
            when=lambda answer: is_near(answer, [mixed() / 2] * 2, 1e-3),
        ),
        Mistake(
            "The two terms are added, not multiplied, to make the entry.",
            when=lambda answer: abs(float(answer[0]) * float(answer[1]) / mixed() - 1) < 1e-3,
        ),
        *(
            Mistake(
                "The digits are right. In one place the decimal point is not.",
                when=partial(_shifted, place=place),
            )
            for place in (0, 1)
        ),
        Mistake(
            "Both come close: carry more digits, s = 0.276 among them, and round at the end.",
            when=lambda answer: is_near(answer, (mixed(factor=0), mixed(through=0)), 0.04),
        ),
    ],
)

SQUARED = Numbers(
    id="12.5",
    asks="two numbers: g, and the gradient of g, for x**3 at 5 with the squaring hook",
    expected=lambda: cube_with(lambda module, grad_input, grad_output: (grad_input[0] ** 2,)),
    right="g became 9x^4, and 36x^3 is its derivative: the hook was differentiated.",
    hints=(
        "The hook turns g into a new function of x. Which one?",
        "g is (3x^2)^2. On a cube the hook is not called again, so the second number is the "
        "plain derivative of this formula.",
    ),
    mistakes=[
        Mistake(
            "That is without the hook. What it returns takes the place of grad_input.",
            value=lambda: cube_with(None),
        ),
        Mistake(
            "The first fits. For the second you squared the plain second derivative: that "
            "would be a hook that is called again. In the second pass of a cube it is not.",
            value=(5625.0, 900.0),
        ),
        Mistake(
            "The first fits. The second number is the derivative of what the hook made, not "
            "of what it was given.",
            value=(5625.0, 30.0),
        ),
        Mistake(
            "The first fits. In the second the inner derivative is missing: what is squared "
            "depends on x too.",
            value=(5625.0, 150.0),
        ),
        Mistake(
            "The first fits. The second is squared once too often: the hook is not called in "
            "the second pass of a cube.",
            value=(5625.0, 4500.0**2),
        ),
        Mistake(
            "The first fits. In the second the 2 of the square is missing: whatever is "
            "squared, its derivative begins with a 2.",
            value=(5625.0, 2250.0),
        ),
        Mistake(
            "The first fits. In the second the square was differentiated, and what stands "
            "inside of it was not.",
            when=lambda answer: is_near(answer, (5625.0, 2 * 5625.0), 1e-6),
        ),
        Mistake(
            "The first fits. The second has a factor of the text's hook, which doubles. This "
            "one squares, and a cube does not call it again.",
            when=lambda answer: any(
                is_near(answer, (5625.0, second), 1e-6) for second in (60.0, 120.0, 9000.0)
            ),
        ),
        Mistake(
            "The first fits. The second is differentiated once too often: grad(g, x) is the "
            "next derivative of g, and no more.",
            value=(5625.0, 2700.0),
        ),
        Mistake(
            "(3x^2)^2 is not 3x^4: the 3 is squared, too.",
            when=lambda answer: is_near([answer[0]], [1875.0], 1e-6),
        ),
        Mistake(
            "You squared before differentiating. The hook gets the derivative, and squares that.",
            when=lambda answer: is_near([answer[0]], [18750.0], 1e-6),
        ),
        Mistake(
            "You squared x**3. The hook squares the gradient.",
            when=lambda answer: abs(float(answer[0]) - 125.0**2) < 1,
        ),
        Mistake(
            "g is what the hook returned, in the first pass already.",
            when=lambda answer: is_near([answer[0]], [75.0], 1e-6),
        ),
        Mistake(
            "The hook squares the gradient; this one is doubled.",
            value=(150.0, 60.0),
        ),
        Mistake(
            "About right, and rounded. Both are whole numbers.",
            when=lambda answer: is_near(answer, (5625.0, 4500.0), 0.15),
        ),
        Mistake(
            "The first fits. Write g as a formula in x, with the square of the hook in it, and "
            "differentiate that.",
            when=lambda answer: len(answer) == 2 and is_near([answer[0]], [5625.0], 1e-6),
        ),
    ],
)
