"""Run the answers of lesson 02: walks through small graphs, gradients summed back to a shape."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom.behaviors import Trial
from minigrad.classroom.exercises import Objection

Answer = Callable[..., Any]
DOUBLINGS = 40
LADDER = f"the number of nodes after y = y + y, {DOUBLINGS} times,"
SQUARE = "the names of the nodes of x * x"
AGAIN = "what a second call lists for x * x"
ONE_LIST = "whether two calls give one and the same list"
FIRST = "the first node of the list"


def results(holds: Callable[[Any], object]) -> Callable[[list[Trial]], bool]:
    """Recognize a function by what holds for everything that it returned."""
    return lambda found: all(trial.trouble is None and bool(holds(trial.result)) for trial in found)


def results_for(holds: Callable[..., object]) -> Callable[[list[Trial]], bool]:
    """Recognize a function by what holds for everything that it returned, with its arguments."""
    return lambda found: all(
        trial.trouble is None and bool(holds(trial.result, *trial.args)) for trial in found
    )


# --- exercise 02.1: weights


def some_weights(rng: Random) -> list[tuple[list[float], float]]:
    """Draw values and a scale, a few times."""
    return [
        ([round(rng.uniform(-2, 2), 2) for _ in range(size)], scale)
        for size, scale in ((3, 0.1), (2, 0.5), (4, 0.01), (1, -1.5))
    ] + [([0.25, -2.5, 1.5], 0.1), ([0.25, -2.5, 1.5], 0.1)]


def weights(values: list[float], scale: float) -> Tensor:
    """Make weights that are a leaf."""
    return (torch.tensor(values) * scale).requires_grad_()


def are_weights(result: Any, values: list[float], scale: float) -> bool:
    """Tell whether a tensor holds the values times the scale, in whatever precision."""
    return tuple(result.shape) == (len(values),) and all(
        math.isclose(have, value * scale, rel_tol=1e-4)
        for have, value in zip(result.tolist(), values, strict=True)
    )


def scaled(power: float) -> Callable[[list[Trial]], bool]:
    """Recognize values times the scale, not once but so many times."""
    return results_for(lambda w, values, scale: are_weights(w, values, scale**power))


def differs(found: list[Trial]) -> bool:
    """Recognize a function that gives two results for the same arguments, the last two calls."""
    return not same_numbers(found[-1].result, found[-2].result)


def same_numbers(first: Any, second: Any) -> bool:
    """Tell whether two tensors have the same shape and the same numbers."""
    return tuple(first.shape) == tuple(second.shape) and first.tolist() == second.tolist()


def same_for_all(found: list[Trial]) -> bool:
    """Recognize a function that gives the same, whatever its arguments."""
    return all(same_numbers(trial.result, found[0].result) for trial in found[1:])


# --- exercise 02.2: a walk


def _graphs() -> dict[str, Any]:
    x, y = (torch.tensor(value, requires_grad=True) for value in (3.0, 0.5))
    left, right = torch.tensor([2.0, 5.0], requires_grad=True).unbind()
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    return {
        SQUARE: x * x,
        "the names of the nodes of (x * y + x) ** 2": (x * y + x) ** 2,
        "the names of the nodes of 7 * x": 7 * x,
        "the names of the nodes of left * right": left * right,
        "the names of the nodes of a model's output": model(torch.ones(5, 3)),
        "the names of the nodes for the leaf x": x,
        "the names of the nodes for a tensor without gradient": torch.tensor(1.0) * 2,
    }


def _name(node: Any) -> str:
    if hasattr(node, "next_functions"):
        return type(node).__name__
    if isinstance(node, tuple):
        return "an edge"
    return "a tensor" if isinstance(node, Tensor) else repr(node)


def walk_run(walk: Answer) -> dict[str, Any]:
    """Let an answer list the nodes of several graphs, of one of them twice."""
    seen: dict[str, Any] = {}
    graphs = _graphs()
    for name, output in graphs.items():
        found = _walked(walk, output)
        seen[name] = sorted(map(_name, found))
        seen[name.replace("the names of the nodes", FIRST)] = [_name(node) for node in found[:1]]
        if name == SQUARE:
            again = _walked(walk, output)
            seen[AGAIN], seen[ONE_LIST] = sorted(map(_name, again)), again is found
    top = torch.tensor(1.0, requires_grad=True)
    for _ in range(DOUBLINGS):
        top = top + top
    # A walk along each path would take for ever here: what comes to x twice has failed already.
    seen[LADDER] = -1 if too_many(seen) else len(_walked(walk, top))
    return seen


def _walked(walk: Answer, output: Any) -> list[Any]:
    found = walk(output)
    if isinstance(found, list):
        return found
    if found is None and output.grad_fn is None:
        raise Objection(
            "For a tensor without a grad_fn it returned None. Asked for is an empty list."
        )
    if found is None:
        raise Objection("It returned None. Is a return missing, or nothing behind it?")
    what = {
        "set": "a set, which has no order",
        "generator": "a generator: list(...) makes a list of what comes out of it",
        "tuple": "a tuple: list(...) makes a list of it",
    }.get(type(found).__name__, type(found).__name__)
    raise Objection(f"walk has to return a list of nodes, and it returned {what}.")


def walking(kind: str = "right") -> Answer:
    """Make a function that lists nodes, right or wrong in one way."""

    def walk(output: Any) -> Any:
        found = [] if output.grad_fn is None else [output.grad_fn]
        for node in found[:1] if kind == "neighbors" else found:
            for source, _ in node.next_functions:
                if source is not None and source not in found:
                    found.append(source)
        if kind == "first edge":
            found, node = [], output.grad_fn
            while node is not None:
                found.append(node)
                node = node.next_functions[0][0] if node.next_functions else None
        if kind == "names":
            found = list({_name(node): node for node in reversed(found)}.values())[::-1]
        if kind == "no leaves":
            found = [node for node in found if _name(node) != "AccumulateGrad"]
        if kind == "no root":
            found = found[1:]
        return found[::-1] if kind == "reversed" else found

    return walk


def _noted(found: list[Trial]) -> dict[str, Any]:
    """Give what was observed, by its name."""
    return {trial.gave.removesuffix(" is"): trial.result for trial in found}


def seen(holds: Callable[[dict[str, Any]], object]) -> Callable[[list[Trial]], bool]:
    """Recognize walks by what holds for all that was observed, by name."""
    return lambda found: bool(holds(_noted(found)))


def lists(word: str) -> Callable[[list[Trial]], bool]:
    """Recognize lists in which there is something of this kind."""
    return lambda found: any(
        isinstance(trial.result, list) and word in trial.result for trial in found
    )


_EXPECTED = {
    SQUARE: ("AccumulateGrad", "MulBackward0"),
    "the names of the nodes of (x * y + x) ** 2": (
        "AccumulateGrad",
        "AccumulateGrad",
        "AddBackward0",
        "MulBackward0",
        "PowBackward0",
    ),
}


def too_many(noted: dict[str, Any]) -> bool:
    """Recognize lists with a node in them that is there already."""
    return any(len(noted[name]) > len(names) for name, names in _EXPECTED.items())


def keeps_nodes(noted: dict[str, Any]) -> bool:
    """Recognize a walk that lists something else when it is called again."""
    return bool(noted[ONE_LIST] or noted[AGAIN] != noted[SQUARE])


def not_first(noted: dict[str, Any]) -> bool:
    """Recognize lists that do not begin where the walk does."""
    return noted[LADDER] == DOUBLINGS + 1 and any(
        noted[name.replace("the names of the nodes", FIRST)] != [names[-1]]
        for name, names in _EXPECTED.items()
    )
