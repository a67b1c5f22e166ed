"""Check the answers to lesson 00: signs, a slope, a step of w_1, two hooks, and where L is flat."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import nn, tensor
from minigrad.classroom import Choice, Hook, Number, Numbers

from .models import SLinear, layer


def forward(
    x: Any, w_0: float = 0.3, b_0: float = 0.1, w_1: float = 0.4, b_1: float = 0.2
) -> dict[str, Any]:
    """Compute the worked example."""
    x_1 = w_0 * x + b_0
    s = w_1 * x_1 + b_1
    y = s**2
    return {"x_1": x_1, "s": s, "y": y, "L": (y - 1) ** 2}


def loss(x: Any) -> Any:
    """Compute L."""
    return forward(x)["L"]


def gradients(x: float) -> dict[str, float]:
    """Compute the gradients of L by the chain rule."""
    at = forward(x)
    for_y = 2 * (at["y"] - 1)
    for_s = for_y * 2 * at["s"]
    for_x_1 = for_s * 0.4
    own = {"y": for_y, "s": for_s, "w_1": for_s * at["x_1"]}
    return own | {"x_1": for_x_1, "w_0": for_x_1 * x, "x": for_x_1 * 0.3}


def slope(x: float) -> float:
    """Compute dL/dx."""
    return gradients(x)["x"]


def flat(b_0: float = 0.1, b_1: float = 0.2) -> list[float]:
    """Find the three x at which the slope is zero."""
    return [((s - b_1) / 0.4 - b_0) / 0.3 for s in (-1, 0, 1)]


def on_f1(hook: Any) -> dict[str, Any]:
    """Run the worked example with a hook on f1, on several inputs, and give every gradient."""
    seen: dict[str, Any] = {}
    for values in ([0.3], [-7.5], [[2.0], [-3.0], [9.5]]):
        f0, f1 = layer([[0.3]], [0.1]), SLinear()
        f1.register_full_backward_hook(hook)
        x = tensor(values, requires_grad=True)
        ((f1(f0(x)) - 1) ** 2).sum().backward()
        found = {"x": x, **dict(nn.ModuleDict({"f0": f0, "f1": f1}).named_parameters())}
        seen |= {f"with x = {values}, {name}.grad": each.grad for name, each in found.items()}
    return seen


FOR_W_1 = gradients(0.3)["w_1"]
PLACES = (10, -3, -20)

EXERCISES = [
    Numbers(
        id="00.1",
        asks="whether L goes up (1) or down (-1) as x grows a little at x = 10, -3 and -20",
        expected=lambda: np.sign([slope(x) for x in PLACES]),
        right="A slope belongs to its place: this L falls, climbs, falls and climbs again.",
        hints=(
            "Try one place: is loss(10.0001) larger or smaller than loss(10)?",
            "s = 0.12 x + 0.24 grows with x. Is s above or below 0 there? So does its square y "
            "grow or shrink? And does that bring y closer to 1?",
        ),
        mistakes="""
            = ("up", "up", "down")
            = (1, 0, -1)
            ? any(each not in (1, -1) for each in answer)
                Only signs are asked for: write 1 or -1 for each place, in digits. 0 would mean
                that L is flat there, and it isn't.
            = np.sign([gradients(x)["y"] for x in PLACES])
                You went by whether y is above or below 1. But does y itself grow or shrink as x
                grows? It is a square: what if s is negative?
            = np.sign([forward(x)["s"] for x in PLACES])
                These are the signs of x, and of s. L doesn't follow s directly: there is a square
                between them, and what counts is whether y comes closer to 1.
            = (-1, -1, -1)
            = (1, 1, 1)
                The same sign everywhere would mean that it always helps to go one way. Follow x
                far to the right and to the left: what happens to y, and to L?
        """,
    ),
    Number(
        id="00.2",
        asks="the slope of L at x = 7",
        expected=lambda: slope(7),
        right="Three lines: make a tensor, forward, backward. It's the same for any network.",
        hints=(
            "Section 3 does it at x = 0.3. What has to change?",
            "Write torch.tensor(7.0, requires_grad=True), with a point: only floats can require a "
            "gradient. Then loss, then backward, then read .grad.",
        ),
        mistakes="""
            = loss(7)
                This is L at x = 7, and not its slope.
            = 7
                This is x itself. Where does backward leave the gradient?
            = slope(0.3)
            = slope(-7)
            = slope(0.7)
                This is the slope at another x. What does your tensor hold?
            = slope(0.3) + slope(7)
                The slope at x = 0.3 is still in there: backward adds to what it finds in .grad.
                Make a fresh tensor.
            = 2 * slope(7)
            = 3 * slope(7)
                A multiple of the slope. Did backward run several times on the same tensor? Each
                time it adds. With tiny steps: how far apart are the two places?
            = slope(7) * 1e-4
            = slope(7) * 2e-4
            = loss(8) - loss(7)
                That is the change of L over a step. The slope is the change for each unit of a
                tiny one.
            = forward(7)["s"]
            ? any(alike(answer, each, 4) for each in [*forward(7).values(), *gradients(7).values()])
                This belongs to another number of the example, for x = 7. Ask x for its gradient.
        """,
    ),
    Number(
        id="00.3",
        asks="by about how much L changes when w_1 grows from 0.40 to 0.43, to two digits",
        expected=lambda: FOR_W_1 * 0.03,
        digits=2,
        right="Slope times step: that's all a gradient says, and for small steps it is enough.",
        hints=(
            "Find the box of w_1 in the picture. What is the number after grad?",
            "A slope is the change for each unit of a step. How long is the step from 0.40 to "
            "0.43?",
        ),
        mistakes="""
            = FOR_W_1
            = -FOR_W_1
                That is the gradient at w_1: how fast L changes. How far does w_1 go?
            = FOR_W_1 * 0.43
            = FOR_W_1 * 0.40
            = FOR_W_1 * 0.01
                The right gradient, and another step. How long is the way from 0.40 to 0.43?
            = FOR_W_1 / 0.03
                You divided by the step. The slope says how much L changes for each unit of it.
            = 0.4 * 0.03
            ? any(alike(answer, each * 0.03, 2) for each in gradients(0.3).values())
                You read another number than the gradient of w_1. It stands in the box of w_1,
                after grad.
            = forward(0.3, w_1=0.43)["L"]
                That is a loss. By how much does the new one differ from the old one?
        """,
    ),
    Hook(
        id="00.4",
        asks="halve(module, grad_input, grad_output), a full backward hook for f1 that halves "
        "the gradient on its way to f0",
        scenario=on_f1,
        may_return=(tuple, list),
        right="Only the returned tuple counts: it takes the place of grad_input.",
        hints=(
            "Which of its arguments is the gradient that leaves f1 toward f0?",
            "grad_input is a tuple with one entry. Return a tuple with one entry, half of it, and "
            "don't forget the comma.",
        ),
        mistakes="""
            ~ / 2,) => / 2)
            ! It returned [] for
                You returned the gradient itself. A hook returns a tuple, with one entry for each
                input, even if there is only one: a comma makes it a tuple.
            ~ (grad_input[0] / 2,) => grad_input / 2
            ! unsupported operand, can't multiply sequence, 'tuple' object
                grad_input and grad_output are tuples: you can't calculate with them or change
                them. Take the entry out, and put your result into a new tuple.
            ~ / 2,) => / 2, None)
            ! invalid number of grad_input
                As many entries have to come back as grad_input has: one for each input of f1.
            ~ grad_input[0] / 2 => grad_input[0].sum().item() / 2
            ! hook returned 'float', hook returned 'numpy, cannot be converted, for a gradient of [3, 1]
                What is in the returned tuple has to be a tensor of the shape of grad_input[0]. The
                network was given three inputs at once here, one below the other.
            ~ / 2 => * 2
            ~ / 2 => / 4
            ~ / 2 => // 2
                That isn't half of it. Half of a number is that number times what?
            ~ grad_input[0] / 2 => -grad_input[0] / 2
            ~ grad_input[0] / 2 => -grad_input[0]
                It turns the sign around, as flip does. Only half is asked for.
            ~ grad_input[0] / 2 => grad_input[0].div_(2)
                It changes what it was given. The numbers come out right here, but a hook must not
                do that: others may be using it. Make a new tensor and return it.
            ~ return (grad_input[0] / 2,) => (grad_input[0] / 2,)
                Nothing was halved. Only what a hook returns takes the place of grad_input: does
                yours return the half?
            ~ grad_input[0] / 2 => grad_output[0] / 2
            ~ grad_input[0] / 2 => grad_output[0]
                You sent grad_output on. That is the gradient at the module's output. What goes on
                toward f0 is the gradient at its input.
        """,
    ),
    Choice(
        id="00.5",
        asks="which gradients double with the hook on f0, and why these",
        model="f0's own gradients are made from grad_output, before the hook is called. What it "
        "returns goes on from the input of f0, and only x is left.",
        right="Where a hook sits decides which gradients it changes. Lesson 06 comes back to it.",
        hints=(
            "In the picture, the hook on f1 sits at x_1. Where does a hook on f0 sit?",
            "Follow the gradient from L. Does it pass w_0 and b_0 first, or the hook?",
        ),
        mistakes="""
            = "a"
                The backward pass doesn't end at the last module. Where does the gradient go from
                f0?
            = "c"
                Those doubled with the hook on f1. Now it sits on f0: when do f0's own weight and
                bias get their gradients, and when is the hook called?
            = "d"
                The gradient goes from L down to x. A hook changes nothing above the place where it
                sits.
        """,
    ),
    Numbers(
        id="00.6",
        asks="the three x at which dL/dx is zero, from the smallest to the largest",
        expected=flat,
        digits=3,
        right="In the middle L has a peak, to both sides a valley where y is 1 and L is 0.",
        hints=(
            "A product is zero when one of its factors is. Which factors of the chain rule can be?",
            "2s is zero where s = 0, and 2(y - 1) is zero where s = 1 or s = -1. Now solve "
            "s = 0.12 x + 0.24 for x, or let sympy.solve do it.",
        ),
        mistakes="""
            = (-1, 0, 1)
                These are the right s. You are asked for the x that lead to them.
            = [0.3 * x + 0.1 for x in flat()]
                These are the right x_1. Go one step further back, to x.
            = flat()[::-1]
            ? alike(sorted(map(float, answer)), flat(), 3)
                The right three, in another order: put the smallest first.
            = [sympy.Symbol("w_0"), 0, 1]
            ? getattr(answer, "free_symbols", ())
            ? any(getattr(each, "free_symbols", ()) for each in answer)
                There are letters left in it. Put w_0, b_0, w_1 and b_1 in: at which x is it zero?
            = [-2]
            ? len(answer) < 3
                Some are missing. Two factors can be zero, and y is a square: how many s have
                y = 1?
            = [-10, -2, 6.3]
            ? all(abs(a / b - 1) < 0.06 for a, b in zip(answer, flat()))
                Close, and rounded too far: three significant digits are asked for, or fractions.
            = [-x for x in flat()[::-1]]
                Right except for the signs. In s = 0.12 x + 0.24, what happens to 0.24 when you
                solve for x?
            = flat(b_0=0)
            = flat(b_1=0)
                A bias is missing: s = w_1 (w_0 x + b_0) + b_1 has two of them.
        """,
    ),
]
