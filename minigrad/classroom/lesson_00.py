"""Check the answers to lesson 00: signs, a step of b_0, a hook that halves, and where L is flat."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from minigrad import nn
from minigrad.autograd.modes import no_grad
from minigrad.classroom.answers import Choice, Number, Numbers
from minigrad.classroom.behaviors import Hook
from minigrad.classroom.exercise import Mistake
from minigrad.creation import tensor
from minigrad.tensor import Tensor

X, W0, B0, W1, B1 = (Fraction(text) for text in ("0.3", "0.3", "0.1", "0.4", "0.2"))
PLACES = (Fraction(10), Fraction(-3), Fraction(-20))
STEP = Fraction("0.01")
ON_THE_WAY = (
    "before", "after", "already", "later", "earlier", "first", "then", "order", "past", "behind",
    "ahead", "below", "above", "stream", " way", "by the time", "leav", "until", "end of",
    "between", "only f0", "on to f0", "toward",
)  # fmt: skip


def inner(x: Fraction) -> Fraction:
    """Compute s, the number that is squared."""
    return W1 * (W0 * x + B0) + B1


def factors(x: Fraction) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Compute the four slopes along the chain, from the loss to x."""
    s = inner(x)
    return 2 * (s**2 - 1), 2 * s, W1, W0


def sign(number: Fraction) -> int:
    """Give 1 for a positive number, -1 for a negative one, 0 for zero."""
    return (number > 0) - (number < 0)


def signs(which: Callable[[Fraction], Fraction]) -> tuple[int, ...]:
    """Give the sign of something at each of the places asked for."""
    return tuple(sign(which(x)) for x in PLACES)


def at_s() -> Fraction:
    """Compute dL/ds at the example's x."""
    outer, square, _, _ = factors(X)
    return outer * square


def slope(x: Fraction) -> Fraction:
    """Compute dL/dx."""
    outer, square, w1, w0 = factors(x)
    return outer * square * w1 * w0


def loss(b0: Fraction) -> Fraction:
    """Compute L with another b_0."""
    return ((W1 * (W0 * X + b0) + B1) ** 2 - 1) ** 2


def where(s: Fraction) -> Fraction:
    """Find the x that leads to this s."""
    return ((s - B1) / W1 - B0) / W0


def _linear(weight: Fraction, bias: Fraction) -> nn.Linear:
    layer = nn.Linear(1, 1)
    with no_grad():
        for parameter, value in zip(layer.parameters(), (weight, bias), strict=True):
            parameter.fill_(float(value))
    return layer


