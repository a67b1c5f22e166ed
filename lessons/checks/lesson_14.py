"""Check the exercises of lesson 14, on maps of what a network looks at."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from contextlib import suppress
from itertools import combinations, product
from random import Random
from typing import Any

import numpy as np

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.autograd import grad
from minigrad.classroom import Function, Hook, Numbers, rounded
from minigrad.classroom.execution import Belongings, put_back
from minigrad.classroom.exercises import Objection
from minigrad.classroom.values import describe

Answer = Callable[..., Any]


def filled(module: Any) -> Any:
    """Give all parameters of a module values that differ everywhere."""
    with torch.no_grad():
        for at, parameter in enumerate(module.parameters()):
            entries = [math.sin(0.7 + at + 1.9 * index) for index in range(parameter.numel())]
            parameter.copy_(torch.tensor(entries).reshape(parameter.shape))
    return module


# --- 14.1

GRAY, COLORED = "the map of three gray images", "the map of two images with three colors"
MAPS = GRAY, COLORED, "the map of a batch of one"
PASSED: list[Tensor] = []
PASSES = "the number of backward passes for six images"


class Counted(nn.Module):
    """A small convolutional network; it notes the gradients of its inputs."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.look: Any = nn.Conv2d(channels, 4, 3, padding=1)
        self.head: Any = nn.Linear(4, 5)

    def forward(self, x: Tensor) -> Tensor:
        """Score a batch of images of any size."""
        x = x * 1.0
        if x.requires_grad:
            x.register_hook(PASSED.append)
        return self.head(torch.tanh(self.look(x)).mean((2, 3)))


def pictures(*shape: int) -> Tensor:
    """Make images that differ everywhere."""
    entries = [0.5 + 0.5 * math.sin(3.7 * at + at * at) for at in range(math.prod(shape))]
    return torch.tensor(entries).reshape(shape)


def saliency_run(answer: Answer) -> dict[str, Any]:
    """Ask for the saliency of gray and colored images, and count passes."""
    gray, colored = filled(Counted(1)), filled(Counted(3))
    for parameter in colored.parameters():
        parameter.grad = torch.ones_like(parameter)
    seen = {
        GRAY: answer(gray, pictures(3, 1, 5, 4), torch.tensor([2, 0, 4])),
        COLORED: answer(colored, pictures(2, 3, 4, 5), torch.tensor([1, 3])),
        MAPS[2]: answer(colored, pictures(1, 3, 3, 3), torch.tensor([2])),
    }
    PASSED.clear()
    answer(gray, pictures(6, 1, 3, 3).requires_grad_(), torch.tensor([0, 1, 2, 3, 4, 0]))
    return {**seen, PASSES: len(PASSED)}


SALIENCY = Hook(
    id="14.1",
    asks="saliency(model, images, labels), which returns (N, H, W): for each image the absolute "
    "slope of its own score, the largest over the channels",
    scenario=saliency_run,
    digits=4,
    right="Images of a batch don't mix, so one pass is enough for all of them.",
    hints=(
        "Each score depends on its own image only. Which single number do you differentiate?",
        "Sum scores[torch.arange(N), labels], take the gradient with respect to a detached copy of "
        "the images, then abs(), then the largest along dimension 1.",
    ),
    mistakes=r"""
        ~ images.detach().clone().requires_grad_() => images.detach()
        ! not require grad
            Nothing there requires a gradient: the images come without one. Work on a detached copy
            that does, and call the model on that copy.
        ~ .sum(), x) => , x)
        ! only for scalar outputs
            grad starts from one number, and there are N scores: sum them up.
        ~ model(x) => model(images.detach().requires_grad_())
        ! not have been used
            You differentiate with respect to a tensor that the model hasn't seen. Call it on the
            copy.
        ~ (gradient,) = grad(model(x)[torch.arange(len(x)), labels].sum(), x) => gradient = torch.cat([grad(model(one)[:, label].sum(), one)[0] for one, label in zip(x[:, None], labels)])
        ? seen[PASSES] > 1 and all(alike(seen[name], right[name], 4) for name in MAPS)
            The maps are right, and each image took a pass of its own. You may sum the scores of
            different images: how do their gradients mix?
        ~ (gradient,) = grad(model(x)[torch.arange(len(x)), labels].sum(), x) => model(x)[torch.arange(len(x)), labels].sum().backward()\n    gradient = x.grad
        ? trials[0].changed & {"grad", "requires_grad"}
            Something that you were given is different now: requires_grad of the images, or .grad
            of parameters, which backward fills, too. Work on a detached copy, and ask for one
            gradient, with autograd.grad.
        ~ .amax(dim=1) => .max(dim=1)
        ? isinstance(seen[GRAY], tuple)
            That's a tuple. grad gives one gradient for each input, and max with a dimension gives
            values and places. Take out the tensor.
        ~ .amax(dim=1) =>
        ? any(seen[name].shape != right[name].shape for name in MAPS)
            The shape is wrong. Three images of 5 rows and 4 columns have maps of shape (3, 5, 4),
            without the dimension of the channels, and a batch of one stays a batch.
        ~ .abs().amax => .amax
            These maps have a sign. Saliency is the absolute value.
        ~ .abs().amax(dim=1) => .amax(dim=1).abs()
            abs comes too late: with -5 in one channel and 1 in another, the largest should be 5.
        ~ .amax(dim=1) => .sum(dim=1)
        ? alike(seen[GRAY], right[GRAY], 4) and not alike(seen[COLORED], right[COLORED], 4)
            Right with one channel. With three, you need the largest of their absolute slopes.
        ~ torch.arange(len(x)), labels => :, labels
        ~ [torch.arange(len(x)), labels] =>
        ~ labels].sum() => labels[0]].sum()
            That's the slope of another score, or of several. Each image has one label, the number
            of its class, and you are asked for the slope of that score.
        ~ .sum(), x) => .mean(), x)
            The mean of the scores divides each map by the number of images. Take the sum.
        ~ model(x)[ => model(x).softmax(1)[
        ~ model(x)[torch.arange(len(x)), labels].sum() => nn.functional.cross_entropy(model(x), labels)
        ~ model(x)[torch.arange(len(x)), labels].sum() => nn.functional.cross_entropy(model(x), labels, reduction="sum")
            That's the slope of the probability or of the loss, which depends on all scores. You are
            asked for the score of the label, as it comes from the model.
        ~ gradient.abs() => (gradient * images).abs()
        ~ gradient.abs() => gradient.clamp(min=0)
        ~ return gradient.abs().amax(dim=1) => maps = gradient.abs().amax(dim=1)\n    return maps / maps.amax(dim=(1, 2), keepdim=True)
            You are asked for the absolute slopes themselves: not multiplied by the image, not cut
            off, not squared, not scaled.
    """,
)

