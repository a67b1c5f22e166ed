"""Check exercise 13.3: why clipping is no medicine for a vanishing gradient."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom.exercises import Mistake, Numbers
from minigrad.classroom.values import agrees, as_number, leaves

GRADIENTS = ((3e-3, 4e-3), (3e-12, 4e-12))
"""Of the last layer and of the first."""

LIMITS = (1.0, 1e-14)

DIGITS = 3
"""That are asked for: so the 1e-6 that clip_grad_norm_ adds to the norm does not matter."""


def together(gradients: list[Tensor], limit: float) -> list[Tensor]:
    """Clip gradients as one, by clip_grad_norm_."""
    layers = [torch.zeros_like(each, requires_grad=True) for each in gradients]
    for layer, gradient in zip(layers, gradients, strict=True):
        layer.grad = gradient
    nn.utils.clip_grad_norm_(layers, limit)
    return [layer.grad for layer in layers if layer.grad is not None]


def norms(
    clip: Callable[[list[Tensor], float], list[Tensor]] = together,
    size: Callable[[Tensor], Any] = torch.norm,
) -> tuple[float, ...]:
    """Give the sizes of both layers' gradients after the one clipping, and after the other.

    Args:
        clip: gives these gradients, clipped at this limit.
        size: takes the size of one gradient; the norm is right.
    """
    fresh = [[torch.tensor(each, dtype=torch.float64) for each in GRADIENTS] for _ in LIMITS]
    clipped = map(clip, fresh, LIMITS)
    return tuple(float(size(gradient)) for pair in clipped for gradient in pair)


def _alone(gradients: list[Tensor], limit: float) -> list[Tensor]:
    return [gradient for each in gradients for gradient in together([each], limit)]


def _by_the_first(gradients: list[Tensor], limit: float) -> list[Tensor]:
    factor = min(1.0, limit / gradients[1].norm().item())
    return [factor * each for each in gradients]


def _numbers(answer: Any) -> list[float]:
    read = [as_number(entry) for _, entry in leaves(answer)]
    return [number for number in read if number is not None]


def _four(answer: Any, *values: float | None) -> bool:
    """Compare four numbers with these, relative to their size; None stands for any."""
    have = _numbers(answer)
    return len(have) == len(values) == 4 and all(
        want is None or agrees(number, want, DIGITS)
        for number, want in zip(have, values, strict=True)
    )


def _begins(answer: Any, pair: tuple[float, ...]) -> bool:
    return _four(answer, *pair[:2], None, None)


def _ends(answer: Any, pair: tuple[float, ...] | None = None) -> bool:
    """Tell whether the first two are right and the others are these, or any that are wrong."""
    right = norms()
    if pair is None:
        return _begins(answer, right) and not _four(answer, *right)
    return _four(answer, *right[:2], *pair[-2:])


def _proportion(answer: Any) -> bool:
    last, first = _numbers(answer)[2:]
    return _ends(answer) and agrees(first / last, norms()[1] / norms()[0], DIGITS)


def _longer(answer: Any) -> bool:
    have = _numbers(answer)
    return len(have) == 4 and any(
        number > 1.01 * was for number, was in zip(have, norms()[:2] * 2, strict=True)
    )


BY_HAND = Numbers(
    id="13.3",
    asks="four norms in a row: of the last and the first layer's gradient with the limit 1.0, and "
    "of the last and the first with the limit 1e-14, to three digits",
    expected=norms,
    digits=DIGITS,
    right="Compare with your sentence: clipping only shortens, and with one factor for all, so the "
    "first layer stays as far behind the last as it was; and nothing here was too long.",
    hints=(
        "How long is each gradient as it is? And how long are both together, as clip_grad_norm_ "
        "takes them?",
        "Both together are as long as the last layer's, to twelve digits and more. Divide each "
        "limit by that, and where more than 1 comes out, the minimum is 1. Then multiply both "
        "gradients by what you have.",
    ),
    mistakes=[
        Mistake(
            "Those are entries. The norm is one number for a layer: the root of the sum of its "
            "squares.",
            when=lambda answer: len(_numbers(answer)) == 8,
        ),
        Mistake(
            "Four norms are asked for: of the last and of the first layer with the one limit, and "
            "of both with the other. Their ratio then shows by itself.",
            when=lambda answer: len(_numbers(answer)) < 4,
        ),
        Mistake(
            "Those four, and in another order: the last and the first layer with the limit 1.0, "
            "then the last and the first with 1e-14.",
            when=lambda answer: any(
                _four(answer, *order) for order in [*permutations(norms())][1:]
            ),
        ),
        Mistake(
            "A norm is never below 0.",
            when=lambda answer: len(_numbers(answer)) == 4 and min(_numbers(answer)) < 0,
        ),
        Mistake(
            "A norm of 0 means that nothing is left. A small factor leaves a small number. (In "
            "float32 its square gets lost, and with that the norm. Use float64, or paper.)",
            when=lambda answer: len(_numbers(answer)) == 4 and 0 in _numbers(answer),
        ),
        Mistake(
            "Those are the factors. Multiply the gradients by them.",
            when=lambda answer: _four(answer, 1, 1, *[norms()[2] / norms()[0]] * 2),
        ),
        Mistake(
            "That adds the entries up. The norm is the root of the sum of their squares.",
            when=lambda answer: _begins(answer, norms(size=torch.sum)),
        ),
        Mistake(
            "Those are the sums of the squares. The norm is the root of that.",
            when=lambda answer: _begins(answer, norms(size=lambda g: (g * g).sum())),
        ),
        Mistake(
            "Those are the largest entries. The norm is the root of the sum of the squares of all.",
            when=lambda answer: _begins(answer, norms(size=torch.max)),
        ),
        Mistake(
            "With the limit 1.0 each layer has norm 1 in your answer. The limit is a ceiling. "
            "What does the minimum in the formula do to a gradient that lies below it?",
            when=lambda answer: _begins(answer, (1, 1)),
        ),
        Mistake(
            "With one of the limits something got longer than it was. What is the largest factor "
            "that the minimum in the formula can give?",
            when=lambda answer: _longer(answer),
        ),
        Mistake(
            "The first two fit. With the limit 1e-14 each entry was cut to it. clip_grad_norm_ "
            "multiplies whole gradients, so that they keep their direction.",
            when=lambda answer: _ends(
                answer, norms(lambda pair, limit: [g.clamp(-limit, limit) for g in pair])
            ),
        ),
        Mistake(
            "The first two fit. Then each layer was clipped by itself. clip_grad_norm_ takes one "
            "norm over all parameters, and has one factor for all.",
            when=lambda answer: (
                _ends(answer, norms(_alone))
                or (_ends(answer) and _numbers(answer)[2] == _numbers(answer)[3])
            ),
        ),
        Mistake(
            "The first two fit. The limit is not the factor: it is divided by the norm.",
            when=lambda answer: _ends(
                answer, norms(lambda pair, limit: [limit * each for each in pair])
            ),
        ),
        Mistake(
            "The first two fit. You divided 1e-14 by the first layer's norm. Whose norm does "
            "clip_grad_norm_ take?",
            when=lambda answer: _ends(answer, norms(_by_the_first)),
        ),
        Mistake(
            "The first two fit. In the end nothing was clipped. Is the norm of all below 1e-14?",
            when=lambda answer: _ends(answer, norms(lambda pair, limit: pair)),
        ),
        Mistake(
            "The first two fit. The last layer's gradient got shorter, and the first layer's did "
            "not. clip_grad_norm_ has one factor for all.",
            when=lambda answer: _ends(answer) and _four(answer, None, None, None, norms()[1]),
        ),
        Mistake(
            "The first two fit, and so does the proportion of the other two. The factor does not: "
            "which norm is to become 1e-14?",
            when=_proportion,
        ),
        Mistake(
            "The first two fit. In the other two the proportion between the layers has changed. "
            "Can it, if both are multiplied by the same factor?",
            when=_ends,
        ),
        Mistake(
            "The last two fit. With the limit 1.0, is there anything to clip? Put the norm into "
            "the formula with the minimum.",
            when=lambda answer: _four(answer, None, None, *norms()[2:]),
        ),
        Mistake(
            "Begin with the norms as they are. Then find the factor for each limit: how long are "
            "both gradients together, and what does the minimum in the formula give?",
            when=lambda answer: len(_numbers(answer)) == 4 and not _four(answer, *norms()),
        ),
    ],
)
