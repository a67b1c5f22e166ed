"""Run the answers of lesson 11: quotients on small losses, rules in gradcheck, steps in a model."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import minigrad as torch
from minigrad.autograd.gradcheck import GradcheckError
from minigrad.classroom.exercises import Objection
from minigrad.classroom.values import as_number, describe, leaves

EPS32, EPS64 = 2.0**-23, 2.0**-52
"""The distance from 1 to the next number, in float32 and in float64."""

ACCEPTED, RIGHT, WRONG = "accepted", "right everywhere", "wrong somewhere"
CAME_BACK, GRAD, LEFT = "as before", "untouched", "at least two"

Rule = Callable[[Any, Any], Any]


def thumb(eps: float) -> tuple[float, float, float, float]:
    """Give the rules of thumb: step and error one-sided, step and error central."""
    return eps ** (1 / 2), eps ** (1 / 2), eps ** (1 / 3), eps ** (2 / 3)


def near(answer: Any, expected: Sequence[float], within: float = 0.05) -> bool:
    """Tell whether an answer has as many numbers, and each of about the expected size."""
    have = [as_number(entry) for _, entry in leaves(answer)]
    return len(have) == len(expected) and all(
        a is not None and abs(a / b - 1) <= within for a, b in zip(have, expected, strict=True)
    )


def shifted(answer: Any, expected: Sequence[float]) -> bool:
    """Tell whether the digits are right, and the decimal point of one number or more is not."""
    have = [as_number(entry) for _, entry in leaves(answer)]
    if len(have) != len(expected) or not all(have):
        return False
    tens = [math.log10(abs(a / b)) for a, b in zip(have, expected, strict=True) if a is not None]
    powers = [round(ten) for ten in tens]
    close = all(abs(ten - power) < 0.02 for ten, power in zip(tens, powers, strict=True))
    return close and any(powers) and powers.count(0) >= len(powers) // 2


def all_zero(found: Sequence[Any]) -> bool:
    """Tell whether nothing but zeros came back."""
    rows = [[as_number(entry) for _, entry in leaves(each.result)] for each in found]
    return all(row and all(entry == 0 for entry in row) for row in rows)


def shares(rng: Random) -> list[tuple[Any, Any]]:
    """Draw cotangents and points for a division by the total."""
    drawn = []
    for count in (2, 3, 5):
        g = torch.tensor([rng.uniform(-2, 2) for _ in range(count)], dtype=torch.float64)
        x = torch.tensor([rng.uniform(0.2, 2) for _ in range(count)], dtype=torch.float64)
        drawn.append((g, x))
    return drawn


def exact_share(g: Any, x: Any) -> Any:
    """Let the engine compute the gradient of a division by the total."""
    leaf = x.clone().requires_grad_()
    return torch.autograd.grad(leaf / leaf.sum(), leaf, g)[0]


def only_first_right(found: Sequence[Any]) -> bool:
    """Tell whether the rule fits the first case, and none of another length."""
    fits = [near_tensor(each.result, exact_share(*each.args)) for each in found]
    return fits[0] and not any(fits[1:])


def near_tensor(result: Any, expected: Any) -> bool:
    """Tell whether a tensor has about these values."""
    return (
        isinstance(result, torch.Tensor)
        and result.shape == expected.shape
        and torch.allclose(result.to(expected.dtype), expected, 1e-5, 1e-8)
    )


_SHARES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "mean": lambda g, x, total: (g - g.mean()) / total,
    "numerator": lambda g, x, total: g / total,
    "once": lambda g, x, total: g / total - (g * x).sum() / total,
    "plus": lambda g, x, total: (g + (g * x).sum() / total) / total,
    "no sum": lambda g, x, total: (g - g * x / total) / total,
    "no total": lambda g, x, total: g - (g * x).sum() / total,
    "twice": lambda g, x, total: (g - (g * x).sum() / total) / total**2,
    "thrice": lambda g, x, total: g / total - (g * x).sum() / total**3,
    "transposed": lambda g, x, total: g / total - x * g.sum() / total**2,
    "plain sum": lambda g, x, total: g / total - g.sum() / total**2,
    "unweighted": lambda g, x, total: (g - g.sum()) / total,
    "mean of x g": lambda g, x, total: (g - (g * x).mean()) / total,
    "mean of shares": lambda g, x, total: (g - (g * x).mean() / total) / total,
    "by g": lambda g, x, total: (g - (g * x).sum() / g.sum()) / total,
    "softmax": lambda g, x, total: x / total * (g - (g * x).sum() / total),
    "softmax of x": lambda g, x, total: torch.softmax(x, 0) * (g - (g * torch.softmax(x, 0)).sum()),
    "turned": lambda g, x, total: (g * x).sum() / total**2 - g / total,
    "shares": lambda g, x, total: g * x / total,
    "without g": lambda g, x, total: 1 / total - x / total**2,
}


def wrong_share(kind: str) -> Rule:
    """Give a backward of the division by the total that is wrong in one way."""

    def share_backward(g: Any, x: Any) -> Any:
        return _SHARES[kind](g, x, x.sum())

    return share_backward


CUBE: dict[str, Rule] = {
    "right": lambda g, x: 3 * g * x**2,
    "sly": lambda g, x: 3 * g * x * x.abs(),
}
"""Two backward rules for the cube: the right one, and one that is wrong left of zero."""


def sly_run(rule: Callable[[Any, Any], Any]) -> dict[str, Any]:
    """Let gradcheck look at a rule for the cube, and then look at it in many more places."""

    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            found = rule(g, *ctx.saved_tensors)
            if not isinstance(found, torch.Tensor):
                raise Objection(f"sly_backward has to return a tensor, not {type(found).__name__}")
            return found

    point = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64, requires_grad=True)
    try:
        torch.autograd.gradcheck(Cube.apply, point)
        verdict = ACCEPTED
    except GradcheckError as error:
        verdict = "refused: " + str(error).partition(",")[0]
    return {"gradcheck's verdict": verdict, "the rule": _looked_at_widely(rule)}


def _looked_at_widely(rule: Rule) -> str:
    """Compare a rule with the right one at points and cotangents of many sizes and both signs."""
    rng = Random(11)
    sizes = (1e-6, 1e-3, 0.1, 0.25, *(each / 2 for each in range(1, 21)), 100, 1e3, 1e6)
    points = [0.0, *(sign * size for size in sizes for sign in (1, -1))]
    points += [rng.uniform(-3, 3) for _ in range(100)]
    tried = []
    for scale in (0.3, 1.0, 10.0, 1e4):
        draws = [scale * rng.uniform(-1, 1) for _ in points]
        tried += [(draws[at : at + 3], points[at : at + 3]) for at in range(0, len(points) - 2, 3)]
    tried += [([g] * 3, [0.5, 1.0, 2.0]) for g in (0.5, 1.0, 2.0, 3.0, 10.0, 1e6)]
    tried += [([-g] * 3, [0.5, 1.0, 2.0]) for g in (0.5, 1.0, 2.0, 3.0, 10.0, 1e6)]
    tried += [([2.0, -1.0, 0.0], [0.5, 1.0, 2.0]), ([0.7], [1.5]), ([0.7, 0.2], [1.5, -0.4])]
    tried += [(draws[:5], points[-5:])]
    for dtype, tolerance in ((torch.float64, 1e-12), (torch.float32, 1e-5)):
        for cotangent, place in tried:
            g, x = (torch.tensor(values, dtype=dtype) for values in (cotangent, place))
            with torch.no_grad():
                due = CUBE["right"](g, x)
                try:
                    found = rule(g.clone(), x.clone())
                except (RuntimeError, ValueError, IndexError):
                    if len(place) == 3:
                        raise
                    return WRONG  # made for three entries
            if found.shape != due.shape or not torch.allclose(
                found.to(due.dtype), due, tolerance, 1e-300
            ):
                return WRONG
    return RIGHT


def _linear() -> tuple[list[Any], list[Any], Callable[[], Any]]:
    parameters = [[[0.4, -0.3], [0.2, 0.9]], [0.1, -0.2]]
    directions = [[[1.0, -0.5], [0.25, 2.0]], [-1.5, 0.75]]
    weight, bias = (_tensor(each, requires_grad=True) for each in parameters)
    data = _tensor([[0.5, 1.5], [-1.0, 0.5], [2.0, -0.3]])
    return (
        [weight, bias],
        [_tensor(each) for each in directions],
        lambda: ((data @ weight + bias) ** 3).mean(),
    )


def _three() -> tuple[list[Any], list[Any], Callable[[], Any]]:
    row, number, square = (
        _tensor(each, requires_grad=True)
        for each in ([0.3, -0.7, 1.1], 0.6, [[0.2, 0.5], [-0.4, 0.8]])
    )
    directions = [_tensor(each) for each in ([0.5, 1.25, -2.0], -0.75, [[1.5, -1.0], [0.4, 0.3]])]
    return (
        [row, number, square],
        directions,
        lambda: (row * number).exp().sum() * (square @ square).sum().sin() + square.sum() ** 3,
    )


def _tensor(values: Any, requires_grad: bool = False) -> Any:
    return torch.tensor(values, dtype=torch.float64, requires_grad=requires_grad)


def direction_run(answer: Callable[..., Any]) -> dict[str, Any]:
    """Check two small models along a direction, and look at what the check left behind."""
    seen: dict[str, Any] = {}
    recording = True
    for many, model, h in (("two", _linear, 0.01), ("three", _three, 0.02)):
        with torch.enable_grad():
            for name, value in _one_direction(answer, *model(), h).items():
                seen[f"{name} (with {many} parameters)"] = value
            recording = recording and torch.is_grad_enabled()
    torch.set_grad_enabled(recording)
    return seen


def _one_direction(
    answer: Callable[..., Any],
    parameters: list[Any],
    directions: list[Any],
    compute: Callable[[], Any],
    h: float,
) -> dict[str, Any]:
    marks = [None, *(torch.full_like(parameter, 7.0) for parameter in parameters[1:])]
    for parameter, mark in zip(parameters, marks, strict=True):
        parameter.grad = None if mark is None else mark.clone()
    before = [parameter.detach().clone() for parameter in parameters]
    moved: list[bool] = []

    def loss() -> Any:
        moved.append(not _near(kept, before, 1e-6))
        return compute()

    kept = list(parameters)
    pair = answer(loss, parameters, directions, h)
    if pair is None:
        raise Objection(
            "check_direction has to return a pair of numbers, and it returned nothing. Is the "
            "return missing?"
        )
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise Objection(f"check_direction has to return a pair of numbers, not {describe(pair)}.")
    steps, backward = (as_number(each) for each in pair)
    if steps is None or backward is None:
        raise Objection(
            "check_direction has to return a pair of numbers, and not both are numbers."
        )
    same = all(
        (parameter.grad is None) == (mark is None)
        and (mark is None or torch.equal(parameter.grad, mark))
        for parameter, mark in zip(kept, marks, strict=True)
    )
    return {
        "the first number": steps,
        "the second number": backward,
        "the state of the parameters": CAME_BACK if _near(kept, before, 1e-9) else "changed",
        "the state of their .grad": GRAD if same else "changed",
        "the number of calls of loss with moved parameters": LEFT if sum(moved) > 1 else sum(moved),
    }


def in_either(found: Sequence[Any], place: int, right: str) -> bool:
    """Tell whether the observation at a place is another than the right one, with either model."""
    return any(found[at].result != right for at in (place, place + 5))


def _near(tensors: Sequence[Any], others: Sequence[Any], tolerance: float) -> bool:
    return all(
        torch.allclose(a.detach(), b, 0.0, tolerance) for a, b in zip(tensors, others, strict=True)
    )


def one_walk(
    low: float = -1.0,
    span: Callable[[float], float] = lambda h: 2 * h,
    swapped: bool = False,
    weigh: Callable[[Any, Any], Any] = lambda g, d: (g * d).sum(),
    first_only: bool = False,
    seen_at: float = 0.0,
    step: float | None = None,
) -> Callable[..., tuple[float, float]]:
    """Make a check along a direction, right or wrong in one way.

    Args:
        low: the other place to measure at, in steps.
        span: what the difference is divided by.
        swapped: whether the pair comes in the other order.
        weigh: how gradient and direction of a parameter become a number.
        first_only: whether only the first parameter takes part.
        seen_at: where the gradient is taken, in steps.
        step: to take in the place of the given one.
    """

    def check_direction(
        loss: Callable[[], Any], parameters: list[Any], directions: list[Any], h: float
    ) -> tuple[float, float]:
        used = 1 if first_only else len(parameters)
        pairs = list(zip(parameters, directions, strict=True))[:used]
        h = step or h

        def at(length: float, compute: Callable[[], Any]) -> Any:
            with torch.no_grad():
                kept = [parameter.clone() for parameter, _ in pairs]
                for parameter, direction in pairs:
                    parameter.add_(direction, alpha=length)
            value = compute()
            with torch.no_grad():
                for (parameter, _), old in zip(pairs, kept, strict=True):
                    parameter.copy_(old)
            return value

        gradients = at(
            seen_at * h, lambda: torch.autograd.grad(loss(), [parameter for parameter, _ in pairs])
        )
        predicted = sum(weigh(g, d).item() for g, (_, d) in zip(gradients, pairs, strict=True))
        up, down = (at(each * h, lambda: loss().item()) for each in (1.0, low))
        steps = (up - down) / span(h)
        return (predicted, steps) if swapped else (steps, predicted)

    return check_direction
