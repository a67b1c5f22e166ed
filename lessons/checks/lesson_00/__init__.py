"""Check the answers to lesson 00: signs, a slope, a step of w_1, two hooks, and where L is flat."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from minigrad.classroom.behaviors import Hook
from minigrad.classroom.exercises import Choice, Mistake, Number, Numbers

from .runs import (
    B0,
    B1,
    W0,
    W1,
    X,
    flat,
    gradients,
    halve,
    inner,
    loss,
    on_f1,
    passing_on,
    slope,
)

PLACES = (Fraction(10), Fraction(-3), Fraction(-20))
SEVEN = Fraction(7)
STEP = Fraction("0.03")
FOR_W_1 = gradients(X)["w_1"]

_BOXES = {"x": "x (or w_0)", "x_1": "b_0 (or x_1)", "s": "b_1 (or s)", "y": "y"}


def signs(which: Callable[[Fraction], Fraction]) -> tuple[int, ...]:
    """Give the sign of something at each of the places asked for."""
    return tuple((which(x) > 0) - (which(x) < 0) for x in PLACES)


def _same_but_order(given: Any) -> bool:
    return all(map(_near, sorted(map(float, given)), flat())) and len(given) == 3


def _roughly(given: Any, wanted: Fraction) -> bool:
    return _near(given, wanted, 0.06)


def _near(given: Any, wanted: Fraction, most: float = 1e-3) -> bool:
    return abs(float(given) / float(wanted) - 1) < most


EXERCISES = [
    Numbers(
        id="00.1",
        asks="whether L goes up (1) or down (-1) as x grows a little at x = 10, -3 and -20",
        expected=lambda: signs(slope),
        right="A slope belongs to its place: this L falls, climbs, falls and climbs again.",
        hints=(
            "Try one place: is loss(10.0001) larger or smaller than loss(10)?",
            "Or think: s is 0.12 x + 0.24, and it grows with x. Is s above or below 0 there? So "
            "does its square y grow or shrink? And does y come closer to 1 by that?",
        ),
        mistakes=[
            Mistake(
                "Write 1 or -1 for each place, in digits.",
                when=lambda given: any(isinstance(entry, str | bool) for entry in given),
            ),
            Mistake(
                "0 would mean that L is flat there, and it is not. Write 1 or -1.",
                when=lambda given: any(entry == 0 for entry in given),
            ),
            Mistake(
                "You went by whether y is above or below 1. But does y itself grow or shrink as x "
                "grows? It is a square: what if s is negative?",
                value=lambda: signs(lambda x: gradients(x)["y"]),
            ),
            Mistake(
                "These are the signs of x, and of s. L does not follow s directly: a square lies "
                "between, and what counts is whether y comes closer to 1.",
                value=lambda: signs(inner),
            ),
            Mistake(
                "Down everywhere would mean that a larger x always helps. Follow x far to the "
                "right: what becomes of y, and of L?",
                value=(-1, -1, -1),
            ),
            Mistake(
                "Up everywhere would mean that a smaller x always helps. Follow x far to the "
                "left: y is a square. What becomes of L?",
                value=(1, 1, 1),
            ),
            Mistake(
                "Look at one place only: x = 10, far out on the right. Does L grow or shrink when "
                "you go further to the right?",
                value=lambda: tuple(-each for each in signs(slope)),
            ),
            Mistake(
                "These are slopes or other numbers. Only their signs are asked for: 1 or -1 each.",
                when=lambda given: any(abs(float(entry)) != 1 for entry in given),
            ),
        ],
    ),
    Number(
        id="00.2",
        asks="the slope of L at x = 7",
        expected=lambda: slope(SEVEN),
        right="Three lines: a tensor that asks, forward, backward. It is the same for any network.",
        hints=(
            "Section 3 does it at x = 0.3. What has to change?",
            "Write torch.tensor(7.0, requires_grad=True): with a point, for only floating-point "
            "tensors can ask for a gradient. Then loss, then backward, then look into .grad.",
        ),
        mistakes=[
            Mistake("This is L at x = 7, and not its slope.", value=lambda: loss(SEVEN)),
            Mistake("This is x itself. Where does backward leave the gradient?", value=SEVEN),
            Mistake("This is the slope at x = 0.3.", value=lambda: slope(X)),
            Mistake("This is the slope at x = -7.", value=lambda: slope(-SEVEN)),
            Mistake("This is the slope at x = 0.7.", value=lambda: slope(SEVEN / 10)),
            Mistake(
                "The slope at x = 0.3 is still in there: backward adds to what it finds in .grad. "
                "Make a fresh tensor.",
                value=lambda: slope(X) + slope(SEVEN),
            ),
            Mistake(
                "Twice the slope. Did backward go twice into the same tensor? Each time it adds. "
                "With tiny steps: how far apart are the two places?",
                value=lambda: 2 * slope(SEVEN),
            ),
            Mistake(
                "Several times the slope: backward went several times into the same tensor, and "
                "each time it adds. Make the tensor, run forward and backward in one cell.",
                when=lambda found: round(found / slope(SEVEN), 3) in (3, 4, 5),
            ),
            Mistake(
                "That is the change of L over a step. The slope is the change for each unit of it.",
                when=lambda found: round(found / slope(SEVEN), 6) in (0.0001, 0.0002),
            ),
            Mistake(
                "You took a step of 1. The slope changes on the way: take a tiny step, or none.",
                value=lambda: loss(SEVEN + 1) - loss(SEVEN),
            ),
            Mistake("This is s at x = 7.", value=lambda: inner(SEVEN)),
            Mistake("This is y at x = 7.", value=lambda: inner(SEVEN) ** 2),
            *(
                Mistake(
                    f"This is the gradient at {name}, for x = 7. Which one did you ask for?",
                    value=lambda name=name: gradients(SEVEN)[name],
                )
                for name in ("y", "s", "w_1", "x_1", "w_0")
            ),
        ],
    ),
    Number(
        id="00.3",
        asks="by about how much L changes when w_1 grows from 0.40 to 0.43, to two digits",
        expected=lambda: FOR_W_1 * STEP,
        digits=2,
        right="Slope times step: that is all a gradient says, and for small steps it is enough.",
        hints=(
            "Find the box of w_1 in the picture. What does the number behind grad say?",
            "A slope is change for each unit of step. How long is the step from 0.40 to 0.43?",
        ),
        mistakes=[
            Mistake(
                "That is the gradient at w_1: how fast L changes. How far does w_1 go?",
                when=lambda found: _near(abs(found), abs(FOR_W_1), 0.02),
            ),
            Mistake(
                "You went by 0.43. The step is only from 0.40 to 0.43.",
                value=FOR_W_1 * (W1 + STEP),
            ),
            Mistake("You went by 0.40. The step is from 0.40 to 0.43.", value=lambda: FOR_W_1 * W1),
            Mistake(
                "You divided by the step. The slope says how much L changes for each unit of it.",
                when=lambda found: _near(found, FOR_W_1 / STEP, 0.01),
            ),
            Mistake(
                "You added the step to the slope. One is change for each unit of the other.",
                value=FOR_W_1 + STEP,
            ),
            *(
                Mistake(
                    f"You read the gradient of {names}. Look for the box of w_1.",
                    value=gradients(X)[name] * STEP,
                )
                for name, names in _BOXES.items()
            ),
            Mistake(
                "You took the value of w_1 for its gradient. The gradient stands behind grad.",
                value=W1 * STEP,
            ),
            Mistake(
                "That is how far w_1 goes. How fast does L change meanwhile?", value=lambda: STEP
            ),
            Mistake("The step is longer than 0.01.", value=FOR_W_1 / 100),
            Mistake(
                "That is a fraction of L. The change itself is asked for.",
                value=FOR_W_1 * STEP / loss(X),
            ),
            Mistake(
                "That is a loss. By how much does the new one differ from the old one?",
                value=lambda: loss(X, W1 + STEP),
            ),
        ],
    ),
    Hook(
        id="00.4",
        asks="halve(module, grad_input, grad_output), a full backward hook for f1 that halves "
        "the gradient on its way to f0",
        scenario=on_f1,
        reference=halve,
        may_return=(tuple, list),
        right="Nothing but the returned tuple counts: it takes the place of grad_input.",
        hints=(
            "Which of its arguments is the gradient that leaves f1 toward f0?",
            "grad_input is a tuple with one entry. Return a tuple with one entry, half of it, and "
            "do not forget the comma.",
        ),
        mistakes=[
            Mistake(
                "You returned the gradient itself. A hook returns a tuple, with one entry for each "
                "input, also if there is only one: a comma makes it a tuple.",
                trouble=("It returned [] for",),
            ),
            Mistake(
                "grad_input and grad_output are tuples: these do no arithmetic and cannot be "
                "changed. Take the entry out, and put your result into a new tuple.",
                trouble=("unsupported operand", "can't multiply sequence", "'tuple' object"),
            ),
            Mistake(
                "As many entries have to come back as grad_input has: one for each input of f1.",
                trouble=("invalid number of grad_input",),
            ),
            Mistake(
                "What comes back has to have the shape of grad_input[0]. The network was given "
                "three inputs at once here, one below the other.",
                trouble=("for a gradient of [3, 1]",),
            ),
            Mistake(
                "What is in the returned tuple has to be a tensor, as it is in grad_input.",
                trouble=("hook returned 'float'", "hook returned 'numpy", "cannot be converted"),
            ),
            Mistake(
                "This doubles. Half of a number is that number times what?",
                like=passing_on(lambda incoming: incoming * 2),
            ),
            Mistake(
                "It halves, and turns the sign around as flip does. Only half is asked for.",
                like=passing_on(lambda incoming: -incoming / 2),
            ),
            Mistake(
                "It turns the sign around, as flip does. How do you get half of a number?",
                like=passing_on(lambda incoming: -incoming),
            ),
            Mistake(
                "It changes what it was given. The numbers come out right here, but a hook must "
                "not do that: others may be using it. Make a new tensor and return it.",
                like=passing_on(lambda incoming: incoming.mul_(0.5)),
            ),
            Mistake(
                "Nothing was halved. Only what a hook returns takes the place of grad_input: does "
                "yours return the half?",
                like=lambda module, grad_input, grad_output: None,
            ),
            Mistake(
                "A quarter is left: it is halved twice.",
                like=passing_on(lambda incoming: incoming / 4),
            ),
            Mistake(
                "You sent half of grad_output on. That is the gradient at the module's output; "
                "what goes on toward f0 is the gradient at its input.",
                like=lambda module, grad_input, grad_output: (grad_output[0] / 2,),
            ),
            Mistake(
                "You sent grad_output on. That is the gradient at the module's output; what goes "
                "on toward f0 is the gradient at its input.",
                like=lambda module, grad_input, grad_output: grad_output,
            ),
            Mistake(
                "You took one half away. Half of a number depends on the number.",
                like=passing_on(lambda incoming: incoming - 0.5),
            ),
            Mistake(
                "// divides and then rounds down to a whole number.",
                like=passing_on(lambda incoming: (incoming / 2).floor()),
            ),
        ],
    ),
    Choice(
        id="00.5",
        asks="which gradients double with the hook on f0, and why these",
        option="b",
        why_not={
            "a": "The journey does not end at the last module. Where does the gradient go from f0?",
            "c": "Those doubled with the hook on f1. Now it sits on f0: when do f0's own weight "
            "and bias get their gradients, and when is the hook called?",
            "d": "The gradient goes one way, from L down to x. What lies above f0 cannot notice "
            "what a hook does further down.",
        },
        model="f0's own gradients are made from grad_output, before the hook is called. What it "
        "returns goes on from the input of f0, and there is nothing left but x.",
        right="Where on the way a hook sits decides whom it reaches. Lesson 06 comes back to it.",
        hints=(
            "In the picture, the hook on f1 sits at x_1. Where does a hook on f0 sit?",
            "Follow the gradient from L with your finger. Note when it passes w_0 and b_0, and "
            "when it passes the hook. Who is still to come?",
        ),
    ),
    Numbers(
        id="00.6",
        asks="the three x at which dL/dx is zero, from the smallest to the largest",
        expected=flat,
        digits=3,
        right="In the middle L has a peak, to both sides a valley where L is 0: y is exactly 1.",
        hints=(
            "A product is zero when one of its factors is. Which factors of the chain rule can be?",
            "2s is zero where s = 0, and 2(y - 1) is zero where s = 1 or s = -1. Now solve "
            "s = 0.12 x + 0.24 for x, or let sympy.solve do it.",
        ),
        mistakes=[
            Mistake(
                "These are the right s. You are asked for the x that lead to them.",
                value=(-1, 0, 1),
            ),
            Mistake(
                "These are the right x_1. Go one step further back, to x.",
                value=lambda: [W0 * x + B0 for x in flat()],
            ),
            Mistake(
                "The right three, in another order: put the smallest first.",
                when=_same_but_order,
            ),
            Mistake(
                "That is a formula. At which x is it zero?",
                when=lambda given: getattr(given, "free_symbols", ()),
            ),
            Mistake(
                "Numbers are asked for, without letters: put w_0, b_0, w_1 and b_1 in first.",
                when=lambda given: any(getattr(entry, "free_symbols", ()) for entry in given),
            ),
            Mistake(
                "Some are missing. Two factors can be zero, and y is a square: how many s have y = "
                "1?",
                when=lambda given: len(given) < 3,
            ),
            Mistake(
                "Close, and rounded too far: three significant digits are asked for, or fractions.",
                when=lambda given: len(given) == 3 and all(map(_roughly, given, flat())),
            ),
            Mistake(
                "Right but for the signs. In s = 0.12 x + 0.24, what becomes of 0.24 when you "
                "solve for x?",
                value=lambda: [-x for x in reversed(flat())],
            ),
            Mistake("b_1 is missing in s.", value=lambda: [x + B1 / (W1 * W0) for x in flat()]),
            Mistake("b_0 is missing in x_1.", value=lambda: [x + B0 / W0 for x in flat()]),
            Mistake(
                "To get x out of 0.12 x, divide.",
                value=lambda: [x * (W1 * W0) ** 2 for x in flat()],
            ),
            Mistake("These are values of L. Where, at which x?", value=(0, 1, 0)),
            Mistake("These are the slopes themselves. Where, at which x?", value=(0, 0, 0)),
        ],
    ),
]
