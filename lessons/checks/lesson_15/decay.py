"""Check exercise 15.5: by hand, where weight decay and momentum take a pruned weight."""

from __future__ import annotations

from typing import Any

import minigrad as torch
from minigrad import nn, optim
from minigrad.classroom.exercises import Mistake, Numbers
from minigrad.classroom.values import as_number, leaves, same


def stands(weight_decay: float, momentum: float) -> float:
    """Run three steps of SGD with a masked gradient, after one that left 5 in the buffer."""
    w = nn.Parameter(torch.tensor(0.0, dtype=torch.float64))
    optimizer = optim.SGD([w], lr=0.1, weight_decay=weight_decay, momentum=momentum)
    for at in range(4):
        if at == 1:
            w.data.zero_()
            w.register_hook(torch.zeros_like)
        optimizer.zero_grad()
        (5 * w).backward()
        optimizer.step()
    return float(w.item())


def _by_hand(
    added: float = 0, steps: int = 3, rate: float = 0.1, apart: float = 0, keeps: float = 0.8
) -> float:
    """Go by a rule: multiples of the weight are added to the buffer, or taken off apart from it."""
    w, b = 0.0, 5.0
    for _ in range(steps):
        b = keeps * b + added * w
        w -= rate * b + apart * w
    return w


def _fits(answer: Any, *begins: float) -> bool:
    have = [each for _, each in leaves(answer)]
    return len(have) == 3 and all(same(a, b, 4) for a, b in zip(have, begins, strict=False))


def _slip(place: int, values: list[float], says: str) -> Mistake:
    """Know a wrong number at its place, where those before it are right."""
    right = (0.0, _by_hand())[:place]
    return Mistake(says, when=lambda answer: any(_fits(answer, *right, each) for each in values))


DECAY = Numbers(
    id="15.5",
    asks="where the pruned weight stands after three steps: with decay, with momentum, with both",
    expected=lambda: (stands(0.5, 0), stands(0, 0.8), stands(0.5, 0.8)),
    right="Compare with your sentence: decay is a multiple of the weight, and that is 0; momentum "
    "holds gradients from before the mask. Once the weight has left 0, decay pulls it back.",
    hints=(
        "Masked means that g is 0. Start from w = 0, and with momentum from b = 5. What does decay "
        "add to the gradient in the first step?",
        "Write a row for each step: w before it, 0.5 w, the new b, the new w. In the first row "
        "0.5 w is 0, with momentum or without, and b becomes 0.8 times 5.",
    ),
    mistakes=[
        Mistake(
            "The numbers fit, their order does not: decay alone, momentum alone, both.",
            when=lambda answer: _fits(sorted(answer), _by_hand(), _by_hand(0.5), 0),
        ),
        _slip(
            0,
            [sign * k * size for sign in (1, -1) for size in (0.05, 0.5) for k in (1, 2, 3)],
            "Decay alone: you take off a fixed amount, and it should be a multiple of the weight.",
        ),
        Mistake(
            "Numbers are asked for: where the weight stands, not what it does.",
            when=lambda answer: _fits(answer) and None in map(as_number, answer),
        ),
        Mistake(
            "Decay alone: there is no buffer, and 0.5 w is added. Where does the weight stand?",
            when=lambda answer: _fits(answer) and not _fits(answer, 0),
        ),
        _slip(1, [0.0], "The hook masks the gradient. Does it reach the optimizer's buffer?"),
        _slip(1, [-0.98, -0.97], "Close. By hand it comes out exactly, so do not round."),
        _slip(1, [-_by_hand()], "A sign: the weight goes against the buffer, which is positive."),
        _slip(
            1,
            [-_by_hand(rate=1), *(_by_hand(rate=each) for each in (1, 0.5, 0.01)), 2.56, -2.56],
            "With momentum alone that is a buffer, or their sum, or another share: the weight "
            "moves by 0.1 of it.",
        ),
        _slip(
            1,
            [-1.22, -1.5, -1.2, -1.3, _by_hand(keeps=0.9)],
            "The buffer shrinks in each step, before the weight moves, and by the 0.8 given here: "
            "5 itself is no push, and 0.9 belonged to the example above.",
        ),
        _slip(
            1,
            [*(_by_hand(steps=many) for many in (1, 2, 4, 99)), 0.256, -0.256],
            "With momentum alone that is one step, two, or four, or the third by itself, or all "
            "there will ever be. Asked for is where the weight stands after three.",
        ),
        _slip(
            2,
            [_by_hand()],
            "With both: after the first step the weight is not at 0, and no hook sees the decay.",
        ),
        _slip(
            2,
            [_by_hand(apart=0.05), _by_hand(apart=0.5)],
            "With both, you take decay off the weight itself, as AdamW does. In SGD it goes into "
            "the buffer, which keeps 0.8 of it for the next step.",
        ),
        _slip(
            2,
            [_by_hand(added) for added in (0.4, 0.1, 0.05, 1)],
            "With both: only the old buffer shrinks. What decay adds enters it as it is: 0.5 w.",
        ),
        _slip(2, [_by_hand(-0.5)], "With both: decay pulls toward 0, not away from it."),
        Mistake(
            "The first two fit. With both, write for each step: 0.5 w, the new b, the new w.",
            when=lambda answer: _fits(answer, 0, _by_hand()),
        ),
        Mistake(
            "Decay alone fits. Then momentum alone: start at b = 5, and write b and w each time.",
            when=lambda answer: _fits(answer, 0),
        ),
    ],
)
"""The exercise."""
