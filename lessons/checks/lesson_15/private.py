"""Check exercise 15.6: clip each sample's gradient, then add up."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from random import Random
from typing import Any

import minigrad as torch
from minigrad import Tensor
from minigrad.classroom.behaviors import Function
from minigrad.classroom.exercises import Mistake

Noted = list[tuple[Tensor, Tensor]]


def squares(noted: Noted, bias: bool = True) -> list[Tensor]:
    """Compute the squared norm of each sample's gradient, layer by layer."""
    return [(d**2).sum(1) * ((a**2).sum(1) + bias) for a, d in noted]


def shrinking(length: Tensor, limit: float) -> Tensor:
    """Give the factors that bring lengths down to a limit."""
    return (limit / length.clamp(min=1e-12)).clamp(max=1)


def weighed(noted: Noted, factors: list[Tensor]) -> list[tuple[Tensor, Tensor]]:
    """Add up the gradients of the samples, each times a factor."""
    return [
        ((f[:, None] * d).T @ a, (f[:, None] * d).sum(0))
        for (a, d), f in zip(noted, factors, strict=True)
    ]


def private(
    noted: Noted,
    limit: float,
    lengths: Callable[[Noted], list[Tensor]] = lambda noted: (
        [torch.stack(squares(noted)).sum(0).sqrt()] * len(noted)
    ),
    factor: Callable[[Tensor, float], Tensor] = shrinking,
) -> list[tuple[Tensor, Tensor]]:
    """Clip the gradient of each sample and add up; the settings name typical slips.

    Args:
        noted: a pair for each layer: inputs, gradients of outputs.
        limit: the greatest length of a sample's gradient.
        lengths: how long the samples' gradients are, for each layer.
        factor: what a gradient of some length is multiplied with.
    """
    return weighed(noted, [factor(length, limit) for length in lengths(noted)])


def _like(
    lengths: Callable[[Noted], list[Tensor]] | None = None,
    factor: Callable[[Tensor, float], Tensor] = shrinking,
) -> Callable[..., Any]:
    if lengths is None:
        return lambda noted, limit: private(noted, limit, factor=factor)
    return lambda noted, limit: private(noted, limit, lengths, factor)


def _sum_clipped(noted: Noted, limit: float) -> list[tuple[Tensor, Tensor]]:
    """Add up first, and clip the sum."""
    total = weighed(noted, [torch.ones(len(a), dtype=a.dtype) for a, _ in noted])
    length = torch.stack([(w**2).sum() + (b**2).sum() for w, b in total]).sum().sqrt()
    by = shrinking(length, limit)
    return [(by * w, by * b) for w, b in total]


def _own_bias(noted: Noted, limit: float) -> list[tuple[Tensor, Tensor]]:
    """Clip weight and bias each by itself."""
    found = []
    for a, d in noted:
        of_bias = (d**2).sum(1)
        of_weight = of_bias * (a**2).sum(1)
        f, g = (shrinking(square.sqrt(), limit)[:, None] for square in (of_weight, of_bias))
        found.append(((f * d).T @ a, (g * d).sum(0)))
    return found


def _inputs(rng: Random) -> list[tuple[Any, ...]]:
    def table(n: int, k: int, size: float) -> Tensor:
        return torch.tensor([[rng.uniform(-size, size) for _ in range(k)] for _ in range(n)])

    def layers(n: int, *widths: int, size: float = 1.0) -> Noted:
        pairs = pairwise(widths)
        return [(table(n, i, size), table(n, o, size)) for i, o in pairs]

    still = layers(3, 2, 2, 1, size=2.0)
    still = [(a, d * torch.tensor([[1.0], [0.0], [1.0]])) for a, d in still]
    return [
        (layers(5, 3, 2, 4), 1.0),
        (layers(4, 2, 3), 0.5),
        (layers(6, 2, 3, 2, size=2.0), 2.5),
        (still, 0.75),
        (layers(1, 3, 2), 100.0),
    ]


