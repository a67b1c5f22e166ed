"""Check exercise 15.6: clip each sample's gradient, then add up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from random import Random
from typing import Any

import minigrad as torch
from minigrad import Tensor
from minigrad.classroom.behaviors import Function, Property, Trial
from minigrad.classroom.exercises import Mistake
from minigrad.classroom.values import alike

Noted = list[tuple[Tensor, Tensor]]


def squares(noted: Noted) -> list[Tensor]:
    """Compute the squared norm of each sample's gradient, layer by layer."""
    return [(d**2).sum(1) * ((a**2).sum(1) + 1) for a, d in noted]


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


def _factors(noted: Noted, limit: float) -> list[Tensor]:
    return [shrinking(torch.stack(squares(noted)).sum(0).sqrt(), limit)] * len(noted)


def _shaped(trial: Trial) -> bool:
    """Tell whether there is a pair for each layer, of the shapes of weight and bias."""
    (noted, _), result = trial.args, trial.result
    try:
        return len(result) == len(noted) and all(
            tuple(w.shape) == (d.shape[1], a.shape[1]) and tuple(b.shape) == (d.shape[1],)
            for (w, b), (a, d) in zip(result, noted, strict=True)
        )
    except (TypeError, ValueError, AttributeError):
        return False


def _divides_by_zero(trial: Trial) -> bool:
    return any(entry.isnan().any() for pair in trial.result for entry in pair)


def _everywhere(found: Sequence[Trial], holds: Callable[[Trial], bool]) -> bool:
    """Tell whether something holds, whatever a sample without a gradient brings about."""
    finite = [trial for trial in found if not _divides_by_zero(trial)]
    return finite != [] and all(not trial.changed and holds(trial) for trial in finite)


def _like(*slips: Callable[..., Any]) -> Callable[[Sequence[Trial]], bool]:
    """Know a slip by its sums."""

    def brings(slip: Callable[..., Any]) -> Callable[[Trial], bool]:
        return lambda trial: alike(trial.result, slip(*trial.args), 4)

    return lambda found: any(_everywhere(found, brings(slip)) for slip in slips)


def _by_factor(*factors: Callable[[Tensor, float], Tensor]) -> Callable[..., bool]:
    """Know a wrong factor of the right length."""
    return _like(*(partial(private, factor=factor) for factor in factors))


def _by_square(*wrong: Callable[[Noted], Tensor]) -> Callable[..., bool]:
    """Know a wrong square of each sample's length, one for all layers."""

    def slip(square: Callable[[Noted], Tensor]) -> Callable[..., Any]:
        return partial(private, lengths=lambda noted: [square(noted).sqrt()] * len(noted))

    return _like(*map(slip, wrong))


def _total(noted: Noted, of: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """Add up over the layers what squares of what went in and of delta give."""
    return torch.stack([of((a**2).sum(1), (d**2).sum(1)) for a, d in noted]).sum(0)


def _plain(noted: Noted) -> list[tuple[Tensor, Tensor]]:
    return weighed(noted, [torch.ones(len(a), dtype=a.dtype) for a, _ in noted])


def _is_right(trial: Trial) -> bool:
    return alike(trial.result, private(*trial.args), 4)


def _is_one_multiple(trial: Trial) -> bool:
    if not _shaped(trial):
        return False
    pairs = zip(trial.result, _plain(trial.args[0]), strict=True)
    ratios = torch.cat([(x / y).flatten() for each in pairs for x, y in zip(*each, strict=True)])
    return bool((ratios - ratios[0]).abs().max() < 1e-3 * ratios[0].abs())


def _has_right_biases(trial: Trial) -> bool:
    return alike([b for _, b in trial.result], [b for _, b in private(*trial.args)], 4)


def _sum_clipped(noted: Noted, limit: float) -> list[tuple[Tensor, Tensor]]:
    """Add up first, and clip the sum."""
    total = _plain(noted)
    length = torch.stack([(w**2).sum() + (b**2).sum() for w, b in total]).sum().sqrt()
    by = shrinking(length, limit)
    return [(by * w, by * b) for w, b in total]


def _own_bias(noted: Noted, limit: float, pooled: bool = False) -> list[tuple[Tensor, Tensor]]:
    """Clip weight and bias each by itself, in each layer or over all of them."""
    parts = [[(d**2).sum(1) * (a**2).sum(1) for a, d in noted], [(d**2).sum(1) for _, d in noted]]
    if pooled:
        parts = [[torch.stack(each).sum(0)] * len(noted) for each in parts]
    of_weights, of_biases = (
        weighed(noted, [shrinking(square.sqrt(), limit) for square in each]) for each in parts
    )
    return [(w, b) for (w, _), (_, b) in zip(of_weights, of_biases, strict=True)]


def _parts(noted: Noted, limit: float, clipped: int) -> list[tuple[Tensor, Tensor]]:
    """Clip the weights alone, or the biases alone."""
    plain, right = _plain(noted), private(noted, limit)
    if clipped == 0:
        return [(w, b) for (w, _), (_, b) in zip(right, plain, strict=True)]
    return [(w, b) for (w, _), (_, b) in zip(plain, right, strict=True)]


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
        (layers(1, 2, 3, 2), 0.25),
    ]


