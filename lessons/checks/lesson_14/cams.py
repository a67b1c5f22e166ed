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


def _clear(rng: Random, *shape: int, low: float = -1.0, more: float = 0.0) -> Pair:
    """Draw a batch in which no sum nearly cancels: the order of adding must not show.

    Args:
        rng: random numbers.
        shape: of the two tensors.
        low: the least activation.
        more: what is added to the gradients of the first image, and subtracted from the last's.
            Where it is 0, each image gets a vote; else each but the first.
    """
    while True:
        A, dA = _drawn(rng, *shape, low=low), _drawn(rng, *shape)
        dA[0] += more
        dA[-1] -= more
        alpha = dA.mean(dim=(2, 3), keepdim=True)
        sums, sizes = (alpha * A).sum(1).abs(), (alpha * A).abs().sum(1)
        means = alpha.abs() > 0.05 * dA.abs().mean(dim=(2, 3), keepdim=True)
        votes = (alpha * A).sum(1).amax(dim=(1, 2)) > 0.1
        if means.all() and (sums > 0.05 * sizes).all() and votes[1 if more else 0 :].all():
            return A, dA


def _by_hand() -> Pair:
    """Give two images whose maps can be worked out in the head: (0, 1, 1/3) and (0.2, 1, 0.4)."""
    A = [[[[1.0, 2.0, 1.0]], [[3.0, 1.0, 1.0]]], [[[2.0, 1.0, 1.0]], [[1.0, 2.0, 1.0]]]]
    dA = [[[[1.0, 3.0, 2.0]], [[-3.0, 1.0, -1.0]]], [[[-2.0, 0.0, -1.0]], [[2.0, 4.0, 3.0]]]]
    return torch.tensor(A), torch.tensor(dA)


