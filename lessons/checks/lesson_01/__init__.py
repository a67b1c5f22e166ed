"""Check the exercises of lesson 01: the chain rule by hand, on one small chain."""

from __future__ import annotations

from dataclasses import replace

from minigrad.classroom.behaviors import Function
from minigrad.classroom.exercises import Choice, Mistake, Number, Numbers

from .chains import (
    CHAIN,
    DEEPER,
    FROM_X1,
    at_x1,
    only_at_first,
    rearranged,
)
from .runs import (
    CONTAINERS,
    LONGER_POINT,
    ONLY_THERE,
    POINT,
    POINT_AT_X1,
    by_hand,
    engine,
    first_five_are,
    gradient_of_x1,
    growth,
    hooked,
    links,
    of_all,
    one_sided,
    points,
    short,
    sign,
)

_Y, _S = 0.076176, 0.276
_FACTORS = {
    (2, 2, 2, 3, 3): "The gradient that arrives at x1 has already passed s: both hooks act on it.",
    (6, 6, 6, 6, 6): "The roads to w1 and b1 leave before x1: does the second hook see them?",
    (2, 2, 2, 6, 6): "A hook reaches what lies from it toward the inputs. You let the one at x1 "
    "reach what lies toward the loss.",
    (6, 6, 1, 3, 1): "A bias passes on what arrives, and what arrives was changed before.",
    (3, 3, 3, 3, 3): "The first hook was followed, the second was not.",
    (2, 2, 2, 1, 1): "That is the doubling alone, as in the section above. The hook at s has its "
    "roads, too.",
    (6, 6, 6, 2, 2): "The roads to w1 and b1 leave at s: which of the two hooks is there?",
    (6, 6, 6, 1, 1): "The roads to w1 and b1 leave at s. Does the hook there change what they get?",
    (3, 3, 3, 1, 1): "The roads to w1 and b1 leave at s. Does the hook there change what they get?",
    (
        5,
        5,
        5,
        2,
        2,
    ): "Asked for is the factor: a gradient that is twice as large has the factor 2, and not 1.",
    (
        18,
        18,
        18,
        3,
        3,
    ): "On the way to x, w0 and b0 the hook at s is passed once. You count it twice.",
    (
        12,
        12,
        12,
        3,
        3,
    ): "On the way to x, w0 and b0 the hook at x1 is passed once. You count it twice.",
}


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
                when=short(2 * (1 - _Y), 2 * _S, 0.2),
            ),
            Mistake(
                "Those are the local derivatives from s on, without the loss: start at L.",
                when=short(2 * _S),
            ),
            Mistake(
                "Both derivatives of squares have lost their 2.",
                when=short(1 - _Y, _S),
            ),
            Mistake(
                "The derivative of the square is taken of the wrong number: two times what is "
                "squared, and not two times the square.",
                when=short(2 * (1 - _Y), 2 * _Y),
            ),
            Mistake(
                "You divide by a local derivative. Along a path they are multiplied.",
                when=short(2 * (1 - _Y), 1 / (2 * _S)),
            ),
            Mistake(
                "The local derivatives are added. Along a path they are multiplied.",
                when=short(2 * (1 - _Y) - 2 * _S),
            ),
            Mistake(
                "The walk begins with L itself. What arrives at y is the derivative of L.",
                when=short((1 - _Y) ** 2, 2 * _S),
            ),
            Mistake(
                "That is the gradient of x, or of w0. The road to b1 is a shorter one.",
                value=lambda: engine(*POINT)[0],
            ),
            Mistake(
                "That is b1 after a step against its gradient. Asked for is the gradient.",
                value=lambda: POINT[4] - engine(*POINT)[4],
            ),
            Mistake(
                "That is a difference quotient to one side, or one with a large step: near, but "
                "not to four digits. Multiply the local derivatives.",
                when=one_sided,
            ),
        ],
    ),
    Function(
        id="01.2",
        asks="backward_by_hand(x, w0, b0, w1, b1), which returns the gradients of L with "
        "respect to x, w0, b0, w1, b1, in this order",
        inputs=points(POINT),
        reference=engine,
        digits=12,
        without=("backward", "diff", "jacobian", "derive_by_array"),
        right="One walk, five gradients, and the engine agrees at every point that was tried.",
        hints=(
            "First the forward pass: x1, s. Then what arrives at s, then what arrives at x1.",
            "With dL_ds and dL_dx1 in hand, each of the five is one of the two times one factor.",
        ),
        mistakes=of_all(
            CHAIN,
            last="y",
            own=[
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
                    "The derivative of a square has a 2 in front. This chain has two squares.",
                    like=CHAIN.but(s=lambda v: v.s),
                ),
                Mistake(
                    "Both squares in this chain have lost their 2.",
                    like=CHAIN.but(s=lambda v: v.s / 2),
                ),
                Mistake(
                    "The loss looks at y, not at s.",
                    like=CHAIN.but(y=lambda v: 2 * (v.s - 1)),
                ),
            ],
        ),
    ),
    Function(
        id="01.3",
        asks="gradient_of_x1(x1, w1, b1), mended, which returns dL/dx1",
        inputs=points(POINT_AT_X1),
        reference=gradient_of_x1,
        digits=12,
        without=("backward", "diff", "jacobian", "derive_by_array"),
        right="Each link of the forward pass now has its factor in the backward pass.",
        hints=(
            "Count: how many links lie between x1 and L, and how many factors does the code have?",
            "For each line of the forward pass there has to be one multiplication below it.",
        ),
        mistakes=[
            *CONTAINERS,
            Mistake(
                "A comma behind the value, or brackets around it, make a tuple. Asked for is the "
                "number itself.",
                when=lambda found: isinstance(found[0].result, tuple | list),
            ),
            *by_hand(gradient_of_x1),
            Mistake(
                "This is still the colleague's version: one link of the forward pass has no "
                "factor in the backward pass. Which one has the value 0.552 here?",
                like=at_x1(FROM_X1.but(s=lambda v: 1.0)),
            ),
            Mistake(
                "Nearly: the missing link is found, but the derivative of a square is not the "
                "number that is squared.",
                like=at_x1(FROM_X1.but(s=lambda v: v.s)),
            ),
            Mistake(
                "A fixed number mends one point only. The factor depends on s: write it with s.",
                like=at_x1(FROM_X1.but(s=lambda v: 0.552)),
            ),
            Mistake(
                "The square has its factor now, and w1 has lost its own.",
                like=at_x1(FROM_X1.but(x1=lambda v: 1.0)),
            ),
            Mistake(
                "A path is a product: the links' derivatives are multiplied, not added.",
                like=lambda x1, w1, b1: (2 * ((w1 * x1 + b1) ** 2 - 1) + 2 * (w1 * x1 + b1)) * w1,
            ),
            Mistake(
                "It goes one link too far, with w0 in it. Asked for is what arrives at x1.",
                like=at_x1(FROM_X1.but(x1=lambda v: 0.3 * v.w1)),
            ),
            Mistake(
                "The square has its factor now, and the loss has lost its own.",
                like=at_x1(FROM_X1.but(y=lambda v: 1.0)),
            ),
            *links(at_x1, FROM_X1),
            sign(gradient_of_x1, last="y"),
            Mistake(ONLY_THERE, when=only_at_first(gradient_of_x1)),
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
        model="With 7 digits, the difference of two values of the loss is mostly rounding unless "
        "they are well apart; with a step of 1, the curve bends on the way.",
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
            *(Mistake(says, value=value) for value, says in _FACTORS.items()),
            Mistake(
                "w1 hangs on the road that leaves at s, as b1 does. What is changed there reaches "
                "both.",
                when=lambda given: given[3] != given[4] and given[:3] == (6, 6, 6),
            ),
            Mistake(
                "b0 hangs on the road that leaves at x1, as w0 and x do. What is changed there "
                "reaches all three.",
                when=lambda given: given[2] != given[1] == given[0] and given[3:] == (3, 3),
            ),
            Mistake(
                "x, w0 and b0 are all reached through x1: what is changed there reaches all three.",
                when=lambda given: len(set(given[:3])) > 1 and given[3:] == (3, 3),
            ),
            Mistake(
                "Five gradients are asked for, and six numbers came: the loss has no place here.",
                when=lambda given: len(given) == 6,
            ),
            Mistake(
                "These numbers in another order: that of x, w0, b0, w1, b1 is asked for.",
                when=lambda given: (
                    sorted(given) == [3, 3, 6, 6, 6] and tuple(given) != (3, 3, 6, 6, 6)
                ),
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
        inputs=points(LONGER_POINT),
        reference=engine,
        digits=12,
        without=("backward", "diff", "jacobian", "derive_by_array"),
        right="Only what arrives at y is new; from y toward the inputs all is as it was. So it "
        "would be with ten layers more.",
        hints=(
            "Walk from the loss: what arrives at t? And then at y, through t = w2 * y + b2?",
            "What arrives at y is what arrives at t, times w2. It takes the place of 2(y - 1).",
        ),
        mistakes=of_all(
            DEEPER,
            last="z",
            own=[
                Mistake(
                    "Five gradients of the old chain are not enough: w2 and b2 get one each.",
                    when=lambda found: all(len(trial.result) == 5 for trial in found),
                ),
                Mistake(
                    "The gradients of w2 and b2 are exchanged: which of them has a partner?",
                    like=rearranged(0, 1, 2, 3, 4, 6, 5),
                ),
                Mistake(
                    "The gradients of x and of w0 are exchanged: each contains its partner.",
                    like=rearranged(1, 0, 2, 3, 4, 5, 6),
                ),
                Mistake(
                    "The first five are still those of the old chain. What arrives at y now comes "
                    "from t.",
                    when=first_five_are(lambda *values: engine(*values[:5])),
                ),
                Mistake(
                    "The gradients of the old chain are added in. There is one loss, one path "
                    "from it to y.",
                    when=first_five_are(
                        lambda *values: tuple(
                            map(sum, zip(engine(*values[:5]), engine(*values)[:5], strict=True))
                        )
                    ),
                ),
                Mistake(
                    "The link from y to t is missing: what multiplies y on its way to t?",
                    like=DEEPER.but(y=lambda v: 1.0),
                ),
                Mistake(
                    "The loss looks at z now, not at y.",
                    like=DEEPER.but(z=lambda v: 2 * (v.y - 1)),
                ),
                Mistake(
                    "The loss looks at z now, not at t.",
                    like=DEEPER.but(z=lambda v: 2 * (v.t - 1)),
                ),
                Mistake(
                    "The partner of w2 in its product is y, not s.",
                    like=replace(DEEPER, roads={**DEEPER.roads, "w2": ("t", lambda v: v.s)}),
                ),
                Mistake(
                    "The first square has lost its factor: this chain has three squares.",
                    like=DEEPER.but(s=lambda v: 1.0),
                ),
                Mistake(
                    "The square that makes z has lost its factor: there are three squares in this "
                    "chain.",
                    like=DEEPER.but(t=lambda v: 1.0),
                ),
                *(
                    Mistake(
                        "The derivative of the square that makes z is taken at the wrong number. "
                        "Which number is squared there?",
                        like=DEEPER.but(t=slope),
                    )
                    for slope in (lambda v: 2 * v.s, lambda v: 2 * v.y, lambda v: 2 * v.z)
                ),
                *(
                    Mistake(
                        "A 2 is lost: this chain has three squares, and the derivative of each has "
                        "one.",
                        like=DEEPER.but(s=slope),
                    )
                    for slope in (lambda v: v.s, lambda v: v.s / 2, lambda v: v.s / 4)
                ),
                Mistake(
                    "In your forward pass s goes on as it is, without its square.",
                    like=DEEPER.after(y=lambda v: v.s).but(s=lambda v: 1.0),
                ),
                Mistake(
                    "In your forward pass s goes on as it is, without its square.",
                    like=DEEPER.after(y=lambda v: v.s),
                ),
                Mistake(
                    "The forward pass has lost b2 on the way to t.",
                    like=DEEPER.after(t=lambda v: v.w2 * v.y),
                ),
            ],
        ),
    ),
]