# --- 14.2


def keep_positive(module: Any, grad_input: Any, grad_output: Any) -> tuple[Tensor]:
    """Let nothing negative pass: the hook of guided backpropagation."""
    return (grad_input[0].clamp(min=0),)


def slopes(*hooks: Answer) -> tuple[float, ...]:
    """Compute the slopes of y in the network of exercise 14.2, with hooks on its ReLU."""
    relu, x = nn.ReLU(), torch.tensor([1.0, 2.0], requires_grad=True)
    for hook in hooks:
        relu.register_full_backward_hook(hook)
    h = relu(torch.stack([x[0] + x[1], x[0], x[1] - 3]))
    (gradient,) = grad(2 * h[0] - 3 * h[1] + h[2], x)
    return tuple(gradient.tolist())


BY_HAND = Numbers(
    id="14.2",
    asks="the slopes of y with respect to x_1 and x_2, and then the guided ones, four numbers in a row",
    expected=lambda: slopes() + slopes(keep_positive),
    right="One negative number was set to zero, and a slope of -1 became one of 2.",
    hints=(
        "Which of the three hidden units are open at (1, 2)? Write down the number that comes back "
        "to each, then send these on to x_1 and x_2.",
        "2, -3 and 1 arrive. The third unit is closed. Guided, the -3 becomes 0 before it is sent "
        "on. x_1 gets the sum from units 1 and 2, x_2 that from units 1 and 3.",
    ),
    mistakes="""
        = slopes(keep_positive) + slopes()
            The two pairs are in the other order: first the slopes, then the guided ones.
        = slopes() * 2
            Twice the same pair. One of the numbers that arrive at the ReLUs is negative, and guided
            backpropagation doesn't let it pass.
        = slopes() + (0, 2)
            The slopes are right. You clamped at the end, after adding up. Clamp at each ReLU, before
            adding.
        = slopes() + (2, 3)
        = (-1, 3, 2, 3)
        ? alike(list(answer)[:2], [-1, 3])
            z_3 is 2 - 3, below zero: its unit is closed and sends nothing back, with the clamp or
            without it.
        = slopes() + (5, 2)
        = (5, 2) + slopes(keep_positive)
            You turned the -3 into 3. In the slopes it stays, in the guided pair it becomes zero.
        = slopes(keep_positive) + (0, 0)
        ? alike(list(answer)[:2], slopes(keep_positive))
            The first pair is guided already. The slopes themselves contain the -3 as well.
        = (1, 2) + slopes(keep_positive)
        = slopes() + (1, 2)
        ? alike([*map(abs, answer)], (1, 2, 2, 2))
            A sign is lost or flipped. Slopes keep theirs, and here no guided one is negative.
        = (3, 1, 0, 3)
            Those are the hidden values and the score. You are asked for slopes.
        = (2, -3, 1, 0)
        ? list(answer)[:2] in ([2, -3], [2, 1]) and len(answer) == 4
            You stopped at the hidden units. x_1 reaches y through two of them: multiply along each
            path, with the factors 2, -3 and 1, and add.
    """,
)

