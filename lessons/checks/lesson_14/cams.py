"""Check Grad-CAM for a batch, from the two tensors that the hooks caught."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import minigrad as torch
from minigrad import Tensor
from minigrad.classroom.behaviors import Function, Trial
from minigrad.classroom.exercises import Mistake
from minigrad.classroom.values import alike

Pair = tuple[Tensor, Tensor]


def _drawn(rng: Random, *shape: int, low: float = -1.0) -> Tensor:
    count = 1
    for length in shape:
        count *= length
    return torch.tensor([rng.uniform(low, 1.0) for _ in range(count)]).reshape(*shape)


def batches(rng: Random) -> list[Pair]:
    """Draw activations and gradients of several shapes; some images get no vote, some only votes.

    Args:
        rng: random numbers.
    """
    wide = _drawn(rng, 2, 3, 4, 5, low=0.0), _drawn(rng, 2, 3, 4, 5)
    single = _drawn(rng, 1, 4, 2, 2, low=0.0), _drawn(rng, 1, 4, 2, 2)
    single[1][0, 1] += 2.0
    square = _drawn(rng, 3, 2, 3, 3, low=0.1), _drawn(rng, 3, 2, 3, 3)
    square[1][0] -= 3.0  # all votes against
    square[1][1] += 3.0  # all votes for
    square[1][2, 0] += 1.0
    dead = _drawn(rng, 2, 1, 3, 2, low=0.2), _drawn(rng, 2, 1, 3, 2) + 1.0
    dead[0][1] = 0.0
    deep = _drawn(rng, 2, 5, 2, 3), _drawn(rng, 2, 5, 2, 3)
    wide[1][0] += 0.3
    return [wide, single, square, dead, deep]


def cam(
    *,
    positions: tuple[int, ...] | None = (2, 3),
    late: bool = True,
    each: bool = True,
    blank: bool = True,
    sign: Callable[[Tensor], Tensor] = lambda maps: maps.clamp(min=0),
    weigh: Callable[[Tensor], Tensor] = lambda alpha: alpha,
    scaled: bool = True,
    swapped: bool = False,
    lowest: bool = False,
) -> Callable[[Tensor, Tensor], Tensor]:
    """Make a Grad-CAM; the settings name typical slips.

    Args:
        positions: what the mean of the gradients runs over; None for no mean.
        late: whether the ReLU comes behind the sum over the channels.
        each: whether each map is divided by its own maximum.
        blank: whether a map of zeros stays one.
        sign: what becomes of negative votes.
        weigh: what is done to the weights.
        scaled: whether the maps are divided at all.
        swapped: whether activations and gradients change places.
        lowest: whether the lowest value is subtracted first.
    """

    def grad_cam(A: Tensor, dA: Tensor) -> Tensor:
        A, dA = (dA, A) if swapped else (A, dA)
        alpha = weigh(dA if positions is None else dA.mean(dim=positions, keepdim=True))
        maps = sign((alpha * A).sum(dim=1)) if late else sign(alpha * A).sum(dim=1)
        if lowest:
            maps = maps - maps.amin(dim=(1, 2), keepdim=True)
        if not scaled:
            return maps
        largest = maps.amax(dim=(1, 2), keepdim=True) if each else maps.max()
        if blank:
            largest = torch.where(largest == 0, torch.ones_like(largest), largest)
        return maps / largest

    return grad_cam


def _scaled_along(dim: int) -> Callable[[Tensor, Tensor], Tensor]:
    def grad_cam(A: Tensor, dA: Tensor) -> Tensor:
        maps = cam(scaled=False)(A, dA)
        return maps / maps.amax(dim=dim, keepdim=True).clamp(min=1e-12)

    return grad_cam


def _largest_vote(A: Tensor, dA: Tensor) -> Tensor:
    maps = (dA.mean(dim=(2, 3), keepdim=True) * A).amax(dim=1).clamp(min=0)
    return maps / maps.amax(dim=(1, 2), keepdim=True).clamp(min=1e-12)


def _has_nan(found: list[Trial]) -> bool:
    return any(bool(trial.result.isnan().any()) for trial in found)


def _to_one(maps: Tensor) -> Tensor:
    return maps / maps.amax(dim=(1, 2), keepdim=True)


def _right(trial: Trial) -> Tensor:
    """Compute the right maps for what a trial was run on."""
    return cam()(*trial.args)


def _shapes(found: list[Trial]) -> list[tuple[int, ...]]:
    return [tuple(trial.result.shape) for trial in found]


_WANTED = [(2, 4, 5), (1, 2, 2), (3, 3, 3), (2, 3, 2), (2, 2, 3)]

_BATCH = "One bug is left: the weights are averaged over the images of the batch, too. Each image "
_EARLY = "One bug is left: the ReLU comes before the sum. A channel's vote against never gets to "
_COMMON = "One bug is left: all maps are divided by the largest value of the whole batch."
_BLANK = "A map without a single vote is 0 divided by 0. It should stay zero."

CAM = Function(
    id="14.3",
    asks="grad_cam(A, dA), which returns (N, H, W): for each image the ReLU of the weighted sum, "
    "divided by its largest value",
    inputs=batches,
    reference=cam(),
    digits=3,
    right="Votes against count before the ReLU, and every image stands for itself.",
    hints=(
        "Go through the three lines with two images of different brightness, and ask at each "
        "line: does this mix images? And where in the formula does the ReLU stand?",
        "The mean runs over dimensions 2 and 3. Sum over the channels first, clamp then. Divide "
        "by amax(dim=(1, 2), keepdim=True), but by 1 where that is 0.",
    ),
    mistakes=[
        Mistake(
            "The maximum of each map has to stand in a shape that divides (N, H, W): "
            "keepdim=True keeps it so.",
            trouble=("must match the size", "broadcast", "shape"),
        ),
        Mistake(
            "All three bugs are still there: look at the dimensions of the mean, at the place of "
            "the ReLU, at the maximum.",
            like=cam(positions=(0, 2, 3), late=False, each=False, blank=False),
        ),
        Mistake(_BATCH + "has weights of its own.", like=cam(positions=(0, 2, 3))),
        Mistake(_EARLY + "the sum.", like=cam(late=False)),
        Mistake(_COMMON, like=cam(each=False)),
        *(
            Mistake(
                "Two bugs are left. One is in the first line and mixes the images of the batch.",
                like=cam(positions=(0, 2, 3), late=late, each=each),
            )
            for late, each in ((False, True), (True, False), (False, False))
        ),
        Mistake(
            "Two bugs are left: the ReLU stands before the sum, and one maximum serves all maps.",
            like=cam(late=False, each=False),
        ),
        Mistake(
            "The dimensions do not fit: the result is to be (N, H, W), for a batch of one as well.",
            when=lambda found: _shapes(found) != _WANTED,
        ),
        Mistake(
            "Where all votes are against, the largest value is negative, and dividing by it turns "
            "the signs round. Cut first and scale then.",
            when=lambda found: (
                bool((found[2].result[0] > 1 + 1e-6).any())
                and not any(bool((trial.result < 0).any()) for trial in found)
            ),
        ),
        Mistake(_BLANK, when=_has_nan),
        Mistake(
            "A map without a single vote became one of ones. It should stay zero.",
            when=lambda found: bool((found[2].result[0] == 1).all()),
        ),
        Mistake(
            "The weights are averaged over the channels. The formula averages over positions, and "
            "keeps one weight for each channel.",
            like=cam(positions=(1,)),
        ),
        Mistake(
            "The weights are averaged over channels and positions: then all channels count the "
            "same.",
            like=cam(positions=(1, 2, 3)),
        ),
        Mistake(
            "One number for all: the weights of all channels and images were averaged into one.",
            like=cam(positions=(0, 1, 2, 3)),
        ),
        *(
            Mistake(
                "The weights are averaged over one of the two directions only. Rows and columns "
                "both are positions.",
                like=cam(positions=positions),
            )
            for positions in ((2,), (3,))
        ),
        Mistake(
            "Gradient times activation, position by position: the mean of the gradient is "
            "missing. Each channel has one weight.",
            like=cam(positions=None),
        ),
        Mistake(
            "Negative votes are still in the map.",
            when=lambda found: any(bool((trial.result < 0).any()) for trial in found),
        ),
        *(
            Mistake(
                "The maximum was taken along one direction only. Each map has one, over rows and "
                "columns both.",
                like=_scaled_along(dim),
            )
            for dim in (1, 2)
        ),
        Mistake(
            "Of the channels only the largest vote was kept. They are added up.",
            like=_largest_vote,
        ),
        Mistake(
            "A negative sum became a positive one. Votes against are cut off, not turned round.",
            like=cam(sign=abs),
        ),
        Mistake(
            "The ReLU was put on the weights. A channel that speaks against the class has to be "
            "subtracted in the sum.",
            like=cam(weigh=lambda alpha: alpha.clamp(min=0)),
        ),
        Mistake(
            "The absolute weights were taken. A channel that speaks against the class has to be "
            "subtracted in the sum.",
            like=cam(weigh=abs),
        ),
        Mistake(
            "The weights are used as they are; no softmax stands in the formula.",
            like=cam(weigh=lambda alpha: alpha.softmax(dim=1)),
        ),
        Mistake("The maps are not divided by their maximum yet.", like=cam(scaled=False)),
        Mistake(
            "A and dA have changed places: the gradients are averaged, the activations added up.",
            like=cam(swapped=True),
        ),
        Mistake(
            "Each map is divided by its sum. Asked for is a largest value of 1.",
            when=lambda found: bool((found[0].result.sum((1, 2)) - 1).abs().max() < 1e-4),
        ),
        Mistake(
            "The shape of the maps is right, their scale is not: the largest value of a map that "
            "has votes is 1.",
            when=lambda found: (
                alike(_to_one(found[0].result), _right(found[0]), 3)
                and not bool((found[0].result.amax((1, 2)) - 1).abs().max() < 1e-4)
            ),
        ),
        Mistake(
            "The lowest value was subtracted. A map is divided by its maximum, and that is all.",
            like=cam(lowest=True),
        ),
    ],
)