PRIVATE = Function(
    id="15.6",
    asks="private(noted, limit), a list with a pair for each layer: the sums over the samples of "
    "the gradients of weight and bias, each sample's clipped to the limit, all layers together",
    inputs=_inputs,
    reference=private,
    properties=[
        Property(
            "a list, and in it for each layer a pair of tensors",
            lambda result, *_: (
                isinstance(result, list | tuple)
                and all(isinstance(pair, list | tuple) for pair in result)
                and all(isinstance(entry, Tensor) for pair in result for entry in pair)
            ),
        )
    ],
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
            "A list is asked for, and this is a dict: who goes through it gets its keys, and no "
            "pairs.",
            when=lambda found: isinstance(found[0].result, dict),
        ),
        Mistake(
            "Nothing is clipped: those are the ordinary sums.",
            when=_by_factor(lambda length, limit: torch.ones_like(length)),
        ),
        Mistake(
            "You add up first and clip the sum. One loud sample still counts for as much as it "
            "likes against the others: clip each, then add.",
            when=_like(_sum_clipped),
        ),
        Mistake(
            "Each layer is clipped by itself. A sample has one length, over all layers.",
            when=_like(partial(private, lengths=lambda noted: [s.sqrt() for s in squares(noted)])),
        ),
        Mistake(
            "Weight and bias are clipped each by itself. A sample has one length, over everything.",
            when=_like(_own_bias, partial(_own_bias, pooled=True)),
        ),
        Mistake(
            "The bias is missing in the length: its gradient is a part of the sample's.",
            when=_by_square(lambda noted: _total(noted, lambda a, d: d * a)),
        ),
        Mistake(
            "Short gradients are made longer: the factor has to be 1 at most.",
            when=_by_factor(lambda length, limit: limit / length.clamp(min=1e-12)),
        ),
        Mistake(
            "Too short are made longer, too long are left: the comparison is the wrong way round.",
            when=_by_factor(lambda length, limit: (limit / length.clamp(min=1e-12)).clamp(min=1)),
        ),
        Mistake(
            "The factor is upside down: what is too long has to become shorter.",
            when=_by_factor(
                lambda length, limit: (length / limit).clamp(max=1),
                lambda length, limit: (length / limit).clamp(min=1),
            ),
        ),
        Mistake(
            "That is the mean over the samples. The sum is asked for.",
            when=_like(
                lambda noted, limit: [
                    (w / len(noted[0][0]), b / len(noted[0][0])) for w, b in private(noted, limit)
                ]
            ),
        ),
        Mistake(
            "You compare the square of the length with the limit: a square root is missing.",
            when=_by_square(lambda noted: torch.stack(squares(noted)).sum(0) ** 2),
        ),
        Mistake(
            "The weights are clipped, the biases are not.",
            when=_like(lambda noted, limit: _parts(noted, limit, 0)),
        ),
        Mistake(
            "The biases are clipped, the weights are not.",
            when=_like(lambda noted, limit: _parts(noted, limit, 1)),
        ),
        Mistake(
            "The 1 that stands for the bias is in a wrong place. A bias is multiplied by 1 as a "
            "weight is by a, so the 1 joins |a|^2, in each layer. The pairs are (a, delta).",
            when=_by_square(
                lambda noted: _total(noted, lambda a, d: d * a + 1),
                lambda noted: _total(noted, lambda a, d: d * a) + 1,
                lambda noted: _total(noted, lambda a, d: a * (d + 1)),
            ),
        ),
        Mistake(
            "What went in has a length, and delta has one. The gradient's is their product, and "
            "not one of them alone, or their sum.",
            when=_by_square(
                lambda noted: _total(noted, lambda a, d: a),
                lambda noted: _total(noted, lambda a, d: d),
                lambda noted: _total(noted, lambda a, d: a + d),
            ),
        ),
        Mistake(
            "The limit holds as it is given, whatever the number of layers or samples.",
            when=_like(
                lambda noted, limit: private(noted, limit / len(noted[0][0])),
                lambda noted, limit: private(noted, limit / len(noted)),
            ),
        ),
        Mistake(
            "The factor comes in twice: once is enough, on delta or on the sample's gradient.",
            when=_by_factor(lambda length, limit: shrinking(length, limit) ** 2),
        ),
        Mistake(
            "You add lengths, of layers or of weight and bias. Squares of lengths add up, and the "
            "root comes last.",
            when=_by_square(
                lambda noted: torch.stack([s.sqrt() for s in squares(noted)]).sum(0) ** 2,
                lambda noted: _total(noted, lambda a, d: d * (a.sqrt() + 1) ** 2),
                lambda noted: _total(noted, lambda a, d: d.sqrt() * (a.sqrt() + 1)) ** 2,
            ),
        ),
        Mistake(
            "A sample that is too long is left out. It is to be made shorter.",
            when=_by_factor(lambda length, limit: length.le(limit).to(length.dtype)),
        ),
        Mistake(
            "One factor for the whole batch. Each sample has a length and a factor of its own.",
            when=lambda found: _everywhere(found, _is_one_multiple),
        ),
        Mistake(
            "Weights come out as (inputs, outputs). A weight has the shape (outputs, inputs).",
            when=_like(lambda noted, limit: [(w.T, b) for w, b in private(noted, limit)]),
        ),
        Mistake(
            "The entries are clipped. The limit is for the length of a sample's whole gradient.",
            when=_like(
                lambda noted, limit: [
                    (
                        torch.einsum("no,ni->noi", d, a).clamp(-limit, limit).sum(0),
                        d.clamp(-limit, limit).sum(0),
                    )
                    for a, d in noted
                ]
            ),
        ),
        Mistake(
            "The factor is in the weights twice: on delta and on what went in.",
            when=_like(
                lambda noted, limit: [
                    ((f[:, None] * d).T @ (f[:, None] * a), (f[:, None] * d).sum(0))
                    for (a, d), f in zip(noted, _factors(noted, limit), strict=True)
                ]
            ),
        ),
        Mistake(
            "The layers come out in the opposite order.",
            when=_like(lambda noted, limit: private(noted, limit)[::-1]),
        ),
        Mistake(
            "Bias and weight are exchanged: the weight comes first in each pair.",
            when=_like(lambda noted, limit: [(b, w) for w, b in private(noted, limit)]),
        ),
        Mistake(
            "Gradients that are short enough vanish. They are to be left as they are: what is the "
            "factor then?",
            when=_by_factor(
                lambda length, limit: length.gt(limit) * limit / length.clamp(min=1e-12)
            ),
        ),
        Mistake(
            "You clip to a length of your own. The limit is an argument.",
            when=_by_factor(lambda length, limit: shrinking(length, 1.0)),
        ),
        Mistake(
            "A sample whose gradient is zero has the length zero, and you divide by it.",
            when=lambda found: any(map(_divides_by_zero, found)),
        ),
        Mistake(
            "Sum over the samples: a weight's gradient has the weight's shape, without an axis for "
            "the samples.",
            when=lambda found: found[0].result[0][0].dim() == 3,
        ),
        Mistake(
            "For each layer a pair is asked for: the sum for the weight, of shape (outputs, "
            "inputs), and the sum for the bias, of shape (outputs,).",
            when=lambda found: found[0].result is not None and not _shaped(found[0]),
        ),
        Mistake(
            "The biases are right, and so are the factors. In a weight each sample's delta meets "
            "its own input: multiply first, then add up.",
            when=lambda found: (
                _everywhere(found, _has_right_biases) and not _everywhere(found, _is_right)
            ),
        ),
        Mistake(
            "Right for one layer. With more of them a sample still has one length: the squares of "
            "all layers are added up, the root comes last, and the limit holds for them together.",
            when=lambda found: _is_right(found[1]) and not _is_right(found[0]),
        ),
        Mistake(
            "Right for one sample. With more, each has a length and a factor of its own.",
            when=lambda found: all(map(_is_right, found[-2:])) and not _is_right(found[0]),
        ),
        Mistake(
            "The shapes are right. Take one sample: its length is the root of the sum of all its "
            "squared entries, in all layers, weights and biases. If that is above the limit its "
            "factor is limit / length, else 1.",
            when=lambda found: _shaped(found[0]) and not any(trial.changed for trial in found),
        ),
    ],
)
"""The exercise."""