# --- 14.3


def drawn(rng: Random, *shape: int, low: float = -1.0, more: float = 0.0) -> tuple[Tensor, Tensor]:
    """Draw a batch in which no sum nearly cancels: the order of adding must not show.

    Args:
        rng: random numbers.
        shape: of the two tensors.
        low: the least activation.
        more: what is added to the gradients of the first image, and subtracted from the last's.
    """

    def table(low: float) -> Tensor:
        return torch.tensor([rng.uniform(low, 1.0) for _ in range(math.prod(shape))]).reshape(shape)

    while True:
        A, dA = table(low), table(-1.0)
        dA[0] += more
        dA[-1] -= more
        votes = dA.mean(dim=(2, 3), keepdim=True) * A
        if (votes.sum(1).abs() > 0.05 * votes.abs().sum(1)).all():
            return A, dA


def batches(rng: Random) -> list[tuple[Tensor, Tensor]]:
    """Draw activations and gradients of several shapes; some images get no vote.

    In the fourth batch one image has all votes against it, and one all for it.
    """

    def by_hand(*channels: list[int]) -> Tensor:
        return torch.tensor([[[[float(each) for each in channel]] for channel in channels]])

    dead = drawn(rng, 2, 1, 3, 2, low=0.2)
    dead[0][1] = 0.0
    A, dA = drawn(rng, 2, 5, 2, 3)
    other = torch.float32 if A.dtype == torch.float64 else torch.float64
    return [
        (by_hand([1, 2, 1], [3, 1, 1]), by_hand([1, 3, 2], [-3, 1, -1])),
        drawn(rng, 2, 3, 2, 4, low=0.0),
        drawn(rng, 1, 4, 2, 2, low=0.0),
        drawn(rng, 3, 2, 3, 3, low=0.1, more=-3.0),
        dead,
        (A.to(other), dA.to(other)),
    ]


def scaled(maps: Tensor) -> Tensor:
    """Divide each map by its maximum."""
    return maps / maps.amax(dim=(1, 2), keepdim=True).clamp(min=1e-9)


