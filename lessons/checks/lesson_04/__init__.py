"""Check the exercises of lesson 04, on tensor hooks: each answer runs in a real backward pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minigrad.classroom.behaviors import Hook
from minigrad.classroom.exercises import Choice, Mistake, Numbers
from minigrad.classroom.values import same

from .mistakes import LOG_SIZES, MOMENTUM, NORM_CLIPPER, STAND_INS
from .momentum import momentum, momentum_run
from .runs import (
    five_gradients,
    log_sizes,
    logged_run,
    norm_clipper,
    norm_run,
    stand_ins,
    stand_ins_run,
)


def _near(answer: Sequence[Any], wrong: Sequence[float]) -> bool:
    """Tell whether these are the same numbers, to three digits."""
    return all(same(a, b, 3) for a, b in zip(answer, wrong, strict=True))


EXERCISES = [
    Numbers(
        id="04.1",
        asks="the gradients of x, w0, b0, w1 and b1 with the three hooks, in this order",
        expected=five_gradients,
        right="Each hook changes what lies between its place and the inputs, and nothing else.",
        hints=(
            "Walk from the loss to the inputs. What leaves s after its hook, and to which three "
            "tensors does it go?",
            "b1 gets what leaves s; w1 gets that times x_1, and then its own hook; x_1 gets it "
            "times w_1, and is clipped. Only then multiply on to w0, b0 and x.",
        ),
        mistakes=[
            Mistake(
                "Those are the gradients without any hook.",
                value=lambda: five_gradients(1, 9, 1),
            ),
            Mistake(
                "The hook on s is missing. It reaches all five; the clipping hides that for three "
                "of them.",
                value=lambda: five_gradients(1),
            ),
            Mistake(
                "The hook on x1 is missing. Does what arrives at x1 fit between -0.1 and 0.1?",
                value=lambda: five_gradients(clip=9),
            ),
            Mistake(
                "The hook on w1 is missing. It sits on a leaf: it changes what goes into w1.grad.",
                value=lambda: five_gradients(w1=1),
            ),
            Mistake(
                "The halving comes too late for three of them: s is nearer to the loss than x1, so "
                "its hook runs before the clipping.",
                value=lambda: five_gradients(late=True),
            ),
            Mistake(
                "w1 is reached through s, and its gradient is not halved yet.",
                value=lambda: five_gradients(s_for_w1=1),
            ),
            Mistake(
                "b1 is reached through s, and its gradient is not halved yet.",
                value=lambda: five_gradients(s_for_b1=1),
            ),
            Mistake(
                "One of them is halved a second time. The hook on s runs once, and what leaves it "
                "goes to all three.",
                when=lambda answer: any(
                    _near(answer, wrong)
                    for wrong in (
                        five_gradients(0.25),
                        five_gradients(s_for_w1=0.25),
                        five_gradients(s_for_b1=0.25),
                    )
                ),
            ),
            Mistake(
                "The gradient of w1 is what arrives at s times the other factor of the product. "
                "That is not w1 itself.",
                value=lambda: five_gradients(for_w1=0.4),
            ),
            Mistake(
                "Which of x, w0 and b0 is added to the others? Its local derivative is 1.",
                when=lambda answer: _near(answer, five_gradients(through_x1=(0.3, 0.3, 0.3))),
            ),
            Mistake(
                "What leaves x1 goes on by the chain rule: x and w0 get it times the other factor "
                "of their product.",
                when=lambda answer: any(
                    _near(answer, five_gradients(through_x1=wrong))
                    for wrong in ((1, 1, 1), (0, 0, 1), (0.3, 1, 1), (1, 0.3, 1))
                ),
            ),
            Mistake(
                "x, w0 and b0 are clipped one by one here. The clipping happens at x1; from there "
                "on the chain rule goes on with what is left.",
                when=lambda answer: (
                    abs(answer[2] + 0.1) < 1e-6
                    and abs(answer[0] - five_gradients(clip=9)[0]) < 1e-3
                ),
            ),
            Mistake(
                "What arrives at x1 is negative. To which end of the range is it cut?",
                when=lambda answer: answer[2] > 0 and answer[4] < 0,
            ),
            Mistake(
                "The hook on w1 turned the sign of others, too. It sits on a leaf: nothing lies "
                "behind it.",
                when=lambda answer: answer[3] > 0 and any(answer[i] > 0 for i in (0, 1, 2, 4)),
            ),
            Mistake(
                "The hook on s halves the gradient. You doubled it.",
                value=lambda: five_gradients(2),
            ),
            Mistake(
                "Too few digits are left: round at the end, to four.",
                when=lambda answer: all(
                    any(a == round(b, places) for places in (1, 2, 3))
                    for a, b in zip(answer, five_gradients(), strict=True)
                ),
            ),
        ],
    ),
    Hook(
        id="04.2",
        asks="norm_clipper(limit), which returns a hook that scales a gradient down to that norm "
        "if it is longer, and keeps it otherwise",
        scenario=norm_run,
        reference=norm_clipper(),
        right="One factor for all entries: shorter, and still in the same direction.",
        hints=(
            "By what do you multiply a gradient of norm 5 to get norm 1? And when is nothing to be "
            "done?",
            "Inside norm_clipper define hook(grad): if grad.norm() is above the limit, return grad "
            "times limit over norm. Return the hook itself at the end.",
        ),
        mistakes=NORM_CLIPPER,
    ),
    Hook(
        id="04.3",
        asks="log_sizes(tensors), which hooks each tensor and returns a dict that every pass fills "
        "with the norms of their gradients, under their names",
        scenario=logged_run,
        reference=log_sizes(),
        without=("backward",),
        right="A hook that watches returns None, and knows its own name.",
        hints=(
            "When does the lambda look up name: when it is made, or when it runs? And what does a "
            "lambda return?",
            "Write a function remember(name) that returns a hook; the hook stores "
            "sizes[name] = grad.norm().item() and returns nothing.",
        ),
        mistakes=LOG_SIZES,
    ),
    Choice(
        id="04.4",
        asks="how to keep every entry of p.grad between -1 and 1 over four backward passes",
        option="b",
        right="It is the only one of the four that sees what has been added up.",
        why_not={
            "a": "Each pass adds something between -1 and 1. What can four of them add up to?",
            "c": "On a leaf retain_grad does nothing, and the tensor hook clips each pass by "
            "itself. What can four passes add up to?",
            "d": "It clips the gradient that the loss starts from, which is 1 anyway.",
        },
        model="A tensor hook sees what one pass brings, and four parts of up to 1 can add up to 4; "
        "the hook of (b) runs after each has been added, and cuts the sum in .grad itself.",
        hints=(
            "Section 9: which of the two hooks on a leaf sees 6 in the second pass, and which 12?",
            "Think of an entry that gets 1 in each pass, and follow it through all four passes.",
        ),
    ),
    Hook(
        id="04.5",
        asks="momentum_in_backward(parameters, lr, momentum), which registers a step with momentum "
        "on each parameter and returns the list of handles",
        scenario=momentum_run,
        reference=momentum(),
        right="That is torch.optim.SGD with momentum, without a step() to forget.",
        hints=(
            "Section 9 has the step without momentum. Where can each parameter's velocity live "
            "between two passes?",
            "Make the hook in a function of its own that holds the velocity (nonlocal), or keep a "
            "dict from parameter to velocity. The hook changes p with p.sub_(...) and sets p.grad "
            "to None.",
        ),
        mistakes=MOMENTUM,
    ),
    Hook(
        id="04.6",
        asks="stand_ins(x, n, hook), which returns n tensors equal to x whose parts of the "
        "gradient go through hook(i, grad), one by one",
        scenario=stand_ins_run,
        reference=stand_ins(),
        right="A hook sees the sum at its own tensor: so give each use a tensor of its own.",
        hints=(
            "A hook sees the sum over the uses of its tensor. How many uses has each stand-in?",
            "Make n views with x.view_as(x), and on each register a hook that knows its own i "
            "(lambda grad, i=i: ...) and returns what hook(i, grad) returns.",
        ),
        mistakes=STAND_INS,
    ),
]
