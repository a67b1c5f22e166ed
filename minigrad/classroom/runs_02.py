"""Run the answers of lesson 02: walks through small graphs, gradients summed back to a shape."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import minigrad as torch
from minigrad import nn
from minigrad.classroom.behaviors import Trial
from minigrad.tensor import Tensor

Answer = Callable[..., Any]
DOUBLINGS = 40
_LADDER = f"the number of nodes after y = y + y, {DOUBLINGS} times,"
_SQUARE = "the names of the nodes of x * x, sorted,"


def stumbled(*words: str) -> Callable[[list[Trial]], bool]:
    """Recognize a run that ended in an error which names one of these words."""
    return lambda found: any(word in (trial.trouble or "") for trial in found for word in words)


def results(holds: Callable[[Any], object]) -> Callable[[list[Trial]], bool]:
    """Recognize a function by what holds for everything that it returned."""
    return lambda found: all(trial.trouble is None and bool(holds(trial.result)) for trial in found)


# --- exercise 02.1: weights


def some_weights(rng: Random) -> list[tuple[list[float], float]]:
    """Draw values and a scale, a few times."""
    return [
        ([round(rng.uniform(-2, 2), 2) for _ in range(size)], scale)
        for size, scale in ((3, 0.1), (2, 0.5), (4, 0.01))
    ]


def weights(values: list[float], scale: float) -> Tensor:
    """Make weights that are a leaf."""
    return (torch.tensor(values) * scale).requires_grad_()


# --- exercise 02.2: a walk


def _graphs() -> dict[str, Any]:
    x, y = (torch.tensor(value, requires_grad=True) for value in (3.0, 0.5))
    left, right = torch.tensor([2.0, 5.0], requires_grad=True).unbind()
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    return {
        _SQUARE: x * x,
        "the names of the nodes of (x * y + x) ** 2, sorted,": (x * y + x) ** 2,
        "the names of the nodes of 7 * x, sorted,": 7 * x,
        "the names of the nodes of left * right, sorted,": left * right,
        "the names of the nodes of a model's output, sorted,": model(torch.ones(5, 3)),
        "the list for the leaf x": x,
        "the list for a tensor that requires no gradient": torch.tensor(1.0) * 2,
    }


def _name(node: Any) -> str:
    if hasattr(node, "next_functions"):
        return type(node).__name__
    if isinstance(node, tuple):
        return "an edge"
    return "a tensor" if isinstance(node, Tensor) else repr(node)


def walk_run(walk: Answer) -> dict[str, Any]:
    """Let an answer list the nodes of several graphs."""

    def walked(output: Any) -> list[Any]:
        found = walk(output)
        if not isinstance(found, list):
            raise TypeError(f"walk has to return a list, not {type(found).__name__}")
        return found

    graphs = _graphs()
    seen: dict[str, Any] = {
        name: sorted(map(_name, walked(output))) for name, output in graphs.items()
    }
    seen["the first node of the list for x * x"] = [
        _name(node) for node in walked(graphs[_SQUARE])[:1]
    ]
    top = torch.tensor(1.0, requires_grad=True)
    for _ in range(DOUBLINGS):
        top = top + top
    seen[_LADDER] = len(walked(top))
    return seen


def walking(kind: str = "right") -> Answer:
    """Make a function that lists nodes, right or wrong in one way."""

    def walk(output: Any) -> Any:
        found = [] if output.grad_fn is None else [output.grad_fn]
        for node in found[:1] if kind == "neighbors" else found:
            for source, _ in node.next_functions:
                if source is not None and source not in found:
                    found.append(source)
        if kind == "no leaves":
            found = [node for node in found if _name(node) != "AccumulateGrad"]
        if kind == "no root":
            found = found[1:]
        return found[::-1] if kind == "reversed" else found

    return walk


def lists(word: str) -> Callable[[list[Trial]], bool]:
    """Recognize lists in which there is something of this kind."""
    return lambda found: any(
        isinstance(trial.result, list) and word in trial.result for trial in found
    )


def twice(found: list[Trial]) -> bool:
    """Recognize a list for x * x with its leaf in it twice."""
    return list(found[0].result).count("AccumulateGrad") == 2


# --- exercises 02.4 and 02.6: sums


def some_gradients(rng: Random) -> list[tuple[Tensor, tuple[int, ...]]]:
    """Draw gradients for shapes of every kind that broadcasting knows."""
    cases: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
        ((2, 3), (2, 1)),
        ((2, 3), (3,)),
        ((3, 3), (3,)),
        ((2, 3), (1, 3)),
        ((2, 3), ()),
        ((4, 2, 3), (2, 1)),
        ((4, 2, 3), (4, 1, 3)),
        ((2, 3), (2, 3)),
        ((1, 3), (1, 3)),
        ((2, 2), (1,)),
    ]
    return [(_whole_numbers(rng, large), small) for large, small in cases]


def _whole_numbers(rng: Random, shape: tuple[int, ...]) -> Tensor:
    size = 1
    for each in shape:
        size *= each
    return torch.tensor([float(rng.randint(1, 9)) for _ in range(size)]).reshape(shape)


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
        elif kind == "total":
            gradient = torch.zeros(shape) + gradient.sum()
        elif kind == "no dims":
            gradient = gradient.sum(dim=tuple(range(missing)))
            for dim in repeated:
                gradient = gradient.sum(dim=dim, keepdim=True)
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
        elif kind == "swapped":
            return summed(for_b, b.shape), summed(for_a, a.shape)
        return summed(for_a, a.shape), summed(for_b, b.shape)

    return rule
