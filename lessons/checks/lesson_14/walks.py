"""Check integrated gradients: any function, any shape, any baseline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import minigrad as torch
from minigrad import Tensor
from minigrad.autograd import grad
from minigrad.classroom.behaviors import Hook, Trial
from minigrad.classroom.exercises import Mistake
from minigrad.classroom.values import alike

from ..observations import observed, partly

Answer = Callable[..., Any]
Score = Callable[[Tensor], Tensor]
FROM_ZERO = "the result for x0**2 * x1 at (2, 3) from (0, 0) in 4 steps"
FROM_ELSEWHERE = "the result for x0**2 * x1 at (2, 3) from (1, -1) in 5 steps"
MATRIX = "the result for a function of a matrix, from another matrix in 3 steps"
ONE_STEP = "the result for sum(exp(x)) in 1 step"
NUMBER = "the result for x**3 of a tensor without dimensions, from 1 to 3 in 2 steps"
FLAT = "the result at the baseline itself"
REPEATED = "the result for x0**2 * x1 at (2, 3) from (0, 0) in 4 steps, once more"
INSIDE = "what is in .grad of a parameter inside of f"
KIND = "what came back each time"


def _middle(step: int, steps: int) -> float:
    return (step + 0.5) / steps


def walk(
    *,
    at: Callable[[int, int], float] = _middle,
    extra: int = 0,
    divide: Callable[[int], float] = float,
    origin: bool = False,
    times: str = "difference",
    weight: Callable[[int, int], float] = lambda step, steps: 1.0,
    slope: Callable[[Tensor], Tensor] = lambda gradient: gradient,
    beyond: bool = False,
) -> Answer:
    """Make integrated gradients; the settings name typical slips.

    Args:
        at: where on the way, from 0 to 1, the slope of a step is taken.
        extra: how many slopes too many are taken.
        divide: what the sum is divided by, from the number of steps.
        origin: whether the way begins at zero, whatever the baseline.
        times: what the mean slope is multiplied with: "difference", "x" or "nothing".
        weight: of each slope.
        slope: what is done to each slope.
        beyond: whether the point is the baseline and a part of x, and so beyond x in the end.
    """

    def integrated_gradients(f: Score, x: Tensor, baseline: Tensor, steps: int) -> Tensor:
        start = torch.zeros_like(baseline) if origin else baseline
        start, end = start.detach(), x.detach()
        total = torch.zeros_like(end)
        for step in range(steps + extra):
            way = end if beyond else end - start
            point = (start + at(step, steps) * way).requires_grad_()
            total = total + weight(step, steps) * slope(grad(f(point), point)[0])
        factors = {"difference": end - baseline.detach(), "x": end, "nothing": 1.0}
        return factors[times] * total / divide(steps)

    return integrated_gradients


def _product(x: Tensor) -> Tensor:
    return x[0] ** 2 * x[1]


def _of_matrix(x: Tensor) -> Tensor:
    return (x.sin() * x[0, 1]).sum() + x[1, 2] ** 3


def walk_run(answer: Answer) -> dict[str, Any]:
    """Walk with several functions, from several baselines."""
    point, zero = torch.tensor([2.0, 3.0]), torch.zeros(2)
    matrix = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
    other = torch.tensor([[0.1, 0.3, -0.2], [0.0, 0.5, 0.4]])
    ready = torch.tensor([0.5, -1.0, 1.5], requires_grad=True)
    parameter = torch.tensor([1.0, -2.0], requires_grad=True)
    found = {
        FROM_ZERO: answer(_product, point, zero, 4),
        FROM_ELSEWHERE: answer(_product, point, torch.tensor([1.0, -1.0]), 5),
        MATRIX: answer(_of_matrix, matrix, other, 3),
        ONE_STEP: answer(lambda x: x.exp().sum(), ready, torch.tensor([0.25, 0.0, -0.5]), 1),
        NUMBER: answer(lambda x: x**3, torch.tensor(3.0), torch.tensor(1.0), 2),
        FLAT: answer(_product, point, point.clone(), 2),
        REPEATED: answer(_product, point, zero, 4),
    }
    answer(lambda x: (parameter * x).sum() ** 2, point, zero, 2)
    tensors = all(isinstance(each, Tensor) for each in found.values())
    return found | {
        INSIDE: "nothing" if parameter.grad is None else "a gradient",
        KIND: "a tensor" if tensors else "no tensor",
    }


def _ends(step: int, steps: int) -> float:
    return step / steps


def _spread(step: int, steps: int) -> float:
    return step / (steps - 1) if steps > 1 else 0.0


def _trapezoid(step: int, steps: int) -> float:
    return 0.5 if step in (0, steps) else 1.0


def _does(wrong: Answer) -> Callable[[Sequence[Trial]], bool]:
    return partly(walk_run, wrong, FROM_ZERO, FROM_ELSEWHERE, MATRIX)


def _as(**slips: Any) -> Callable[[Sequence[Trial]], bool]:
    return _does(walk(**slips))


def _gain(f: Score, x: Tensor, baseline: Tensor) -> Tensor:
    return (f(x) - f(baseline)).detach()


def _starts_wrong(found: Sequence[Trial]) -> bool:
    return found[0].result.shape == (2,) and not partly(walk_run, walk(), FROM_ZERO)(found)


def _evenly(f: Score, x: Tensor, baseline: Tensor, steps: int) -> Tensor:
    return torch.ones_like(x).detach() * _gain(f, x, baseline) / x.numel()


_ELSEWHERE = (
    "The slopes are not taken in the middle of the steps. In the first of four steps from 0 to 1 "
    "the middle is at 0.125."
)

WALK = Hook(
    id="14.4",
    asks="integrated_gradients(f, x, baseline, steps), which returns a tensor of the shape of x: "
    "the way from the baseline times the mean of the slopes in the middle of the steps",
    scenario=walk_run,
    reference=walk(),
    digits=4,
    right="Whatever f is, what it gained on the way is shared out among its inputs.",
    hints=(
        "At which points between baseline and x do you need a slope? Step number 0 of 4 has its "
        "middle at 0.125 of the way.",
        "For each step: point = baseline + (step + 0.5) / steps * (x - baseline), detached and "
        "requiring a gradient. Add up grad(f(point), point)[0], divide by steps, multiply with "
        "x - baseline.",
    ),
    mistakes=[
        Mistake(
            "The point on the way does not require a gradient. Make it a leaf that does, before f "
            "is called.",
            trouble=("not require grad",),
        ),
        Mistake(
            "The point hangs on x, which requires a gradient itself in one of the runs. Detach it "
            "first, then let it require one.",
            trouble=("leaf variables", "leaf Tensor", "non-leaf"),
        ),
        Mistake(
            "You differentiate by a tensor that f has not seen: by the point it was called on.",
            trouble=("not have been used",),
        ),
        Mistake(
            "f takes one tensor of the shape of x: not a batch of points, and not a flat one. Walk "
            "in a loop.",
            trouble=("only for scalar outputs", "out of bounds", "IndexError"),
        ),
        Mistake(
            "x is a vector in one run, a matrix in another, a number without dimensions in a "
            "third, and f takes one tensor of that shape: work on whole tensors, not entry by "
            "entry, and not on a batch of points.",
            trouble=(
                "must match the size",
                "broadcast shape",
                "cannot be converted to Scalar",
                "0-d tensor",
                "expected np.ndarray",
                "len() of a 0-d",
                "invalid index of a 0-dim",
            ),
        ),
        Mistake(
            "grad returns a tuple. Take the tensor out of it.",
            trouble=("'tuple'", "tuple"),
        ),
        Mistake(
            "It has the shape of something else: one number for each entry of x is asked for. Is "
            "there a sum or a mean too many?",
            when=lambda found: (
                found[0].result.shape != (2,) or tuple(found[2].result.shape) != (2, 3)
            ),
        ),
        Mistake(
            "The slopes are in, and the way is not: multiply with x - baseline.",
            when=_as(times="nothing"),
        ),
        Mistake(
            "Multiply with x - baseline, not with x: what was there at the start is not shared "
            "out.",
            when=_as(times="x"),
        ),
        *(
            Mistake(
                "The way begins at zero, and the baseline is somewhere else in most runs.",
                when=_as(origin=True, times=times),
            )
            for times in ("difference", "x")
        ),
        Mistake(
            "That is the sum of the slopes: the mean is asked for, so divide by the number of "
            "steps.",
            when=_as(divide=lambda steps: 1.0),
        ),
        Mistake(
            "The sum is divided by the number of steps twice: once is a mean already.",
            when=_as(divide=lambda steps: steps**2),
        ),
        *(
            Mistake(
                "The sum is divided by something other than the number of slopes.",
                when=_as(divide=wrong),
            )
            for wrong in (lambda steps: steps + 1, lambda steps: 2 * steps)
        ),
        *(
            Mistake(
                "One slope alone, taken at x. That is slope times way; the way itself is not "
                "looked at.",
                when=_as(at=lambda step, steps: 1.0, times=times),
            )
            for times in ("difference", "x", "nothing")
        ),
        *(
            Mistake(
                "The way goes astray: it should begin at the baseline, and end at x.",
                when=_as(**slips),
            )
            for slips in (
                {"at": lambda step, steps: 1 + (step + 0.5) / steps},
                {"at": lambda step, steps: -(step + 0.5) / steps},
            )
        ),
        Mistake(
            "The mean runs over the entries of the slopes as well. Each entry of x has a mean of "
            "its own: take it over the steps, dimension 0 of a stack.",
            when=_as(slope=lambda gradient: gradient.mean()),
        ),
        *(
            Mistake(
                "The gradient is taken by x, and x moves the point by a part of the way only. Take "
                "it by the point itself.",
                when=partly(walk_run, walk(weight=_middle, divide=divide), FROM_ZERO),
            )
            for divide in (float, lambda steps: 1.0)
        ),
        Mistake(
            "Only the slope of the last step came through. Add them up.",
            when=_as(at=lambda step, steps: (steps - 0.5) / steps),
        ),
        *(
            Mistake(
                "Only the slope of the first step came through: does something end the loop there?",
                when=_as(at=lambda step, steps: 0.5 / steps, divide=divide),
            )
            for divide in (float, lambda steps: steps**2)
        ),
        Mistake(
            "The earlier a step, the more often its slope was counted: backward adds to a .grad "
            "that is there. Take a new point for each step, or grad.",
            when=_as(weight=lambda step, steps: steps - step),
        ),
        Mistake(
            "The last slope was divided by the number of steps: the others were not added up.",
            when=_as(at=lambda step, steps: (steps - 0.5) / steps, divide=lambda steps: steps**2),
        ),
        Mistake(
            "The slopes are taken where the steps begin: the baseline counts, x does not. Take "
            "them in the middle.",
            when=_as(at=_ends),
        ),
        Mistake(
            "The slopes are taken where the steps end: x counts, the baseline does not. Take them "
            "in the middle.",
            when=_as(at=lambda step, steps: (step + 1) / steps),
        ),
        Mistake(_ELSEWHERE, when=_as(at=_spread)),
        Mistake(_ELSEWHERE, when=_as(at=lambda step, steps: step / (steps + 1))),
        Mistake(_ELSEWHERE, when=_as(at=lambda step, steps: (step + 1) / (steps + 1))),
        Mistake(
            "Slopes at both ends of all steps: that is one more than there are steps. Take one in "
            "the middle of each.",
            when=_as(at=_ends, extra=1, divide=lambda steps: steps + 1),
        ),
        Mistake(
            "Slopes at both ends of all steps: that is one more than there are steps. Take one in "
            "the middle of each.",
            when=_as(at=_ends, extra=1),
        ),
        Mistake(
            "That is the trapezoid rule, which takes slopes at the ends of the steps. It is a "
            "fine rule; here the middles are asked for.",
            when=_as(at=_ends, extra=1, weight=_trapezoid),
        ),
        Mistake(
            "The way is walked from x to the baseline, or the difference is the other way round: "
            "the sign is lost.",
            when=_does(lambda *given: -walk()(*given)),
        ),
        Mistake(
            "Absolute slopes do not add up to the whole. The sign has to stay.",
            when=_does(lambda *given: walk()(*given).abs()),
        ),
        Mistake(
            "One slope alone, in the middle of the whole way. Each step has a middle of its own.",
            when=_as(at=lambda step, steps: 0.5),
        ),
        Mistake(
            "Baseline plus a part of x overshoots: the way leads from the baseline to x, and is "
            "x - baseline long.",
            when=_as(beyond=True),
        ),
        Mistake(
            "The gain was dealt out evenly. What each input did on the way is to decide.",
            when=_does(_evenly),
        ),
        Mistake(
            "The same call later came out differently. What does it draw at random, or keep from "
            "one call to the next?",
            when=lambda found: (
                not alike(observed(found, REPEATED), found[0].result) and not found[0].changed
            ),
        ),
        Mistake(
            "The number of steps is an argument: take as many as are asked for.",
            when=lambda found: (
                not alike(observed(found, FROM_ZERO), walk_run(walk())[FROM_ZERO])
                and 1e-4 < (found[0].result - torch.tensor([8.0, 4.0])).abs().max() < 0.4
            ),
        ),
        Mistake(
            "Absolute slopes do not add up to the whole. The sign has to stay.",
            when=_as(slope=abs),
        ),
        Mistake(
            "The sum is exact to the last digit, which slopes in the middle of so few steps cannot "
            "give. Were others taken, or was the result scaled to fit?",
            when=lambda found: all(
                abs(float(trial.result.sum()) - whole) < 1e-4
                for trial, whole in zip(found, (12.0, 13.0), strict=False)
            ),
        ),
        Mistake(
            "The result at the baseline should be zero: there is no way, so nothing is gained.",
            when=lambda found: bool((abs(observed(found, FLAT)) > 1e-9).any()),
        ),
        Mistake(
            "Where x is below the baseline, the way from the one to the other is negative. It "
            "should be: keep its sign.",
            when=lambda found: (
                partly(walk_run, walk(), FROM_ELSEWHERE)(found)
                and not partly(walk_run, walk(), MATRIX)(found)
                and alike(abs(observed(found, MATRIX)), abs(walk_run(walk())[MATRIX]), 4)
            ),
        ),
        Mistake(
            "The results are right. But f has a parameter in the last run, and its .grad was "
            "filled: backward fills all leaves that it finds. Ask for the one gradient that you "
            "need with autograd.grad.",
            when=lambda found: observed(found, INSIDE) == "a gradient" and _as()(found),
        ),
        Mistake(
            "The numbers are right, and they are in a list or an array. Give a tensor of the shape "
            "of x.",
            when=lambda found: observed(found, KIND) == "no tensor" and _as()(found),
        ),
        Mistake(
            "Slopes are taken on the way from baseline to x, but not those that were asked for, or "
            "they are divided by something else. Four steps from 0 to 1 have their middles at "
            "0.125, 0.375, 0.625 and 0.875.",
            when=lambda found: (
                _starts_wrong(found)
                and abs(float(found[0].result[0] - 2 * found[0].result[1])) < 1e-4
            ),
        ),
        Mistake(
            "Work the first step through by hand: it has its middle at (0.25, 0.375), where the "
            "slopes of x0**2 * x1 are 0.1875 and 0.0625. Where do you get something else?",
            when=_starts_wrong,
        ),
        Mistake(
            "From a baseline of zeros, in four steps, it is right. From another one, in five, it "
            "is not.",
            when=lambda found: (
                partly(walk_run, walk(), FROM_ZERO)(found)
                and not found[0].changed
                and not partly(walk_run, walk(), FROM_ELSEWHERE)(found)
            ),
        ),
    ],
)
