"""Check saliency for a batch: each image's own score, and the largest slope of its channels."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.autograd import grad
from minigrad.classroom.behaviors import Hook
from minigrad.classroom.exercises import Mistake

from ..observations import observed, partly

Answer = Callable[..., Any]
GRAY, COLORED, SINGLE = (
    "the map of three gray images",
    "the map of two images with three color channels",
    "the map of a batch of one",
)
PASSES = "the number of backward passes for six images"
BEFORE = "what became of gradients that the parameters had before"


_CLASSES = 5


class _Tally:
    """A number that copies of a model go on counting together."""

    count = 0

    def __deepcopy__(self, memo: dict[int, Any]) -> _Tally:
        return self


class Counted(nn.Module):
    """A small convolutional network that counts the backward passes through its input."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.look: Any = nn.Conv2d(channels, 4, 3, padding=1)
        self.head: Any = nn.Linear(4, _CLASSES)
        self.passes = _Tally()
        with torch.no_grad():
            for at, parameter in enumerate(self.parameters()):
                count = parameter.numel()
                entries = [math.sin(1.0 + at + 2.3 * index) for index in range(count)]
                parameter.copy_(torch.tensor(entries).reshape(parameter.shape))

    def _count(self, gradient: Tensor) -> None:
        self.passes.count += 1

    def forward(self, x: Tensor) -> Tensor:
        """Score a batch of images of any size."""
        x = x * 1.0
        if x.requires_grad:
            x.register_hook(self._count)
        return self.head(torch.tanh(self.look(x)).mean((2, 3)))


def pictures(count: int, channels: int, height: int, width: int) -> Tensor:
    """Make images that differ everywhere."""
    many = count * channels * height * width
    entries = [0.5 + 0.5 * math.sin(3.7 * at + at * at) for at in range(many)]
    return torch.tensor(entries).reshape(count, channels, height, width)


def _own(scores: Tensor, labels: Tensor) -> Tensor:
    return scores[torch.arange(len(scores)), labels].sum()


def _largest(gradient: Tensor) -> Tensor:
    return gradient.abs().amax(dim=1)


def slopes_of(
    score: Callable[[Tensor, Tensor], Tensor] = _own,
    finish: Callable[[Tensor], Tensor] = _largest,
) -> Answer:
    """Make a saliency; the settings name typical slips.

    Args:
        score: makes one number of the scores and the labels.
        finish: makes maps of the gradient.
    """

    def saliency(model: Any, images: Tensor, labels: Tensor) -> Tensor:
        x = images.detach().clone().requires_grad_()
        return finish(grad(score(model(x), labels), x)[0])

    return saliency


def _by_image(
    finish: Callable[[Tensor, Tensor], Tensor],
) -> Callable[[Any], bool]:
    def times(model: Any, images: Tensor, labels: Tensor) -> Tensor:
        x = images.detach().clone().requires_grad_()
        return finish(grad(_own(model(x), labels), x)[0], images.detach())

    return _by_maps(times)


def _scaled(gradient: Tensor) -> Tensor:
    maps = _largest(gradient)
    return maps / maps.amax(dim=(1, 2), keepdim=True)


def _became(empty: Counted, filled: Counted) -> str:
    """Tell what became of gradients of ones in the parameters of one model; another had none."""
    now = [parameter.grad for parameter in filled.parameters()]
    there = [each for each in now if each is not None and bool(each.any())]
    if not there:
        return "gone"
    if all(each is not None and torch.equal(each, torch.ones_like(each)) for each in now):
        return "kept"
    added = all(parameter.grad is None for parameter in empty.parameters())
    return "added to" if added else "changed"


def saliency_run(answer: Answer) -> dict[str, Any]:
    """Ask for the saliency of gray and colored images, and count passes."""
    gray, colored = Counted(1), Counted(3)
    for parameter in colored.parameters():
        parameter.grad = torch.ones_like(parameter)
    found = {
        GRAY: answer(gray, pictures(3, 1, 5, 4), torch.tensor([2, 0, 4])),
        COLORED: answer(colored, pictures(2, 3, 4, 5), torch.tensor([1, 3])),
        SINGLE: answer(colored, pictures(1, 3, 3, 3), torch.tensor([2])),
    }
    gray.passes.count = 0
    ready = pictures(6, 1, 3, 3).requires_grad_()
    answer(gray, ready, torch.tensor([0, 1, 2, 3, 4, 0]))
    found[PASSES] = gray.passes.count
    found[BEFORE] = _became(gray, colored)
    return found


def _softmax(scores: Tensor, labels: Tensor) -> Tensor:
    return _own(scores.softmax(1), labels)


