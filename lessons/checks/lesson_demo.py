"""Copy from here: an example of each kind of exercise, on the chain 3 * (2 * x + 1) ** 2.

No notebook solves these exercises, so each brings its solution. Those of a lesson don't: theirs
is the cell of the solved notebook.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad.classroom import Choice, Function, Hook, Number, Numbers, Order


def walk_back(hook: Callable[[str, float], float | None]) -> dict[str, Any]:
    """Walk from the result back to x, and let a hook look at the gradient after each step."""
    gradient, calls = 1.0, 0
    for step, factor in (("times 3", 3.0), ("square", 4.0), ("times 2", 2.0)):
        gradient *= factor
        replacement = hook(step, gradient)
        calls += 1
        if replacement is not None:
            gradient = replacement
    return {"how often it was called": calls, "the gradient at x": gradient}


EXERCISES = [
    Number(
        id="demo.1",
        asks="the slope of 3 * (2 * x + 1) ** 2 at x = 0.5, as a number",
        right="Three factors, one for each step of the chain.",
        hints=(
            "How fast does the inner function grow, and how fast the outer one?",
            "Multiply three slopes: of times 3, of the square at 2, and of 2 * x + 1.",
        ),
        solution="by_hand = 3 * 2 * (2 * 0.5 + 1) * 2",
        mistakes="""
            ~ (2 * 0.5 + 1) * 2 => (2 * 0.5 + 1)
                The inner function has a slope of its own, not equal to 1: one factor is missing.
            = 0.5
                That is x, not the slope there.
        """,
    ),
    Numbers(
        id="demo.2",
        asks="the three slopes of the steps, from the inside to the outside",
        right="Their product is the slope of the chain, in any order.",
        hints=("One slope for each step.", "The slope of a square is twice what is squared."),
        solution="slopes = (2, 2 * (2 * 0.5 + 1), 3)",
        mistakes="""
            ~ (2 * 0.5 + 1) => 0.5
                The square's slope is taken at x. What is squared is 2 * x + 1.
        """,
    ),
    Order(
        id="demo.3",
        asks='the order in which the backward pass visits "times 2", "square" and "times 3"',
        right="Backward starts where forward ended.",
        hints=("Which step knows the result?", "Read the chain from the result to x."),
        solution='order = ["times 3", "square", "times 2"]',
        mistakes="""
            = ["times 2", "square", "times 3"]
                That is the order of the forward pass. Where does backward start?
        """,
    ),
    Choice(
        id="demo.4",
        asks="what happens to the slope if the 1 becomes 5",
        right="The 1 itself has slope zero, and still it moves where the square is taken.",
        model="The slope of the square is twice what is squared, and that is larger by 4 now.",
        hints=(
            "Which of the three slopes depends on the 1?",
            "Write the slope of the square down.",
        ),
        solution='answer = ("b", "because the square is taken further out")',
        mistakes="""
            = "a"
                The slope of a constant is zero, but where is the square's slope taken?
            = "c"
                It would vanish only if what is squared were zero.
        """,
    ),
    Function(
        id="demo.5",
        asks="slope(x), which returns the slope at any x",
        inputs=lambda rng: [(0.0,), *((rng.uniform(-2, 2),) for _ in range(3))],
        right="One line, and it holds everywhere.",
        hints=("Write demo.1 with x instead of 0.5.", "Multiply the three slopes of demo.2."),
        solution="""
            def slope(x):
                return 12 * (2 * x + 1)
        """,
        mistakes="""
            ~ 12 => 6
                The slope of 2 * x + 1 is missing.
            = lambda x: 3 * (2 * x + 1) ** 2
                That is the value, not the slope.
            ~ x + 1 => y + 1
            ! NameError
                A name in it is mistyped.
            ~ x + 1 => abs(x) + 1
            ? any(yours != mine for yours, mine in zip(seen, right)) and seen[0] == right[0]
                It is right at 0, and wrong where x is negative.
        """,
    ),
    Hook(
        id="demo.6",
        asks='hook(step, gradient), which doubles the gradient after the step "times 3" only',
        scenario=walk_back,
        may_return=(float,),
        right="What a hook returns is what the next step gets.",
        hints=("Look at the name of the step.", "Return None where nothing should change."),
        solution="""
            def hook(step, gradient):
                if step == "times 3":
                    return 2 * gradient
        """,
        mistakes=r"""
            ~ if step == "times 3" => if step
                It doubles after every step: look at the name of the step first.
            ~ return 2 => gradient = 2
                Nothing was changed. A new local value does not leave the hook: return it.
            ~ return 2 * gradient => return (2 * gradient,)
            ! It returned
                The next step multiplies it.
        """,
    ),
]