def batches(rng: Random) -> list[Pair]:
    """Draw activations and gradients of several shapes; some images get no vote, some only votes.

    The first two images can be worked through by hand. The last batch is not of the default dtype.

    Args:
        rng: random numbers.
    """
    wide = _clear(rng, 2, 3, 2, 4, low=0.0)
    single = _clear(rng, 1, 4, 2, 2, low=0.0)
    square = _clear(rng, 3, 2, 3, 3, low=0.1, more=-3.0)  # all votes against, some, all votes for
    dead = _clear(rng, 2, 1, 3, 2, low=0.2)
    dead[0][1] = 0.0
    A, dA = _clear(rng, 2, 5, 2, 3)
    other = torch.float32 if A.dtype == torch.float64 else torch.float64
    return [_by_hand(), wide, single, square, dead, (A.to(other), dA.to(other))]


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
    first: Callable[[Tensor], Tensor] = lambda gradients: gradients,
    join: Callable[[Tensor], Tensor] = lambda votes: votes.sum(dim=1),
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
        first: what is done to the gradients before they are averaged.
        join: how the channels are put together.
    """

    def grad_cam(A: Tensor, dA: Tensor) -> Tensor:
        A, dA = (dA, A) if swapped else (A, dA)
        dA = first(dA)
        alpha = weigh(dA if positions is None else dA.mean(dim=positions, keepdim=True))
        maps = sign(join(alpha * A)) if late else join(sign(alpha * A))
        if lowest:
            maps = maps - maps.amin(dim=(1, 2), keepdim=True)
        if not scaled:
            return maps
        largest = maps.amax(dim=(1, 2), keepdim=True) if each else maps.max()
        if blank:
            largest = torch.where(largest == 0, torch.ones_like(largest), largest)
        return maps / largest

    return grad_cam


def _has_nan(found: list[Trial]) -> bool:
    return any(bool(trial.result.isnan().any()) for trial in found)


def _shapes(found: list[Trial]) -> list[tuple[int, ...]]:
    return [tuple(trial.result.shape) for trial in found]


def _negative(found: list[Trial]) -> bool:
    return any(trial.result.min().item() < 0 for trial in found)


def _of_rows(found: list[Trial], dim: int) -> bool:
    """Tell whether each row, or each column, is divided by a maximum of its own."""
    for trial in found:
        maps = cam(scaled=False)(*trial.args)
        rows = (maps / maps.amax(dim=dim, keepdim=True)).nan_to_num(0.0)
        if not alike(trial.result.nan_to_num(0.0), rows, 4):
            return False
    return True


def _in_proportion(found: list[Trial]) -> bool:
    """Tell whether all maps are right but for their scale, which is off."""
    off = False
    for trial in found:
        right = cam()(*trial.args)
        top = trial.result.amax(dim=(1, 2), keepdim=True)
        off = off or bool((abs(top - 1)[top != 0] > 1e-4).any())
        if not bool(((trial.result - top * right).abs() <= 1e-5 * top.abs()).all()):
            return False
    return off


def _fit(found: list[Trial]) -> list[bool]:
    """Tell of which batches all maps are right."""
    return [alike(trial.result, cam()(*trial.args), 4) for trial in found]


def _first_only(found: list[Trial]) -> bool:
    """Tell whether the first map of each batch is right, and the second of two by hand is not."""
    firsts = [alike(trial.result[:1], cam()(*trial.args)[:1], 4) for trial in found]
    return all(firsts) and not _fit(found)[0]


def _in_order(found: list[Trial]) -> bool:
    """Tell whether in each map the pixels stand in the right order, as far as it has one."""
    for trial in found:
        for maps, right in zip(trial.result, cam()(*trial.args), strict=True):
            ordered = maps.flatten()[right.flatten().argsort()]
            if (ordered[1:] < ordered[:-1]).any() or (right.any() and not maps.any()):
                return False
    return True


_WANTED = [(2, 1, 3), (2, 2, 4), (1, 2, 2), (3, 3, 3), (2, 3, 2), (2, 2, 3)]
_ONE, _DEEP = 2, 5  # the batch of one image, and that with negative activations
_SQUARE = 3  # the batch whose first image has all votes against it

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
    digits=4,
    right="Votes against count before the ReLU, and every image stands for itself.",
    hints=(
        "Go through the three lines with two images of different brightness, and ask at each "
        "line: does this mix images? And where in the formula does the ReLU stand?",
        "The mean runs over dimensions 2 and 3. Sum over the channels first, clamp then. Divide "
        "by amax(dim=(1, 2), keepdim=True), but by 1 where that is 0.",
    ),
    mistakes=[
        Mistake(
            "A size is written into the code that fits one batch only. Take sizes from A.shape, or "
            "work along dimensions.",
            trouble=("is invalid for input of size",),
        ),
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
            "The dimensions do not fit: one map came, that of a single image. Is the return inside "
            "of the loop, or an [0] left over?",
            when=lambda found: _shapes(found) == [shape[1:] for shape in _WANTED],
        ),
        Mistake(
            "There are fewer maps than images: one without a vote keeps its map of zeros.",
            when=lambda found: (
                [shape[1:] for shape in _shapes(found)] == [shape[1:] for shape in _WANTED]
                and all(have <= want for have, want in zip(_shapes(found), _WANTED, strict=True))
                and _shapes(found) != _WANTED
            ),
        ),
        Mistake(
            "The dimensions do not fit: the result is to be (N, H, W), for a batch of one as well.",
            when=lambda found: _shapes(found) != _WANTED,
        ),
        Mistake(
            "Where all votes are against, the largest value is negative, and dividing by it turns "
            "the signs round. Cut first and scale then.",
            when=lambda found: (
                bool((found[_SQUARE].result[0] > 1 + 1e-6).any()) and not _negative(found)
            ),
        ),
        Mistake(_BLANK, when=_has_nan),
        Mistake(
            "A map without a single vote became one of ones. It should stay zero.",
            when=lambda found: bool((found[_SQUARE].result[0] == 1).all()),
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
        *(
            Mistake(
                "The ReLU was put on the gradients, before their mean. A weight may be negative, "
                "and gradients of both signs belong to the mean.",
                like=cam(first=first),
            )
            for first in (lambda dA: dA.clamp(min=0), abs)
        ),
        Mistake(
            "Of the channels the largest vote is left. The formula has the sum over all of them.",
            like=cam(join=lambda votes: votes.amax(dim=1)),
        ),
        Mistake("The maps are not divided by their maximum yet.", like=cam(scaled=False)),
        Mistake(
            "A and dA have changed places: the gradients are averaged, the activations added up.",
            like=cam(swapped=True),
        ),
        Mistake(
            "Each map is divided by its sum. Asked for is a largest value of 1.",
            when=lambda found: (
                bool((found[0].result.sum((1, 2)) - 1).abs().max() < 1e-4) and _in_proportion(found)
            ),
        ),
        Mistake(
            "Each row, or each column, is divided by a maximum of its own. A map has one maximum, "
            "over rows and columns.",
            when=lambda found: any(_of_rows(found, dim) for dim in (1, 2)),
        ),
        Mistake(
            "The lowest value was subtracted. A map is divided by its maximum, and that is all.",
            like=cam(lowest=True),
        ),
        Mistake(
            "Negative votes are still in the map.",
            when=_negative,
        ),
        Mistake(
            "It changed what it was given. Make a new value, and leave the arguments as they are.",
            when=lambda found: any(trial.changed for trial in found),
        ),
        Mistake(
            "The maps are right, and some are of another dtype than A, which comes in float32 "
            "and in float64, whatever the default is. zeros_like(A) follows A; zeros does not.",
            when=lambda found: all(_fit(found)),
        ),
        Mistake(
            "Each map is the right one but for its scale: the largest value is not 1. Divide by "
            "the maximum as it is, with nothing added and no lower limit, except where it is 0.",
            when=_in_proportion,
        ),
        Mistake(
            "The pixels of each map stand in the right order, but their values are not in "
            "proportion: divide by the maximum, and do nothing else to them.",
            when=_in_order,
        ),
        Mistake(
            "The first map of each batch is right, those behind it are not. Does the loop end too "
            "early, or does something go on from one image to the next?",
            when=_first_only,
        ),
        Mistake(
            "A batch of one is right, and larger ones are not: what one image is like changes the "
            "map of another.",
            when=lambda found: _fit(found)[_ONE] and not all(_fit(found)[:_DEEP]),
        ),
        Mistake(
            "It is right as long as no activation is negative. The ReLU is one of the sum, not of "
            "A.",
            when=lambda found: all(_fit(found)[:_DEEP]),
        ),
        Mistake(
            "Work the first image through by hand, A = [[1, 2, 1]] and [[3, 1, 1]]: the weights "
            "are 2 and -1, and the sums -1, 3 and 1. Where do you get something else?",
            when=lambda found: found[0].result is not None and not _fit(found)[0],
        ),
        Mistake(
            "The first two images are right, others are not. What is different about those: more "
            "rows, more or fewer images and channels, weights that add up to less than zero?",
            when=lambda found: _fit(found)[0] and not all(_fit(found)),
        ),
    ],
)
