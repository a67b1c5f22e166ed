"""Check a method that passes the sanity check and looks at no pixel."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom import rounded
from minigrad.classroom.behaviors import Hook
from minigrad.classroom.data import of_the_lessons
from minigrad.classroom.execution import Belongings, put_back, said_of
from minigrad.classroom.exercises import Mistake, Objection

Answer = Callable[..., Any]
BOUND = 0.6
_READER, _SMALL = (8, 16, 16), (4, 6, 12)
_SIZES = (8, 8), (5, 18)


def network(widths: Sequence[int]) -> Any:
    """Build the lesson's reader of digits, with random weights.

    Args:
        widths: how many channels its three convolutions give.
    """
    a, b, c = widths
    looking = [nn.Conv2d(1, a, 3, padding=1), nn.ReLU()]
    looking += [nn.Conv2d(a, b, 3, padding=1, stride=2), nn.ReLU()]
    looking += [nn.Conv2d(b, c, 3, padding=1), nn.ReLU()]
    return nn.Sequential(*looking, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(c, 10))


def _trained() -> Any:
    """Build the small reader that was trained, whose weights lie in a file."""
    model = network(_READER)
    with np.load((of_the_lessons("data") or Path()) / "reader.npz") as file:
        model.load_state_dict({name: torch.from_numpy(file[name]) for name in model.state_dict()})
    return model


def _families() -> tuple[list[Any], list[Any]]:
    """Build networks of two widths; one is trained, and some have gradients, or evaluate.

    They are small: a learner may walk through their weights one by one, and lines are counted.
    """
    with put_back():
        torch.manual_seed(2)
        small, readers = ([network(widths) for _ in range(6)] for widths in (_SMALL, _READER))
    for parameter in small[0].parameters():
        parameter.grad = torch.ones_like(parameter)
    small[1].eval()
    return small, [*readers[:3], _trained()]


def _batches(model: Any, height: int, width: int) -> Iterator[Tensor]:
    """Make batches of one size, of a model's dtype: of ink, of paper, of numbers of any kind.

    The first is three images, the second one of them three times, the third that one alone, the
    fourth three empty pages.
    """
    rng = np.random.default_rng(height * width)
    ink = torch.from_numpy(rng.uniform(size=(3, 1, height, width))).to(model[0].weight.dtype)
    yield ink
    yield ink[:1].repeat(3, 1, 1, 1)
    yield ink[:1]
    yield torch.zeros_like(ink)
    yield torch.ones_like(ink[:2])
    yield 1e6 * (ink - 0.5)
    yield ink.flip(3).repeat(2, 1, 1, 1).requires_grad_()


def _drawn() -> tuple[Any, ...]:
    """Tell where the random numbers of torch, NumPy and Python stand."""
    drawn: Any = np.random.get_state()
    return torch.get_rng_state().numpy().tobytes(), drawn[1].tobytes(), drawn[2:], random.getstate()


def _shape_of(maps: Tensor, images: Tensor) -> str:
    """Say what is wrong with the shape of maps."""
    count, _, height, width = images.shape
    have = tuple(maps.shape)
    says = f"For images of shape {tuple(images.shape)} the result has the shape {have}. "
    if have == (height, width):
        return says + "One map came: each image of the batch is to have it."
    if have == (count, 1, height, width):
        return says + "The color dimension is still there: a map has rows and columns only."
    return says + f"Asked for is (N, H, W), here {(count, height, width)}."


def _watched(answer: Answer, model: Any, images: Tensor) -> Any:
    """Get maps from an answer as `_asked` does, and object to what it changes on the way."""
    noted, drawn = Belongings([model, images]), _drawn()
    with put_back() as left:
        maps = answer(model, images)
        moved = _drawn() != drawn
    said = said_of(noted.changes()) or next(iter(left), None)
    if said is not None:
        raise Objection(said)
    if moved:
        raise Objection(
            "It draws from the random numbers that all share: what others draw next depends on "
            "it, and the weights do not decide what it draws. Use a torch.Generator of your own."
        )
    return _values(maps, images)


def _asked(answer: Answer, model: Any, images: Tensor) -> Any:
    """Get maps from an answer, as an array of float64."""
    return _values(answer(model, images), images)


def _values(maps: Any, images: Tensor) -> Any:
    """Give the numbers in maps, and object if there are none, or too many."""
    if maps is None:
        raise Objection("It gave None. Is a return missing, or nothing behind it?")
    if not isinstance(maps, Tensor):
        kind = type(maps).__name__
        raise Objection(f"It gave a thing of type {kind}. Give the maps as one tensor.")
    if maps.shape != (len(images), *images.shape[2:]):
        raise Objection(_shape_of(maps, images))
    values = maps.detach().numpy().astype(float)
    if not np.isfinite(values).all():
        raise Objection("There are pixels in the maps that are no finite number.")
    return values


def _same(maps: Any, others: Any) -> bool:
    """Compare maps, but for rounding."""
    return bool((abs(maps - others) <= 1e-5 * abs(others).max()).all())


def _one_map(answer: Answer, model: Any, height: int, width: int) -> None:
    """Object if a model has several maps of one size."""
    batches = list(_batches(model, height, width))
    found = [_watched(answer, model, batches[0])]
    if not _same(_asked(answer, model, batches[0]), found[0]):
        raise Objection(
            "Asked twice about the same model and the same images, it gives two different maps. "
            "Noise will do, but the weights have to decide which: start a generator from a seed "
            "that is made of them, anew in each call."
        )
    found += [_asked(answer, model, batch) for batch in batches[1:]]
    thrice, alone, blank = found[1:4]
    one = alone[0]
    if not _same(thrice, thrice[:1]):
        raise Objection(
            "One and the same image, three times in a batch, gets three different maps. Make one "
            "map, and give it to all."
        )
    if _same(blank, 0 * blank) and not _same(one, 0 * one):
        raise Objection(
            "For an empty page the map is empty, and for others it is not: something is "
            "multiplied with the image. Your map is to look at no pixel."
        )
    if not _same(found[0], found[0][:1]):
        raise Objection(
            "The images of a batch get different maps: the method looks at their pixels. Of the "
            "images it should need nothing but the shape."
        )
    if not all(_same(each, thrice) for each in found if len(each) == len(thrice)):
        raise Objection(
            "Within a batch the maps are the same, and another batch of this size has others: the "
            "method looks at the pixels of all its images. Of these it should need the shape only."
        )
    if not all(_same(each, one) for each in found):
        raise Objection(
            "One image alone and three of them get different maps: the number of images has a "
            "say in them."
        )
    _varies(one)


def _varies(map: Any) -> None:
    """Object if a map is one value everywhere."""
    if np.ptp(map) <= 1e-9 * abs(map).max():
        raise Objection(
            "All pixels of a map are the same. Such a map has no order, and so no rank correlation "
            "with another one: the check cannot be passed with it."
        )


def _ranks(values: Any) -> Any:
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[place.ravel()]


def _agreement(one: Any, other: Any) -> float:
    """Give the rank correlation of two maps, without its sign."""
    return abs(float(np.corrcoef(_ranks(one), _ranks(other))[0, 1]))


def useless_run(answer: Answer) -> dict[str, Any]:
    """Ask for the maps of many networks, of float64 as in the lesson, and of one of float32."""
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.float64)
        families = _families()
        _one_map(answer, families[0][0], *_SIZES[1])
        _follows_the_weights(answer, families[0])
        agreements = []
        for family, size in product(families, _SIZES):
            maps = [_asked(answer, each, torch.zeros(2, 1, *size))[0] for each in family]
            for map in maps:
                _varies(map)
            agreements += [_agreement(*pair) for pair in combinations(maps, 2)]
        _judge(agreements)
        torch.set_default_dtype(torch.float32)
        _one_map(answer, families[0][0].float(), *_SIZES[0])
    finally:
        torch.set_default_dtype(before)
    return {"the verdict on the maps": "useless"}


def _follows_the_weights(answer: Answer, family: Sequence[Any]) -> None:
    """Object if the map is not that of the weights, but of the thing that holds them."""
    images = torch.zeros(1, 1, *_SIZES[0])
    first, other = (_asked(answer, model, images)[0] for model in family[:2])
    twin = copy.deepcopy(family[0])
    if not _same(_asked(answer, twin, images)[0], first):
        raise Objection(
            "A copy of a model, with the same weights, has another map. Nothing but the weights "
            "should decide: no id of a model, no clock, no counter."
        )
    twin.load_state_dict(family[1].state_dict())
    if not _same(_asked(answer, twin, images)[0], other):
        raise Objection(
            "A model got the weights of another one, and has not got its map. Does your function "
            "keep what it found the first time? The weights as they are now should decide."
        )


def _judge(agreements: Sequence[float]) -> None:
    """Object if the maps of different networks are too much alike."""
    mean = float(np.mean(agreements))
    if min(agreements) > 1 - 1e-6:
        raise Objection(
            "For other weights the pixels of the map stand in the same order, or in the opposite "
            "one. So the check catches it: for it this is one map, however it is scaled. Where do "
            "the weights decide which pixel is higher than another?"
        )
    if mean < BOUND:
        return
    says = (
        "The maps of networks with different weights still resemble each other: without its sign, "
        f"their rank correlation is {rounded(mean, 2)} on average, and should be below {BOUND}."
    )
    if max(agreements) > 1 - 1e-6:
        says += (
            " Some networks share one map, others have another. Is a seed rounded so far that "
            "small differences are lost?"
        )
    raise Objection(says)


def _noise(model: Any, images: Tensor) -> Tensor:
    """Give noise, with a seed of the weights."""
    entries = [entry for each in model.parameters() for entry in each.flatten().tolist()]
    dice = torch.Generator().manual_seed(hash(tuple(entries)))
    return torch.rand(images.shape[2:], generator=dice).expand(len(images), -1, -1)


USELESS = Hook(
    id="14.5",
    asks="useless(model, images), which returns (N, H, W): one map for all images there are, of "
    "the weights alone, and quite another one for other weights",
    scenario=useless_run,
    reference=_noise,
    right="Your maps hear the weights and no pixel, and they pass. To compare with your own "
    "sentence: passing is necessary, and not enough. The check refuses maps that ignore what the "
    "network has learned; whether the others show what mattered, it does not ask.",
    hints=(
        "What would be the worst method that passes? Of the images it needs nothing but the shape, "
        "and of the model nothing but the weights, which are many numbers.",
        "Either make a picture of weights: take as many as there are pixels, some of them twice if "
        "need be. Or make a whole number of them, start a torch.Generator from it, and draw one "
        "map. Then expand it to all images.",
    ),
    mistakes=[
        Mistake(
            "manual_seed takes a whole number: int(...) makes one of a number, and .item() a "
            "number of a tensor.",
            trouble=("manual_seed expected",),
        ),
        Mistake(
            "Networks of several widths come, and images of several sizes: take sizes from what "
            "you are given.",
            trouble=("is invalid for input of size", "must match", "out of bounds"),
        ),
    ],
)