PRIVATE = Function(
    id="15.6",
    asks="private(noted, limit), a list with a pair for each layer: the sums over the samples of "
    "the gradients of weight and bias, each sample's clipped to the limit, all layers together",
    inputs=_inputs,
    reference=private,
    digits=4,
    right="Length of an outer product: length times length. The clipped sum costs about as much as "
    "an ordinary one.",
    hints=(
        "Each sample has one length, for all layers, weights and biases together, and so one "
        "factor. Where is the factor multiplied in most easily?",
        "The squared norm of a sample is the sum over layers of |delta|^2 (|a|^2 + 1): the 1 is "
        "for the bias. The factor is limit / norm, at most 1. Multiply delta by it, and use the "
        "formulas of section 6.",
    ),
    mistakes=[
        Mistake(
            "The factor has one entry for each sample, and the tables have a row for each: it "
            "needs a second axis, [:, None].",
            trouble=("must match the size", "size of tensor", "broadcast"),
        ),
        Mistake(
            "Nothing is clipped: those are the ordinary sums.",
            like=_like(factor=lambda length, limit: torch.ones_like(length)),
        ),
        Mistake(
            "You add up first and clip the sum. One loud sample still counts for as much as it "
            "likes against the others: clip each, then add.",
            like=_sum_clipped,
        ),
        Mistake(
            "Each layer is clipped by itself. A sample has one length, over all layers.",
            like=_like(lambda noted: [s.sqrt() for s in squares(noted)]),
        ),
        Mistake(
            "Weight and bias are clipped each by itself. A sample has one length, over everything.",
            like=_own_bias,
        ),
        Mistake(
            "The bias is missing in the length: its gradient is a part of the sample's.",
            like=_like(
                lambda noted: [torch.stack(squares(noted, False)).sum(0).sqrt()] * len(noted)
            ),
        ),
        Mistake(
            "Short gradients are made longer: the factor has to be 1 at most.",
            like=_like(factor=lambda length, limit: limit / length.clamp(min=1e-12)),
        ),
        Mistake(
            "Too short are made longer, too long are left: the comparison is the wrong way round.",
            like=_like(factor=lambda length, limit: (limit / length.clamp(min=1e-12)).clamp(min=1)),
        ),
        Mistake(
            "The factor is upside down: what is too long has to become shorter.",
            like=_like(factor=lambda length, limit: (length / limit).clamp(max=1)),
        ),
        Mistake(
            "The factor is upside down: what is too long has to become shorter.",
            like=_like(factor=lambda length, limit: (length / limit).clamp(min=1)),
        ),
        Mistake(
            "That is the mean over the samples. The sum is asked for.",
            like=lambda noted, limit: [
                (w / len(noted[0][0]), b / len(noted[0][0])) for w, b in private(noted, limit)
            ],
        ),
        Mistake(
            "You compare the square of the length with the limit: a square root is missing.",
            like=_like(lambda noted: [torch.stack(squares(noted)).sum(0)] * len(noted)),
        ),
        Mistake(
            "The factor comes in twice: once is enough, on delta or on the sample's gradient.",
            like=_like(factor=lambda length, limit: shrinking(length, limit) ** 2),
        ),
        Mistake(
            "You add lengths of the layers. Squares of lengths add up, and the root comes last.",
            like=_like(
                lambda noted: [torch.stack([s.sqrt() for s in squares(noted)]).sum(0)] * len(noted)
            ),
        ),
        Mistake(
            "A sample that is too long is left out. It is to be made shorter.",
            like=_like(factor=lambda length, limit: length.le(limit).to(length.dtype)),
        ),
        Mistake(
            "All are scaled by the longest. Each sample has a factor of its own.",
            like=_like(factor=lambda length, limit: shrinking(length.max() + 0 * length, limit)),
        ),
        Mistake(
            "Weights come out as (inputs, outputs). A weight has the shape (outputs, inputs).",
            like=lambda noted, limit: [(w.T, b) for w, b in private(noted, limit)],
        ),
        Mistake(
            "A sample whose gradient is zero has the length zero, and you divide by it.",
            when=lambda found: any(
                entry.isnan().any() for trial in found for pair in trial.result for entry in pair
            ),
        ),
        Mistake(
            "The entries are clipped. The limit is for the length of a sample's whole gradient.",
            like=lambda noted, limit: [
                (
                    torch.einsum("no,ni->noi", d, a).clamp(-limit, limit).sum(0),
                    d.clamp(-limit, limit).sum(0),
                )
                for a, d in noted
            ],
        ),
        Mistake(
            "delta is clipped by its own length. The sample's gradient is longer or shorter by "
            "what went in.",
            like=_like(
                lambda noted: (
                    [torch.stack([(d**2).sum(1) for _, d in noted]).sum(0).sqrt()] * len(noted)
                )
            ),
        ),
    ],
)
"""The exercise."""
