"""Check what lesson 14 asks by hand: slopes, and what guided backpropagation makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import minigrad as torch
from minigrad.autograd import grad
from minigrad.classroom.exercises import Mistake, Numbers
from minigrad.classroom.values import as_number, leaves


def slopes(rule: str) -> tuple[float, ...]:
    """Send the slopes of y back through the hidden layer of exercise 14.2.

    Args:
        rule: at each ReLU, "slope", "guided", "open" (all let through) or "positive" (only the
            clamp, whether open or not).
    """
    into = torch.tensor([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    z = (into @ torch.tensor([1.0, 2.0], dtype=torch.float64)) - torch.tensor([0.0, 0.0, 3.0])
    z = z.detach().requires_grad_()
    out = torch.tensor([2.0, -3.0, 1.0], dtype=torch.float64)
    (back,) = grad((out * (z if rule in ("open", "positive") else torch.relu(z))).sum(), z)
    if rule in ("guided", "positive"):
        back = back.clamp(min=0)
    return tuple((back @ into).tolist())


def _near(answer: Any, *values: float | None) -> bool:
    have = [as_number(entry) for _, entry in leaves(answer)]
    return len(have) == len(values) and all(
        want is None or (number is not None and abs(number - want) < 1e-6)
        for number, want in zip(have, values, strict=True)
    )


def _first_fit(answer: Any, guided: Sequence[float | None]) -> bool:
    return _near(answer, *slopes("slope"), *guided)


BY_HAND = Numbers(
    id="14.2",
    asks="the slopes of y for x_1 and x_2, and then the guided ones, four numbers in a row",
    expected=lambda: slopes("slope") + slopes("guided"),
    right="One negative weight was not heard, and a slope of -1 became one of 2.",
    hints=(
        "Which of the three hidden units are open at (1, 2)? Write the number that comes back to "
        "each, then send these on to x_1 and x_2.",
        "2, -3 and 1 arrive. The third unit is closed. Guided, the -3 becomes 0 before it is sent "
        "on: x_1 hears of units 1 and 2, x_2 of units 1 and 3.",
    ),
    mistakes=[
        Mistake(
            "The two pairs are in the other order: first the slopes, then the guided ones.",
            value=lambda: slopes("guided") + slopes("slope"),
        ),
        Mistake(
            "Twice the same pair: one of the numbers that arrive at the ReLUs is negative, and "
            "guided backpropagation does not let it pass.",
            value=lambda: slopes("slope") * 2,
        ),
        Mistake(
            "The slopes fit. You clamped at the end, when all had been added up. The clamp is at "
            "each ReLU, before the adding.",
            when=lambda answer: _first_fit(answer, (0, 2)),
        ),
        Mistake(
            "The slopes fit. In the guided pair the third unit speaks, and it is closed: the clamp "
            "comes in addition to the gate, not in its place.",
            when=lambda answer: _first_fit(answer, (2, 3)),
        ),
        Mistake(
            "The slopes fit. You turned the -3 into 3. What is negative becomes zero.",
            when=lambda answer: _first_fit(answer, (5, 2)),
        ),
        Mistake(
            "z_3 is 2 - 3, below zero: its unit is closed, and sends nothing back.",
            when=lambda answer: _near(answer, -1, 3, None, None),
        ),
        Mistake(
            "The first pair is guided already. The slopes themselves hear the -3 as well.",
            when=lambda answer: _near(answer, *slopes("guided"), None, None),
        ),
        Mistake(
            "Those are the hidden values and the score. Asked for are slopes.",
            when=lambda answer: _near(answer, 3, 1, 0, 3) or _near(answer, 3, 1, -1, 3),
        ),
        Mistake(
            "These are slopes of the hidden units together. On the way from y each is multiplied "
            "with its factor 2, -3 or 1.",
            when=lambda answer: _near(answer, 2, 1, None, None),
        ),
        Mistake(
            "2 and -3 are the slopes of y for the hidden units. Send them on: x_1 reaches y "
            "through two of the units.",
            when=lambda answer: _near(answer, 2, -3, None, None),
        ),
        Mistake(
            "The 1 of x_1 and the 2 of x_2 are in there as factors. A slope for x_1 does not "
            "contain the value of x_1.",
            when=lambda answer: _near(answer, -1, 4, None, None),
        ),
        Mistake(
            "The two of a pair are in the other order: x_1 first.",
            when=lambda answer: _near(answer, 2, -1, None, None),
        ),
        Mistake(
            "The slopes fit. For the guided pair write down what comes back to each of the three "
            "units, set to zero what is negative or closed, and send the rest on.",
            when=lambda answer: _first_fit(answer, (None, None)),
        ),
        Mistake(
            "The guided pair fits. The slopes are those of the plain chain rule, negative "
            "numbers and all.",
            when=lambda answer: _near(answer, None, None, *slopes("guided")),
        ),
        Mistake(
            "Go unit by unit: which number comes back to it from y? Is it open? To which of x_1 "
            "and x_2 does it send that on?",
            when=lambda answer: _near(answer, None, None, None, None),
        ),
    ],
)
