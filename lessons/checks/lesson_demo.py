"""Copy from here: an example of each kind of exercise, on the chain 3 * (2 * x + 1) ** 2."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from minigrad.classroom.behaviors import Function, Hook
from minigrad.classroom.exercises import Choice, Mistake, Number, Numbers, Order

X = 0.5


def inner(x: float) -> float:
    """Compute the inside of the demo chain."""
    return 2 * x + 1


def slope(x: float) -> float:
    """Compute the derivative of the demo chain, factor by factor."""
    return 3 * 2 * inner(x) * 2


def walk_back(hook: Callable[[str, float], float | None]) -> dict[str, Any]:
    """Walk from the result back to x, and let a hook look at the gradient after each step."""
    gradient, calls = 1.0, 0
    for step, factor in (("times 3", 3.0), ("square", 2 * inner(X)), ("times 2", 2.0)):
        gradient *= factor
        replacement = hook(step, gradient)
        calls += 1
        if replacement is not None:
            gradient = replacement
    return {"how often it was called": calls, "the gradient at x": gradient}


def double_the_first(step: str, gradient: float) -> float | None:
    """Double the gradient after the first step only."""
    return 2 * gradient if step == "times 3" else None


def _inputs(rng: Random) -> list[tuple[float]]:
    return [(0.0,), *((rng.uniform(-2, 2),) for _ in range(3))]


EXERCISES = [
    Number(
        id="demo.1",
        asks="the slope of 3 * (2 * x + 1) ** 2 at x = 0.5, as a number",
        expected=lambda: slope(X),
        right="Three factors, one for each step of the chain.",
        hints=(
            "How fast does the inner function grow, and how fast the outer one?",
            "Multiply three slopes: of times 3, of the square at 2, and of 2 * x + 1.",
        ),
        mistakes=[
            Mistake(
                "The inner function has a slope of its own, not equal to 1: one factor is missing.",
                value=lambda: slope(X) / 2,
            ),
            Mistake("That is the value of the function, not its slope.", value=12),
            Mistake("A slope at one point is a number: put x in.", when=lambda n: n != n),
        ],
    ),
    Numbers(
        id="demo.2",
        asks="the three slopes of the steps, from the inside to the outside",
        expected=lambda: (2.0, 2 * inner(X), 3.0),
        right="Their product is the slope of the chain, in any order.",
        hints=("One slope for each step.", "The slope of a square is twice what is squared."),
        mistakes=[
            Mistake(
                "The square's slope is taken at x; what is squared is 2 * x + 1.", value=(2, 1, 3)
            ),
        ],
    ),
    Order(
        id="demo.3",
        asks='the order in which the backward pass visits "times 2", "square" and "times 3"',
        expected=("times 3", "square", "times 2"),
        right="Backward starts where forward ended.",
        hints=("Which step knows the result?", "Read the chain from the result to x."),
        mistakes=[
            Mistake(
                "That is the order of the forward pass. Where does backward start?",
                value=("times 2", "square", "times 3"),
            )
        ],
    ),
    Choice(
        id="demo.4",
        asks="what happens to the slope if the 1 becomes 5",
        option="b",
        right="The 1 itself has slope zero, and still it moves where the square is taken.",
        why_not={
            "a": "The slope of a constant is zero, but where is the square's slope taken?",
            "c": "It would vanish only if what is squared were zero.",
        },
        model="The slope of the square is twice what is squared, and that is larger by 4 now.",
        hints=(
            "Which of the three slopes depends on the 1?",
            "Write the slope of the square down.",
        ),
    ),
    Function(
        id="demo.5",
        asks="slope(x), which returns the slope at any x",
        inputs=_inputs,
        reference=slope,
        right="One line, and it holds everywhere.",
        hints=("Write demo.1 with x in place of 0.5.", "Multiply the three slopes of demo.2."),
        mistakes=[
            Mistake("The slope of 2 * x + 1 is missing.", like=lambda x: slope(x) / 2),
            Mistake("That is the value, not the slope.", like=lambda x: 3 * inner(x) ** 2),
        ],
    ),
    Hook(
        id="demo.6",
        asks='hook(step, gradient), which doubles the gradient after the step "times 3" only',
        scenario=walk_back,
        reference=double_the_first,
        may_return=(float,),
        right="What a hook returns is what the next step gets.",
        hints=("Look at the name of the step.", "Return None where nothing is to change."),
        mistakes=[
            Mistake(
                "It doubles after every step: look at the name of the step first.",
                like=lambda step, gradient: 2 * gradient,
            ),
            Mistake(
                "Nothing was changed. A new local value does not leave the hook: return it.",
                like=lambda step, gradient: None,
            ),
        ],
    ),
]