def _total_loss(scores: Tensor, labels: Tensor) -> Tensor:
    return nn.functional.cross_entropy(scores, labels, reduction="sum")


def _by_maps(wrong: Answer) -> Callable[[Any], bool]:
    return partly(saliency_run, wrong, GRAY, COLORED, SINGLE)


def _alike(answer: Any, right: Any) -> bool:
    fits = answer.shape == right.shape
    return fits and bool(torch.allclose(answer.to(right.dtype), right, rtol=1e-4, atol=0.0))


def _gray(found: Any) -> tuple[Any, Any]:
    """Give the maps of the gray images, and the right ones."""
    return observed(found, GRAY), saliency_run(slopes_of())[GRAY]


def _of_other_classes(found: Any) -> bool:
    """Tell whether each gray image was asked for one class, and not for its own."""
    maps, right = _gray(found)
    model, images = Counted(1), pictures(3, 1, 5, 4)
    each = [slopes_of()(model, images, torch.tensor([label] * 3)) for label in range(_CLASSES)]
    return all(
        any(_alike(one, maybe[at]) for maybe in each) and not _alike(one, right[at])
        for at, one in enumerate(maps)
    )


def _first_only(found: Any) -> bool:
    maps, right = _gray(found)
    fits = [_alike(one, other) for one, other in zip(maps, right, strict=True)]
    return fits == [True, False, False]


def _only_gray(found: Any) -> bool:
    maps, right = _gray(found)
    return _alike(maps, right)