class _SLinear(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.f = _linear(W1, B1)

    def forward(self, x_1: Tensor) -> Tensor:
        return self.f(x_1) ** 2


class _Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.f0 = _linear(W0, B0)
        self.f1 = _SLinear()

    def forward(self, x: Tensor) -> Tensor:
        return self.f1(self.f0(x))


def on_f1(hook: Callable[..., Any]) -> dict[str, Any]:
    """Run the worked example with a hook on f1, and give every gradient."""
    net, kept = _Net(), []

    def guarded(module: nn.Module, grad_input: Any, grad_output: Any) -> Any:
        arguments = (*grad_input, *grad_output)
        before = [gradient.item() for gradient in arguments]
        result = hook(module, grad_input, grad_output)
        kept.append(before == [gradient.item() for gradient in arguments])
        return result

    net.f1.register_full_backward_hook(guarded)
    x = tensor([float(X)], requires_grad=True)
    ((net(x) - 1) ** 2).backward()
    return {
        "x.grad": x.grad,
        **{f"{name}.grad": parameter.grad for name, parameter in net.named_parameters()},
        "whether the hook left its arguments as they were": all(kept),
    }


def halve(module: nn.Module, grad_input: Any, grad_output: Any) -> tuple[Tensor]:
    """Halve the gradient that leaves the module toward its input."""
    return (grad_input[0] / 2,)


def _halve_in_place(module: nn.Module, grad_input: Any, grad_output: Any) -> None:
    grad_input[0].mul_(0.5)


EXERCISES = [
    Numbers(
        id="00.1",
        asks="the signs of dL/dx at x = 10, x = -3 and x = -20, each 1 or -1",
        expected=lambda: signs(slope),
        right="Two factors can change their sign, 2(y - 1) and 2s; the weights are positive.",
        hints=(
            "w_0 and w_1 are positive. So only 2(y - 1) and 2s matter. When is each negative?",
            "Work out s = 0.12 x + 0.24 at each place. Is s above or below 0? Is its square above "
            "or below 1? Two negative factors make a positive one.",
        ),
        mistakes=[
            Mistake(
                "Write 1 or -1 as numbers, without quotes.",
                when=lambda given: any(isinstance(entry, str) for entry in given),
            ),
            Mistake(
                "You followed 2(y - 1) only. The slope of the square, 2s, has a sign as well: "
                "what if s is negative?",
                value=lambda: signs(lambda x: factors(x)[0]),
            ),
            Mistake(
                "You followed 2s only. The first factor, 2(y - 1), has a sign as well: is y above "
                "or below 1?",
                value=lambda: signs(lambda x: factors(x)[1]),
            ),
            Mistake(
                "Negative everywhere would mean that a larger x always helps. Follow x far to the "
                "right: what becomes of y, and of L?",
                value=(-1, -1, -1),
            ),
            Mistake(
                "Positive everywhere would mean that a smaller x always helps. Follow x far to the "
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
        asks="by about how much L changes when b_0 grows from 0.1 to 0.11, to two digits",
        expected=lambda: slope(X) / W0 * STEP,
        digits=2,
        right="Slope times step: that is all a gradient says, and for small steps it is enough.",
        hints=(
            "Find the box of b_0 in the picture. What does the number behind grad say?",
            "A slope is change for each unit of step. How long is the step from 0.1 to 0.11?",
        ),
        mistakes=[
            Mistake(
                "That is the gradient at b_0: how fast L changes. How far does b_0 go?",
                value=lambda: slope(X) / W0,
            ),
            Mistake(
                "You went by 0.11. The step is only from 0.1 to 0.11.",
                value=lambda: slope(X) / W0 * (B0 + STEP),
            ),
            Mistake(
                "You read the gradient of x (or w_0). Look for the box of b_0.",
                value=lambda: slope(X) * STEP,
            ),
            Mistake("You read the gradient of b_1. Look for b_0.", value=lambda: at_s() * STEP),
            Mistake(
                "You took the value of b_0 for its gradient. The gradient stands behind grad.",
                value=lambda: B0 * STEP,
            ),
            Mistake(
                "That is the new loss. By how much does it differ from the old one?",
                value=lambda: loss(B0 + STEP),
            ),
        ],
    ),
    Hook(
        id="00.3",
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
                when=lambda found: "returned a tensor" in found[0].trouble,
            ),
            Mistake(
                "This still doubles. Half of a number is that number times what?",
                like=lambda module, grad_input, grad_output: (grad_input[0] * 2,),
            ),
            Mistake(
                "It changes the tensor that it was given. The numbers come out right here, but a "
                "hook must not do that: others may be using it. Make a new tensor and return it.",
                like=_halve_in_place,
            ),
            Mistake(
                "Nothing was halved. A new value does not leave the hook unless it is returned.",
                like=lambda module, grad_input, grad_output: None,
            ),
            Mistake(
                "You sent half of grad_output on. That is the gradient at the module's output; "
                "what goes on toward f0 is the gradient at its input.",
                like=lambda module, grad_input, grad_output: (grad_output[0] / 2,),
            ),
        ],
    ),
    Choice(
        id="00.4",
        asks="why f0's gradients doubled and f1's did not",
        option="b",
        why_not={
            "a": "The gradients of f0 came out exactly twice as large. No accident does that.",
            "c": "Nothing in the engine divides again. Where would it, in the picture?",
            "d": "A backward hook runs in the backward pass. What x_1 was stays what it was.",
        },
        mentions={"when or where the hook comes on the gradient's way": ON_THE_WAY},
        right="Where on the way a hook sits decides whom it reaches. Lesson 06 comes back to it.",
        hints=(
            "In the picture, the hook on f1 sits at x_1. Which boxes hang above it, which below?",
            "Follow the gradient from L with your finger. Note when it passes w_1 and b_1, when "
            "it passes x_1, and when it passes w_0 and b_0.",
        ),
    ),
    Numbers(
        id="00.5",
        asks="the three x at which dL/dx is zero, from the smallest to the largest",
        expected=lambda: [where(Fraction(s)) for s in (-1, 0, 1)],
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
                value=lambda: [W0 * where(Fraction(s)) + B0 for s in (-1, 0, 1)],
            ),
            Mistake(
                "The right three, in another order: put the smallest first.",
                when=lambda given: _same_but_order(given, [where(Fraction(s)) for s in (-1, 0, 1)]),
            ),
            Mistake(
                "Some are missing: y is a square, so y = 1 has two solutions s, and s = 0 is one "
                "more place.",
                when=lambda given: len(given) < 3,
            ),
            Mistake(
                "Numbers are asked for, without x in them: put w_0, b_0, w_1 and b_1 in first.",
                when=lambda given: any(getattr(entry, "free_symbols", ()) for entry in given),
            ),
        ],
    ),
]


def _same_but_order(given: Any, wanted: list[Fraction]) -> bool:
    found = sorted(float(entry) for entry in given)
    return len(found) == len(wanted) and all(
        abs(a - b) < 1e-3 for a, b in zip(found, map(float, wanted), strict=True)
    )