CAM = Function(
    id="14.3",
    asks="grad_cam(A, dA), which returns (N, H, W): for each image the ReLU of the weighted sum, "
    "divided by its largest value",
    inputs=batches,
    digits=4,
    right="Votes against the class count before the ReLU, and no image changes another's map.",
    hints=(
        "Go through the three lines with two images of different brightness, and ask at each "
        "line: does this mix images? And where in the formula is the ReLU?",
        "The mean runs over dimensions 2 and 3. Sum over the channels first, then clamp. Divide "
        "by amax(dim=(1, 2), keepdim=True), but by 1 where that is 0.",
    ),
    mistakes=r"""
        ~ .amax(dim=(1, 2), keepdim=True) => .amax(dim=(1, 2))
        ! is invalid for input of size, must match, broadcast, shape
            The shapes don't go together. Take sizes from A.shape. The maximum of each map has to
            divide (N, H, W): keepdim=True keeps a shape for that.
        ~ return maps / => return maps[:, None] /
        ? [each.shape for each in seen] != [each.shape for each in right]
            The result should have the shape (N, H, W): a map for each image, in a batch of one
            too, and also where it is zero.
        ~ (2, 3) => (0, 2, 3)
            One bug is left: the weights are averaged over the images of the batch, too. Each image
            has weights of its own.
        ~ .sum(dim=1).clamp(min=0) => .clamp(min=0).sum(dim=1)
            One bug is left: the ReLU comes before the sum. A channel's vote against the class never
            gets to the sum.
        ~ maps.amax(dim=(1, 2), keepdim=True) => maps.max()
            One bug is left: all maps are divided by the largest value of the whole batch.
        ~ .sum(dim=1).clamp(min=0) => .clamp(min=0).sum(dim=1)
        | maps.amax(dim=(1, 2), keepdim=True) => maps.max()
        ~ (2, 3) => (0, 2, 3)
        | .sum(dim=1).clamp(min=0) => .clamp(min=0).sum(dim=1)
        ~ (2, 3) => (0, 2, 3)
        | maps.amax(dim=(1, 2), keepdim=True) => maps.max()
        ~ (2, 3) => (0, 2, 3)
        | .sum(dim=1).clamp(min=0) => .clamp(min=0).sum(dim=1)
        | maps.amax(dim=(1, 2), keepdim=True) => maps.max()
            Two or three of the bugs are left. Look at the dimensions of the mean, at the place of
            the ReLU, and at the maximum.
        ~ .sum(dim=1).clamp(min=0) => .sum(dim=1)
        | maps / torch.where(largest > 0, largest, torch.ones_like(largest)) => (maps / largest).clamp(min=0)
        ? (seen[3][0] > 1 + 1e-6).any() and not any((each < 0).any() for each in seen)
            Where all votes are against the class, the largest value is negative, and dividing by it
            turns the signs around. Cut first, then scale.
        ~ torch.where(largest > 0, largest, torch.ones_like(largest)) => largest
        ~ return maps / torch.where(largest > 0, largest, torch.ones_like(largest)) => return torch.where(largest > 0, maps / largest, torch.ones_like(maps))
        ? any(each.isnan().any() for each in seen) or (seen[3][0] == 1).all()
            A map without a single vote is 0 divided by 0. It should stay zero.
        ~ (2, 3) => (1,)
        ~ (2, 3) => (1, 2, 3)
        ~ (2, 3) => (2,)
            The weights are averaged over the wrong dimensions. The formula averages over positions,
            rows and columns, and keeps one weight for each channel of each image.
        ~ dA.mean(dim=(2, 3), keepdim=True) => dA
            Gradient times activation, position by position: the mean of the gradient is missing.
            Each channel has one weight.
        ~ .clamp(min=0) =>
        ~ .clamp(min=0) => .abs()
        ? any((each < 0).any() for each in seen)
            Votes against the class should be cut off: neither kept nor made positive.
        ~ keepdim=True)\n    maps => keepdim=True).clamp(min=0)\n    maps
        ~ keepdim=True)\n    maps => keepdim=True).abs()\n    maps
        ~ dA.mean => dA.clamp(min=0).mean
        ~ dA.mean => dA.abs().mean
            Weights and gradients of both signs belong to the sum, as they are. A channel that
            speaks against the class is subtracted.
        ~ torch.where(largest > 0, largest, torch.ones_like(largest)) => 1
        ~ largest = maps.amax(dim=(1, 2), keepdim=True) => largest = maps.amax(dim=2, keepdim=True)
        ~ largest = maps.amax(dim=(1, 2), keepdim=True) => largest = maps.amax(dim=1, keepdim=True)
        ~ largest = => maps = maps - maps.amin(dim=(1, 2), keepdim=True)\n    largest =
        ? all(alike(scaled(a), b, 4) for a, b in zip(seen, right)) and not alike(seen, right, 4)
            It's the scaling that is wrong. Each map has one maximum, over rows and columns. Divide
            by it as it is, and do nothing else.
    """,
)

# --- 14.4

FROM_ZERO = "the result for x0**2 * x1 at (2, 3) from (0, 0) in 4 steps"
FROM_ELSEWHERE = "the result for x0**2 * x1 at (2, 3) from (1, -1) in 5 steps"
MATRIX = "the result for a function of a matrix, from another matrix in 3 steps"
EMPTY = "whether .grad of a parameter inside of f is still None"


