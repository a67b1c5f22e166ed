"""Check the exercises of lesson 11, on checks of gradients: steps, wrong rules and directions."""

from __future__ import annotations

from minigrad.classroom.answers import Choice, Numbers
from minigrad.classroom.behaviors import Function, Hook
from minigrad.classroom.exercise import Mistake
from minigrad.classroom.runs_11 import (
    ACCEPTED,
    CAME_BACK,
    CUBE,
    EPS32,
    EPS64,
    GRAD,
    LEFT,
    RIGHT,
    central,
    direction_run,
    exact_share,
    fields,
    one_walk,
    shares,
    sly_run,
    thumb,
    wrong_share,
)
from minigrad.tensor import Tensor

EXERCISES = [
    Numbers(
        id="11.1",
        asks="in float32 the step and the error of the one-sided quotient, then the step and the "
        "error of the central one",
        expected=lambda: thumb(EPS32),
        digits=2,
        right="In float32 a central quotient gives four digits or five, and asks for a step that "
        "looks far too large.",
        hints=(
            "Section 2 says at which power of epsilon each of the four lies.",
            "One-sided: step and error are both the square root. Central: the step is the cube "
            "root. What is its error, if it shrinks with the square of the step?",
        ),
        mistakes=[
            Mistake("Those belong to float64. Here epsilon is 2**-23.", value=lambda: thumb(EPS64)),
            Mistake(
                "You have exchanged the pairs: the one-sided quotient comes first.",
                value=lambda: (*thumb(EPS32)[2:], *thumb(EPS32)[:2]),
            ),
            Mistake(
                "Step and error of the central quotient are exchanged.",
                value=lambda: (*thumb(EPS32)[:2], *thumb(EPS32)[:1:-1]),
            ),
            Mistake(
                "The steps are right. The error of the central quotient is not its step: it "
                "shrinks with the square of the step.",
                value=lambda: (*thumb(EPS32)[:3], thumb(EPS32)[2]),
            ),
            Mistake(
                "All four are the square root. For the central quotient truncation shrinks with "
                "the square of the step, so its bottom lies elsewhere.",
                value=lambda: (EPS32**0.5,) * 4,
            ),
            Mistake(
                "Epsilon itself is no step: x + epsilon is the next number after 1, and the "
                "difference keeps a single digit.",
                when=lambda answer: any(abs(float(a) / EPS32 - 1) < 0.05 for a in answer),
            ),
        ],
    ),
    Function(
        id="11.2",
        asks="central_difference(f, x, h), which returns a tensor shaped like x with the central "
        "difference quotient of each entry",
        inputs=fields,
        reference=central(),
        returns=Tensor,
        without=("backward", "grad", "jacobian"),
        right="Two calls for each entry, and no rule of differentiation anywhere.",
        hints=(
            "For one entry: which tensor has h at that place and zeros elsewhere?",
            "Go through the rows of torch.eye(x.numel()), bring each into the shape of x, and take "
            "(f(x + step) - f(x - step)) / (2 * h). Stack what you get, and reshape it.",
        ),
        mistakes=[
            Mistake(
                "That is the one-sided quotient: f(x) itself has no part in a central one.",
                like=central(one_sided=True),
            ),
            Mistake(
                "From x - h to x + h it is twice as far as h: what do you divide by?",
                like=central(distance=1),
            ),
            Mistake(
                "You moved all entries at once, and the change is that of all together. One entry "
                "at a time.",
                like=central(together=True),
            ),
            Mistake(
                "One number came back. The loss has a slope for each entry of x.",
                when=lambda found: getattr(found[0].result, "shape", None) == (),
            ),
            Mistake(
                "The numbers are right, in one long row. Give them the shape of x.",
                like=central(flat=True),
            ),
            Mistake(
                "The sign is turned: f(x + h) comes first.",
                like=central(distance=-2),
            ),
        ],
    ),
    Function(
        id="11.3",
        asks="share_backward(g, x), mended, which returns the gradient of x for y = x / x.sum()",
        inputs=shares,
        reference=exact_share,
        without=("backward", "grad"),
        right="The mean that is taken off is weighted with the shares. With ones for g all means "
        "are the same, and so nobody saw it.",
        hints=(
            "x_i stands in the numerator of y_i and in the denominator of every y_j. Each place "
            "gives a term.",
            "The term of the numerator is g_i / S. The derivative of x_j / S by S is -x_j / S**2, "
            "and it is multiplied by g_j and summed over j.",
        ),
        mistakes=[
            Mistake(
                "This is still the colleague's rule: every g_j is given the same weight. How much "
                "does y_j change when the total changes?",
                like=wrong_share("mean"),
            ),
            Mistake(
                "The denominator depends on x as well. One term is missing.",
                like=wrong_share("numerator"),
            ),
            Mistake(
                "Nearly: the second term is divided by the total once more than you do.",
                like=wrong_share("once"),
            ),
            Mistake(
                "Both terms are there, and they have the same sign. What does y_j do when the "
                "total grows?",
                like=wrong_share("plus"),
            ),
            Mistake(
                "The second term sums over j, before anything is multiplied by entry i.",
                like=wrong_share("no sum"),
            ),
            Mistake(
                "Everything is divided by the total once too often, or once too rarely.",
                like=wrong_share("no total"),
            ),
        ],
    ),
    Choice(
        id="11.4",
        asks="why gradcheck refuses a right rule for float32 inputs",
        option="b",
        right="The rule is right and the yardstick is too coarse: so it is a false alarm.",
        why_not={
            "a": "Compare by_backward in both precisions: in which digit do they differ?",
            "c": "It warned, and then it ran. What did it complain about in the end?",
            "d": "One in a thousand is three digits, and float32 has seven. Which of the two "
            "Jacobians has lost the other four?",
        },
        mentions={
            "what becomes of the digits": (
                "digit",
                "round",
                "precis",
                "cancel",
                "eps",
                "spac",
                "resol",
                "subtract",
                "noise",
                "last place",
            ),
            "the step, or the difference": (
                "step",
                "1e-6",
                "differ",
                "small",
                "move",
                "quotient",
                "h ",
                "subtract",
                "numeric",
            ),
        },
        hints=(
            "Look at the figure: how large is the error of the float32 curves at h = 1e-6?",
            "How many float32 numbers lie between sin(0.7 - 1e-6) and sin(0.7 + 1e-6)? They are "
            "6e-8 apart.",
        ),
    ),
    Hook(
        id="11.5",
        asks="sly_backward(g, x), a backward for y = x**3 that gradcheck accepts at (0.5, 1, 2) "
        "and that is wrong somewhere",
        scenario=sly_run,
        reference=CUBE["sly"],
        right="Whoever can fool a check knows what it looks at: a few points, unit cotangents, and "
        "a tolerance.",
        hints=(
            "What does gradcheck never try: which x, which g, which size of an error?",
            "All entries of the point are positive. Which functions agree with x**2 there, and "
            "not on the other side?",
        ),
        mistakes=[
            Mistake(
                "This rule is right everywhere, as far as can be seen. Now spoil it where "
                "gradcheck does not look.",
                when=lambda found: [each.result for each in found] == [ACCEPTED, RIGHT],
            ),
            Mistake(
                "It is wrong, and gradcheck sees it. Leave the three points and the unit "
                "cotangents alone, and spoil something else.",
                when=lambda found: found[0].result not in (ACCEPTED, None),
            ),
        ],
    ),
    Hook(
        id="11.6",
        asks="check_direction(loss, parameters, directions, h), which returns the slope along the "
        "directions by two forward passes, and by one backward pass",
        scenario=direction_run,
        reference=one_walk(),
        right="Three forward passes for any number of parameters. A random direction misses a "
        "wrong gradient only by bad luck.",
        hints=(
            "Take the gradients first, with torch.autograd.grad. Then move all parameters by h "
            "times their direction, inside of torch.no_grad().",
            "Forward by h, call loss, back by 2 * h, call loss, forward by h. The second number of "
            "the pair is the sum of (gradient * direction).sum().",
        ),
        mistakes=[
            Mistake(
                "The parameters are not where they were. Move them back.",
                when=lambda found: found[2].result not in (CAME_BACK, None),
            ),
            Mistake(
                "The parameters' .grad was changed. torch.autograd.grad gives gradients without "
                "touching it.",
                when=lambda found: found[3].result not in (GRAD, None),
            ),
            Mistake(
                "That is a one-sided quotient: it forgets the step to the other side.",
                like=one_walk(one_sided=True),
            ),
            Mistake(
                "From one side to the other it is 2 * h.",
                like=one_walk(distance=1.0),
            ),
            Mistake(
                "Right numbers in the other order: first by steps, then by backward.",
                like=one_walk(swapped=True),
            ),
            Mistake(
                "The gradients are summed without their directions: multiply first.",
                like=one_walk(weighted=False),
            ),
            Mistake(
                "Only the first parameter takes part. All of them move together.",
                like=one_walk(first_only=True),
            ),
            Mistake(
                "Both numbers come from backward. The first has to be measured: loss() is to be "
                "called with the parameters moved.",
                when=lambda found: (
                    found[0].result == found[1].result and found[4].result not in (LEFT, None)
                ),
            ),
        ],
    ),
]
