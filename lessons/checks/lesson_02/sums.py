"""Run the sums of lesson 02: gradients summed back to a shape, the rule of the quotient."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import minigrad as torch
from minigrad import Tensor
from minigrad.classroom.behaviors import Trial
from minigrad.classroom.exercises import Mistake

from .runs import Answer, results, same_numbers


def some_gradients(rng: Random) -> list[tuple[Tensor, tuple[int, ...]]]:
    """Draw gradients for shapes of every kind that broadcasting knows."""
    cases: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
        ((2, 3), (2, 1)),
        ((2, 3), (3,)),
        ((3, 3), (3,)),
        ((2, 3), (1, 3)),
        ((2, 3), (1, 1)),
        ((2, 3), ()),
        ((2, 3), (2, 3)),
        ((1, 3), (1, 3)),
        ((2, 2), (1,)),
        ((2, 2), (2,)),
        ((), ()),
        ((4,), (1,)),
        ((4, 2, 3), (2, 1)),
        ((4, 2, 3), (4, 1, 3)),
        ((4, 2, 3), (1, 1, 3)),
        ((2, 2, 2), (2,)),
        ((2, 3), (2, 1)),
    ]
    return [(_signed(rng, large), small) for large, small in cases]


def _signed(rng: Random, shape: tuple[int, ...]) -> Tensor:
    """Draw numbers of both signs with one digit behind the point, no two of them close to zero."""
    drawn = [rng.choice((-1, 1)) * rng.randint(5, 95) / 10 for _ in range(math.prod(shape))]
    return torch.tensor(drawn).reshape(shape)


def _fits(trial: Trial) -> bool:
    want = summed(*trial.args)
    have = trial.result
    return tuple(have.shape) == tuple(want.shape) and bool(torch.allclose(have, want, rtol=1e-4))


def right_only_for(holds: Callable[..., bool]) -> Callable[[list[Trial]], bool]:
    """Recognize what is right wherever something holds for the two shapes, and wrong elsewhere."""

    def seen_in(found: list[Trial]) -> bool:
        fits = [(_fits(t), holds(tuple(t.args[0].shape), tuple(t.args[1]))) for t in found]
        return all(fit for fit, there in fits if there) and (
            sum(fit for fit, there in fits if not there) <= 2
        )

    return seen_in


def wrong_only_for(holds: Callable[..., bool]) -> Callable[[list[Trial]], bool]:
    """Recognize what is right, but where something holds for the two shapes."""
    return lambda found: all(
        _fits(t) or holds(tuple(t.args[0].shape), tuple(t.args[1])) for t in found
    )


def ignores_gradient(found: list[Trial]) -> bool:
    """Recognize a function that gives the same for other gradients, in the first call and last."""
    return same_numbers(found[0].result, found[-1].result)


def of_sizes_only(found: list[Trial]) -> bool:
    """Recognize sums of absolute values: right in size, without a minus."""
    return all(
        same_numbers(trial.result, summed(trial.args[0].abs(), trial.args[1])) for trial in found
    )


def summed(gradient: Any, shape: tuple[int, ...]) -> Any:
    """Sum a gradient back to a shape."""
    while gradient.dim() > len(shape):
        gradient = gradient.sum(dim=0)
    for dim, size in enumerate(shape):
        if size == 1:
            gradient = gradient.sum(dim=dim, keepdim=True)
    return gradient


def summing(kind: str) -> Answer:
    """Make a function that sums a gradient back, wrong in one way."""

    def unbroadcast(gradient: Any, shape: tuple[int, ...]) -> Any:
        missing = gradient.dim() - len(shape)
        repeated = [dim for dim, size in enumerate(shape) if size == 1]
        if kind == "mean":
            for _ in range(missing):
                gradient = gradient.mean(dim=0)
            for dim in repeated:
                gradient = gradient.mean(dim=dim, keepdim=True)
        elif kind == "missing only":
            for _ in range(missing):
                gradient = gradient.sum(dim=0)
        elif kind == "dropped":
            gradient = summed(gradient, shape).squeeze()
        elif kind == "first":
            for _ in range(missing):
                gradient = gradient[0]
            for dim in repeated:
                gradient = gradient.narrow(dim, 0, 1)
        elif kind == "from the right":
            for _ in range(missing):
                gradient = gradient.sum(dim=-1)
            for dim in repeated:
                gradient = gradient.sum(dim=dim, keepdim=True)
        elif kind == "last for ones":
            for _ in range(missing):
                gradient = gradient.sum(dim=0)
            for _ in repeated:
                gradient = gradient.sum(dim=-1, keepdim=True)
        elif kind == "first for ones":
            for _ in range(missing):
                gradient = gradient.sum(dim=0)
            for _ in repeated:
                gradient = gradient.sum(dim=0, keepdim=True)
        elif kind == "max":
            for _ in range(missing):
                gradient = gradient.amax(dim=0)
            for dim in repeated:
                gradient = gradient.amax(dim=dim, keepdim=True)
        elif kind == "total":
            gradient = torch.zeros(shape) + gradient.sum()
        return gradient

    return unbroadcast


def divide_wrongly(kind: str) -> Answer:
    """Make a rule of the quotient, wrong in one way."""

    def rule(grad: Any, a: Any, b: Any) -> Any:
        for_a, for_b = grad / b, -grad * a / (b * b)
        if kind == "sign":
            for_b = -for_b
        elif kind == "not squared":
            for_b = -grad * a / b
        elif kind == "without a":
            for_b = -grad / (b * b)
        elif kind == "without grad":
            for_a, for_b = for_a / grad, for_b / grad
        elif kind == "product":
            for_a, for_b = grad * b, grad * a
        elif kind == "doubled":
            for_a, for_b = 2 * for_a, 2 * for_b
        elif kind == "tripled":  # the third call of what adds to what was there
            for_a, for_b = 3 * for_a, 3 * for_b
        elif kind == "both signs":
            for_a, for_b = -for_a, -for_b
        elif kind == "precedence":
            for_b = -grad * a / b * b
        elif kind == "exchanged":
            for_b = -grad * b / (a * a)
        elif kind == "cubed":
            for_b = for_b / b
        elif kind == "b without grad":
            for_b = for_b / grad
        elif kind == "summed first":
            return summed(grad, a.shape) / b, summed(grad, b.shape) * -a / (b * b)
        elif kind == "summed apart":
            slopes = grad / grad / b, -grad / grad * a / (b * b)
            for_a = summed(grad, a.shape) * summed(slopes[0], a.shape)
            return for_a, summed(grad, b.shape) * summed(slopes[1], b.shape)
        elif kind == "reused":
            for_a = summed(for_a, a.shape)
            return for_a, summed(-for_a * a / b, b.shape)
        elif kind == "swapped":
            return summed(for_b, b.shape), summed(for_a, a.shape)
        return summed(for_a, a.shape), summed(for_b, b.shape)

    return rule


SUMS = [
    Mistake(
        "The gradient is passed on as it came. It has to get the shape of the tensor.",
        like=lambda gradient, shape: gradient,
    ),
    Mistake(
        "reshape and view arrange entries anew, and there are too many of them. They have "
        "to be added up.",
        trouble=("is invalid for input of size",),
    ),
    Mistake(
        "There are fewer dimensions than you count on. After each sum there is one less, and "
        "those behind it move up; and sum(dim=()) takes all of them away, in PyTorch as here.",
        trouble=("Dimension out of range",),
    ),
    Mistake(
        "Zeros of the right shape. What arrived is lost.",
        when=results(lambda gradient: not gradient.any()),
    ),
    Mistake(
        "Other gradients of the same shape give the same result: does it use its argument?",
        when=ignores_gradient,
    ),
    Mistake(
        "The sizes fit, the signs do not: contributions are added with their signs.",
        when=of_sizes_only,
    ),
    Mistake(
        "You take the mean. Each repetition contributes in full, so contributions are "
        "added, not averaged.",
        like=summing("mean"),
    ),
    Mistake(
        "One of the repetitions is taken and the others are dropped. All contribute.",
        like=summing("first"),
    ),
    Mistake(
        "Dimensions that are missing in shape are summed. Those of size 1 are not yet.",
        like=summing("missing only"),
    ),
    Mistake(
        "The sums are right, and the dimensions of size 1 are gone. The result has to have "
        "exactly the given shape: see keepdim.",
        like=summing("dropped"),
    ),
    Mistake(
        "You sum the last dimensions. Shapes are aligned at the right: which dimensions "
        "are missing, then?",
        like=summing("from the right"),
    ),
    Mistake(
        "You sum the last dimension for each 1 in shape, wherever the 1 stands.",
        like=summing("last for ones"),
    ),
    Mistake(
        "You sum the first dimension for each 1 in shape, wherever the 1 stands.",
        like=summing("first for ones"),
    ),
    Mistake(
        "You take the largest contribution. All of them count, added up.",
        like=summing("max"),
    ),
    Mistake(
        "One dimension of size 1 is summed, and a shape may have several.",
        when=wrong_only_for(lambda large, small: small.count(1) > 1),
    ),
    Mistake(
        "Right, but for dimensions of size 1 behind missing ones: after the first sums, "
        "which number does each dimension have?",
        when=wrong_only_for(lambda large, small: len(large) > len(small) and 1 in small),
    ),
    Mistake(
        "() is the shape of a single number, with no dimension at all. Yours has one.",
        when=wrong_only_for(lambda large, small: small == ()),
    ),
    Mistake(
        "It takes away one missing dimension, and there may be several.",
        when=wrong_only_for(lambda large, small: len(large) - len(small) > 1),
    ),
    Mistake(
        "With gradients of two dimensions it is right, with three it is not. Take the "
        "number of dimensions from the arguments.",
        when=wrong_only_for(lambda large, small: len(large) > 2),
    ),
    Mistake(
        "It knows the shapes of the specification, and no others. Read from shape itself "
        "what is missing, and what is 1.",
        when=right_only_for(
            lambda large, small: small in ((2, 1), (3,), (), (2, 3)) and len(large) == 2
        ),
    ),
    Mistake(
        "Dimensions that are missing in shape are still there. Which ones are they, if "
        "shapes are aligned at the right?",
        when=lambda found: any(t.result.dim() > len(t.args[1]) for t in found),
    ),
    Mistake(
        "You sum over everything. Only what was repeated is summed.",
        like=summing("total"),
    ),
]

QUOTIENTS = [
    Mistake(
        "A slope alone may have fewer dimensions than a / b. Multiply it by grad before it is "
        "summed.",
        trouble=("Dimension out of range",),
    ),
    Mistake(
        "Where b grows, the quotient of positive numbers falls. A sign is lost in the "
        "gradient of b.",
        like=divide_wrongly("sign"),
    ),
    Mistake(
        "The slope of 1 / b has the square of b below. One b is missing.",
        like=divide_wrongly("not squared"),
    ),
    Mistake(
        "That would be the slope of 1 / b. Here a stands above.",
        like=divide_wrongly("without a"),
    ),
    Mistake(
        "Those are the slopes alone. What arrives has to be multiplied in, before anything "
        "is summed.",
        like=divide_wrongly("without grad"),
    ),
    Mistake(
        "That is the rule of a product. Here it is a quotient.",
        like=divide_wrongly("product"),
    ),
    Mistake(
        "It grows from call to call. What does it keep from the one before?",
        like=divide_wrongly("tripled"),
    ),
    Mistake(
        "Twice as much as it should be: is something counted twice?",
        like=divide_wrongly("doubled"),
    ),
    Mistake(
        "The signs of both are the other way round.",
        like=divide_wrongly("both signs"),
    ),
    Mistake(
        "Your slope for b contains no b any more: * b behind / b takes it out again.",
        like=divide_wrongly("precedence"),
    ),
    Mistake(
        "In the slope for b the two are exchanged: which of them is squared, and which "
        "stands above?",
        like=divide_wrongly("exchanged"),
    ),
    Mistake(
        "The power of b is too high in the gradient of b.",
        like=divide_wrongly("cubed"),
    ),
    Mistake(
        "What arrives is summed before it meets the slope. But the slope differs from copy "
        "to copy: multiply first, then sum.",
        like=divide_wrongly("summed first"),
    ),
    Mistake(
        "What arrives and the slope are summed each by itself. Multiply first, then sum: a "
        "product of sums is not the sum of the products.",
        like=divide_wrongly("summed apart"),
    ),
    Mistake(
        "The gradient of b is made of that of a, which is summed already: take what it was "
        "before the sum.",
        like=divide_wrongly("reused"),
    ),
    Mistake(
        "What arrives is not in the gradient of b.",
        like=divide_wrongly("b without grad"),
    ),
    Mistake(
        "The right two, in the opposite order: a comes first.",
        like=divide_wrongly("swapped"),
    ),
]