SALIENCY = Hook(
    id="14.1",
    asks="saliency(model, images, labels), which returns (N, H, W): for each image the absolute "
    "slope of its own score, the largest over the channels",
    scenario=saliency_run,
    reference=slopes_of(),
    digits=4,
    right="Rows do not mix, so one pass serves them all.",
    hints=(
        "Each score depends on its own image only. Of which one number do you take the gradient?",
        "Sum scores[torch.arange(N), labels], take the gradient by a detached copy of the images, "
        "then abs(), then the largest along dimension 1.",
    ),
    mistakes=[
        Mistake(
            "Nothing there requires a gradient: the images come without one. Work on a detached "
            "copy that does, and call the model on that copy.",
            trouble=("not require grad",),
        ),
        Mistake(
            "grad starts from one number, and there are N scores: sum them up.",
            trouble=("only for scalar outputs",),
        ),
        Mistake(
            "You differentiate by a tensor that the model has not seen. Call it on the copy.",
            trouble=("not have been used",),
        ),
        Mistake(
            "The check comes with a model and images of float32 first, and then of float64: leave "
            "the dtype as it is.",
            trouble=("Input type",),
        ),
        Mistake(
            "The labels number the classes, the second dimension of the scores. The rows are the "
            "images.",
            trouble=("out of bounds",),
        ),
        Mistake(
            "After the first pass its saved values are gone. One pass is enough: sum the scores.",
            trouble=("a second time",),
        ),
        Mistake(
            "The maps are right, and each image took a pass of its own. The scores of different "
            "images may be summed: how do their gradients mix?",
            when=lambda found: (
                found[3].result != 1
                and observed(found, PASSES) is not None
                and _by_maps(slopes_of())(found)
            ),
        ),
        Mistake(
            "The maps are right. But the parameters had gradients before, and these are gone: "
            "zero_grad empties what others have collected, too. Ask for the one gradient that you "
            "need with autograd.grad.",
            when=lambda found: observed(found, BEFORE) == "gone" and _by_maps(slopes_of())(found),
        ),
        Mistake(
            "The maps are right. But backward adds in place to a gradient that is there: the "
            "tensor that you kept has changed with it. Ask for the one gradient that you need "
            "with autograd.grad.",
            when=lambda found: (
                observed(found, BEFORE) == "added to" and _by_maps(slopes_of())(found)
            ),
        ),
        Mistake(
            "max with a dimension gives two things, the values and where they stand. The values "
            "are asked for; amax gives these alone.",
            when=lambda found: hasattr(found[0].result, "indices"),
        ),
        Mistake(
            "grad returns a tuple, one gradient for each input. Take the tensor out of it.",
            when=lambda found: isinstance(found[0].result, tuple | list),
        ),
        Mistake(
            "These maps have a sign. Saliency is the absolute value.",
            when=_by_maps(slopes_of(finish=lambda g: g.amax(dim=1))),
        ),
        Mistake(
            "abs comes too late: of a channel with -5 and one with 1 the largest is 5, not 1.",
            when=_by_maps(slopes_of(finish=lambda g: g.amax(dim=1).abs())),
        ),
        *(
            Mistake(
                "The channels are put together in another way: asked for is the largest of their "
                "absolute slopes.",
                when=_by_maps(slopes_of(finish=finish)),
            )
            for finish in (
                lambda g: g.abs().sum(dim=1),
                lambda g: g.abs().mean(dim=1),
                lambda g: g.sum(dim=1).abs(),
                lambda g: g.mean(dim=1).abs(),
                lambda g: g.norm(dim=1),
                lambda g: g.abs().amin(dim=1),
            )
        ),
        Mistake(
            "Only the first channel came through. All of them count.",
            when=_by_maps(slopes_of(finish=lambda g: g[:, 0].abs())),
        ),
        Mistake(
            "The channels are still apart: keep the largest slope of them, without the dimension.",
            when=lambda found: found[1].result.dim() == 4,
        ),
        Mistake(
            "The first dimension is the images, and you put them together. The channels are the "
            "second.",
            when=_by_maps(slopes_of(finish=lambda g: g.abs().amax(dim=0))),
        ),
        Mistake(
            "squeeze removes every dimension of length 1, that of a batch of one, too.",
            when=lambda found: (
                found[2].result.dim() < 3 and partly(saliency_run, slopes_of(), COLORED)(found)
            ),
        ),
        Mistake(
            "scores[:, labels] takes every label from every row: N times N numbers. Each image "
            "has one label.",
            when=_by_maps(slopes_of(lambda scores, labels: scores[:, labels].sum())),
        ),
        Mistake(
            "All images were asked for the first one's label. Each has its own.",
            when=_by_maps(slopes_of(lambda scores, labels: scores[:, int(labels[0])].sum())),
        ),
        Mistake(
            "That is the slope of the largest score. Asked for is the score of the label.",
            when=_by_maps(slopes_of(lambda scores, labels: scores.amax(dim=1).sum())),
        ),
        Mistake(
            "That is the slope of all scores together. Where do the labels come in?",
            when=_by_maps(slopes_of(lambda scores, labels: scores.sum())),
        ),
        Mistake(
            "The mean of the scores divides each map by the number of images. Take the sum.",
            when=_by_maps(slopes_of(lambda scores, labels: _own(scores, labels) / len(scores))),
        ),
        Mistake(
            "That is the slope of the probability. The score itself is asked for, before softmax.",
            when=_by_maps(slopes_of(_softmax)),
        ),
        *(
            Mistake(
                "That is the slope of the loss, which all scores take part in. The score of the "
                "label is asked for.",
                when=_by_maps(slopes_of(loss)),
            )
            for loss in (nn.functional.cross_entropy, _total_loss)
        ),
        *(
            Mistake(
                "The slope is multiplied with the image. Here the slope alone is asked for.",
                when=_by_image(finish),
            )
            for finish in (
                lambda g, images: _largest(g) * images.abs().amax(dim=1),
                lambda g, images: _largest(g * images),
                lambda g, images: (g * images).amax(dim=1),
            )
        ),
        Mistake(
            "Negative slopes were cut off. Saliency turns them into positive ones.",
            when=_by_maps(slopes_of(finish=lambda g: g.clamp(min=0).amax(dim=1))),
        ),
        Mistake(
            "These are squares. The absolute slopes themselves are asked for.",
            when=_by_maps(slopes_of(finish=lambda g: (g**2).amax(dim=1))),
        ),
        Mistake(
            "The maps are scaled to a largest value of 1. Asked for are the slopes themselves.",
            when=_by_maps(slopes_of(finish=_scaled)),
        ),
        Mistake(
            "The shape is another one. Three images of 5 rows and 4 columns have maps of shape "
            "(3, 5, 4), in this order.",
            when=lambda found: observed(found, GRAY).shape != (3, 5, 4),
        ),
        Mistake(
            "Those are slopes of another class's score. A label is the number of its class, and "
            "counts from 0.",
            when=_of_other_classes,
        ),
        Mistake(
            "The map of the first image is right, those of the others are not. Each image has a "
            "label and a map of its own.",
            when=_first_only,
        ),
        Mistake(
            "With one channel it is right, with three it is not: the channels are put together in "
            "another way. Asked for is the largest of their absolute slopes.",
            when=lambda found: (
                _only_gray(found)
                and not _alike(observed(found, COLORED), saliency_run(slopes_of())[COLORED])
            ),
        ),
        Mistake(
            "One channel, and nothing to put together: even there these are not the absolute "
            "slopes of the labels' scores. Of which number did you take the gradient, and what "
            "did you do to it?",
            when=lambda found: observed(found, GRAY).shape == (3, 5, 4) and not _only_gray(found),
        ),
    ],
)
