"""Run the answers of lesson 11: quotients on small losses, rules in gradcheck, steps in a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import minigrad as torch
from minigrad.autograd.gradcheck import GradcheckError

EPS32, EPS64 = 2.0**-23, 2.0**-52
"""The distance from 1 to the next number, in float32 and in float64."""

ACCEPTED, RIGHT, WRONG = "accepted", "right everywhere", "wrong somewhere"
CAME_BACK, GRAD, LEFT = "as before", "untouched", "at least two"


def thumb(eps: float) -> tuple[float, float, float, float]:
    """Give the rules of thumb: step and error one-sided, step and error central."""
    return eps ** (1 / 2), eps ** (1 / 2), eps ** (1 / 3), eps ** (2 / 3)


def cubes(x: Any) -> Any:
    """Sum the cubes of all entries, each with a weight of its own."""
    weights = torch.arange(1, x.numel() + 1, dtype=x.dtype).reshape(x.shape)
    return (weights * x**3).sum()


def product(x: Any) -> Any:
    """Multiply all entries, and square the result."""
    return x.prod() ** 2


def fields(rng: Random) -> list[tuple[Any, ...]]:
    """Draw losses, points and steps: steps so large that one-sided and central differ."""
    drawn = []
    for loss, shape in ((cubes, (3,)), (product, (2, 2)), (cubes, (2, 1, 2)), (cubes, (1,))):
        count = len(torch.zeros(shape).reshape(-1))
        values = [rng.uniform(0.5, 1.5) for _ in range(count)]
        point = torch.tensor(values, dtype=torch.float64).reshape(shape)
        drawn.append((loss, point, 0.125))
    return drawn


def central(
    one_sided: bool = False, distance: float = 2, together: bool = False, flat: bool = False
) -> Callable[..., Any]:
    """Make a central difference quotient, right or wrong in one way."""

    def central_difference(f: Callable[[Any], Any], x: Any, h: float) -> Any:
        slopes = []
        for unit in torch.eye(x.numel(), dtype=x.dtype):
            step = h * (torch.ones_like(x) if together else unit.reshape(x.shape))
            if one_sided:
                slopes.append((f(x + step) - f(x)) / h)
            else:
                slopes.append((f(x + step) - f(x - step)) / (distance * h))
        found = torch.stack(slopes)
        return found if flat else found.reshape(x.shape)

    return central_difference


def shares(rng: Random) -> list[tuple[Any, Any]]:
    """Draw cotangents and points for a division by the total."""
    drawn = []
    for count in (3, 2, 5):
        g = torch.tensor([rng.uniform(-2, 2) for _ in range(count)], dtype=torch.float64)
        x = torch.tensor([rng.uniform(0.2, 2) for _ in range(count)], dtype=torch.float64)
        drawn.append((g, x))
    return drawn


def exact_share(g: Any, x: Any) -> Any:
    """Let the engine compute the gradient of a division by the total."""
    leaf = x.clone().requires_grad_()
    return torch.autograd.grad(leaf / leaf.sum(), leaf, g)[0]


def wrong_share(kind: str) -> Callable[[Any, Any], Any]:
    """Make a backward of the division by the total that is wrong in one way."""

    def share_backward(g: Any, x: Any) -> Any:
        total = x.sum()
        weighted = (g * x).sum()
        return {
            "mean": (g - g.mean()) / total,
            "numerator": g / total,
            "once": g / total - weighted / total,
            "plus": (g + weighted / total) / total,
            "no sum": (g - g * x / total) / total,
            "no total": g - weighted / total,
        }[kind]

    return share_backward


CUBE: dict[str, Callable[[Any, Any], Any]] = {
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
                raise TypeError(f"sly_backward has to return a tensor, not {type(found).__name__}")
            return found

    point = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64, requires_grad=True)
    try:
        torch.autograd.gradcheck(Cube.apply, point)
        verdict = ACCEPTED
    except GradcheckError as error:
        verdict = "refused: " + str(error).partition(",")[0]
    return {"gradcheck's verdict": verdict, "the rule": _looked_at_widely(rule)}


def _looked_at_widely(rule: Callable[[Any, Any], Any]) -> str:
    """Compare a rule with the right one at points and cotangents of many sizes and both signs."""
    rng = Random(11)
    sizes = (1e-6, 1e-3, 0.1, 0.5, 1.0, 2.0, 3.0, 10.0, 1e3)
    points = [sign * size for size in sizes for sign in (1, -1)]
    points += [0.0, *(rng.uniform(-3, 3) for _ in range(100))]
    for scale in (0.3, 1.0, 10.0, 1e4):
        draws = [scale * rng.uniform(-1, 1) for _ in points]
        tried = [(draws[at : at + 3], points[at : at + 3]) for at in range(0, len(points) - 2, 3)]
        tried += [([scale] * 3, [0.5, 1.0, 2.0]), ([-scale] * 3, [0.5, 1.0, 2.0])]
        for cotangent, place in tried:
            g, x = (torch.tensor(values, dtype=torch.float64) for values in (cotangent, place))
            with torch.no_grad():
                found, due = rule(g.clone(), x.clone()), CUBE["right"](g, x)
            if not torch.allclose(found, due, 1e-12, 1e-300):
                return WRONG
    return RIGHT


def direction_run(answer: Callable[..., Any]) -> dict[str, Any]:
    """Check a small model along one direction, and look at what the check left behind."""
    parameters = [
        torch.tensor([[0.4, -0.3], [0.2, 0.9]], dtype=torch.float64, requires_grad=True),
        torch.tensor([0.1, -0.2], dtype=torch.float64, requires_grad=True),
    ]
    directions = [
        torch.tensor([[1.0, -0.5], [0.25, 2.0]], dtype=torch.float64),
        torch.tensor([-1.5, 0.75], dtype=torch.float64),
    ]
    marks = [torch.full_like(parameter, 7.0) for parameter in parameters]
    for parameter, mark in zip(parameters, marks, strict=True):
        parameter.grad = mark.clone()
    before = [parameter.detach().clone() for parameter in parameters]
    moved: list[bool] = []

    def loss() -> Any:
        weight, bias = parameters
        moved.append(not _near(parameters, before, 1e-6))
        data = torch.tensor([[0.5, 1.5], [-1.0, 0.5], [2.0, -0.3]], dtype=torch.float64)
        return ((data @ weight + bias) ** 3).mean()

    pair = answer(loss, parameters, directions, 0.01)
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise TypeError("check_direction has to return a pair of numbers")
    steps, backward = (float(each) for each in pair)
    kept = all(
        parameter.grad is not None and torch.equal(parameter.grad, mark)
        for parameter, mark in zip(parameters, marks, strict=True)
    )
    return {
        "the first number": steps,
        "the second number": backward,
        "the state of the parameters": CAME_BACK if _near(parameters, before, 1e-9) else "changed",
        "the state of their .grad": GRAD if kept else "changed",
        "the number of calls of loss with moved parameters": LEFT if sum(moved) > 1 else sum(moved),
    }


def _near(tensors: Sequence[Any], others: Sequence[Any], tolerance: float) -> bool:
    return all(
        torch.allclose(a.detach(), b, 0.0, tolerance) for a, b in zip(tensors, others, strict=True)
    )


def one_walk(
    one_sided: bool = False,
    distance: float = 2.0,
    swapped: bool = False,
    weighted: bool = True,
    first_only: bool = False,
) -> Callable[..., tuple[float, float]]:
    """Make a check along a direction, right or wrong in one way."""

    def check_direction(
        loss: Callable[[], Any], parameters: list[Any], directions: list[Any], h: float
    ) -> tuple[float, float]:
        used = 1 if first_only else len(parameters)
        pairs = list(zip(parameters, directions, strict=True))[:used]

        def at(length: float) -> float:
            with torch.no_grad():
                kept = [parameter.clone() for parameter, _ in pairs]
                for parameter, direction in pairs:
                    parameter.add_(direction, alpha=length)
                value = loss().item()
                for (parameter, _), old in zip(pairs, kept, strict=True):
                    parameter.copy_(old)
            return float(value)

        gradients = torch.autograd.grad(loss(), [parameter for parameter, _ in pairs])
        predicted = sum(
            float((g * d if weighted else g).sum())
            for g, (_, d) in zip(gradients, pairs, strict=True)
        )
        low = at(0.0) if one_sided else at(-h)
        steps = (at(h) - low) / (h if one_sided else distance * h)
        return (predicted, steps) if swapped else (steps, predicted)

    return check_direction