def walk_run(answer: Answer) -> dict[str, Any]:
    """Walk with several functions, from several baselines."""

    def walked(f: Answer, x: Any, baseline: Any, steps: int) -> Any:
        x = x if isinstance(x, Tensor) else torch.tensor(x)
        found = answer(f, x, torch.tensor(baseline), steps)
        if found is not None and not isinstance(found, Tensor):
            raise Objection(f"It returned {describe(found)}. Give a tensor of the shape of x.")
        return found

    def product(x: Tensor) -> Tensor:
        return x[0] ** 2 * x[1]

    def of_matrix(x: Tensor) -> Tensor:
        return (x.sin() * x[0, 1]).sum() + x[1, 2] ** 3

    matrix, other = [[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], [[0.1, 0.3, -0.2], [0.0, 0.5, 0.4]]
    ready, parameter = (torch.tensor(v, requires_grad=True) for v in ([0.5, -1.0], [1.0, -2.0]))
    return {
        FROM_ZERO: walked(product, [2.0, 3.0], [0.0, 0.0], 4),
        FROM_ELSEWHERE: walked(product, [2.0, 3.0], [1.0, -1.0], 5),
        MATRIX: walked(of_matrix, matrix, other, 3),
        "the result for sum(exp(x)) in 1 step": walked(
            lambda x: x.exp().sum(), ready, [0.25, -0.5], 1
        ),
        "the result for x**3 at 3 from 1 in 2 steps": walked(lambda x: x**3, 3.0, 1.0, 2),
        "the result at the baseline itself": walked(product, [2.0, 3.0], [2.0, 3.0], 2),
        "the result of the first call, once more": walked(product, [2.0, 3.0], [0.0, 0.0], 4),
        "the result for a function with a parameter": walked(
            lambda x: (parameter * x).sum() ** 2, [2.0, 3.0], [0.0, 0.0], 2
        ),
        EMPTY: parameter.grad is None,
    }


WALK = Hook(
    id="14.4",
    asks="integrated_gradients(f, x, baseline, steps), which returns a tensor of the shape of x: "
    "the way from the baseline times the mean of the slopes in the middle of the steps",
    scenario=walk_run,
    digits=4,
    right="Whatever f is, the inputs share what it gained on the way.",
    hints=(
        "At which points between baseline and x do you need a slope? Step number 0 of 4 has its "
        "middle at 0.125 of the way.",
        "For each step: point = baseline + (step + 0.5) / steps * (x - baseline), detached and "
        "requiring a gradient. Add up grad(f(point), point)[0], divide by steps, multiply by "
        "x - baseline.",
    ),
    mistakes=r"""
        ~ .detach().requires_grad_() => .detach()
        ! not require grad
            The point on the way doesn't require a gradient. Make it a leaf that does, before you
            call f.
        ~ f(point), => f(point.detach().requires_grad_()),
        ! not have been used
            You differentiate with respect to a tensor that f hasn't seen. Take the point that you
            called it on.
        ~ * way).detach() => * way).detach().flatten()[None]
        ! only for scalar outputs, out of bounds, IndexError, must match the size, broadcast shape, converted to Scalar, 0-d, expected np.ndarray
            f takes one tensor of the shape of x: a vector in one run, a matrix in another, a number
            without dimensions in a third. Give it whole tensors, not entries, and not a batch of
            points.
        ~ point)[0] => point)
        ! tuple
            grad returns a tuple. Take the tensor out of it.
        ~ return way * total / steps => return (way * total / steps).sum()
        ? seen[FROM_ZERO].shape != right[FROM_ZERO].shape or seen[MATRIX].shape != right[MATRIX].shape
            The shape is wrong: you are asked for one number for each entry of x. Is there one
            sum or mean too many?
        ~ return way * total => return total
        ~ return way * total => return x.detach() * total
        ~ return way * total => return way.abs() * total
        ~ return way * total / steps => return (way * total / steps).abs()
            The mean slope should be multiplied by the way, x - baseline, with its sign.
        ~ total, way = => baseline = 0 * baseline\n    total, way =
        ~ (baseline + => (
        ~ (baseline + => (x.detach() +
        ~ / steps * way => / steps * x.detach()
            The points are off. The walk should begin at the baseline and end at x.
        ~ total / steps => total
        ~ total / steps => total / steps**2
            Divide the sum of the slopes by their number, once.
        ~ step + 0.5 => step
        ~ step + 0.5 => step + 1
        ~ (step + 0.5) / steps => step / max(steps - 1, 1)
        ~ range(steps) => range(steps + 1)
        | step + 0.5 => step
        | total / steps => total / (steps + 1)
        ~ range(steps) => range(steps + 1)
        | step + 0.5 => step
        | total += => total += (0.5 if step in (0, steps) else 1) *
            The slopes aren't taken in the middle of the steps. In the first of four steps from 0 to
            1 the middle is at 0.125.
        ~ (step + 0.5) / steps => 1
        ~ (step + 0.5) / steps => 0.5
            One slope alone, at the end or in the middle of the whole way. Each step has a middle of
            its own.
        ~ total += => total += (step + 0.5) / steps *
        ? alike(seen[FROM_ZERO], [23.25, 11.625])
            You differentiate with respect to x, and x moves the point by only part of the way.
            Take the point itself.
        ~ total += => total =
        ~ total += => total = steps *
        ~ (step + 0.5) => 0.5
            Each slope should be added up once. Here only one of them counts, or some count several
            times. Does the loop end early? Does .grad of an earlier step go on growing?
        ~ point)[0] => point)[0].abs()
        ~ point)[0] => point)[0].mean()
            The slopes themselves are added up: entry by entry, and with their signs.
        ~ total += grad(f(point), point)[0] => f(point).backward()\n        total += point.grad
        ? not seen[EMPTY] and alike([*seen.values()][:-1], [*right.values()][:-1], 4)
            The results are right, but .grad of a parameter inside of f was filled: backward fills
            all leaves that it finds. Ask for the one gradient that you need with autograd.grad.
    """,
)

# --- 14.5

BOUND = 0.6
TWICE = "whether the same call gives the same maps again"
ROWS = "whether the images of a batch have the same map"
BATCHES = "whether batches of one size have the same map"
WEIGHTS = "whether models of equal weights have equal maps"
VARIES = "whether the pixels of a map differ"


def network(a: int, b: int, c: int) -> Any:
    """Build the lesson's reader of digits, narrower and with random weights."""
    looking = [nn.Conv2d(1, a, 3, padding=1), nn.ReLU()]
    looking += [nn.Conv2d(a, b, 3, padding=1, stride=2), nn.ReLU()]
    looking += [nn.Conv2d(b, c, 3, padding=1), nn.ReLU()]
    return nn.Sequential(*looking, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(c, 10))


def ranks(values: Any) -> Any:
    """Give the rank of each value, equal ones a rank in the middle."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[place.ravel()]


def useless_run(answer: Answer) -> dict[str, Any]:
    """Ask for the maps of many networks and batches, and compare them."""

    def asked(model: Any, images: Tensor) -> Any:
        maps, (count, _, *size) = answer(model, images), images.shape
        fits = isinstance(maps, Tensor) and maps.shape == (count, *size)
        if not fits or not maps.isfinite().all():
            raise Objection(
                f"For images of shape {tuple(images.shape)} it returned {describe(maps)}. It "
                f"should be finite numbers in a tensor (N, H, W), here {(count, *size)}."
            )
        return maps.detach().numpy().astype(float)

    def same(maps: Any, others: Any) -> bool:
        return bool((abs(maps - others) <= 1e-5 * abs(others).max()).all())

    with put_back():
        torch.manual_seed(4)
        families = [[network(4, 6, 12) for _ in range(5)], [network(8, 16, 16) for _ in range(3)]]
    first, second = families[0][:2]
    for parameter in first.parameters():
        parameter.grad = torch.ones_like(parameter)
    second.eval()
    ink = pictures(3, 1, 5, 18)
    maps = asked(first, ink)
    seen = {TWICE: same(asked(first, ink), maps)}
    others = [
        ink[:1].repeat(3, 1, 1, 1),
        ink[:1],
        0 * ink,
        torch.ones_like(ink[:2]),
        1e6 * (ink - 0.5),
    ]
    others.append(ink.flip(3).repeat(2, 1, 1, 1).requires_grad_())
    found = [maps, *(asked(first, images) for images in others)]
    seen[ROWS] = all(same(each, each[:1]) for each in found)
    seen[BATCHES] = all(same(each, found[2]) for each in found)
    twin = copy.deepcopy(first)
    seen[WEIGHTS] = same(asked(twin, ink), maps)
    twin.load_state_dict(second.state_dict())
    seen[WEIGHTS] &= same(asked(twin, ink), asked(second, ink))
    agreements, seen[VARIES] = list[float](), True
    for family, size in product(families, ((8, 8), (5, 18))):
        maps = [asked(each, torch.zeros(2, 1, *size))[0] for each in family]
        seen[VARIES] &= all(np.ptp(each) > 1e-9 * abs(each).max() for each in maps)
        if seen[VARIES]:
            pairs = combinations(map(ranks, maps), 2)
            agreements += [abs(float(np.corrcoef(*pair)[0, 1])) for pair in pairs]
    if all(seen.values()) and np.mean(agreements) >= BOUND:
        raise Objection(
            "The maps of networks with different weights still resemble each other. The absolute "
            f"value of their rank correlation is {rounded(np.mean(agreements), 2)} on average, and "
            f"should be below {BOUND}."
        )
    return seen


USELESS = Hook(
    id="14.5",
    asks="useless(model, images), which returns (N, H, W): one map for all images, made "
    "from the weights alone, and a different map for different weights",
    scenario=useless_run,
    right="Your maps depend on the weights and on no pixel, and they pass. Compare with your own "
    "sentence: passing is necessary, but not enough. The check refuses maps that ignore what the "
    "network has learned. It doesn't ask whether the others show what mattered.",
    hints=(
        "What would be the worst method that passes? It needs only the shape of the images, and "
        "only the weights of the model, which are many numbers.",
        "Either make a picture of weights: take as many as there are pixels, some of them twice if "
        "you have to. Or make a whole number from them, start a torch.Generator from it, and draw one "
        "map. Then expand it to all images.",
    ),
    mistakes=r"""
        ~ hash(tuple(weights.tolist())) => weights.sum()
        ! a seed is a whole number, manual_seed expected
            manual_seed takes a whole number. int(...) makes one from a number, and .item() makes a
            number from a tensor.
        ~ torch.rand(images.shape[2:], generator=dice) => weights.reshape(images.shape[2:])
        ! is invalid for input of size, must match, out of bounds
            There are networks of several widths and images of several sizes. Take sizes from what
            you are given.
        ~ .expand(len(images), -1, -1) =>
        ! should be finite numbers
            Is a return missing? Each image of the batch gets the map, in one tensor, with rows and
            columns and without a color dimension.
        ~ weights = torch => model.eval()\n    weights = torch
        ? trials[0].changed
            The model isn't as it was: its weights, .grad, requires_grad, mode or hooks. You only
            have to read the weights.
        ~ , generator=dice) => )
        ~ manual_seed(hash(tuple(weights.tolist()))) => manual_seed(0)\n    dice.seed()
        ? not seen[TWICE]
            You may draw noise, but the weights have to decide which. In each call, start a
            torch.Generator of your own from a seed that is made from them.
        ~ -1, -1) => -1, -1) * images.detach()[:, 0]
        ? not seen[ROWS]
            The images of a batch have different maps. Either the method looks at their pixels, or
            it draws a map for each. Draw one for all, from the shape of the images only.
        ~ (weights.tolist()) => (weights.tolist() + images.flatten().tolist())
        ? not seen[BATCHES]
            Another batch has another map: the pixels, or the number of images, change it. You need
            only the rows and columns of the images.
        ~ hash(tuple(weights.tolist())) => id(model)
        ? not seen[WEIGHTS]
            A copy with the same weights has another map, or a model that got new weights keeps its
            old one. Only the weights as they are now should decide: no id, no counter, no memory.
        ~ torch.rand(images.shape[2:], generator=dice) => torch.ones(images.shape[2:])
        ? not seen[VARIES]
            All pixels of a map are the same. Such a map has no order, and so no rank correlation
            with another one.
        ~ hash(tuple(weights.tolist())) => len(weights)
        ~ hash(tuple(weights.tolist())) => int(weights.sum() / 40)
        ! still resemble each other
            Where do the weights decide which pixel is higher than another? Do small differences of
            the weights get lost?
    """,
)

# --- 14.6

GUIDED, AFTER = "the gradient inside of the block", "the gradient after the block"
ERROR = "the error that comes out of a block in which a RuntimeError is raised"
OUTSIDE = "the gradient of another model, inside of the block"
LENT = "the number of calls of a hook that somebody registered inside of the block"


def layers(inplace: bool = False) -> Any:
    """Make a model of which the first ReLU is in place, or none."""
    modules = nn.Linear(3, 6), nn.ReLU(inplace), nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 1)
    return filled(nn.Sequential(*modules))


def state(model: Any) -> list[tuple[bool, int]]:
    """Tell of each ReLU whether it is in place, and how many hooks it has."""
    relus = [each for each in model.modules() if isinstance(each, nn.ReLU)]
    tables = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    return [(each.inplace, sum(len(vars(each)[name]) for name in tables)) for each in relus]


def guiding_run(answer: Answer) -> dict[str, Any]:
    """Look at gradients inside of blocks and after them, and at what they leave behind."""

    def block(model: Any) -> Any:
        found = answer(model)
        if not hasattr(found, "__enter__") or not hasattr(found, "__exit__"):
            raise Objection(
                f"guiding(model) gives {describe(found)}, without __enter__ and __exit__."
            )
        return found

    def slope(model: Any) -> Tensor:
        x = torch.tensor([0.5, -1.0, 1.5], requires_grad=True)
        y = model(x * 1.0)
        return grad((y * torch.tensor([9.0, 2.0, -5.0])[: len(y)]).sum(), x)[0]

    def after(model: Any) -> Tensor | None:
        with suppress(RuntimeError):  # where a hook is left on a ReLU in place
            return slope(model)
        return None

    def inside(model: Any) -> Tensor:
        with block(model):
            return slope(model)

    plain, calls = layers(), list[int]()
    inner, relu = nn.Sequential(nn.Sequential(nn.ReLU(), nn.Linear(6, 4)), nn.ReLU()), nn.ReLU()
    deep = nn.Linear(3, 6), inner, nn.Linear(4, 1)
    twice = nn.Linear(3, 4), relu, nn.Linear(4, 3), relu
    given: list[tuple[Any, ...]] = []  # what somebody else's hook was given, and its entries then
    plain[3].register_full_backward_hook(lambda m, i, o: given.append((i[0], i[0].tolist())))
    seen: dict[str, Any] = {}
    for name, model in {
        "": plain,
        ", of a model with an in-place ReLU": layers(True),
        ", of a model with a ReLU deep inside": filled(nn.Sequential(*deep)).eval(),
        ", of a model that uses one ReLU twice": filled(nn.Sequential(*twice)),
        ", of a model that is a ReLU itself": nn.ReLU(),
    }.items():
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter)
        noted = Belongings([model])
        seen[GUIDED + name] = inside(model)
        seen[AFTER + name] = after(model)
        raised = None
        try:
            with block(model):
                raise RuntimeError("inside")
        except Exception as error:
            raised = type(error).__name__, str(error)
        seen[f"the gradient after a block that ended in an error{name}"] = after(model)
        seen[ERROR + name] = raised
        seen[f"the list of the ReLUs' inplace and numbers of hooks{name}"] = state(model)
        seen[f"the list of other changes{name}"] = sorted(noted.changes() - {"hooks", "hooks gone"})
    with block(plain):
        seen[OUTSIDE] = slope(layers())
        plain[1].register_full_backward_hook(lambda *_: calls.append(1))
    after(plain)
    seen["whether another hook's grad_input stayed unchanged, the answer"] = all(
        tensor.tolist() == before for tensor, before in given
    )
    return {**seen, LENT: len(calls)}


GUIDING = Hook(
    id="14.6",
    asks="guiding(model), a context manager that guides the backward passes through the model "
    "while its block runs, and leaves nothing behind",
    scenario=guiding_run,
    digits=4,
    may_change=("hooks",),
    right="Anyone can use a block like this one: it cleans up after errors, too.",
    hints=(
        "Note what you change, and put what undoes it into a finally.",
        "Inside of a function with @contextmanager: collect the ReLUs of model.modules() and "
        "their inplace, register keep_positive on each and keep the handles, set inplace to "
        "False. Then try: yield, and in finally: remove the handles, put inplace back.",
    ),
    mistakes=r"""
        ~ keep_positive => lambda m, i, o: i[0].clamp(min=0)
        ! invalid number of grad_input
            A full backward hook returns a tuple with one entry, not the tensor alone.
        ~ yield => yield\n        yield
        ! didn't yield, didn't stop, is not an iterator
            A generator function has to yield exactly once, whatever happens.
        ~ @contextmanager =>
        ! __enter__
            Is @contextmanager above the function that yields? Does guiding return the block?
        ~ module.inplace = False => pass
        ! modified inplace
            A ReLU in place writes into the view of the hook's gate. While the hooks are on, inplace
            has to be False.
        ~ yield => yield\n    except RuntimeError:\n        pass
        ? seen[ERROR] != right[ERROR]
            The error didn't come out of the block as it was. Clean up in a finally, and let the
            error pass: no except without a raise, and nothing true from __exit__.
        ~ keep_positive => lambda m, i, o: (o[0].clamp(min=0),)
            Your hook clamps grad_output and returns that. Then closed units let gradients pass.
            Clamp grad_input.
        ~ isinstance(module, nn.ReLU) => isinstance(module, (nn.ReLU, nn.Linear))
        | module.inplace, handle => getattr(module, "inplace", False), handle
        ~ isinstance(module, nn.ReLU) => isinstance(module, (nn.ReLU, nn.Linear))
        | module.inplace, handle => getattr(module, "inplace", False), handle
        | hook(keep_positive) => hook(keep_positive if isinstance(module, nn.Linear) else lambda *_: None)
            The hooks are on the linear layers, too, or only there. The rule is for ReLUs.
        ~ keep_positive => lambda m, i, o: None
        ? alike(seen[GUIDED], right[AFTER], 4)
            Inside of the block the gradient is the plain one. Are the hooks on the ReLUs of the
            model itself, not of a copy, and do they return a tuple?
        ~ module.inplace = False => module.inplace = False\n            break
        ? alike(seen[GUIDED], right[GUIDED], 4) and not all(alike(seen[name], right[name], 4) for name in seen if GUIDED in name)
            Not every ReLU is hooked. There may be several, also inside of other modules, some in
            place, and the model may be one itself. modules() finds all of them.
        ~ keep_positive => lambda m, i, o: (i[0].clamp(max=0),)
        ? not alike(seen[GUIDED], right[GUIDED], 4)
            Your hook should set to zero what is negative in grad_input, and nothing else.
        ~ try:\n        yield\n    finally:\n        for => if True:\n        yield\n        for
            After an error inside of the block the hooks are still there. What runs in any case,
            error or not?
        ~ handle.remove() => pass
        ? alike(seen[GUIDED], right[GUIDED], 4) and seen[AFTER] is not None and not alike(seen[AFTER], right[AFTER], 4)
            After the block the gradient isn't the plain one again: hooks are left. Keep the handle
            of each in a list.
        ~ module.register_full_backward_hook(keep_positive) => nn.modules.module.register_module_full_backward_hook(lambda m, i, o: keep_positive(m, i, o) if isinstance(m, nn.ReLU) else None)
        ? not alike(seen[OUTSIDE], right[OUTSIDE], 4)
            A ReLU of another model was guided as well. A global hook sees every module. Hook those
            of the model that you are given.
        ~ yield => model.eval()\n        yield
        ? any(seen[name] for name in seen if "other changes" in name)
            After the block something else about the model has changed: its mode, its modules, its
            parameters, their .grad or requires_grad. Guiding doesn't need that.
        ~ handle.remove() => module._backward_hooks.clear()
        ? not all(alike(seen[name], right[name]) for name in seen if "hooks" in name or name == LENT)
            After the block a ReLU has another inplace, or other hooks than before. Put back the
            inplace of each, after an error as well, and remove only your own hooks, each by its
            handle.
    """,
)

EXERCISES = [SALIENCY, BY_HAND, CAM, WALK, USELESS, GUIDING]
