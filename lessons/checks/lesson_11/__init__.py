"""Check the exercises of lesson 11, on checks of gradients: steps, wrong rules and directions."""

from __future__ import annotations

from minigrad.classroom.behaviors import Function, Hook
from minigrad.classroom.exercises import Mistake, Numbers

from .float32 import IN_FLOAT32
from .quotients import CENTRAL
from .runs import (
    ACCEPTED,
    CAME_BACK,
    CUBE,
    EPS32,
    EPS64,
    GRAD,
    RIGHT,
    all_zero,
    direction_run,
    exact_share,
    in_either,
    near,
    one_walk,
    only_first_right,
    shares,
    shifted,
    sly_run,
    thumb,
    wrong_share,
)

_ROOT, _, _CUBE, _CUBE_2 = thumb(EPS32)

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
                "Your epsilon is half as large. Here it is the distance from 1 to the next number.",
                value=lambda: thumb(EPS32 / 2),
            ),
            Mistake(
                "Epsilon was rounded before the roots were taken, and that costs the second digit. "
                "Put in 2**-23.",
                when=lambda answer: near(answer, thumb(1e-7), 0.03),
            ),
            Mistake(
                "You took a power of ten for epsilon. It is a power of two.",
                when=lambda answer: any(near(answer, thumb(eps)) for eps in (1e-23, 2e-23)),
            ),
            Mistake(
                "Those were found by trying, and are in the figure. Asked for are the rules of "
                "thumb: epsilon, to some power.",
                when=lambda answer: any(
                    near(answer, found, 0.2)
                    for found in ((1e-4, 6e-5, 3e-3, 2e-6), (1e-8, 4e-10, 3e-6, 2e-12))
                ),
            ),
            Mistake(
                "You have exchanged the pairs: the one-sided quotient comes first.",
                value=(_CUBE, _CUBE_2, _ROOT, _ROOT),
            ),
            Mistake(
                "Step and error of the central quotient are exchanged.",
                value=(_ROOT, _ROOT, _CUBE_2, _CUBE),
            ),
            Mistake(
                "The right numbers in another order: first step and error of the one quotient, "
                "then step and error of the other.",
                when=lambda answer: near(sorted(answer), sorted(thumb(EPS32))),
            ),
            Mistake(
                "The steps are right. The error of the central quotient is not its step: it "
                "shrinks with the square of the step.",
                value=(_ROOT, _ROOT, _CUBE, _CUBE),
            ),
            Mistake(
                "All four are the square root. For the central quotient truncation shrinks with "
                "the square of the step, so its bottom lies elsewhere.",
                value=(_ROOT,) * 4,
            ),
            Mistake(
                "You gave the one-sided quotient the power that belongs to the central one. Its "
                "truncation shrinks with the step itself.",
                when=lambda answer: near([answer[0]], [_CUBE]),
            ),
            Mistake(
                "The central step is the square root, as for the one-sided quotient. Its "
                "truncation shrinks with the square of the step, so its bottom lies elsewhere.",
                when=lambda answer: near([answer[2]], [_ROOT]),
            ),
            Mistake(
                "As Python reads it, e ** 1 / 2 is half of e: put the exponent in brackets.",
                when=lambda answer: near([answer[0]], [EPS32 / 2]),
            ),
            Mistake(
                "Something to the power of 0 is 1. Does // round the exponent down?",
                when=lambda answer: near([answer[0]], [1.0]),
            ),
            Mistake(
                "Steps and errors are above zero. If these are exponents: the numbers themselves "
                "are asked for.",
                when=lambda answer: all(float(entry) < -1 for entry in answer),
            ),
            Mistake(
                "Epsilon itself is no step: x + epsilon is the next number after 1, and the "
                "difference keeps a single digit.",
                when=lambda answer: any(near([a], [EPS32]) for a in (answer[0], answer[2])),
            ),
            Mistake(
                "Epsilon is the relative error of a stored number. In the quotient it is divided "
                "by the step, and that makes it much larger.",
                when=lambda answer: any(near([a], [EPS32]) for a in (answer[1], answer[3])),
            ),
            Mistake(
                "The digits are right. In one place or two the decimal point is not.",
                when=lambda answer: shifted(answer, thumb(EPS32)),
            ),
            Mistake(
                "All four are about right. Two significant digits are asked for: carry more of "
                "them, and round at the end.",
                when=lambda answer: near(answer, thumb(EPS32), 0.2),
            ),
        ],
    ),
    CENTRAL,
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
            *(
                Mistake(
                    "Everything is divided by the total once too often, or once too rarely.",
                    like=wrong_share(kind),
                )
                for kind in ("no total", "twice")
            ),
            Mistake(
                "The second term is divided by the total too often.", like=wrong_share("thrice")
            ),
            *(
                Mistake(
                    "In the second term it is x_j that stands beside g_j, inside of the sum over "
                    "j: the Jacobian is the wrong way around.",
                    like=wrong_share(kind),
                )
                for kind in ("transposed", "plain sum", "unweighted")
            ),
            *(
                Mistake(
                    "You took a mean over the entries. What each g_j counts for is its share, and "
                    "the shares sum to 1 already.",
                    like=wrong_share(kind),
                )
                for kind in ("mean of x g", "mean of shares")
            ),
            Mistake("The weights are the shares of x, not those of g.", like=wrong_share("by g")),
            *(
                Mistake(
                    "That is softmax's rule. Here nothing is exponentiated, and so y does not "
                    "stand in front.",
                    like=wrong_share(kind),
                )
                for kind in ("softmax", "softmax of x")
            ),
            Mistake("Both terms are there, with their signs turned.", like=wrong_share("turned")),
            Mistake(
                "That multiplies g with the shares themselves. Differentiate them by x.",
                like=wrong_share("shares"),
            ),
            Mistake(
                "g has not come in: a backward rule weights the derivatives with what arrives.",
                like=wrong_share("without g"),
            ),
            Mistake(
                "Zeros are right for a cotangent of ones, and for no other.",
                when=all_zero,
            ),
            Mistake(
                "The first case is right, and those of other lengths are not. What is kept from "
                "an earlier call?",
                when=only_first_right,
            ),
            Mistake(
                "g and x come in several lengths here. Does the rule use a tensor of the notebook "
                "in the place of its arguments?",
                trouble=("size of tensor", "shape"),
            ),
        ],
    ),
    IN_FLOAT32,
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
                when=lambda found: (
                    found[0].result not in (ACCEPTED, None) and "reentrant" not in found[0].result
                ),
            ),
            Mistake(
                "gradcheck runs every backward pass twice, and yours came out differently. Be "
                "wrong in the same way each time.",
                when=lambda found: "reentrant" in found[0].result,
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
                when=lambda found: in_either(found, 2, CAME_BACK),
            ),
            Mistake(
                "The parameters' .grad was changed. torch.autograd.grad gives gradients without "
                "touching it.",
                when=lambda found: in_either(found, 3, GRAD),
            ),
            Mistake(
                "That is a one-sided quotient: it forgets the step to the other side.",
                like=one_walk(low=0.0, span=lambda h: h),
            ),
            Mistake(
                "The second place is where you started, and you divide as if it lay on the other "
                "side: go back by twice the step.",
                like=one_walk(low=0.0),
            ),
            Mistake("From one side to the other it is 2 * h.", like=one_walk(span=lambda h: h)),
            Mistake(
                "Python works from left to right: / 2 * h divides by 2 and multiplies by h. Put "
                "the denominator in brackets.",
                like=one_walk(span=lambda h: 2 / h),
            ),
            Mistake(
                "The first number is a difference. Divide it by the distance.",
                like=one_walk(span=lambda h: 1.0),
            ),
            Mistake(
                "Right numbers in the other order: first by steps, then by backward.",
                like=one_walk(swapped=True),
            ),
            *(
                Mistake(
                    "The gradients are summed without their directions: multiply first.",
                    like=one_walk(weigh=weigh),
                )
                for weigh in (lambda g, d: g.sum(), lambda g, d: (g * g).sum())
            ),
            Mistake(
                "In the second number you took a mean over the entries of a parameter. The formula "
                "has a sum.",
                like=one_walk(weigh=lambda g, d: (g * d).mean()),
            ),
            *(
                Mistake(
                    "The gradients were taken where the parameters had been moved to. They belong "
                    "to the place in the middle.",
                    like=one_walk(seen_at=place),
                )
                for place in (1.0, -1.0)
            ),
            Mistake(
                "Only the first parameter takes part. All of them move together.",
                like=one_walk(first_only=True),
            ),
            Mistake(
                "Both numbers come from backward. The first has to be measured: loss() is to be "
                "called with the parameters moved.",
                when=lambda found: found[0].result == found[1].result,
            ),
            Mistake(
                "The loss was the same in both places. loss() reads the parameters themselves: "
                "move these, in place, and not copies of them.",
                when=lambda found: found[0].result == 0 and found[4].result == 0,
            ),
            Mistake(
                "You measured with another step than the h that is given.",
                when=lambda found: abs(found[0].result / found[1].result - 1) < 1e-6,
            ),
            Mistake(
                "A leaf that requires a gradient is only moved inside of torch.no_grad().",
                trouble=("leaf",),
            ),
            Mistake(
                "loss is a function: loss() computes the number.",
                trouble=("'function'", "builtin_function"),
            ),
            Mistake(
                "A gradient needs a forward pass that is recorded: call loss() for it outside of "
                "torch.no_grad().",
                trouble=("does not require grad",),
            ),
            Mistake(
                "There may be any number of parameters, of any shapes.",
                trouble=("to unpack", "size of tensor", "out of range"),
            ),
        ],
    ),
]
